/* Family and ridge by held-out labels; per node at most 1 500 rows to learn from and as many held
 * out. The ridge of a family by R2 (1 - mse / variance of the node's labels, at least -1), averaged
 * over nodes; then the family by the typical error,
 *
 *     mean log((v - z)^2 / var v + 1e-8),
 *
 * since R2 would leave the choice to the few rows with large x, where every family is far off: on
 * 39 data sets of bias-free networks, 5 and 10 nodes, it took another family on 8, the typical
 * error on none. Labels rarely reach as far as causal variables that are free, and the two kernels
 * differ most beyond the labels: between them the sum counts of that error and of the same when the
 * smaller half of the labels predicts the larger half of those held out.
 */
#include "base/streams.h"
#include "base/tuned.h"
#include "infer/kernel/kernel_cholesky.h"
#include "infer/kernel/kernel_parts.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { RIDGES = 4, MOST_ROWS = 1500 }; /* rows: more would only take longer */
static const double ridges[RIDGES] = {1e-5, 1e-4, 1e-3, 1e-2};
static const double ALIKE = 1e-8; /* errors over the variance of labels: below, they are alike */

typedef struct choice {
    const kernel_labels *l;
    const lscm_progress *progress;
    double ridge[RIDGES];
    size_t count;           /* of ridges */
    uint32_t *rows;         /* (N): scratch */
    uint32_t *train, *held; /* (most): rows to learn from, and held out */
    uint32_t *lit;          /* (most): of train, those with a direction */
    size_t n, h;            /* of train and held */
    kernel_points a, b;     /* (most): of lit and held */
    float *k;               /* (n, n): lower triangle */
    float *across;          /* (h, n) */
    float *factor;          /* (n, n) */
    float *x;               /* (n): y, then alpha */
    float *z;               /* (h) */
    double *y;              /* (n) */
    double *part;           /* (KERNEL_ROWS, R + 1) */
    double *gram, *lower;   /* (R + 1, R + 1) */
    double *moment, *slope; /* (R + 1) */
    double *cosine;         /* (threads, KERNEL_ROWS, KERNEL_COLUMNS) */
} choice;

static void lay_out(choice *w, arena *a)
{
    const size_t most = MOST_ROWS;
    size_t k = w->l->f->R + 1;
    w->rows = arena_take(a, w->l->f->rows, sizeof *w->rows);
    w->train = arena_take(a, most, sizeof *w->train);
    w->held = arena_take(a, most, sizeof *w->held);
    w->lit = arena_take(a, most, sizeof *w->lit);
    w->a.unit = arena_take(a, most * k, sizeof(double));
    w->a.radius = arena_take(a, most, sizeof(double));
    w->b.unit = arena_take(a, most * k, sizeof(double));
    w->b.radius = arena_take(a, most, sizeof(double));
    w->k = arena_take(a, most * most, sizeof(float));
    w->across = arena_take(a, most * most, sizeof(float));
    w->factor = arena_take(a, most * most, sizeof(float));
    w->x = arena_take(a, most, sizeof(float));
    w->z = arena_take(a, most, sizeof(float));
    w->y = arena_take(a, most, sizeof(double));
    w->part = arena_take(a, KERNEL_ROWS * k, sizeof(double));
    w->gram = arena_take(a, k * k, sizeof(double));
    w->lower = arena_take(a, k * k, sizeof(double));
    w->moment = arena_take(a, k, sizeof(double));
    w->slope = arena_take(a, k, sizeof(double));
    w->cosine =
        arena_take(a, (size_t)omp_get_max_threads() * KERNEL_ROWS * KERNEL_COLUMNS, sizeof(double));
}

static double value(const choice *w, size_t row, size_t j)
{
    return design_value(&w->l->f->design, row, j);
}

typedef struct verdict {
    double r2, log_error;
} verdict;

static const verdict failed = {-1, 0};

/* Of a node at its held-out rows, z (h) predicted. */
static verdict judge(const choice *w, size_t j)
{
    verdict v = {0};
    for (size_t i = 0; i < w->h; i++) {
        double off = value(w, w->held[i], j) - (double)w->z[i];
        double share = off * off / w->l->variance[j];
        v.r2 += share / (double)w->h;
        v.log_error += log(share + ALIKE) / (double)w->h;
    }
    v.r2 = fmax(1 - v.r2, -1);
    return v;
}

static verdict try_linear(choice *w, const kernel_space *s, size_t j, double ridge)
{
    const features *f = w->l->f;
    size_t k = s->R + 1;
    double mean = w->l->mean[j];
    for (size_t i = 0; i < w->n; i++) {
        w->y[i] = value(w, w->train[i], j) - mean;
    }
    kernel_linear_sums(s, f->f, w->train, w->n, w->y, w->part, w->gram, w->moment);
    if (!kernel_linear_solve(k, w->gram, w->moment, ridge, w->lower, w->slope)) {
        return failed;
    }
    for (size_t i = 0; i < w->h; i++) {
        kernel_linear_input(s, f->f + w->held[i] * s->R, w->part);
        w->z[i] = (float)(mean + cblas_ddot((int)k, w->part, 1, w->slope, 1));
    }
    return judge(w, j);
}

/* Rows without direction leave; returns how many stay. */
static size_t keep_lit(const kernel_space *s, uint32_t *rows, const kernel_points *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (kernel_lit(s, p->radius[i])) {
            rows[n++] = rows[i];
        }
    }
    return n;
}

/* Kernels of the node's rows, without those that have no direction. */
static void open_kernel(choice *w, const kernel_space *s)
{
    const features *f = w->l->f;
    memcpy(w->lit, w->train, w->n * sizeof *w->lit);
    w->a.n = w->n;
    w->b.n = w->h;
    w->a.k = w->b.k = kernel_width(s);
    kernel_points_of(s, f->f, w->lit, &w->a);
    w->a.n = keep_lit(s, w->lit, &w->a);
    kernel_points_of(s, f->f, w->lit, &w->a);
    kernel_points_of(s, f->f, w->held, &w->b);
    kernel_triangle(&w->a, w->cosine, w->k, w->a.n);
    kernel_matrix(&w->b, &w->a, w->cosine, w->across);
}

static verdict solve_kernel(choice *w, const kernel_space *s, size_t j, double ridge)
{
    size_t n = w->a.n;
    double shift = kernel_shift(w->l, s->family, j);
    memcpy(w->factor, w->k, n * n * sizeof *w->factor);
    for (size_t i = 0; i < n; i++) {
        w->factor[i * n + i] = (float)(1 + ridge);
        w->x[i] = (float)((value(w, w->lit[i], j) - shift) / w->a.radius[i]);
    }
    if (n == 0 || !kernel_cholesky(w->factor, n)) {
        return failed;
    }
    kernel_cholesky_solve(w->factor, n, w->x);
    cblas_sgemv(CblasRowMajor, CblasNoTrans, (int)w->h, (int)n, 1, w->across, (int)n, w->x, 1, 0,
                w->z, 1);
    for (size_t i = 0; i < w->h; i++) {
        w->z[i] = (float)(shift + w->b.radius[i] * (double)w->z[i]);
    }
    return judge(w, j);
}

static verdict try_kernel(choice *w, const kernel_space *s, size_t j, double ridge)
{
    open_kernel(w, s);
    return solve_kernel(w, s, j, ridge);
}

/* Adds the verdicts on each ridge to sums (count). */
static void try_ridges(choice *w, const kernel_space *s, size_t j, verdict *sums)
{
    bool linear = s->family == KERNEL_LINEAR;
    if (!linear) {
        open_kernel(w, s);
    }
    for (size_t t = 0; t < w->count; t++) {
        double ridge = w->ridge[t];
        verdict v = linear ? try_linear(w, s, j, ridge) : solve_kernel(w, s, j, ridge);
        sums[t].r2 += v.r2;
        sums[t].log_error += v.log_error;
    }
}

static void take_rows(choice *w, size_t j, uint64_t seed)
{
    size_t N = w->l->f->rows;
    size_t most = MOST_ROWS;
    rng r = stream_of(seed, STREAM_KERNEL_CHOICE);
    size_t n = kernel_labels_rows(w->l, j, KERNEL_TRAIN, w->rows);
    w->n = kernel_some(w->rows, n, most, r, 2 * j * N);
    memcpy(w->train, w->rows, w->n * sizeof *w->rows);
    n = kernel_labels_rows(w->l, j, KERNEL_HELD, w->rows);
    w->h = kernel_some(w->rows, n, most, r, (2 * j + 1) * N);
    memcpy(w->held, w->rows, w->h * sizeof *w->rows);
}

/* Node j has labels to learn from and labels held out. */
static bool tells(const kernel_labels *l, size_t j)
{
    return l->usable[j] && l->held[j] > 0 && l->held[j] < l->count[j];
}

static int ascending(const void *left, const void *right)
{
    const double *a = left;
    const double *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Labels nearer to the mean than half of them are learned from, the others held out; false when one
 * side has too few. */
static bool halve(choice *w, size_t j)
{
    double mean = w->l->mean[j];
    size_t n = 0;
    size_t h = 0;
    for (size_t i = 0; i < w->n; i++) {
        w->y[i] = fabs(value(w, w->train[i], j) - mean);
    }
    qsort(w->y, w->n, sizeof *w->y, ascending);
    double near = w->n > 0 ? w->y[w->n / 2] : 0;
    for (size_t i = 0; i < w->n; i++) {
        if (fabs(value(w, w->train[i], j) - mean) <= near) {
            w->train[n++] = w->train[i];
        }
    }
    for (size_t i = 0; i < w->h; i++) {
        if (fabs(value(w, w->held[i], j) - mean) > near) {
            w->held[h++] = w->held[i];
        }
    }
    w->n = n;
    w->h = h;
    return n >= tuned_kernel_least_labels() && h >= tuned_kernel_least_labels();
}

/* The best ridge of each family, and what it says; nodes: that tell. */
static lscm_status choose_ridges(choice *w, kernel_encoder *e, const kernel_space *spaces,
                                 const kernel_settings *settings, size_t *nodes, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = w->l->f->d;
    verdict sums[KERNEL_FAMILIES][RIDGES] = {{{0}}};
    for (size_t j = 0; j < d; j++) {
        TRY(kernel_told(w->progress, "choosing the encoder", j, 2 * d, why));
        if (tells(w->l, j)) {
            ++*nodes;
            take_rows(w, j, settings->seed);
            for (size_t family = 0; family < KERNEL_FAMILIES; family++) {
                try_ridges(w, spaces + family, j, sums[family]);
            }
        }
    }
    for (size_t family = 0; family < KERNEL_FAMILIES; family++) {
        size_t best = w->count > 1 ? 1 : 0; /* 1e-4 unless another is better */
        for (size_t t = 0; t < w->count; t++) {
            best = sums[family][t].r2 > sums[family][best].r2 ? t : best;
        }
        e->ridge_of[family] = w->ridge[best];
        e->r2[family] = sums[family][best].r2 / fmax((double)*nodes, 1);
        e->log_error[family] = sums[family][best].log_error / fmax((double)*nodes, 1);
    }
done:
    return status;
}

/* The same beyond the labels, of the families that bend. */
static lscm_status look_beyond(choice *w, kernel_encoder *e, const kernel_space *spaces,
                               const kernel_settings *settings, size_t nodes, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = w->l->f->d;
    for (size_t j = 0; j < d; j++) {
        TRY(kernel_told(w->progress, "choosing the encoder", d + j, 2 * d, why));
        if (!tells(w->l, j)) {
            continue;
        }
        take_rows(w, j, settings->seed);
        bool both = halve(w, j);
        for (size_t family = 1; both && family < KERNEL_FAMILIES; family++) {
            verdict v = try_kernel(w, spaces + family, j, e->ridge_of[family]);
            e->log_beyond[family] += v.log_error / (double)nodes;
        }
    }
done:
    return status;
}

lscm_status kernel_choose(kernel_encoder *e, const kernel_labels *l, const kernel_space *spaces,
                          const kernel_settings *settings, const lscm_progress *progress,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena memory = {0};
    choice *w = NULL;
    choice measured = {.l = l, .progress = progress};
    size_t nodes = 0;
    lay_out(&measured, &memory);
    (void)arena_take(&memory, 1, sizeof *w);
    TRY(arena_open(&memory, why));
    lay_out(&measured, &memory);
    w = arena_take(&memory, 1, sizeof *w);
    *w = measured;
    w->count = settings->ridge > 0 ? 1 : RIDGES;
    for (size_t t = 0; t < w->count; t++) {
        w->ridge[t] = settings->ridge > 0 ? settings->ridge : ridges[t];
    }
    TRY(choose_ridges(w, e, spaces, settings, &nodes, why));
    TRY(look_beyond(w, e, spaces, settings, nodes, why));
done:
    arena_close(&memory);
    return status;
}
