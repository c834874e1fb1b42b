/* What z has wrong in all rows alike. */
#ifndef LSCM_INFER_ANCHORED_ANCHORED_ERRORS_H
#define LSCM_INFER_ANCHORED_ANCHORED_ERRORS_H

#include "infer/graph/graph.h"

/* Widens the draws by what z has wrong in all rows alike; `in` says how much. */
void anchored_take_errors(anchored *a, const graph_posterior *g, const anchored_input *in);

#endif
