/* The curves of a node from its values (curves.h). With N_m the natural cubic spline that is 1 at
 * knot m and 0 at the others, C the covariance of these over the rows and P_kl = integral N_k''
 * N_l'',
 *
 *     P v = rho C v:     phi = N v less its mean,
 *
 * whose rho are in ascending order 0, for the straight one, and the roughness of the others
 * (Demmler and Reinsch). Knots are values, at equal steps of the mean of their rank and of their
 * place in the range: as close as rows are, but not far apart where rows are few, where a cubic
 * between two knots would be stiffer than the prior has it.
 */
#ifndef LSCM_INFER_MECHANISM_BEND_BASIS_H
#define LSCM_INFER_MECHANISM_BEND_BASIS_H

#include "scm/mechanism/mechanism.h"

/* From values (n), which are put in order; rough (CURVE_WIDTH): rho over that of the least rough
 * curve that bends, 1 for the straight one and where there is none; slope (CURVE_WIDTH): mean
 * derivatives. Values that are all the same have no curves. */
void bend_basis_of(curve_basis *out, double *values, size_t n, double *rough, double *slope);

#endif
