/* Mechanisms that bend. Every one is a layer of units over the parents of its node,
 *
 *     f_i(z) = base_i + sum_k out_k phi_k(bias_k + sum_j in_kj z_j),
 *
 *   additive   a unit for each parent, of that one alone; phi is tanh, sine, a valley
 *              sqrt(1 + a^2) - 1 or a bump exp(-a^2/2)
 *   network    8 units of all parents, phi tanh
 *   process    128 units of all parents, phi sine with a phase from the whole circle: random
 * Fourier features of a Gaussian process, whose kernel is exp(-|h - h'|^2/(2 l^2)), h = z/u
 *
 * and over parents that are independent and uniform with an rms of 2u it has mean 0 and an sd drawn
 * from U(u, 2u), u the unit of the values. A pure function of the settings.
 */
#ifndef LSCM_SCM_SIMULATE_BENDS_H
#define LSCM_SCM_SIMULATE_BENDS_H

#include "base/arena.h"

typedef struct scm_bends {
    bool apart;              /* unit k of a node is of its parent k alone */
    const size_t *start;     /* (d + 1): parents of node i are start[i] .. start[i + 1] - 1 */
    const size_t *parents;   /* (edges) */
    size_t *units, *weights; /* (d + 1): where those of node i begin */
    uint8_t *shape;          /* (units): phi */
    double *bias, *out, *in; /* (units), (units), (weights) */
    double *base;            /* (d) */
    arena memory;
} scm_bends;

/* start, parents: of a graph of d nodes, which must outlive the bends; unit: u. */
lscm_status scm_bends_random(scm_bends *out, const lscm_simulation *settings, double unit, size_t d,
                             const size_t *start, const size_t *parents, lscm_error *why);
void scm_bends_close(scm_bends *b);

/* Adds f_i to column i of z (d, n), n rows a column. */
void scm_bends_add(const scm_bends *b, size_t i, size_t n, double *z);
/* Adds the sums of df_i/dz_j over the first `rows` of n rows to sum (edges), those of j at the
 * place of j in `parents`. */
void scm_bends_slopes(const scm_bends *b, size_t i, size_t n, size_t rows, const double *z,
                      double *sum);

#endif
