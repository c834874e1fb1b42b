/* Values of do() that an encoder is not shown, to judge it by: of each node those of about one
 * intervention set in twelve; where it is set in fewer sets than that, of one row in twelve. */
#ifndef LSCM_DATA_DESIGN_HOLD_OUT_H
#define LSCM_DATA_DESIGN_HOLD_OUT_H

#include "base/status.h"

/* mask, held (rows, d): held is 1 where a value is held out, a part of where mask is 1. sets (d):
 * in how many distinct sets each node is set. */
lscm_status hold_out(const uint8_t *mask, size_t rows, size_t d, uint64_t seed, uint8_t *held,
                     size_t *sets, lscm_error *why);

#endif
