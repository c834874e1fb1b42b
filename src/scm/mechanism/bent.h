/* Mechanisms that bend, of many draws:
 *
 *     z_i = c_i + sum over terms t of node i, sum_k b_tk g_tk(z) + s_i e_i,   e_i ~ N(0, 1),
 *
 * a term being the curve of one parent, g_k = phi_pk(z_p), or what two do together, the products of
 * curves.h. A node without terms is linear in that draw (mechanism.h). Where it has terms they are
 * all there is, straight parts included; its w are the average slopes of their sum over the rows
 * that were fitted, and no more than a summary.
 */
#ifndef LSCM_SCM_MECHANISM_BENT_H
#define LSCM_SCM_MECHANISM_BENT_H

#include "scm/mechanism/curves.h"

#include <stdbool.h>

enum { BENT_ALONE = -1 }; /* in the place of a second parent */

typedef struct bent_mechanisms {
    size_t draws, d, terms;
    curve_basis *basis; /* (d) */
    uint64_t *first;    /* (draws d + 1): where the terms of node i in draw k begin, at k d + i */
    int32_t *parent;    /* (terms, 2) */
    double *coef;       /* (terms, CURVE_WIDTH): b; 0 beyond CURVE_PAIRS of two parents */
} bent_mechanisms;

/* Whether node i bends in a draw. */
static inline bool bent_bends(const bent_mechanisms *b, size_t draw, size_t i)
{
    return b->first[draw * b->d + i + 1] > b->first[draw * b->d + i];
}

/* All terms of node i in a draw, at the row z (d). */
double bent_effect(const bent_mechanisms *b, size_t draw, size_t i, const double *z);
/* Adds the slopes of their sum there to slope (d), by each node. */
void bent_slopes(const bent_mechanisms *b, size_t draw, size_t i, const double *z, double *slope);
/* The part of parent p alone, its curve, at z_p; 0 where it has none. */
double bent_curve(const bent_mechanisms *b, size_t draw, size_t i, size_t p, double z);

#endif
