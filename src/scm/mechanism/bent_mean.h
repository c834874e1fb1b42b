/* The mean of many draws of mechanisms, as one. All draws share the curves of each node, so where a
 * node bends in any of them the mean of what its causes do is a sum of the same curves:
 *
 *     mean_k f_ki(z) = sum over terms t of mean_k b_kt g_t(z),
 *
 * a term that a draw has not counting as 0, and a draw in which the node is straight as
 *
 *     c + sum_p w_p z_p = c + sum_p w_p m_p + sum_p (w_p s_p) phi_p0(z_p),   phi_p0 = (z_p -
 * m_p)/s_p,
 *
 * phi_p0 being a line everywhere. A node that bends in no draw is straight, with the mean weights.
 */
#ifndef LSCM_SCM_MECHANISM_BENT_MEAN_H
#define LSCM_SCM_MECHANISM_BENT_MEAN_H

#include "scm/mechanism/bent.h"

/* What the mean is taken of. */
typedef struct drawn_mechanisms {
    size_t draws, d;
    const double *w;             /* (draws, d, d): average slopes where a node bends */
    const double *intercept;     /* (draws, d) */
    const bent_mechanisms *bent; /* of as many draws; NULL: nothing bends */
} drawn_mechanisms;

/* w (d, d) and intercept (d); `to` has room for the curves of d nodes, d + 1 beginnings and, in
 * `most`, terms enough for those that any draw of a node has, and becomes one draw. */
void bent_mean(const drawn_mechanisms *of, size_t most, bent_mechanisms *to, double *w,
               double *intercept);
/* m and s of a node's first curve. */
void bent_line(const curve_basis *basis, double *middle, double *sd);

#endif
