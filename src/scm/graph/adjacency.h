/* Graphs as bytes: a (d, d), a[j*d+i] = 1 for the edge j -> i. In a CPDAG a[j][i] = a[i][j] = 1 is
 * an undirected edge. Distances between two graphs, and the causal order of one.
 */
#ifndef LSCM_SCM_GRAPH_ADJACENCY_H
#define LSCM_SCM_GRAPH_ADJACENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* a (d, d): an edge where |w| > threshold, the diagonal included (such a graph has a cycle). A NaN
 * is no edge; returns the index of the first NaN in w, or d*d when there is none. */
size_t graph_from_weights(const double *w, size_t d, double threshold, uint8_t *a);

/* Fills order (d), causes first, and returns true; or returns false when there is a cycle.
 * `waiting` (d) is scratch. O(d^2). */
bool graph_order(const uint8_t *a, size_t d, size_t *order, size_t *waiting);

/* Unordered pairs of nodes whose relation differs (none, ->, <-, or - in a CPDAG): a missing, an
 * extra and a reversed edge count 1 each. The diagonal does not count. */
size_t graph_shd(const uint8_t *a, const uint8_t *b, size_t d);

/* Off-diagonal entries that differ: a reversed edge counts 2. */
size_t graph_shd_entries(const uint8_t *a, const uint8_t *b, size_t d);

#endif
