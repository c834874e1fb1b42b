/* What observed variables say against the model that was found. With e_i what the mean mechanisms
 * leave of node i where free, less its mean in each set, and p the likely parents of i,
 *
 *     bent     e_i goes with the squares of its parents, beside the parents themselves (an F test)
 *     hidden   e_i goes with e_j: something that nobody measured moves both (a test of the
 * correlation)
 *
 * each at one chance in a thousand for all nodes, or pairs, together.
 */
#ifndef LSCM_INFER_ANCHORED_ASSUMPTIONS_H
#define LSCM_INFER_ANCHORED_ASSUMPTIONS_H

#include "infer/problem/problem.h"

typedef struct assumptions {
    size_t d;
    uint8_t *bent;   /* (d) */
    uint8_t *hidden; /* (d, d): 1 for i < j that share a cause */
    arena memory;
} assumptions;

lscm_status assumptions_test(assumptions *out, const linear_view *s, const anchored *a,
                             lscm_error *why);
void assumptions_close(assumptions *t);

#endif
