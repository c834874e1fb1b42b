/* The mechanisms of all nodes, known: linear, with normal noise,
 *
 *     z_i = c_i + sum_j z_j w[j][i] + s_i e_i,   e_i ~ N(0, 1),      residual  z - c - z W,
 *
 * acyclic; where a node bends, sum_j z_j w[j][i] is the effect that bent.h has. What data say of
 * mechanisms is infer/mechanism; what they do once they are known is written here and nowhere else.
 * Sums over causes are taken in ascending order, or in the one that is given: bits are the same for
 * a node alone and for all of a row.
 */
#ifndef LSCM_SCM_MECHANISM_MECHANISM_H
#define LSCM_SCM_MECHANISM_MECHANISM_H

#include "scm/mechanism/bent.h"
#include "scm/mechanism/bent_mean.h"
#include "scm/mechanism/noise_shapes.h"

#include <stddef.h>
#include <stdint.h>

typedef struct mechanism_model {
    size_t d;
    const double *w;             /* (d, d): w[j][i] is j -> i */
    const double *intercept;     /* (d): c */
    const double *sigma;         /* (d): s > 0; NULL where only residuals are asked for */
    const bent_mechanisms *bent; /* or NULL: all nodes are linear */
    size_t draw;                 /* which of these it is */
} mechanism_model;

static inline bool mechanism_bends(const mechanism_model *m, size_t i)
{
    return m->bent != NULL && bent_bends(m->bent, m->draw, i);
}

/* start less the effect of the causes, z (d) */
static inline double mechanism_less_causes(const mechanism_model *m, size_t i, const double *z,
                                           double start)
{
    if (mechanism_bends(m, i)) {
        return start - bent_effect(m->bent, m->draw, i, z);
    }
    for (size_t j = 0; j < m->d; j++) {
        start -= z[j] * m->w[j * m->d + i];
    }
    return start;
}

/* What its causes leave of node i in the row z (d): s_i e_i. */
static inline double mechanism_residual(const mechanism_model *m, size_t i, const double *z)
{
    return mechanism_less_causes(m, i, z, z[i] - m->intercept[i]);
}

/* Adds the slopes of what its causes do to node i at the row z (d) to slope (d), by each node. */
static inline void mechanism_slopes(const mechanism_model *m, size_t i, const double *z,
                                    double *slope)
{
    if (mechanism_bends(m, i)) {
        bent_slopes(m->bent, m->draw, i, z, slope);
        return;
    }
    for (size_t j = 0; j < m->d; j++) {
        slope[j] += m->w[j * m->d + i];
    }
}

/* Residuals of all nodes, e (d). */
static inline void mechanism_residuals(const mechanism_model *m, const double *z, double *e)
{
    for (size_t i = 0; i < m->d; i++) {
        e[i] = z[i] - m->intercept[i];
    }
    for (size_t j = 0; j < m->d; j++) {
        const double *w = m->w + j * m->d;
        for (size_t i = 0; i < m->d; i++) {
            e[i] -= z[j] * w[i];
        }
    }
    for (size_t i = 0; i < m->d && m->bent != NULL; i++) {
        e[i] = mechanism_bends(m, i) ? mechanism_residual(m, i, z) : e[i];
    }
}

/* Node i given the `count` nodes before it in a causal order; noise: s_i e_i, 0 for the mean. */
static inline double mechanism_simulate(const mechanism_model *m, size_t i, const size_t *before,
                                        size_t count, const double *z, double noise)
{
    double sum = m->intercept[i] + noise;
    if (mechanism_bends(m, i)) {
        return sum + bent_effect(m->bent, m->draw, i, z);
    }
    for (size_t k = 0; k < count; k++) {
        sum += z[before[k]] * m->w[before[k] * m->d + i];
    }
    return sum;
}

/* The same for n rows at once where no node bends, columns contiguous: z (d, n), column i holds c_i
 * + s_i e_i and becomes z_i; parents (count). */
void mechanism_simulate_column(const mechanism_model *m, size_t i, const size_t *parents,
                               size_t count, size_t n, double *z);

/* The intercept of node i, which is linear, when all z are counted from elsewhere: those of
 * z + by (d). */
static inline double mechanism_moved(const mechanism_model *m, size_t i, const double *by)
{
    return mechanism_less_causes(m, i, by, m->intercept[i] + by[i]);
}

/* What each of `rows` sources does to every node, all of them linear, where mask (d) is 0 through
 * its causes too: reach (rows, d) holds what a source does to a node by itself, and gets the rest
 * added. */
void mechanism_reach(const mechanism_model *m, const size_t *order, const uint8_t *mask,
                     size_t rows, double *reach);

#endif
