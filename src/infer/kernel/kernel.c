/* The kernel encoder from beginning to end (kernel.h):
 *
 *     labels, some held out -> family, ridge -> solve without the held-out -> how far off they are
 *     -> solve with all -> z, sd
 */
#include "base/streams.h"
#include "infer/kernel/kernel_encoder.h"

#include "base/threads.h"
#include "infer/kernel/kernel_parts.h"

#include <math.h>
#include <string.h>

enum { SD_ROWS = 1000, JUDGED = 2000 }; /* rows of S; held-out rows of a node: time, no more */
static const size_t FACTOR_BYTES = (size_t)64 << 20; /* of the linear family */
static const double LEAST_FACTOR = 1e-8, MOST_FACTOR = 1e8;

const char *kernel_family_name(kernel_family family)
{
    static const char *const names[KERNEL_FAMILIES] = {"linear", "homogeneous", "biased"};
    return family < KERNEL_FAMILIES ? names[family] : "auto";
}

lscm_status kernel_told(const lscm_progress *progress, const char *what, size_t done, size_t total,
                        lscm_error *why)
{
    bool on = progress == NULL || progress->report == NULL ||
              progress->report(progress->self, what, done, total);
    return on ? LSCM_OK : fail(why, LSCM_STOPPED, "%s: stopped on request", what);
}

/* ---- Memory ---- */

static void lay_out(kernel_encoder *e, arena *a)
{
    size_t d = e->d;
    bool linear = e->space.family == KERNEL_LINEAR;
    bool kept = linear && e->m <= FACTOR_BYTES / sizeof(float) / (d > 0 ? d : 1) / e->m;
    e->space.centre = arena_take(a, e->space.R, sizeof(double));
    e->shift = arena_take(a, d, sizeof(double));
    e->ridge = arena_take(a, d, sizeof(double));
    e->unit = arena_take(a, d, sizeof(double));
    e->alpha = arena_take(a, e->m * d, sizeof(float));
    e->inputs = linear ? NULL : arena_take(a, e->m * e->space.R, sizeof(float));
    e->sd_first = arena_take(a, d + 1, sizeof *e->sd_first);
    e->sd_row = arena_take(a, e->sd_count, sizeof *e->sd_row);
    e->factor = kept ? arena_take(a, d * e->m * e->m, sizeof(float)) : NULL;
    e->usable = arena_take(a, d, sizeof *e->usable);
    e->labels = arena_take(a, d, sizeof *e->labels);
    e->node_r2 = arena_take(a, d, sizeof(double));
    e->residual = arena_take(a, d, sizeof(double));
    e->calibration = arena_take(a, d, sizeof(double));
}

lscm_status kernel_encoder_open(kernel_encoder *e, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    e->memory = (arena){0};
    lay_out(e, &e->memory);
    TRY(arena_open(&e->memory, why));
    lay_out(e, &e->memory);
done:
    return status;
}

void kernel_encoder_close(kernel_encoder *e)
{
    arena_close(&e->memory);
}

/* ---- The encoding at work ---- */

typedef struct encoding {
    const features *f;
    const kernel_settings *settings;
    const lscm_progress *progress;
    kernel_labels labels;
    kernel_space spaces[KERNEL_FAMILIES];
    uint32_t *rows; /* (N): scratch; inputs */
    uint32_t *some; /* (N): scratch */
    double *number; /* (N): scratch */
    kernel_inputs in;
    kernel_exact exact;
    double ridge;
    size_t sd_most; /* rows of S */
    arena memory;
} encoding;

static void lay_out_encoding(encoding *w, arena *a)
{
    w->rows = arena_take(a, w->f->rows, sizeof *w->rows);
    w->some = arena_take(a, w->f->rows, sizeof *w->some);
    w->number = arena_take(a, w->f->rows, sizeof *w->number);
}

static void find_spaces(encoding *w)
{
    for (size_t family = 0; family < KERNEL_FAMILIES; family++) {
        kernel_space *s = w->spaces + family;
        *s = (kernel_space){.family = (kernel_family)family, .R = w->f->R, .centre = w->f->mean};
        s->scale = kernel_scale(s, w->f->rows, w->f->f, w->number);
    }
}

/* See kernel_choice.c. */
static kernel_family choose_family(const kernel_encoder *e, kernel_family asked)
{
    double sum[KERNEL_FAMILIES];
    for (size_t family = 0; family < KERNEL_FAMILIES; family++) {
        sum[family] = e->log_error[family] + e->log_beyond[family];
    }
    kernel_family best =
        sum[KERNEL_HOMOGENEOUS] < sum[KERNEL_BIASED] ? KERNEL_HOMOGENEOUS : KERNEL_BIASED;
    best = e->log_error[KERNEL_LINEAR] <= e->log_error[best] ? KERNEL_LINEAR : best;
    return asked < KERNEL_FAMILIES ? asked : best;
}

/* Rows of f without direction are no labels. */
static void leave_dark(encoding *w, const kernel_space *s)
{
    for (size_t row = 0; row < w->f->rows; row++) {
        double sum = 0;
        for (size_t k = 0; k < s->R; k++) {
            double x = (double)w->f->f[row * s->R + k] / s->scale;
            sum += x * x;
        }
        w->number[row] = sqrt(sum);
    }
    kernel_labels_lit(&w->labels, s, w->number);
}

/* m of the encoder; the inputs in w->rows; room for S. */
static void choose_inputs(encoding *w, kernel_encoder *e)
{
    kernel_labels *l = &w->labels;
    size_t d = w->f->d;
    e->m = w->f->R + 1;
    if (e->space.family == KERNEL_LINEAR) {
        return;
    }
    e->m = kernel_inputs_choose(l, w->settings, w->rows, w->some);
    w->sd_most = w->settings->sd_rows > 0 ? w->settings->sd_rows : SD_ROWS;
    w->sd_most = w->sd_most < e->m ? w->sd_most : e->m;
    for (size_t j = 0; j < d; j++) {
        size_t own = 0;
        for (size_t i = 0; i < e->m; i++) {
            own += l->role[w->rows[i] * d + j] != 0 ? 1 : 0;
        }
        e->sd_count += own < w->sd_most ? own : w->sd_most;
    }
}

/* S_j: some of the inputs that have one of the roles; out has room for all inputs. */
static size_t choose_known(encoding *w, const kernel_encoder *e, size_t j, unsigned roles,
                           uint32_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < e->m; i++) {
        if ((w->labels.role[w->in.row[i] * w->f->d + j] & roles) != 0) {
            out[n++] = (uint32_t)i;
        }
    }
    rng r = stream_of(w->settings->seed, STREAM_KERNEL_SD);
    return kernel_some(out, n, w->sd_most, r, (uint64_t)j * w->f->rows);
}

static lscm_status open_encoder(encoding *w, kernel_encoder *e, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t R = e->space.R;
    size_t most = 0;
    TRY(kernel_encoder_open(e, why));
    memcpy(e->space.centre, w->f->mean, R * sizeof(double));
    for (size_t j = 0; j < e->d; j++) {
        e->usable[j] = w->labels.usable[j];
        e->labels[j] = w->labels.count[j];
        most = w->labels.usable[j] && e->labels[j] > most ? e->labels[j] : most;
    }
    if (e->space.family != KERNEL_LINEAR) {
        for (size_t i = 0; i < e->m; i++) {
            memcpy(e->inputs + i * R, w->f->f + w->rows[i] * R, R * sizeof(float));
        }
        TRY(kernel_inputs_of(&w->in, &e->space, w->f->f, w->rows, e->m, why));
        TRY(kernel_exact_open(&w->exact, &w->in, most, w->settings->on, why));
    }
done:
    return status;
}

static lscm_status solve(encoding *w, kernel_encoder *e, unsigned roles, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const kernel_labels *l = &w->labels;
    if (e->space.family == KERNEL_LINEAR) {
        TRY(kernel_linear_fit(e, l, roles, w->ridge, w->progress, why));
    } else {
        TRY(kernel_exact_fit(&w->exact, e, l, roles, w->ridge, w->progress, why));
    }
done:
    return status;
}

/* ---- What held-out labels say ---- */

/* node_r2, residual and calibration of node j from its held-out rows (n), z (N, d) and their
 * variance in units of u^2 (n) */
static void judge(const encoding *w, kernel_encoder *e, size_t j, const uint32_t *held, size_t n,
                  const double *z, const double *variance)
{
    size_t d = e->d;
    double squares = 0;
    double ratios = 0;
    for (size_t i = 0; i < n; i++) {
        double off = design_value(&w->f->design, held[i], j) - z[held[i] * d + j];
        double expected = e->unit[j] * e->unit[j] * variance[i];
        squares += off * off / (double)n;
        ratios += expected > 0 ? off * off / expected / (double)n : 0;
    }
    e->node_r2[j] = 1 - squares / w->labels.variance[j];
    e->residual[j] = sqrt(squares);
    e->calibration[j] = fmin(fmax(ratios, LEAST_FACTOR), MOST_FACTOR);
}

static lscm_status calibrate(encoding *w, kernel_encoder *e, const double *z, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    kernel_sd known = {0};
    arena scratch = {0};
    float *part = NULL; /* (KERNEL_ROWS, R + 1) */
    double sum = 0;
    size_t judged = 0;
    bool linear = e->space.family == KERNEL_LINEAR;
    for (int placing = 0; placing < 2; placing++) {
        if (placing) {
            TRY(arena_open(&scratch, why));
        }
        part = arena_take(&scratch, linear ? KERNEL_ROWS * e->m : 1, sizeof *part);
    }
    if (!linear) {
        TRY(kernel_sd_open(&known, &e->space, w->sd_most, why));
    }
    for (size_t j = 0; j < e->d; j++) {
        rng r = stream_of(w->settings->seed, STREAM_KERNEL_SD);
        uint32_t *held = w->some;
        TRY(kernel_told(w->progress, "encoding", j, e->d, why));
        if (!e->usable[j] || w->labels.held[j] == 0) {
            continue;
        }
        if (linear) {
            size_t n = kernel_labels_rows(&w->labels, j, KERNEL_HELD, held);
            n = kernel_some(held, n, JUDGED, r, (uint64_t)(e->d + j) * w->f->rows);
            kernel_linear_sd(e, j, w->f->f, held, n, part, w->number, 1);
            judge(w, e, j, held, n, z, w->number);
        } else {
            size_t n = choose_known(w, e, j, KERNEL_TRAIN, held);
            kernel_sd_set(&known, e->inputs, held, n, e->ridge[j]);
            n = kernel_labels_rows(&w->labels, j, KERNEL_HELD, held);
            n = kernel_some(held, n, JUDGED, r, (uint64_t)(e->d + j) * w->f->rows);
            kernel_sd_rows(&known, w->f->f, held, n, w->number, 1);
            judge(w, e, j, held, n, z, w->number);
        }
        sum += e->calibration[j];
        judged++;
    }
    for (size_t j = 0; j < e->d; j++) {
        if (e->usable[j] && w->labels.held[j] == 0) {
            e->calibration[j] = judged > 0 ? sum / (double)judged : 1;
        }
    }
done:
    kernel_sd_close(&known);
    arena_close(&scratch);
    return status;
}

static void put_known(encoding *w, kernel_encoder *e)
{
    for (size_t j = 0; j < e->d; j++) {
        size_t n = 0;
        if (e->usable[j]) {
            e->unit[j] *= sqrt(e->calibration[j]);
            if (e->space.family != KERNEL_LINEAR) {
                n = choose_known(w, e, j, KERNEL_TRAIN | KERNEL_HELD, w->some);
                memcpy(e->sd_row + e->sd_first[j], w->some, n * sizeof *w->some);
            }
        }
        e->sd_first[j + 1] = e->sd_first[j] + n;
    }
}

static void encoding_close(encoding *w)
{
    kernel_exact_close(&w->exact);
    kernel_inputs_close(&w->in);
    kernel_labels_close(&w->labels);
    arena_close(&w->memory);
}

lscm_status kernel_encode(kernel_encoder *out, double *z, double *sd, const features *f,
                          const kernel_settings *settings, const lscm_progress *progress,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    threads_blas_single();
    kernel_encoder e = {.d = f->d};
    encoding w = {.f = f, .settings = settings, .progress = progress};
    lay_out_encoding(&w, &w.memory);
    TRY(arena_open(&w.memory, why));
    lay_out_encoding(&w, &w.memory);
    TRY(kernel_labels_of(&w.labels, f, settings->seed, why));
    find_spaces(&w);
    TRY(kernel_choose(&e, &w.labels, w.spaces, settings, progress, why));
    kernel_family family = choose_family(&e, settings->family);
    e.space = w.spaces[family];
    w.ridge = e.ridge_of[family];
    if (family == KERNEL_HOMOGENEOUS) {
        leave_dark(&w, &e.space);
    }
    choose_inputs(&w, &e);
    TRY(open_encoder(&w, &e, why));
    TRY(solve(&w, &e, KERNEL_TRAIN, why));
    TRY(kernel_apply(&e, f->rows, f->f, z, NULL, progress, why));
    TRY(calibrate(&w, &e, z, why));
    TRY(solve(&w, &e, KERNEL_TRAIN | KERNEL_HELD, why));
    put_known(&w, &e);
    kernel_exact_close(&w.exact); /* the variance needs the room */
    TRY(kernel_apply(&e, f->rows, f->f, z, sd, progress, why));
    *out = e;
    e = (kernel_encoder){0};
done:
    encoding_close(&w);
    kernel_encoder_close(&e);
    threads_blas_restore();
    return status;
}
