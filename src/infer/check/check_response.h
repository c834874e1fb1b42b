/* Does a node move whenever anything is set, whatever it is (a response to being handled at all)?
 * Of what its causes leave of it, r_s is the mean of set s; sets may have intercepts of their own,
 * so that the rows without intervention, r_0, are one set among others,
 *
 *     t^2 = (r_0 - mean r)^2 / (s^2 (1 + 1/K) + max(0, v (1/n_0 - mean 1/n_s))),
 *
 * an F(1, K - 1) if they are, mean and s^2 over the K other sets in which the node is free, v what
 * is left of it in a row.
 */
#ifndef LSCM_INFER_CHECK_CHECK_RESPONSE_H
#define LSCM_INFER_CHECK_CHECK_RESPONSE_H

#include "infer/check/check_family.h"

/* f: its causes, and what they leave. 1: nothing to test by. */
double check_response(const check_rows *t, size_t node, const check_family *f);

#endif
