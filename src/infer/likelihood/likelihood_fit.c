#include "infer/likelihood/likelihood_fit.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <string.h>

static const double STEP = 1e-5;     /* of differences, relative to theta .. */
static const double LEAST = 0.1;     /* .. or to this, in units of the nodes */
static const double LEVEL = 1e-4;    /* log p that is still to be gained at a maximum */
static const double SINGULAR = 1e-8; /* eigenvalues of H, scaled, that count as this */
enum { STEPS = 200, HALVINGS = 30 };

void likelihood_fit_lay_out(likelihood_fit *f, arena *a, size_t d)
{
    likelihood_at at = likelihood_layout(d);
    likelihood_quadratic *q = &f->quadratic;
    size_t number = sizeof(double);
    f->threads = (size_t)omp_get_max_threads();
    f->theta = arena_take(a, at.count, number);
    f->information = arena_take(a, at.count * at.count, number);
    f->active = arena_take(a, at.count, sizeof(size_t));
    f->metric = arena_take(a, at.count * at.count, number);
    f->vectors = arena_take(a, 8 * at.count, number);
    f->eigen = arena_take(a, at.count * at.count, number);
    f->work = arena_take(a, f->threads * (likelihood_work(d) + 3 * at.count), number);
    q->d = d;
    q->nuisances = at.weight;
    q->theta = arena_take(a, at.count, number);
    q->root = arena_take(a, at.weight * at.weight, number);
    q->across = arena_take(a, at.weight * d * d, number);
    q->along = arena_take(a, at.weight, number);
    q->l = arena_take(a, d * d * d * d, number);
    q->h = arena_take(a, d * d, number);
}

/* Whether theta[k] is the weight of a node on itself, which is none. */
static bool is_own(size_t d, size_t k)
{
    size_t first = likelihood_layout(d).weight;
    return k >= first && (k - first) / d == (k - first) % d;
}

/* Whether to go on. Of the threads the first reports. */
static bool told_to_go_on(likelihood_fit *f, size_t *done, size_t total)
{
    const lscm_progress *p = f->progress;
    size_t at = 0;
    bool stopped = false;
#pragma omp atomic capture
    at = (*done)++;
    if (omp_get_thread_num() == 0 && p != NULL && p->report != NULL &&
        !p->report(p->self, "likelihood", at, total)) {
#pragma omp atomic write
        f->stopped = true;
    }
#pragma omp atomic read
    stopped = f->stopped;
    return !stopped;
}

void likelihood_information(likelihood_fit *f)
{
    size_t d = f->sums->d;
    size_t n = likelihood_layout(d).count;
    size_t room = likelihood_work(d) + 3 * n;
    size_t done = 0;
#pragma omp parallel for schedule(dynamic, 4)
    for (size_t k = 0; k < n; k++) {
        double *work = f->work + (size_t)omp_get_thread_num() * room;
        double *theta = work + likelihood_work(d);
        double *above = theta + n;
        double *below = above + n;
        double step = STEP * fmax(fabs(f->theta[k]), LEAST);
        if (is_own(d, k) || !told_to_go_on(f, &done, n)) {
            continue;
        }
        memcpy(theta, f->theta, n * sizeof(double));
        theta[k] = f->theta[k] + step;
        (void)likelihood_value(f->sums, &f->fixed, theta, above, work);
        theta[k] = f->theta[k] - step;
        (void)likelihood_value(f->sums, &f->fixed, theta, below, work);
        for (size_t i = 0; i < n; i++) {
            f->information[k * n + i] = (below[i] - above[i]) / (2 * step);
        }
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < k; i++) {
            double mean = (f->information[k * n + i] + f->information[i * n + k]) / 2;
            f->information[k * n + i] = f->information[i * n + k] = mean;
        }
    }
}

/* ---- The maximum ---- */

static size_t find_active(likelihood_fit *f, const uint32_t *parents)
{
    size_t d = f->sums->d;
    likelihood_at at = likelihood_layout(d);
    size_t n = 0;
    for (size_t k = 0; k < at.count; k++) {
        size_t e = k - at.weight;
        bool moves = k < at.weight || (parents[e % d] >> (e / d) & 1) != 0;
        if (moves) {
            f->active[n++] = k;
        } else {
            f->theta[k] = 0;
        }
    }
    return n;
}

/* metric = |H|^-1 of what is active, by eigenvectors of H scaled to a diagonal of 1. */
static bool find_metric(likelihood_fit *f, size_t n)
{
    size_t all = likelihood_layout(f->sums->d).count;
    double *scale = f->vectors;
    double *value = f->vectors + all;
    for (size_t i = 0; i < n; i++) {
        double own = fabs(f->information[f->active[i] * all + f->active[i]]);
        scale[i] = own > 0 ? sqrt(own) : 1;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < n; c++) {
            double h = f->information[f->active[i] * all + f->active[c]];
            f->eigen[i * n + c] = h / (scale[i] * scale[c]);
        }
    }
    if (LAPACKE_dsyevd(LAPACK_ROW_MAJOR, 'V', 'U', (int)n, f->eigen, (int)n, value) != 0) {
        return false;
    }
    memset(f->metric, 0, n * n * sizeof(double));
    for (size_t e = 0; e < n; e++) {
        double weight = 1 / fmax(fabs(value[e]), SINGULAR);
        cblas_dsyr(CblasRowMajor, CblasUpper, (int)n, weight, f->eigen + e, (int)n, f->metric,
                   (int)n);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t c = i; c < n; c++) {
            f->metric[i * n + c] /= scale[i] * scale[c];
            f->metric[c * n + i] = f->metric[i * n + c];
        }
    }
    return true;
}

/* Lets the metric know what a step did to the gradient (BFGS). */
static void learn(double *metric, size_t n, const double *step, const double *change, double *room)
{
    double along = cblas_ddot((int)n, step, 1, change, 1);
    if (!(along > 0)) {
        return;
    }
    cblas_dsymv(CblasRowMajor, CblasUpper, (int)n, 1, metric, (int)n, change, 1, 0, room, 1);
    double twice = (1 + cblas_ddot((int)n, change, 1, room, 1) / along) / along;
    cblas_dsyr(CblasRowMajor, CblasUpper, (int)n, twice, step, 1, metric, (int)n);
    cblas_dsyr2(CblasRowMajor, CblasUpper, (int)n, -1 / along, step, 1, room, 1, metric, (int)n);
}

/* The farthest of step, step/2, .. that gains what it should; its length, 0 where none does. */
static double search(likelihood_fit *f, size_t n, const double *step, double slope, double *value,
                     double *theta, double *gradient)
{
    size_t all = likelihood_layout(f->sums->d).count;
    double length = 1;
    for (size_t k = 0; k < HALVINGS; k++) {
        memcpy(theta, f->theta, all * sizeof(double));
        for (size_t i = 0; i < n; i++) {
            theta[f->active[i]] += length * step[i];
        }
        double there = likelihood_value(f->sums, &f->fixed, theta, gradient, f->work);
        if (there >= *value + 1e-4 * length * slope) {
            *value = there;
            return length;
        }
        length /= 2;
    }
    return 0;
}

bool likelihood_maximise(likelihood_fit *f, const uint32_t *parents, double *out)
{
    size_t all = likelihood_layout(f->sums->d).count;
    size_t n = find_active(f, parents);
    double *gradient = f->vectors + 2 * all;
    double *step = f->vectors + 3 * all;
    double *theta = f->vectors + 4 * all;
    double *next = f->vectors + 5 * all;
    double *change = f->vectors + 6 * all;
    double *room = f->vectors + 7 * all;
    *out = likelihood_value(f->sums, &f->fixed, f->theta, gradient, f->work);
    if (!isfinite(*out) || !find_metric(f, n)) {
        return false;
    }
    for (size_t k = 0; k < STEPS; k++) {
        for (size_t i = 0; i < n; i++) {
            room[i] = gradient[f->active[i]];
        }
        cblas_dsymv(CblasRowMajor, CblasUpper, (int)n, 1, f->metric, (int)n, room, 1, 0, step, 1);
        double slope = cblas_ddot((int)n, room, 1, step, 1);
        if (!(slope > 2 * LEVEL)) {
            return slope >= 0;
        }
        double length = search(f, n, step, slope, out, theta, next);
        if (!(length > 0)) {
            return slope < 2; /* rounding, or no maximum */
        }
        for (size_t i = 0; i < n; i++) {
            step[i] *= length;
            change[i] = gradient[f->active[i]] - next[f->active[i]];
        }
        learn(f->metric, n, step, change, room);
        memcpy(f->theta, theta, all * sizeof(double));
        memcpy(gradient, next, all * sizeof(double));
    }
    return false;
}

/* ---- The quadratic ---- */

/* Whether L is positive, pairs of a node and itself left out; what is not becomes so, as little as
 * need be: where L is scaled to a diagonal of 1, eigenvalues are at least SINGULAR. */
static bool make_positive(likelihood_fit *f)
{
    likelihood_quadratic *q = &f->quadratic;
    size_t dd = q->d * q->d;
    size_t n = 0;
    double *scale = f->vectors;
    double *value = f->vectors + dd;
    for (size_t e = 0; e < dd; e++) {
        if (e / q->d != e % q->d) {
            scale[n] = sqrt(fabs(q->l[e * dd + e]));
            scale[n] = scale[n] > 0 ? scale[n] : 1;
            f->active[n++] = e;
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < n; c++) {
            double l = q->l[f->active[i] * dd + f->active[c]];
            f->eigen[i * n + c] = l / (scale[i] * scale[c]);
        }
    }
    if (LAPACKE_dsyevd(LAPACK_ROW_MAJOR, 'V', 'U', (int)n, f->eigen, (int)n, value) != 0) {
        return false;
    }
    for (size_t e = 0; e < n && !(value[e] > SINGULAR); e++) {
        double more = SINGULAR - value[e];
        for (size_t i = 0; i < n; i++) {
            for (size_t c = 0; c < n; c++) {
                q->l[f->active[i] * dd + f->active[c]] +=
                    more * f->eigen[i * n + e] * f->eigen[c * n + e] * scale[i] * scale[c];
            }
        }
    }
    return value[0] > SINGULAR;
}

bool likelihood_expand(likelihood_fit *f)
{
    likelihood_quadratic *q = &f->quadratic;
    likelihood_at at = likelihood_layout(q->d);
    size_t dd = q->d * q->d;
    size_t n = q->nuisances;
    double *gradient = f->vectors + 2 * at.count;
    q->value = likelihood_value(f->sums, &f->fixed, f->theta, gradient, f->work);
    memcpy(q->theta, f->theta, at.count * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        memcpy(q->root + i * n, f->information + i * at.count, n * sizeof(double));
        memcpy(q->across + i * dd, f->information + i * at.count + n, dd * sizeof(double));
    }
    memcpy(q->along, gradient, n * sizeof(double));
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)n, q->root, (int)n) != 0) {
        return false;
    }
    /* across is row by row: its transpose solved from the right */
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)dd, (int)n, 1,
                q->root, (int)n, q->across, (int)dd);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, (int)dd, (int)n,
                1, q->root, (int)n, q->across, (int)dd);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, q->root, (int)n,
                q->along, 1);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, (int)n, q->root, (int)n,
                q->along, 1);
    for (size_t e = 0; e < dd; e++) {
        const double *row = f->information + (n + e) * at.count;
        memcpy(q->l + e * dd, row + n, dd * sizeof(double));
        q->h[e] = gradient[n + e] - cblas_ddot((int)n, row, 1, q->along, 1);
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)n, (int)dd, -1, q->across, (int)dd, row, 1, 1,
                    q->l + e * dd, 1);
    }
    q->positive = make_positive(f);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)dd, (int)dd, 1, q->l, (int)dd, q->theta + n, 1, 1,
                q->h, 1);
    return isfinite(q->value);
}
