/* See hyper.h. With e the edges of a graph and m the pairs that could be one, the points of one
 * slab differ by e log p/(1 - p) + m log(1 - p) alone. */
#include "infer/graph/hyper.h"

#include <math.h>

/* Decades of t: weights from far below the noise of their child to far above it. Edges per node by
 * factors of two about one, the usual. */
static const double RIDGES[HYPER_RIDGES] = {1e-4, 1e-3, 1e-2, 1e-1, 1, 10};
static const double DEGREES[HYPER_EDGES] = {0.25, 0.5, 1, 2};

void hyper_grid_of(hyper_grid *out, const lscm_fit_settings *s, const families *f, bool ordered,
                   const hyper_scale *scale)
{
    bool ridge_given = s->ridge > 0;
    bool degree_given = s->degree > 0;
    bool hole = ordered || !design_observational(f->design);
    bool both = hole || scale->conditional != NULL;
    *out = (hyper_grid){.slabs = ridge_given ? 1 : both ? HYPER_SLABS : HYPER_RIDGES};
    for (size_t k = 0; k < out->slabs; k++) {
        out->hole[k] = hole && k >= HYPER_RIDGES;
        out->unit[k] = !hole && k >= HYPER_RIDGES ? scale->conditional : scale->unit;
        out->ridge[k] = ridge_given ? s->ridge : RIDGES[k % HYPER_RIDGES];
    }
    for (size_t k = 0; k < (degree_given ? 1 : HYPER_EDGES); k++) {
        double degree = degree_given ? s->degree : DEGREES[k];
        double p = f->d > 1 ? 2 * degree / ((double)f->d - 1) : 0.5;
        /* what nobody asked for is not more likely than not */
        p = fmin(p, degree_given ? 0.95 : 0.5);
        if (k == 0 || p > out->edge[out->edges - 1]) { /* few nodes have few degrees */
            out->edge[out->edges++] = p;
        }
    }
    for (size_t i = 0; i < f->d; i++) {
        out->pairs += (double)f->list[i].count * (ordered ? 1 : 0.5);
    }
}

hyper_grid hyper_part(const hyper_grid *g, bool hole)
{
    hyper_grid out = *g;
    out.slabs = 0;
    for (size_t k = 0; k < g->slabs; k++) {
        if (g->hole[k] == hole) {
            out.hole[out.slabs] = hole;
            out.unit[out.slabs] = g->unit[k];
            out.ridge[out.slabs++] = g->ridge[k];
        }
    }
    return out;
}

void hyper_fix(hyper_grid *g, double ridge, bool hole, double log_odds, const double *unit)
{
    g->slabs = g->edges = 1;
    g->hole[0] = hole;
    g->ridge[0] = ridge;
    g->unit[0] = unit;
    g->edge[0] = 1 / (1 + exp(-log_odds));
}

size_t hyper_points(const hyper_grid *g)
{
    return g->slabs * g->edges;
}

static double log_odds(double p)
{
    return log(p / (1 - p));
}

static void take_slab(const hyper_grid *g, size_t slab, dag_prior *prior)
{
    prior->ridge = g->ridge[slab];
    prior->hole = g->hole[slab];
    prior->unit = g->unit[slab];
}

void hyper_take(const hyper_grid *g, size_t h, dag_prior *prior)
{
    take_slab(g, h / g->edges, prior);
    prior->log_odds = log_odds(g->edge[h % g->edges]);
}

double hyper_shared(const hyper_grid *g, size_t h)
{
    return g->pairs * log1p(-g->edge[h % g->edges]);
}

double hyper_log_prior(const hyper_grid *g, const dag_prior *prior)
{
    return -g->pairs * log1p(exp(prior->log_odds)) - log((double)hyper_points(g));
}

void hyper_scores(const hyper_grid *g, const mechanisms *m, const uint32_t *parents, double *out)
{
    mechanisms at = *m;
    double score[HYPER_SLABS] = {0};
    double edges = 0;
    at.prior.log_odds = 0;
    for (size_t i = 0; i < m->d; i++) {
        edges += (double)__builtin_popcount(parents[i]);
        for (size_t t = 0; t < g->slabs; t++) {
            take_slab(g, t, &at.prior);
            score[t] += mechanisms_score(&at, i, parents[i]);
        }
    }
    for (size_t h = 0; h < hyper_points(g); h++) {
        out[h] = score[h / g->edges] + edges * log_odds(g->edge[h % g->edges]) + hyper_shared(g, h);
    }
}

/* The first graph in which node i has the parents that it has in each. */
static void find_first(const uint32_t *parents, size_t d, size_t count, size_t i, size_t *first)
{
    for (size_t k = 0; k < count; k++) {
        size_t at = 0;
        while (parents[at * d + i] != parents[k * d + i]) {
            at++;
        }
        first[k] = at;
    }
}

void hyper_scores_all(const hyper_grid *g, const mechanisms *m, const uint32_t *parents,
                      size_t count, size_t *first, double *score, double *out)
{
    size_t points = hyper_points(g);
    double odds[HYPER_EDGES];
    double shared[HYPER_EDGES];
    for (size_t e = 0; e < g->edges; e++) {
        odds[e] = log_odds(g->edge[e]);
        shared[e] = hyper_shared(g, e);
    }
    for (size_t k = 0; k < count * points; k++) {
        out[k] = shared[k % g->edges];
    }
    for (size_t i = 0; i < m->d; i++) {
        find_first(parents, m->d, count, i, first);
#pragma omp parallel for schedule(dynamic, 16)
        for (size_t k = 0; k < count; k++) {
            mechanisms at = *m;
            at.prior.log_odds = 0;
            for (size_t t = 0; t < g->slabs && first[k] == k; t++) {
                take_slab(g, t, &at.prior);
                score[k * g->slabs + t] = mechanisms_score(&at, i, parents[k * m->d + i]);
            }
        }
        for (size_t k = 0; k < count; k++) {
            double edges = (double)__builtin_popcount(parents[k * m->d + i]);
            for (size_t h = 0; h < points; h++) {
                out[k * points + h] +=
                    score[first[k] * g->slabs + h / g->edges] + edges * odds[h % g->edges];
            }
        }
    }
}

/* Parents of node i by forward selection; *out: their score without the log odds. */
static uint32_t select_parents(const mechanisms *m, size_t i, double *out)
{
    uint32_t parents = m->family[i].required;
    double score = mechanisms_score(m, i, parents);
    for (;;) {
        uint32_t best = parents;
        for (size_t c = 0; c < m->family[i].count; c++) {
            uint32_t with = parents | (uint32_t)1 << c;
            double gained = with != parents ? mechanisms_score(m, i, with) : -INFINITY;
            best = gained > score ? with : best;
            score = fmax(score, gained);
        }
        if (best == parents) {
            *out = score - (double)__builtin_popcount(parents) * m->prior.log_odds;
            return parents;
        }
        parents = best;
    }
}

size_t hyper_guess(const hyper_grid *g, const mechanisms *m, double *score)
{
    double slab[HYPER_SLABS] = {0};
    double edges[HYPER_SLABS] = {0};
    size_t best = 0;
    *score = -INFINITY;
#pragma omp parallel for schedule(dynamic)
    for (size_t t = 0; t < g->slabs; t++) {
        mechanisms at = *m;
        take_slab(g, t, &at.prior);
        at.prior.log_odds = log_odds(g->edge[g->edges / 2]);
        for (size_t i = 0; i < m->d; i++) {
            double own = 0;
            edges[t] += (double)__builtin_popcount(select_parents(&at, i, &own));
            slab[t] += own;
        }
    }
    for (size_t h = 0; h < hyper_points(g); h++) {
        size_t t = h / g->edges;
        /* an edge is found from both of its ends */
        double at = slab[t] + edges[t] / 2 * log_odds(g->edge[h % g->edges]) + hyper_shared(g, h);
        best = at > *score ? h : best;
        *score = fmax(*score, at);
    }
    return best;
}

void hyper_thin(const hyper_grid *g, const mechanisms *m, families *f, double least)
{
    mechanisms at = *m;
    double score = 0;
    hyper_take(g, hyper_guess(g, m, &score), &at.prior);
    for (size_t i = 0; i < m->d; i++) {
        if (f->list[i].levels > 1) {
            families_leave_out(f, i, &at.prior, select_parents(&at, i, &score), least);
        }
    }
}

double hyper_log_sum(const double *x, size_t n)
{
    double top = -INFINITY;
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        top = fmax(top, x[k]);
    }
    for (size_t k = 0; k < n && top > -INFINITY; k++) {
        sum += exp(x[k] - top);
    }
    return top > -INFINITY ? top + log(sum) : top;
}

size_t hyper_pick(const double *x, size_t n, double u)
{
    double total = hyper_log_sum(x, n);
    size_t k = 0;
    for (double sum = exp(x[0] - total); k + 1 < n && u > sum;) {
        sum += exp(x[++k] - total);
    }
    return k;
}
