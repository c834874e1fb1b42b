/* What the others leak into z_i in all rows alike moves the weights of edges into i by leak_sd.
 * Edges that are no more than the largest of d (d - 1) such errors, sqrt(2 log(d (d - 1))) sd,
 * cannot be told from it, and are left out of a draw: the graph that is stored, and scored, lacks
 * them.
 */
#ifndef LSCM_INFER_GRAPH_GRAPH_LEAK_H
#define LSCM_INFER_GRAPH_GRAPH_LEAK_H

#include "infer/graph/graph_posterior.h"

/* The edge number j d + i, with weight w != 0, cannot be told from a leak. */
bool graph_leak_hides(const graph_posterior *g, size_t edge, double w);
/* Of the parents of family i those that can; w (d, d), its column i drawn. */
uint32_t graph_leak_told(const graph_posterior *g, size_t i, uint32_t parents, const double *w);

#endif
