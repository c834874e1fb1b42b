/* The effect of z_j on z_i as a curve, over the draws s that have the edge,
 *
 *     f_s(z) = sum_k a_sk (phi_jk(z) - m_jk)   where i bends,  else  w_s (z - m_j):
 *
 * m are means over the rows, so that f_s has mean 0 there; a_sk is b_k of the term that j has
 * alone, and of a term with another parent q what its products come to on average over the rows,
 * sum over (k, l) of b_kl m_ql. The band is of f_s at each place by itself.
 */
#include "base/quantile.h"
#include "scm/posterior/posterior.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = CURVE_WIDTH + 1 }; /* phi_j0, phi_j1, .., and z_j itself */

typedef struct effects {
    const lscm_posterior *p;
    size_t from, to;
    size_t count;   /* draws that have the edge */
    double *a;      /* (draws, ALL): of these */
    double *values; /* (draws): scratch */
    double *mean;   /* (d, ALL): m, of those that are known */
    uint8_t *known; /* (d) */
    arena memory;
} effects;

static void lay_out(effects *e)
{
    arena *a = &e->memory;
    e->a = arena_take(a, e->p->draws, ALL * sizeof *e->a);
    e->values = arena_take(a, e->p->draws, sizeof *e->values);
    e->mean = arena_take(a, e->p->d, ALL * sizeof *e->mean);
    e->known = arena_take(a, e->p->d, 1);
}

static bool has_edge(const lscm_posterior *p, size_t draw, size_t from, size_t to)
{
    return fabs(p->w[(draw * p->d + from) * p->d + to]) > p->threshold;
}

static bool bends(const lscm_posterior *p, size_t draw, size_t node)
{
    return p->bent != NULL && bent_bends(p->bent, draw, node);
}

static void all_of(const lscm_posterior *p, size_t node, double z, double *out)
{
    if (p->bent != NULL) {
        curve_values(&p->bent->basis[node], z, out);
    } else {
        memset(out, 0, CURVE_WIDTH * sizeof *out);
    }
    out[CURVE_WIDTH] = z;
}

static const double *means_of(effects *e, size_t node)
{
    const lscm_posterior *p = e->p;
    double *mean = e->mean + node * ALL;
    for (size_t row = 0; row < p->rows && e->known[node] == 0; row++) {
        double out[ALL];
        all_of(p, node, p->z[row * p->d + node], out);
        for (size_t k = 0; k < ALL; k++) {
            mean[k] += out[k] / (double)p->rows;
        }
    }
    e->known[node] = 1;
    return mean;
}

/* Adds what a term of the child makes of the curves of `from`. */
static void add_term(effects *e, uint64_t term, double *a)
{
    const bent_mechanisms *b = e->p->bent;
    const int32_t *parent = b->parent + 2 * term;
    const double *coef = b->coef + term * CURVE_WIDTH;
    int side = parent[0] == (int32_t)e->from ? 0 : 1;
    if (parent[side] != (int32_t)e->from) {
        return;
    }
    if (parent[1] == BENT_ALONE) {
        for (size_t k = 0; k < CURVE_WIDTH; k++) {
            a[k] += coef[k];
        }
        return;
    }
    const double *other = means_of(e, (size_t)parent[1 - side]);
    for (size_t k = 0; k < CURVE_PAIRS; k++) {
        a[CURVE_PAIR[k][side]] += coef[k] * other[CURVE_PAIR[k][1 - side]];
    }
}

static void gather(effects *e)
{
    const lscm_posterior *p = e->p;
    for (size_t s = 0; s < p->draws; s++) {
        double *a = e->a + e->count * ALL;
        if (!has_edge(p, s, e->from, e->to)) {
            continue;
        }
        e->count++;
        if (!bends(p, s, e->to)) {
            a[CURVE_WIDTH] = p->w[(s * p->d + e->from) * p->d + e->to];
            continue;
        }
        const uint64_t *first = p->bent->first + s * p->d + e->to;
        for (uint64_t t = first[0]; t < first[1]; t++) {
            add_term(e, t, a);
        }
    }
}

static void look_at(effects *e, const lscm_curve *out, size_t k)
{
    double phi[ALL];
    const double *mean = means_of(e, e->from);
    double sum = 0;
    out->low[k] = out->mean[k] = out->high[k] = NAN;
    if (e->count == 0) {
        return;
    }
    all_of(e->p, e->from, out->at[k], phi);
    for (size_t s = 0; s < e->count; s++) {
        e->values[s] = 0;
        for (size_t i = 0; i < ALL; i++) {
            e->values[s] += e->a[s * ALL + i] * (phi[i] - mean[i]);
        }
        sum += e->values[s];
    }
    qsort(e->values, e->count, sizeof *e->values, quantile_compare);
    out->mean[k] = sum / (double)e->count;
    out->low[k] = quantile_of_sorted(e->values, e->count, 0.05);
    out->high[k] = quantile_of_sorted(e->values, e->count, 0.95);
}

static void find_seen(const lscm_posterior *p, size_t node, double seen[2])
{
    seen[0] = seen[1] = p->rows > 0 ? p->z[node] : NAN;
    for (size_t row = 0; row < p->rows; row++) {
        seen[0] = fmin(seen[0], p->z[row * p->d + node]);
        seen[1] = fmax(seen[1], p->z[row * p->d + node]);
    }
}

static lscm_status check(const lscm_posterior *p, const lscm_curve *out, size_t from, size_t to,
                         lscm_error *why)
{
    if (!(from < p->d && to < p->d && from != to)) {
        return fail(why, LSCM_USAGE,
                    "there is no edge from node %zu to node %zu; give two of 0 to %zu", from, to,
                    p->d - 1);
    }
    if (p->rows == 0) {
        return fail(why, LSCM_MISSING,
                    "this run has no z of its rows, over which effects would have mean 0; fit with "
                    "the method anchored");
    }
    for (size_t k = 0; k < out->count; k++) {
        if (!(fabs(out->at[k]) <= DBL_MAX)) {
            return fail(why, LSCM_VALUE,
                        "place %zu (0-based) of a curve is %g; give a finite number", k,
                        out->at[k]);
        }
    }
    return LSCM_OK;
}

lscm_status lscm_posterior_curve(lscm_curve *out, const lscm_posterior *posterior, size_t from,
                                 size_t to, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    effects e = {.p = posterior, .from = from, .to = to};
    TRY(check(posterior, out, from, to, why));
    lay_out(&e);
    TRY(arena_open(&e.memory, why));
    lay_out(&e);
    gather(&e);
    find_seen(posterior, from, out->seen);
    for (size_t k = 0; k < out->count; k++) {
        look_at(&e, out, k);
    }
done:
    arena_close(&e.memory);
    return status;
}

double lscm_posterior_bends(const lscm_posterior *posterior, size_t from, size_t to)
{
    const lscm_posterior *p = posterior;
    size_t there = 0;
    size_t bent = 0;
    for (size_t s = 0; s < p->draws && from < p->d && to < p->d; s++) {
        if (has_edge(p, s, from, to)) {
            there++;
            bent += bends(p, s, to) ? 1 : 0;
        }
    }
    return there > 0 ? (double)bent / (double)there : NAN;
}

bool lscm_posterior_any_bends(const lscm_posterior *posterior)
{
    return posterior->bent != NULL && posterior->bent->terms > 0;
}

void lscm_posterior_places(const lscm_posterior *posterior, size_t node, size_t count, double *at)
{
    double seen[2];
    find_seen(posterior, node, seen);
    double range = seen[1] - seen[0];
    for (size_t k = 0; k < count; k++) {
        double share = count > 1 ? (double)k / (double)(count - 1) : 0.5;
        at[k] = seen[0] + range * (1.25 * share - 0.125);
    }
}
