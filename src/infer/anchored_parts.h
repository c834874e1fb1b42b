/* Pieces of the anchored method; see anchored.h. */
#ifndef LSCM_INFER_ANCHORED_PARTS_H
#define LSCM_INFER_ANCHORED_PARTS_H

#include "infer/anchored.h"

/* The anchor of observed variables. */
lscm_status encoder_identity(anchor *out, const signal *s, const uint8_t *keep, lscm_error *why);
/* Slope (r, d) of the anchor, with directions for the nodes that have no labels. */
lscm_status encoder_complete(const signal *s, const anchor *a, double *slope, lscm_error *why);
/* unit (d); sorted (d) is scratch. */
void encoder_units(const signal *s, const anchor *a, const uint8_t *keep, const double *z,
                   double *unit, double *sorted);
/* z and z_sd (rows, d): posterior mean and sd. */
void encoder_z(const signal *s, const anchored *a, double *z, double *z_sd);
/* x = z weights + bias: weights (d, D), bias (D). */
lscm_status encoder_invert(const signal *s, const anchored *a, double *weights, double *bias,
                           lscm_error *why);

#endif
