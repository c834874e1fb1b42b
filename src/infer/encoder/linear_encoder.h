/* Around the encoder z = a + y B: what the anchors leave open, and reading rows by it. */
#ifndef LSCM_INFER_ENCODER_LINEAR_ENCODER_H
#define LSCM_INFER_ENCODER_LINEAR_ENCODER_H

#include "infer/problem/problem.h"

/* The anchor of observed variables. */
lscm_status encoder_identity(anchor *out, const linear_view *s, const uint8_t *keep,
                             lscm_error *why);
/* Slope (r, d) of the anchor, with directions for the nodes that have none (encoder_complete.c).
 * keep (rows) or NULL. */
lscm_status encoder_complete(const linear_view *s, const uint8_t *keep, const anchor *a,
                             double *slope, lscm_error *why);
/* unit (d); sorted (d) is scratch. */
void encoder_units(const linear_view *s, const anchor *a, const uint8_t *keep, const double *z,
                   double *unit, double *sorted);
/* What is wrong with z by the mean encoder: covariance (d, d) that noise of x makes, the same in
 * all rows; variance (d) in a row y (r) by the encoder's own error. */
void encoder_blur(const linear_view *s, const anchored *a, double *blur);
void encoder_doubt(const anchored *a, const double *y, double *doubt);
/* z and sd (d) of a row y (r), of which the encoder says `mean` (d). */
typedef struct encoder_errors {
    size_t d, rank;
    const double *noise;  /* (d) */
    const double *spread; /* (d, r + 1, r + 1), as in anchored, or NULL */
    double actuator_noise;
} encoder_errors;
/* target, values (d): what do() set. */
void encoder_row(const encoder_errors *errors, const double *y, const double *mean,
                 const uint8_t *target, const double *values, double *z, double *sd);
/* z and z_sd (rows, d): posterior mean and sd; of z that was clipped, what x says of it. */
void encoder_z(const linear_view *s, const anchored *a, double *z, double *z_sd);
/* x = z weights + bias: weights (d, D), bias (D). */
lscm_status encoder_invert(const linear_view *s, const anchored *a, double *weights, double *bias,
                           lscm_error *why);

#endif
