/* Rows whose z is read off worse count less.
 *
 * Through a network without biases z errs in proportion to |x|, so what node i's candidates leave
 * of z_i has the variance v_i (1 + rho u) for a row of size u, the square of |x| in its mean. rho
 * is fitted to all residuals e_i, in units of their mean squares m_i, by least squares in which
 * every e_i^2 has a sd in proportion to its mean (as if normal):
 *
 *     e_ri^2/m_i = a + b u_r,   a, b >= 0,   rho = b/a <= 100,      weight_r = c/(1 + rho u_r),
 *
 * c such that weights are 1 in the mean. They are those of a regression whose variances are known
 * up to a factor: scatters are weighted, rows are as many as before.
 */
#ifndef LSCM_INFER_EVIDENCE_ROW_WEIGHTS_H
#define LSCM_INFER_EVIDENCE_ROW_WEIGHTS_H

#include "infer/mechanism/mechanism.h"

/* f: families of z (rows, d), all rows alike; size (rows): u >= 0, about 1 in the mean. weight
 * (rows) is filled where f uses a row; share is the mean of u so weighted. */
lscm_status row_weights(double *weight, double *share, const families *f, const double *z,
                        const double *size, lscm_error *why);

#endif
