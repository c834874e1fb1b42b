/* What exports share: which of the pairs of lscm_posterior_edges go out. */
#ifndef LSCM_RESULT_ASK_EXPORT_EDGES_H
#define LSCM_RESULT_ASK_EXPORT_EDGES_H

#include "data/drawing/drawing.h"
#include "scm/posterior/posterior.h"

/* How many edges, the likeliest first, from the first on have a probability above `least`. */
size_t export_edges_over(const lscm_edge *edges, size_t count, double least);

/* Leaves those of a graph: over 1/2, both ways where together they are and nothing tells which. */
size_t export_edges_shown(const lscm_posterior *p, lscm_edge *edges, size_t count);

/* The writer of .json. */
lscm_status export_json(const lscm_posterior *p, const char *to, const char *what, lscm_error *why);

#endif
