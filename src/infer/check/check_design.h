/* What rows and design say before any model: constant columns and copies, units, numbers with too
 * few digits, how far labels reach, whether nodes were set together, how many values they were set
 * to, and whether x is linear in z at all where it was taken to be.
 */
#ifndef LSCM_INFER_CHECK_CHECK_DESIGN_H
#define LSCM_INFER_CHECK_CHECK_DESIGN_H

#include "infer/check/check_input.h"

#include <jansson.h>

/* Appends to `checks` (findings.h). left (d): variance of each node given its causes; doubted (d)
 * gets 1 at observed nodes whose edges mean nothing. */
lscm_status check_design(json_t *checks, const check_input *in, const double *left,
                         uint8_t *doubted, lscm_error *why);

#endif
