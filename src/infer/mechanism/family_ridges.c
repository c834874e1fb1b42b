#include "infer/mechanism/family_ridges.h"

#include "base/simd.h"
#include "infer/mechanism/family_hole.h"

#include <string.h>

typedef struct ldl {
    size_t size;
    lanes low[FAMILY_MOST][FAMILY_MOST]; /* L, below its diagonal of ones */
    lanes inverse[FAMILY_MOST];          /* 1/D */
    lanes half[FAMILY_MOST];             /* y */
    lanes rest, log_det;
} ldl;

LANES_INLINE bool factorise(ldl *out, const family_sums_of *s, lanes t)
{
    lanes product = lanes_of(1);
    lanes per_t = 1.0 / t;
    lanes row[FAMILY_MOST];
    out->size = s->size;
    out->rest = lanes_of(s->own);
    out->log_det = lanes_of(0);
    for (size_t k = 0; k < s->size; k++) {
        lanes pivot = lanes_of(s->scatter[k][k]) + t;
        lanes half = lanes_of(s->with[k]);
        for (size_t a = 0; a < k; a++) {
            row[a] = lanes_of(s->scatter[k][a]);
            for (size_t b = 0; b < a; b++) {
                row[a] -= row[b] * out->low[a][b];
            }
            out->low[k][a] = row[a] * out->inverse[a];
            pivot -= row[a] * out->low[k][a];
            half -= out->low[k][a] * out->half[a];
        }
        if (!lanes_all(lanes_less(t, pivot))) {
            return false;
        }
        out->inverse[k] = 1.0 / pivot;
        out->half[k] = half;
        out->rest -= half * half * out->inverse[k];
        product *= pivot * per_t;
        if (k % HOLE_TOGETHER + 1 == HOLE_TOGETHER || k + 1 == s->size) {
            out->log_det += lanes_log(product);
            product = lanes_of(1);
        }
    }
    out->rest = lanes_larger(out->rest, lanes_of(0));
    return true;
}

/* V_kk */
LANES_INLINE lanes variance_of(const ldl *g, size_t k)
{
    lanes column[FAMILY_MOST];
    lanes sum = g->inverse[k];
    column[k] = lanes_of(1);
    for (size_t a = k + 1; a < g->size; a++) {
        column[a] = lanes_of(0);
        for (size_t b = k; b < a; b++) {
            column[a] -= g->low[a][b] * column[b];
        }
        sum += column[a] * column[a] * g->inverse[a];
    }
    return sum;
}

/* The logarithm of what a hole adds; x: 1/s^2 at the points. */
LANES_INLINE lanes hole_of(const ldl *g, lanes t, const lanes *x, const double *share)
{
    lanes slope[FAMILY_MOST];
    lanes product[HOLE_POINTS] = {lanes_of(1), lanes_of(1)};
    lanes sum[HOLE_POINTS] = {lanes_of(0), lanes_of(0)};
    for (size_t k = g->size; k-- > 0;) {
        slope[k] = g->half[k] * g->inverse[k];
        for (size_t a = k + 1; a < g->size; a++) {
            slope[k] -= g->low[a][k] * slope[a];
        }
        lanes variance = variance_of(g, k);
        for (size_t p = 0; p < HOLE_POINTS; p++) {
            lanes factor = t * (slope[k] * slope[k] * x[p] + variance);
            factor = lanes_larger(factor, lanes_of(HOLE_LEAST));
            product[p] *= lanes_smaller(factor, lanes_of(HOLE_MOST));
            if (k % HOLE_TOGETHER == 0) {
                sum[p] += lanes_log(product[p]);
                product[p] = lanes_of(1);
            }
        }
    }
    lanes top = lanes_larger(sum[0], sum[1]);
    return top + lanes_log(share[0] * lanes_exp(sum[0] - top) + share[1] * lanes_exp(sum[1] - top));
}

CLONED static bool score_of(const family_sums_of *s, const family *f, const dag_prior *prior,
                            const double *ridge, double *score)
{
    ldl g;
    lanes t;
    memcpy(&t, ridge, sizeof t);
    if (!factorise(&g, s, t)) {
        return false;
    }
    double unit = prior->unit[f->node] * prior->unit[f->node];
    double nu = prior->dof + (double)s->size;
    bool known = prior->variance > 0;
    lanes sum = -0.5 * g.log_det;
    if (prior->hole && s->size > 0) {
        double x[HOLE_POINTS];
        double share[HOLE_POINTS];
        lanes at[HOLE_POINTS];
        hole_points(hole_shape(f, prior, s->size), x, share);
        for (size_t p = 0; p < HOLE_POINTS; p++) {
            at[p] = known ? lanes_of(unit / prior->variance) : 2.0 * x[p] / (t + g.rest);
        }
        sum += hole_of(&g, t, at, share);
    }
    if (known) {
        sum -= g.rest * (unit / (2 * prior->variance));
    } else {
        sum +=
            nu / 2 * lanes_log(t * unit) - (nu + s->rows - 1) / 2 * lanes_log((t + g.rest) * unit);
    }
    memcpy(score, &sum, sizeof sum);
    return true;
}

/* Clones stay static: their resolvers would be seen outside the library. */
bool family_ridges(const family_sums_of *s, const family *f, const dag_prior *prior,
                   const double *factor, size_t count, double *score)
{
    double ridge[LANES];
    double all[LANES];
    for (size_t k = 0; k < LANES; k++) {
        ridge[k] = prior->ridge * factor[k < count ? k : 0];
    }
    if (!score_of(s, f, prior, ridge, all)) {
        return false;
    }
    memcpy(score, all, count * sizeof *score);
    return true;
}
