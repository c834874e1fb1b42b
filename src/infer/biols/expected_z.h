/* z given the interventions alone, as in the paper (x is not looked at): over posterior draws,
 *
 *   E z = v E[R_t],   Var z_i = v Var(R_t[:, i]) v' + E[ sum_j R_t[j][i]^2 N_t[j] ]
 *
 * with R_t = (I - W M_t)^-1 of each draw, worked out once per distinct mask t. Intercepts c are one
 * more cause, always set to 1: v has a 1 and R_t the row c M_t R_t at its end.
 */
#ifndef LSCM_INFER_BIOLS_EXPECTED_Z_H
#define LSCM_INFER_BIOLS_EXPECTED_Z_H

#include "data/dataset/dataset.h"
#include "scm/posterior/posterior.h"

/* Fills z and z_sd (rows, d) of a posterior whose draws are there. */
lscm_status expected_z(lscm_posterior *p, const lscm_dataset *data, lscm_error *why);

#endif
