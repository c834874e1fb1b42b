/* What z has wrong in all rows alike. */
#ifndef LSCM_INFER_ANCHORED_ANCHORED_ERRORS_H
#define LSCM_INFER_ANCHORED_ANCHORED_ERRORS_H

#include "infer/graph/graph.h"

/* Edges, weights and log p of the draws, and the probabilities of edges, with what leaks
 * (g->leak_sd) and the scale of z let into them: draws of `g`. */
lscm_status anchored_take_errors(anchored *a, const graph_posterior *g, const anchored_input *in,
                                 lscm_error *why);

#endif
