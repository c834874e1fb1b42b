/* x ~ N(mean, sd^2) given that it lies beyond a bound: exact, however far out the bound is, and a
 * pure function of (rng, index) as in rng.h. With alpha = (bound - mean)/sd,
 *
 *   alpha <= 0: normals until one is beyond (at least half are);
 *   alpha > 0:  x = bound + sd e, e exponential with rate r = (alpha + sqrt(alpha^2 + 4))/2, kept
 *               with probability exp(-(e - 1/r)^2/2) (Robert 1995; at least .76 are).
 *
 * Rejection draws from the TRUNCATED_NORMAL_SPAN indices that belong to `index` alone: those of the
 * rng from index TRUNCATED_NORMAL_SPAN on. Never on the wrong side, never NaN or infinite for
 * finite arguments with sd >= 0; sd = 0 gives the mean or, when that is outside, the bound.
 */
#ifndef LSCM_BASE_TRUNCATED_NORMAL_H
#define LSCM_BASE_TRUNCATED_NORMAL_H

#include "base/rng.h"

enum { TRUNCATED_NORMAL_SPAN = 128 }; /* 64 tries: all fail with probability below 4^-64 */

double truncated_normal_above(double mean, double sd, double bound, rng r, uint64_t index);
double truncated_normal_below(double mean, double sd, double bound, rng r, uint64_t index);

#endif
