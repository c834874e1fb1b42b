/* Errors of an encoder bend with z, so that slopes of variables that were read off x differ from
 * set to set. With e_i what the mechanisms leave of node i where free, x = (1, the parents of i),
 * and g_k the sum of e_i x over the rows of set k,
 *
 *     F_i = tr(V^-1 sum_k g_k g_k') / |x|,   V = mean(e_i^2) sum x x':
 *
 * what the slopes of e_i vary by over what independent rows would let them, about 1 for those.
 */
#ifndef LSCM_INFER_EVIDENCE_UNEVEN_SLOPES_H
#define LSCM_INFER_EVIDENCE_UNEVEN_SLOPES_H

#include "infer/mechanism/mechanism.h"
#include "infer/problem/problem.h"

/* out (d): F, at least 1; variance (d): mean(e_i^2). weight (rows): what a row counts in every sum
 * and mean; NULL: 1. */
lscm_status uneven_slopes(double *out, double *variance, const anchored_input *in,
                          const double *weight, const double *z, const mechanism_model *model,
                          lscm_error *why);

#endif
