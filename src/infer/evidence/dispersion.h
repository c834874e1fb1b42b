/* Rows of an intervention set are often more alike than a model explains: instruments drift from
 * set to set, mechanisms bend. Then rows are not independent evidence. With e_i the residuals of
 * node i where free, over the sets k (n_k rows) in which it is,
 *
 *     F_i = [ sum_k n_k mean_k(e_i)^2 / (K - 1) ] / [ sum_k sum (e_i - mean_k(e_i))^2 / (n - K) ]
 *
 * is about 1 for independent rows. Where its mean over nodes is not, a row counts as 1/F of one.
 */
#ifndef LSCM_INFER_EVIDENCE_DISPERSION_H
#define LSCM_INFER_EVIDENCE_DISPERSION_H

#include "infer/mechanism/mechanism.h"
#include "infer/problem/problem.h"

/* Mean F of the mechanisms, and the degrees of freedom of what varies
 * between sets, over all nodes; 1 and 0 when there are too few sets to tell. */
lscm_status dispersion_of(double *out, double *dof, const anchored_input *in, const double *z,
                          const mechanism_model *model, lscm_error *why);

/* For variables that were read off x: errors of the encoder bend with z, so slopes too differ from
 * set to set. With x = (1, the parents of i), and g_k the sum of e_i x over the rows of set k,
 *
 *     F_i = tr(V^-1 sum_k g_k g_k') / |x|,   V = mean(e_i^2) sum x x':
 *
 * what the slopes of e_i vary by over what independent rows would let them. out (d), at least 1;
 * variance (d): mean(e_i^2). weight (rows): what a row counts in every sum and mean; NULL: 1. */
lscm_status dispersion_slopes(double *out, double *variance, const anchored_input *in,
                              const double *weight, const double *z, const mechanism_model *model,
                              lscm_error *why);

#endif
