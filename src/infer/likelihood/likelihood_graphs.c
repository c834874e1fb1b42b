#include "infer/likelihood/likelihood_graphs.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { EDGES_MOST = LIKELIHOOD_MOST * (LIKELIHOOD_MOST - 1) / 2, TRIES = 16 };

/* The edges of a graph, and the law of their weights: N(mean, (root root')^-1). */
typedef struct slab {
    size_t n;
    size_t edge[EDGES_MOST]; /* p d + i */
    double *precision;       /* (n, n), then its root, column by column */
    double *mean, *variance; /* (n): variance is V */
    double *other;           /* (n) */
} slab;

size_t likelihood_scratch(size_t d)
{
    size_t most = d * (d - 1) / 2;
    return 2 * most * most + (4 + TRIES) * most;
}

static size_t list_edges(size_t d, const uint32_t *parents, size_t *edge)
{
    size_t n = 0;
    for (size_t i = 0; i < d; i++) {
        for (size_t p = 0; p < d; p++) {
            if ((parents[i] >> p & 1) != 0) {
                edge[n++] = p * d + i;
            }
        }
    }
    return n;
}

/* L_GG + diag(extra) and its root; mean = its inverse times h. 1/2 log of its determinant. */
static double solve(const likelihood_quadratic *q, slab *s, bool with_slab)
{
    size_t dd = q->d * q->d;
    int n = (int)s->n;
    double half = 0;
    for (size_t a = 0; a < s->n; a++) {
        for (size_t b = 0; b < s->n; b++) {
            s->precision[a * s->n + b] = q->l[s->edge[a] * dd + s->edge[b]];
        }
        s->precision[a * s->n + a] += with_slab ? 1 / s->variance[a] : 0;
        s->mean[a] = q->h[s->edge[a]];
    }
    if (n == 0) {
        return 0;
    }
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, s->precision, n) != 0) {
        return INFINITY;
    }
    for (size_t a = 0; a < s->n; a++) {
        half += log(s->precision[a * s->n + a]);
    }
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, s->precision, n, s->mean,
                1);
    memcpy(s->other, s->mean, s->n * sizeof(double)); /* its squares are h'(..)^-1 h */
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, n, s->precision, n, s->mean,
                1);
    return half;
}

static slab slab_of(const likelihood_quadratic *q, const uint32_t *parents, double ridge,
                    double *scratch)
{
    slab s = {.precision = scratch};
    size_t most = q->d * (q->d - 1) / 2;
    const double *log_sigma = q->theta + likelihood_layout(q->d).log_sigma;
    s.mean = scratch + most * most;
    s.variance = s.mean + most;
    s.other = s.variance + most;
    s.n = list_edges(q->d, parents, s.edge);
    for (size_t a = 0; a < s.n; a++) {
        s.variance[a] = exp(2 * log_sigma[s.edge[a] % q->d]) / ridge;
    }
    return s;
}

/* What a hole multiplies by: the means of w^2/V, one edge at a time. */
static double hole_of(slab *s, double *inverse)
{
    double sum = 0;
    memcpy(inverse, s->precision, s->n * s->n * sizeof(double));
    if (s->n > 0 &&
        LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', (int)s->n, inverse, (int)s->n) != 0) {
        return -INFINITY;
    }
    for (size_t a = 0; a < s->n; a++) {
        double square = s->mean[a] * s->mean[a] + inverse[a * s->n + a];
        sum += log(square / s->variance[a]);
    }
    return sum;
}

double likelihood_evidence(const likelihood_quadratic *q, const likelihood_prior *p,
                           const uint32_t *parents, double ridge, bool hole, double *scratch)
{
    size_t most = q->d * (q->d - 1) / 2;
    const double *log_sigma = q->theta + likelihood_layout(q->d).log_sigma;
    slab s = slab_of(q, parents, ridge, scratch);
    double sum = -solve(q, &s, true);
    for (size_t a = 0; a < s.n; a++) {
        sum += s.other[a] * s.other[a] / 2 - log(s.variance[a]) / 2;
    }
    for (size_t i = 0; i < q->d; i++) {
        double nu = p->dof + (double)__builtin_popcount(parents[i]);
        double share = ridge * exp(-2 * log_sigma[i]);
        sum += nu / 2 * log(share / 2) - share / 2 - lgamma(nu / 2);
    }
    return sum + (hole ? hole_of(&s, s.other + (1 + TRIES) * most) : 0);
}

double likelihood_told(const likelihood_quadratic *q, const uint32_t *parents, double *scratch)
{
    size_t dd = q->d * q->d;
    const double *w = q->theta + q->nuisances;
    slab s = slab_of(q, parents, 1, scratch);
    double sum = isfinite(solve(q, &s, false)) ? 0 : NAN;
    for (size_t a = 0; a < s.n; a++) {
        sum += s.other[a] * s.other[a] / 2;
    }
    for (size_t e = 0; e < dd; e++) {
        sum -= w[e] * q->h[e] - w[e] / 2 * cblas_ddot((int)dd, q->l + e * dd, 1, w, 1);
    }
    return sum;
}

/* ---- The chain ---- */

/* Whether b is reached from a along edges. */
static bool reaches(size_t d, const uint32_t *parents, size_t a, size_t b)
{
    uint32_t above = (uint32_t)1 << b; /* b and all before it */
    for (size_t k = 0; k < d; k++) {
        for (size_t i = 0; i < d; i++) {
            above |= (above >> i & 1) != 0 ? parents[i] : 0;
        }
    }
    return (above >> a & 1) != 0;
}

/* Adds p -> i where that makes no cycle and is allowed. */
static bool add(size_t d, const likelihood_prior *p, uint32_t *parents, size_t from, size_t to)
{
    if ((p->allowed[to] >> from & 1) == 0 || reaches(d, parents, to, from)) {
        return false;
    }
    parents[to] |= (uint32_t)1 << from;
    return true;
}

static bool take_away(const likelihood_prior *p, uint32_t *parents, size_t from, size_t to)
{
    uint32_t bit = (uint32_t)1 << from;
    if ((parents[to] & bit) == 0 || (p->required[to] & bit) != 0) {
        return false;
    }
    parents[to] &= ~bit;
    return true;
}

/* A move: an edge comes, goes or turns, or takes the place of another into the same node. */
static bool move(size_t d, const likelihood_prior *p, rng r, uint64_t index, uint32_t *parents)
{
    size_t i = (size_t)rng_below(r, index, d);
    size_t from = (size_t)rng_below(r, index + 1, d);
    size_t other = (size_t)rng_below(r, index + 2, d);
    uint64_t kind = rng_below(r, index + 3, 4);
    bool there = (parents[i] >> from & 1) != 0;
    if (from == i) {
        return false;
    }
    if (kind < 2) {
        return there ? take_away(p, parents, from, i) : add(d, p, parents, from, i);
    }
    if (kind == 2) {
        return take_away(p, parents, from, i) && add(d, p, parents, i, from);
    }
    return !there && other != i && take_away(p, parents, other, i) && add(d, p, parents, from, i);
}

static double edges_of(size_t d, const uint32_t *parents)
{
    double n = 0;
    for (size_t i = 0; i < d; i++) {
        n += (double)__builtin_popcount(parents[i]);
    }
    return n;
}

/* The point given the graph. */
static void draw_point(const likelihood_quadratic *q, const likelihood_prior *p, double u,
                       likelihood_draw *at, double *scratch)
{
    const hyper_grid *grid = p->grid;
    double x[HYPER_MOST];
    double own[HYPER_SLABS] = {0};
    double edges = edges_of(q->d, at->parents);
    for (size_t s = 0; s < grid->slabs; s++) {
        own[s] = likelihood_evidence(q, p, at->parents, grid->ridge[s], grid->hole[s], scratch);
    }
    for (size_t h = 0; h < hyper_points(grid); h++) {
        dag_prior prior = {0};
        hyper_take(grid, h, &prior);
        x[h] = own[h / grid->edges] + edges * prior.log_odds + hyper_shared(grid, h);
    }
    size_t h = hyper_pick(x, hyper_points(grid), u);
    dag_prior prior = {0};
    hyper_take(grid, h, &prior);
    at->ridge = prior.ridge;
    at->hole = prior.hole;
    at->log_odds = prior.log_odds;
    at->score = x[h];
}

void likelihood_chain(const likelihood_quadratic *q, const likelihood_prior *p, size_t steps, rng r,
                      likelihood_draw *draw, likelihood_draw *draws, size_t count, double *scratch)
{
    size_t d = q->d;
    size_t burned = steps / 4;
    size_t every = (steps - burned) / count > 0 ? (steps - burned) / count : 1;
    size_t taken = 0;
    for (size_t k = 0; taken < count; k++) {
        uint64_t index = 8 * (uint64_t)k;
        likelihood_draw to = *draw;
        if (k % d == 0) {
            draw_point(q, p, rng_uniform(r, index + 5), draw, scratch);
            to = *draw;
        }
        if (move(d, p, r, index, to.parents)) {
            double more = edges_of(d, to.parents) - edges_of(d, draw->parents);
            double before =
                likelihood_evidence(q, p, draw->parents, draw->ridge, draw->hole, scratch);
            double after = likelihood_evidence(q, p, to.parents, to.ridge, to.hole, scratch);
            double gained = after - before + more * to.log_odds;
            if (log(rng_uniform(r, index + 4)) < gained) {
                to.score += gained;
                *draw = to;
            }
        }
        if (k >= burned && (k - burned) % every == every - 1) {
            draws[taken++] = *draw;
        }
    }
}

/* One of TRIES weights without the hole, in proportion to what it multiplies by. */
static const double *pick(const slab *s, const double *tries, double u)
{
    double x[TRIES] = {0};
    for (size_t k = 0; k < TRIES; k++) {
        for (size_t a = 0; a < s->n; a++) {
            x[k] += 2 * log(fabs(tries[k * s->n + a]));
        }
    }
    return tries + hyper_pick(x, TRIES, u) * s->n;
}

void likelihood_weights(const likelihood_quadratic *q, const likelihood_draw *draw, rng r,
                        uint64_t index, double *w, double *nuisances, double *scratch)
{
    size_t dd = q->d * q->d;
    size_t most = q->d * (q->d - 1) / 2;
    int n = (int)q->nuisances;
    slab s = slab_of(q, draw->parents, draw->ridge, scratch);
    double *tries = s.other + most;
    uint64_t first = 2 * index * (TRIES * most + q->nuisances + 1);
    (void)solve(q, &s, true);
    for (size_t k = 0; k < (draw->hole ? TRIES : 1) && s.n > 0; k++) {
        double *own = tries + k * s.n;
        rng_normals(r, first + k * most, s.n, own);
        cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, (int)s.n, s.precision,
                    (int)s.n, own, 1);
        cblas_daxpy((int)s.n, 1, s.mean, 1, own, 1);
    }
    first += TRIES * most;
    const double *chosen = draw->hole ? pick(&s, tries, rng_uniform(r, first)) : tries;
    memset(w, 0, dd * sizeof(double));
    for (size_t a = 0; a < s.n; a++) {
        w[s.edge[a]] = chosen[a];
    }
    /* n | w ~ N(theta_n + H_nn^-1 (g_n - H_nw (w - w_0)), H_nn^-1) */
    rng_normals(r, first + 2, q->nuisances, nuisances);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, n, q->root, n, nuisances, 1);
    for (size_t k = 0; k < q->nuisances; k++) {
        const double *across = q->across + k * dd;
        double moved = cblas_ddot((int)dd, across, 1, w, 1) -
                       cblas_ddot((int)dd, across, 1, q->theta + q->nuisances, 1);
        nuisances[k] += q->theta[k] + q->along[k] - moved;
    }
}
