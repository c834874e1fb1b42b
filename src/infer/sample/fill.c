#include "infer/sample/fill.h"

#include "base/streams.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

static const double LEAST_NOISE = 1e-10;   /* of x, beside the least that the model leaves open */
static const double LEAST_ACTUATOR = 1e-3; /* in units of s_i: no more than rounding of a label */

typedef struct fill_work {
    linear_view *s;
    const fill_law *law;
    double *own;       /* (batches, d): a_ik */
    double *rows;      /* (batches): how many each has */
    double *precision; /* (d, d): L of the set in hand, .. */
    double *seen;      /* (r, r): .. and P */
    double *pinned;    /* (2, d): mean and precision of what do() set; 0 at those that are free */
    double noise;      /* s_x^2 */
    size_t part;       /* doubles of .. */
    double *parts;     /* (threads, part): scratch of a row */
    arena memory;
} fill_work;

static void lay_out(fill_work *w)
{
    arena *a = &w->memory;
    size_t d = w->s->d;
    size_t r = w->s->rank;
    w->part = 2 * d + 3 * r + r * r;
    w->own = arena_take(a, design_batches(&w->s->design) * d, sizeof(double));
    w->rows = arena_take(a, design_batches(&w->s->design), sizeof(double));
    w->precision = arena_take(a, d * d, sizeof(double));
    w->seen = arena_take(a, 2 * r * (r > d ? r : d), sizeof(double));
    w->pinned = arena_take(a, 2 * d, sizeof(double));
    w->parts = arena_take(a, (size_t)omp_get_max_threads() * w->part, sizeof(double));
}

/* z (d) of a row. */
static void encode(const fill_work *w, size_t row, double *z)
{
    const linear_view *s = w->s;
    memcpy(z, w->law->shift, s->d * sizeof *z);
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)s->rank, (int)s->d, 1, w->law->slope, (int)s->d,
                s->y + row * s->rank, 1, 1, z, 1);
}

/* What batches have of their own, given z as it stands: their mean residuals, shrunk. */
static void draw_own(const fill_work *w, rng random)
{
    const linear_view *s = w->s;
    const mechanism_model *m = &w->law->model;
    size_t d = s->d;
    double *z = w->parts;
    bool any = false;
    for (size_t i = 0; i < d; i++) {
        any = any || w->law->effect[i] > 0;
    }
    for (size_t row = 0; row < s->rows && any; row++) {
        size_t batch = design_batch(&s->design, row);
        encode(w, row, z);
        w->rows[batch] += 1;
        for (size_t i = 0; i < d; i++) {
            w->own[batch * d + i] += mechanism_residual(m, i, z);
        }
    }
    for (size_t k = 0; k < design_batches(&s->design) * d && any; k++) {
        double effect = w->law->effect[k % d];
        double noise = m->sigma[k % d] * m->sigma[k % d];
        double precision = w->rows[k / d] / noise + 1 / (effect * effect);
        double drawn = w->own[k] / noise / precision + rng_normal(random, k) / sqrt(precision);
        w->own[k] = effect > 0 ? drawn : 0;
    }
}

/* Adds v_i'v_i / s_i^2 to L (d, d), whole; v_i is e_i - w_.i. */
static void add_mechanism(const mechanism_model *m, size_t i, double *precision)
{
    size_t d = m->d;
    double weight = 1 / (m->sigma[i] * m->sigma[i]);
    for (size_t a = 0; a < d; a++) {
        double left = (a == i ? 1 : 0) - m->w[a * d + i];
        for (size_t b = 0; b < d && left != 0; b++) {
            precision[a * d + b] += weight * left * ((b == i ? 1 : 0) - m->w[b * d + i]);
        }
    }
}

/* P = B L B' */
static void to_view(const fill_work *w)
{
    int d = (int)w->s->d;
    int r = (int)w->s->rank;
    double *product = w->seen + (size_t)(r * r); /* (r, d) */
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, r, d, d, 1, w->law->slope, d,
                w->precision, d, 0, product, d);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, r, r, d, 1, product, d, w->law->slope, d,
                0, w->seen, r);
}

static double most_of(const double *square, size_t n)
{
    double most = 0;
    for (size_t k = 0; k < n; k++) {
        most = fmax(most, square[k * n + k]);
    }
    return most;
}

/* Whether values of do() on an observed variable were recorded beside it. */
static bool told(const linear_view *s, size_t node)
{
    return s->told != NULL && s->told[s->rows * s->d + node] >= 0;
}

/* L and P of a set. */
static void begin_set(fill_work *w, size_t set)
{
    const linear_view *s = w->s;
    const uint8_t *target = s->design.target + set * s->d;
    const mechanism_model *m = &w->law->model;
    memset(w->precision, 0, s->d * s->d * sizeof(double));
    memset(w->pinned, 0, 2 * s->d * sizeof(double));
    for (size_t i = 0; i < s->d; i++) {
        if (target[i] == 0) {
            add_mechanism(m, i, w->precision);
        }
    }
    to_view(w);
    double most = fmax(most_of(w->seen, s->rank), 1e-300);
    w->noise = fmax(s->x_noise * s->x_noise, LEAST_NOISE / most);
    for (size_t i = 0; i < s->d; i++) {
        double sd = fmax(w->law->actuator_noise, LEAST_ACTUATOR * m->sigma[i]);
        if (target[i] != 0 && s->kind == VIEW_OBSERVED) {
            column_spread values = {0};
            linear_view_column(s, set, i, &values);
            w->pinned[i] = values.mean;
            double variance = told(s, i) ? s->told[s->rows * s->d + i] : values.squares / values.n;
            sd = fmax(sqrt(variance), sd);
        }
        w->pinned[s->d + i] = target[i] != 0 ? 1 / (sd * sd) : 0;
        w->precision[i * s->d + i] += w->pinned[s->d + i];
    }
    to_view(w);
}

/* h - a L (d) of a row. */
static void pull_of(const fill_work *w, size_t row, double *pull)
{
    const linear_view *s = w->s;
    const mechanism_model *m = &w->law->model;
    size_t d = s->d;
    const double *own = w->own + design_batch(&s->design, row) * d;
    for (size_t b = 0; b < d; b++) {
        bool set = w->pinned[d + b] > 0;
        double at = !set                       ? 0
                    : s->kind != VIEW_OBSERVED ? design_value(&s->design, row, b)
                    : told(s, b)               ? s->told[row * d + b]
                                               : w->pinned[b];
        pull[b] = at * w->pinned[d + b];
    }
    for (size_t i = 0; i < d; i++) {
        double weight = (m->intercept[i] + own[i]) / (m->sigma[i] * m->sigma[i]);
        for (size_t b = 0; b < d && !(w->pinned[d + i] > 0); b++) {
            pull[b] += weight * ((b == i ? 1 : 0) - m->w[b * d + i]);
        }
    }
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)d, (int)d, -1, w->precision, (int)d,
                w->law->shift, 1, 1, pull, 1);
}

/* Mean and variance of z (d) of a row with this law of y. scratch (r). */
static void z_of(const fill_work *w, const view_row_law *law, double *scratch, double *mean,
                 double *variance)
{
    int d = (int)w->s->d;
    int r = (int)w->s->rank;
    for (int j = 0; j < d; j++) {
        cblas_dcopy(r, w->law->slope + j, d, scratch, 1);
        mean[j] = w->law->shift[j] + cblas_ddot(r, scratch, 1, law->mean, 1);
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, r, law->factor, r,
                    scratch, 1);
        variance[j] = law->noise * cblas_ddot(r, scratch, 1, scratch, 1);
    }
}

static void fill_row(const fill_work *w, size_t row, rng random, double *mean, double *variance)
{
    linear_view *s = w->s;
    int d = (int)s->d;
    int r = (int)s->rank;
    double *pull = w->parts + (size_t)omp_get_thread_num() * w->part;
    double *seen = pull + 2 * s->d; /* (r): B pull, then the draw */
    double *scratch = seen + r;
    double *middle = scratch + r;
    const view_row_law law = {.precision = w->seen,
                              .pull = seen,
                              .noise = w->noise,
                              .factor = middle + r,
                              .mean = middle};
    pull_of(w, row, pull);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, r, d, 1, w->law->slope, d, pull, 1, 0, seen, 1);
    linear_view_row(s, row, &law);
    if (mean != NULL) {
        z_of(w, &law, scratch, mean + row * s->d, variance + row * s->d);
    }
    rng_normals(stream_part(random, 1), row * s->rank, s->rank, seen);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, r, law.factor, r, seen, 1);
    cblas_dscal(r, sqrt(w->noise), seen, 1);
    cblas_daxpy(r, 1, middle, 1, seen, 1);
    linear_view_complete(s, row, seen, s->x_noise, stream_part(random, 2));
    for (size_t i = 0; i < s->d && s->kind == VIEW_OBSERVED; i++) {
        if (design_is_set(&s->design, row, i)) {
            s->design.value[row * s->d + i] = s->y[row * s->d + i];
        }
    }
}

lscm_status fill_draw(linear_view *s, const fill_law *law, rng random, double *mean,
                      double *variance, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    fill_work w = {.s = s, .law = law};
    const design *by = &s->design;
    lay_out(&w);
    TRY(arena_open(&w.memory, why));
    lay_out(&w);
    draw_own(&w, stream_part(random, 3));
    for (size_t set = 0; set < by->sets; set++) {
        begin_set(&w, set);
#pragma omp parallel for schedule(static)
        for (size_t k = by->first[set]; k < by->first[set + 1]; k++) {
            if (linear_view_lacks(s, by->row[k])) {
                fill_row(&w, by->row[k], random, mean, variance);
            }
        }
    }
done:
    arena_close(&w.memory);
    return status;
}
