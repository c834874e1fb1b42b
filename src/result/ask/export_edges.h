/* What the draws of a posterior say about every pair of nodes. */
#ifndef LSCM_RESULT_ASK_EXPORT_EDGES_H
#define LSCM_RESULT_ASK_EXPORT_EDGES_H

#include "data/drawing/drawing.h"
#include "scm/posterior/posterior.h"

/* All d (d - 1) pairs in new memory, the likeliest edge first: its probability; mean, sd (over the
 * count) and quantiles (interpolated linearly, as NumPy does) of w over the draws. */
lscm_status export_edges(const lscm_posterior *p, graph_edge **out, size_t *count, lscm_error *why);
/* How many of them, from the first on, have a probability above `least`. */
size_t export_edges_over(const graph_edge *edges, size_t count, double least);

/* Leaves those of a graph: over 1/2, both ways where together they are and nothing tells which. */
size_t export_edges_shown(const lscm_posterior *p, graph_edge *edges, size_t count);

/* The writer of .json. */
lscm_status export_json(const lscm_posterior *p, const char *to, const char *what, lscm_error *why);

#endif
