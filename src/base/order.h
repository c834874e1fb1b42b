/* A causal order of a weighted graph, or the proof that it has a cycle. */
#ifndef LSCM_BASE_ORDER_H
#define LSCM_BASE_ORDER_H

#include <stdbool.h>
#include <stddef.h>

/* w (d, d), an edge j -> i where w[j][i] is not 0 (NaN is an edge). Fills order (d) with the causes
 * first, smallest index first among the free, and returns true; or returns false when there is a
 * cycle. `waiting` (d) is scratch. O(d^2). */
bool order_of_graph(const double *w, size_t d, size_t *order, size_t *waiting);

/* True when order (d) is a permutation in which every edge of w points forward. */
bool order_fits_graph(const double *w, size_t d, const size_t *order, size_t *position);

#endif
