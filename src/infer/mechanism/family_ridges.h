/* The score of one parent set at several ridges t at once, side by side: A = S_pp + t = L D L' in
 * units of the nodes, y = L^-1 S_pi,
 *
 *     S_ii - S_ip A^-1 S_pi = S_ii - y' D^-1 y,   log |A| - k log t = sum_k log(D_k / t),
 *     w^ = L'^-1 D^-1 y,   V_kk = sum_a (L^-1)_ak^2 / D_a     (for a hole, family_hole.h).
 */
#ifndef LSCM_INFER_MECHANISM_FAMILY_RIDGES_H
#define LSCM_INFER_MECHANISM_FAMILY_RIDGES_H

#include "infer/mechanism/family.h"

/* All in units of the nodes. */
typedef struct family_sums_of {
    size_t size;                          /* parents, k */
    const double (*scatter)[FAMILY_MOST]; /* (size, size), the lower half: S_pp */
    const double *with;                   /* (size): S_pi */
    double own;                           /* S_ii */
    double rows;                          /* n, at least 1 */
} family_sums_of;

/* What depends on t of the scores at prior->ridge times each of factor (count), at most 8; false
 * where a parent is a combination of others, up to rounding: nothing is done then. */
bool family_ridges(const family_sums_of *s, const family *f, const dag_prior *prior,
                   const double *factor, size_t count, double *score);

#endif
