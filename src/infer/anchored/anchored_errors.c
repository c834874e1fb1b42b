/* What z has wrong alike in all rows does not average out, and widens the draws in the end.
 *
 * Leaks: others leak into the z_i that is read off x, so that where z_i is regressed on those
 * before it the coefficient of z_p is
 *
 *     b_pi = w_pi + l_pi,   l_pi ~ N(0, leak_pi^2),
 *
 * w_pi = 0 without an edge, else w_pi ~ N(0, v_pi), v_pi = s_i^2/(t u_p^2), or w_pi^2/v_pi times
 * that where the slab has a hole. Draws of graph and mechanisms given z have b, exactly 0 where z
 * needs no coefficient: there is no edge then, for it would have to cancel the leak. Given b, the
 * others are edges independently of each other:
 *
 *     odds of the edge = p/(1 - p) N(b; 0, v + leak^2)/N(b; 0, leak^2),
 *     w | b, edge ~ N(b, leak^2),
 *
 * (the odds times E[w^2 | b]/v with a hole; what is read off errs independently of what is read, as
 * regressions do, not of the truth: shrinking b would count that twice) so that what a leak hides
 * is about as likely as it was beforehand, and no edge is ruled out or in by what a leak could be.
 * Where t and p are not known, b and the edges tell them anew: those that only leaks ask for count
 * no longer. log p of a draw moves by what this law says of its new edges over its old ones.
 *
 * Where node i bends, b is the size of what p does, curves alone or with another, in the units of a
 * weight: with sd_p the scale of the first curve, which is a line, and curves that have the
 * variance 1 and no correlation,
 *
 *     b_pi^2 = (sum_k b_pk^2 + sum over q, k of b_pqk^2)/sd_p^2:
 *
 * a leak of that size would do as much, whatever its shape. The curves of what is no edge go; the
 * others' line is as uncertain as a weight: b_p0 ~ N(b_p0, leak^2 sd_p^2).
 *
 * Gains: the scale of z_j itself is known to a factor of 1 + g_j only, log(1 + g_j) ~ N(0, gain^2).
 * In the units of the truth,
 *
 *     w_pj (1 + g_p)/(1 + g_j),    s_j/(1 + g_j),    c_j/(1 + g_j);
 *
 * curves of one parent likewise, those of two over 1 + g_j alone: what the gain of a parent does to
 * a curve is taken to be what it does to its line.
 */
#include "infer/anchored/anchored_errors.h"
#include "base/streams.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5 }; /* edges given (t, p), and these given edges */

/* A draw with leaks in it. */
typedef struct leaking {
    const graph_posterior *g;
    const double *leak;  /* (d, d) */
    const double *sigma; /* (d) */
    dag_prior prior;     /* t, p */
    size_t d;
    double *b;     /* (d, d) */
    uint8_t *edge; /* (d, d) */
    arena memory;
} leaking;

static void lay_out(leaking *t)
{
    t->b = arena_take(&t->memory, t->d * t->d, sizeof *t->b);
    t->edge = arena_take(&t->memory, t->d * t->d, 1);
}

/* log N(b; 0, v), without its constant. */
static double log_normal(double b, double v)
{
    return -b * b / (2 * v) - log(v) / 2;
}

static double variance_of(const leaking *t, const dag_prior *at, size_t e)
{
    double ratio = t->sigma[e % t->d] / at->unit[e / t->d];
    return ratio * ratio / at->ridge;
}

/* log p(b | edge), with the edge's own odds, and without it. */
static double with_edge(const leaking *t, const dag_prior *at, size_t e)
{
    double v = variance_of(t, at, e);
    double leak = t->leak[e] * t->leak[e];
    double all = v + leak;
    double hole = at->hole ? log(t->b[e] * t->b[e] / all * v / all + leak / all) : 0;
    return at->log_odds + hole + log_normal(t->b[e], all);
}

static double without_edge(const leaking *t, size_t e)
{
    return log_normal(t->b[e], t->leak[e] * t->leak[e]);
}

/* What leaks into node i from its candidate c: the edge's number, or -1 where nothing does, z needs
 * no coefficient, or the edge must be. */
static ptrdiff_t leak_at(const leaking *t, size_t i, size_t c)
{
    const family *f = &t->g->families.list[i];
    size_t e = f->candidate[c] * t->d + i;
    bool open = t->b[e] != 0 && (f->required >> c & 1) == 0;
    return open && t->leak[e] > 0 ? (ptrdiff_t)e : -1;
}

/* log p(b, edges, t, p), up to what no edge changes. */
static double law_of(const leaking *t, const dag_prior *at)
{
    double sum = hyper_log_prior(&t->g->grid, at);
    for (size_t i = 0; i < t->d; i++) {
        for (size_t c = 0; c < t->g->families.list[i].count; c++) {
            ptrdiff_t e = leak_at(t, i, c);
            if (e >= 0) {
                sum += t->edge[e] != 0 ? with_edge(t, at, (size_t)e) : without_edge(t, (size_t)e);
            }
        }
    }
    return sum;
}

static void take_prior(leaking *t, double u)
{
    const hyper_grid *grid = &t->g->grid;
    double x[HYPER_MOST];
    for (size_t h = 0; h < hyper_points(grid); h++) {
        dag_prior at = t->prior;
        hyper_take(grid, h, &at);
        x[h] = law_of(t, &at);
    }
    hyper_take(grid, hyper_pick(x, hyper_points(grid), u), &t->prior);
}

/* Edges given t and p; adds `share` of their probabilities to edge_prob. */
static void take_edges(leaking *t, rng r, uint64_t index, double share, double *edge_prob)
{
    for (size_t i = 0; i < t->d; i++) {
        for (size_t c = 0; c < t->g->families.list[i].count; c++) {
            size_t at = t->g->families.list[i].candidate[c] * t->d + i;
            ptrdiff_t e = leak_at(t, i, c);
            double p = t->edge[at] != 0 ? 1 : 0;
            if (e >= 0) {
                p = 1 / (1 + exp(without_edge(t, at) - with_edge(t, &t->prior, at)));
                t->edge[at] = rng_uniform(r, index + at) < p ? 1 : 0;
            }
            edge_prob[at] += share * p;
        }
    }
}

static double square_of(const double *coef)
{
    double sum = 0;
    for (size_t k = 0; k < CURVE_WIDTH; k++) {
        sum += coef[k] * coef[k];
    }
    return sum;
}

static bool draw_bends(const anchored *a, size_t k, size_t i)
{
    return a->bent.terms > 0 && bent_bends(&a->bent, k, i);
}

/* b of the parents of node i, which bends in draw k. */
static void take_sizes(leaking *t, const anchored *a, size_t k, size_t i)
{
    const bent_mechanisms *bent = &a->bent;
    for (size_t p = 0; p < t->d; p++) {
        t->b[p * t->d + i] = 0;
    }
    for (uint64_t at = bent->first[k * t->d + i]; at < bent->first[k * t->d + i + 1]; at++) {
        const int32_t *parent = bent->parent + 2 * at;
        double square = square_of(bent->coef + at * CURVE_WIDTH);
        for (size_t side = 0; side < 2 && parent[side] != BENT_ALONE; side++) {
            size_t p = (size_t)parent[side];
            double middle = 0;
            double sd = 1;
            if (bent->basis[p].knots > 1) {
                bent_line(&bent->basis[p], &middle, &sd);
            }
            t->b[p * t->d + i] += square / (sd * sd);
        }
    }
    for (size_t p = 0; p < t->d; p++) {
        t->b[p * t->d + i] = sqrt(t->b[p * t->d + i]);
    }
}

static void begin_draw(leaking *t, const anchored *a, size_t k)
{
    size_t n = t->d * t->d;
    t->sigma = a->sigma + k * t->d;
    t->prior = t->g->prior[k];
    memcpy(t->b, a->w + k * n, n * sizeof *t->b);
    for (size_t i = 0; i < t->d; i++) {
        if (draw_bends(a, k, i)) {
            take_sizes(t, a, k, i);
        }
    }
    for (size_t e = 0; e < n; e++) {
        t->edge[e] = t->b[e] != 0 ? 1 : 0;
    }
}

/* w of node i given b, and what that moves its intercept by. */
static void take_weights(const leaking *t, rng r, uint64_t index, size_t i, double *w,
                         double *intercept)
{
    const family *f = &t->g->families.list[i];
    for (size_t c = 0; c < f->count; c++) {
        size_t e = f->candidate[c] * t->d + i;
        double told = t->b[e] + t->leak[e] * rng_normal(r, 2 * (index + e));
        w[e] = t->edge[e] != 0 ? told : 0;
        *intercept += (t->b[e] - w[e]) * f->mean[c];
    }
}

/* Terms of draw k: coefficients where its edges are, 0 where one of them is none; z_p moved by l
 * moves b_p0 by l sd_p, and the intercept by l (m_p - mean_p). */
static void take_terms(const leaking *t, rng r, uint64_t index, anchored *a, size_t k, size_t i)
{
    bent_mechanisms *bent = &a->bent;
    size_t d = t->d;
    double *w = a->w + k * d * d + i;
    double *intercept = a->intercept + k * d + i;
    for (uint64_t at = bent->first[k * d + i]; at < bent->first[k * d + i + 1]; at++) {
        const int32_t *parent = bent->parent + 2 * at;
        double *coef = bent->coef + at * CURVE_WIDTH;
        bool alone = parent[1] == BENT_ALONE;
        size_t e = (size_t)parent[0] * d + i;
        bool stays = t->edge[e] != 0 && (alone || t->edge[(size_t)parent[1] * d + i] != 0);
        if (!stays) {
            *intercept += bends_mean(&t->g->bends, i, parent, coef);
            memset(coef, 0, CURVE_WIDTH * sizeof *coef);
        } else if (alone && bent->basis[parent[0]].knots > 1) {
            double by = t->leak[e] * rng_normal(r, 2 * (index + e));
            double line[CURVE_WIDTH] = {1};
            double middle;
            double sd;
            bent_line(&bent->basis[parent[0]], &middle, &sd);
            *intercept -= by * sd * bends_mean(&t->g->bends, i, parent, line);
            coef[0] += by * sd;
            w[(size_t)parent[0] * d] += by;
        }
    }
    for (size_t p = 0; p < d; p++) {
        w[p * d] = t->edge[p * d + i] != 0 ? w[p * d] : 0;
    }
}

static lscm_status take_leaks(anchored *a, const graph_posterior *g, uint64_t seed, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t n = a->d * a->d;
    const rng edges = stream_of(seed, STREAM_LEAK_EDGES);
    const rng weights = stream_of(seed, STREAM_LEAKS);
    leaking t = {.g = g, .leak = g->leak_sd, .d = a->d};
    lay_out(&t);
    TRY(arena_open(&t.memory, why));
    lay_out(&t);
    memset(a->edge_prob, 0, n * sizeof *a->edge_prob);
    for (size_t k = 0; k < a->draws; k++) {
        begin_draw(&t, a, k);
        double before = law_of(&t, &t.prior);
        for (size_t round = 0; round < ROUNDS; round++) {
            uint64_t index = (k * ROUNDS + round) * (n + 1);
            bool last = round + 1 == ROUNDS;
            take_prior(&t, rng_uniform(edges, index + n));
            take_edges(&t, edges, index, last ? 1 / (double)a->draws : 0, a->edge_prob);
        }
        double moved = law_of(&t, &t.prior) - before;
        a->log_p[k] += moved;
        a->log_q[k] += moved;
        for (size_t i = 0; i < a->d; i++) {
            if (draw_bends(a, k, i)) {
                take_terms(&t, weights, k * n, a, k, i);
            } else {
                take_weights(&t, weights, k * n, i, a->w + k * n, &a->intercept[k * a->d + i]);
            }
        }
    }
done:
    arena_close(&t.memory);
    return status;
}

/* Terms that are 0 go: a node that has no others is straight, without causes. */
static void drop_terms(bent_mechanisms *b)
{
    uint64_t kept = 0;
    uint64_t at = 0;
    for (size_t node = 0; node < b->draws * b->d; node++) {
        uint64_t end = b->first[node + 1];
        b->first[node] = kept;
        for (; at < end; at++) {
            if (square_of(b->coef + at * CURVE_WIDTH) > 0) {
                memmove(b->parent + 2 * kept, b->parent + 2 * at, 2 * sizeof *b->parent);
                memmove(b->coef + kept * CURVE_WIDTH, b->coef + at * CURVE_WIDTH,
                        CURVE_WIDTH * sizeof *b->coef);
                kept++;
            }
        }
    }
    b->first[b->draws * b->d] = kept;
    b->terms = kept;
}

/* Curves of draw k, given the factors (d) of all scales. Lines go through z = 0, curves about it: a
 * line b_p0 (z_p - m_p)/sd_p leaves (1 + g_p) of itself and g_p m_p/sd_p of b_p0. */
static void scale_terms(anchored *a, size_t k, const double *factor)
{
    bent_mechanisms *bent = &a->bent;
    for (size_t i = 0; i < a->d; i++) {
        for (uint64_t at = bent->first[k * a->d + i]; at < bent->first[k * a->d + i + 1]; at++) {
            const int32_t *parent = bent->parent + 2 * at;
            double *coef = bent->coef + at * CURVE_WIDTH;
            bool line = parent[1] == BENT_ALONE && bent->basis[parent[0]].knots > 1;
            double by = (line ? factor[parent[0]] : 1) / factor[i];
            double middle = 0;
            double sd = 1;
            if (line) {
                bent_line(&bent->basis[parent[0]], &middle, &sd);
                a->intercept[k * a->d + i] +=
                    coef[0] * (factor[parent[0]] - 1) / factor[i] * middle / sd;
            }
            for (size_t c = 0; c < CURVE_WIDTH; c++) {
                coef[c] *= by;
            }
        }
    }
}

static void take_gains(anchored *a, double gain, rng r, double *factors)
{
    size_t d = a->d;
    for (size_t k = 0; k < a->draws; k++) {
        for (size_t j = 0; j < d; j++) {
            double factor = exp(gain * rng_normal(r, 2 * (k * d + j)));
            factors[j] = factor;
            for (size_t i = 0; i < d; i++) {
                a->w[(k * d + j) * d + i] *= factor;
                a->w[(k * d + i) * d + j] /= factor;
            }
            a->sigma[k * d + j] /= factor;
            a->intercept[k * d + j] /= factor;
        }
        if (a->bent.terms > 0) {
            scale_terms(a, k, factors);
        }
    }
}

lscm_status anchored_take_errors(anchored *a, const graph_posterior *g, const anchored_input *in,
                                 lscm_error *why)
{
    lscm_status status = LSCM_OK;
    uint64_t seed = (uint64_t)in->settings->seed;
    double *factors = malloc(a->d * sizeof *factors);
    if (factors == NULL) {
        return fail_memory(why, a->d * sizeof *factors);
    }
    TRY(take_leaks(a, g, seed, why));
    if (a->bent.terms > 0) {
        drop_terms(&a->bent);
    }
    take_gains(a, in->gain, stream_of(seed, STREAM_GAINS), factors);
done:
    free(factors);
    return status;
}
