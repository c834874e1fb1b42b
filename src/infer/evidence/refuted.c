#include "infer/evidence/refuted.h"

#include "base/quantile.h"
#include "base/threads.h"
#include "base/tuned.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { CUBIC = 4 };

/* Rows of one pair, and what draws say of them. */
typedef struct scratch {
    size_t *draw;        /* (most draws): those that have the edge */
    size_t draws, used;  /* .. and rows with p set */
    double *y, *g, *z_p; /* (rows): with p set */
    size_t *batch;       /* (rows) */
    double *own;         /* (most draws, rows): g of each draw */
    double *curve;       /* (rows, CUBIC) */
    double *other;       /* (d) */
    double *sum, *count; /* (batches) */
    double *sorted;      /* (batches) */
} scratch;

typedef struct refuting {
    const anchored_input *in;
    const anchored *a;
    size_t stride, most; /* every so-manieth row of a set; rows that are then used */
    scratch *scratch;    /* (threads) */
    arena memory;
} refuting;

static void lay_out(refuting *r, size_t threads)
{
    arena *m = &r->memory;
    size_t batches = design_batches(&r->in->view->design);
    size_t draws = tuned_refute_draws();
    r->scratch = arena_take(m, threads, sizeof *r->scratch);
    for (size_t t = 0; t < threads; t++) {
        scratch s = {
            .draw = arena_take(m, draws, sizeof(size_t)),
            .y = arena_take(m, r->most, sizeof(double)),
            .g = arena_take(m, r->most, sizeof(double)),
            .z_p = arena_take(m, r->most, sizeof(double)),
            .batch = arena_take(m, r->most, sizeof(size_t)),
            .own = arena_take(m, draws * r->most, sizeof(double)),
            .curve = arena_take(m, CUBIC * r->most, sizeof(double)),
            .other = arena_take(m, r->a->d, sizeof(double)),
            .sum = arena_take(m, batches, sizeof(double)),
            .count = arena_take(m, batches, sizeof(double)),
            .sorted = arena_take(m, batches, sizeof(double)),
        };
        if (r->scratch != NULL) {
            r->scratch[t] = s;
        }
    }
}

static mechanism_model model_of(const anchored *a, size_t k)
{
    return (mechanism_model){.d = a->d,
                             .w = a->w + k * a->d * a->d,
                             .intercept = a->intercept + k * a->d,
                             .bent = a->bent.terms > 0 ? &a->bent : NULL,
                             .draw = k};
}

/* Draws with p -> i, far apart. */
static void choose_draws(const anchored *a, size_t p, size_t i, scratch *s)
{
    size_t most = tuned_refute_draws();
    s->draws = 0;
    for (size_t n = 0; n < most; n++) {
        size_t first = n * a->draws / most;
        size_t past = (n + 1) * a->draws / most;
        size_t k = first;
        while (k < past && a->w[(k * a->d + p) * a->d + i] == 0) {
            k++;
        }
        if (k < past) {
            s->draw[s->draws++] = k;
        }
    }
}

static bool is_used(const refuting *r, size_t row, size_t i)
{
    return row_counts(r->in->keep, row) && !design_is_set(&r->in->view->design, row, i);
}

/* The mean of z_p where neither is set; NAN where there are no such rows. */
static double middle_of(const refuting *r, size_t p, size_t i)
{
    const design *by = &r->in->view->design;
    double mean = 0;
    double rows = 0;
    for (size_t at = 0; at < by->rows; at += r->stride) {
        size_t row = by->row[at];
        if (is_used(r, row, i) && !design_is_set(by, row, p)) {
            rows += 1;
            mean += (r->a->z[row * r->a->d + p] - mean) / rows;
        }
    }
    return rows > 0 ? mean : (double)NAN;
}

/* Mean residual over the draws; where p is set, g of each, too. */
static double residual_of(const refuting *r, size_t p, size_t i, double middle, size_t row,
                          scratch *s)
{
    const anchored *a = r->a;
    const double *z = a->z + row * a->d;
    bool set = design_is_set(&r->in->view->design, row, p);
    double sum = 0;
    double g = 0;
    memcpy(s->other, z, a->d * sizeof *z);
    s->other[p] = middle;
    for (size_t k = 0; k < s->draws; k++) {
        const mechanism_model m = model_of(a, s->draw[k]);
        double rest = mechanism_residual(&m, i, z);
        sum += rest;
        if (set) {
            s->own[k * r->most + s->used] = mechanism_residual(&m, i, s->other) - rest;
            g += s->own[k * r->most + s->used];
        }
    }
    if (set) {
        s->g[s->used] = g / (double)s->draws;
        s->z_p[s->used] = z[p];
    }
    return sum / (double)s->draws;
}

/* y, g and z_p of the rows with p set; sums of residuals where it is free. */
static void gather(const refuting *r, size_t p, size_t i, double middle, scratch *s)
{
    const design *by = &r->in->view->design;
    size_t batches = design_batches(by);
    memset(s->sum, 0, batches * sizeof *s->sum);
    memset(s->count, 0, batches * sizeof *s->count);
    s->used = 0;
    for (size_t at = 0; at < by->rows; at += r->stride) {
        size_t row = by->row[at];
        size_t batch = design_batch(by, row);
        if (!is_used(r, row, i)) {
            continue;
        }
        double rest = residual_of(r, p, i, middle, row, s);
        if (design_is_set(by, row, p)) {
            s->y[s->used] = rest + s->g[s->used];
            s->batch[s->used++] = batch;
        } else {
            s->sum[batch] += rest;
            s->count[batch] += 1;
        }
    }
}

/* Counts y from the mean residual where p is free; returns the variance of what sets have of their
 * own, beyond what noise makes of their means. Of few sets the model's. */
static double centre(const refuting *r, size_t i, double sigma, scratch *s)
{
    enum { FEW = 3 };
    const anchored *a = r->a;
    size_t batches = design_batches(&r->in->view->design);
    size_t sets = 0;
    double mean = 0;
    double rows = 0;
    double effect = 0;
    for (size_t k = 0; k < batches; k++) {
        mean += s->sum[k];
        rows += s->count[k];
    }
    mean /= rows;
    for (size_t k = 0; k < s->used; k++) {
        s->y[k] -= mean;
    }
    for (size_t k = 0; k < batches; k++) {
        if (s->count[k] > 0) {
            double away = s->sum[k] / s->count[k] - mean;
            s->sorted[sets++] = away * away - sigma * sigma / s->count[k];
        }
    }
    for (size_t k = 0; k < s->draws; k++) {
        double own = a->effect[s->draw[k] * a->d + i];
        effect += own * own / (double)s->draws;
    }
    if (sets < FEW) {
        return effect;
    }
    const double median = 0.4549; /* of chi2 with one degree of freedom */
    qsort(s->sorted, sets, sizeof *s->sorted, quantile_compare);
    return fmax(0, quantile_of_sorted(s->sorted, sets, 0.5) / median);
}

/* Makes a_k + e of one variance sigma^2, and its rows independent: what a set has in common counts
 * less by theta_k = sigma/sqrt(sigma^2 + n_k tau^2). */
static void even_out(const scratch *s, size_t batches, double tau, double *column)
{
    memset(s->sum, 0, batches * sizeof *s->sum);
    memset(s->count, 0, batches * sizeof *s->count);
    for (size_t k = 0; k < s->used; k++) {
        s->sum[s->batch[k]] += column[k];
        s->count[s->batch[k]] += 1;
    }
    for (size_t k = 0; k < s->used; k++) {
        double n = s->count[s->batch[k]];
        double theta = 1 / sqrt(1 + n * tau);
        column[k] -= (1 - theta) * s->sum[s->batch[k]] / n;
    }
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

/* What is left of sum y^2 once a cubic of z_p is taken off; *taken: how many of its terms tell
 * anything. */
static double less_cubic(const scratch *s, size_t batches, double tau, size_t *taken)
{
    size_t n = s->used;
    double left = dot(s->y, s->y, n);
    double mean = 0;
    double spread = 0;
    *taken = 0;
    for (size_t k = 0; k < n; k++) {
        mean += s->z_p[k] / (double)n;
    }
    for (size_t k = 0; k < n; k++) {
        spread += (s->z_p[k] - mean) * (s->z_p[k] - mean) / (double)n;
    }
    for (size_t c = 0; c < CUBIC; c++) {
        double *own = s->curve + *taken * n;
        for (size_t k = 0; k < n; k++) {
            double u = spread > 0 ? (s->z_p[k] - mean) / sqrt(spread) : 0;
            own[k] = c == 0 ? 1 : c == 1 ? u : c == 2 ? u * u : u * u * u;
        }
        even_out(s, batches, tau, own);
        for (size_t b = 0; b < *taken; b++) {
            cblas_daxpy((int)n, -dot(own, s->curve + b * n, n), s->curve + b * n, 1, own, 1);
        }
        double length = dot(own, own, n);
        if (length > 1e-9 * (double)n) {
            double along = dot(own, s->y, n) / sqrt(length);
            cblas_dscal((int)n, 1 / sqrt(length), own, 1);
            left -= along * along;
            *taken += 1;
        }
    }
    return fmax(left, 0);
}

/* How much s = sum g y/sum g^2 differs from draw to draw, in variance: that of the size of g. */
static double spread_of(const scratch *s, size_t most, double gg)
{
    double square = 0;
    for (size_t k = 0; k < s->draws; k++) {
        double size = dot(s->own + k * most, s->g, s->used) / gg;
        square += (size - 1) * (size - 1) / (double)s->draws;
    }
    return square;
}

/* s where p -> i is refuted, else NAN. */
static double weigh(const refuting *r, size_t p, size_t i, scratch *s)
{
    const anchored *a = r->a;
    size_t batches = design_batches(&r->in->view->design);
    double middle = middle_of(r, p, i);
    double sigma = 0;
    size_t taken = 0;
    choose_draws(a, p, i, s);
    if (s->draws == 0 || isnan(middle)) {
        return (double)NAN;
    }
    for (size_t k = 0; k < s->draws; k++) {
        sigma += a->sigma[s->draw[k] * a->d + i] / (double)s->draws;
    }
    gather(r, p, i, middle, s);
    double tau = centre(r, i, sigma, s) / (sigma * sigma);
    even_out(s, batches, tau, s->y);
    even_out(s, batches, tau, s->g);
    for (size_t k = 0; k < s->draws; k++) {
        even_out(s, batches, tau, s->own + k * r->most);
    }
    double gg = dot(s->g, s->g, s->used);
    double left = less_cubic(s, batches, tau, &taken);
    if (!(gg > 0) || s->used <= (size_t)2 * CUBIC) {
        return (double)NAN;
    }
    double noise = left / (double)(s->used - taken);
    double found = dot(s->y, s->y, s->used) - left - noise * (double)taken;
    double share = dot(s->g, s->y, s->used) / gg;
    double v = noise / gg + spread_of(s, r->most, gg);
    bool refuted = (1 - 2 * share) / (2 * v) > tuned_refute_least() && found < gg / 4;
    return refuted ? share : (double)NAN;
}

lscm_status refuted_edges(double *share, size_t *count, const anchored_input *in, const anchored *a,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = a->d;
    size_t rows = in->view->rows;
    refuting r = {.in = in, .a = a, .stride = rows / tuned_refute_rows() + 1};
    size_t threads = (size_t)omp_get_max_threads();
    r.most = rows / r.stride + 1;
    *count = 0;
    lay_out(&r, threads);
    TRY(arena_open(&r.memory, why));
    lay_out(&r, threads);
    threads_blas_single();
#pragma omp parallel for schedule(dynamic)
    for (size_t k = 0; k < d * d; k++) {
        bool asked = a->edge_prob[k] > 0.5 && (in->required == NULL || in->required[k] == 0) &&
                     a->anchor.samples[k / d] > 0;
        share[k] = asked ? weigh(&r, k / d, k % d, &r.scratch[omp_get_thread_num()]) : (double)NAN;
    }
    threads_blas_restore();
    for (size_t k = 0; k < d * d; k++) {
        *count += isnan(share[k]) ? 0 : 1;
    }
done:
    arena_close(&r.memory);
    return status;
}
