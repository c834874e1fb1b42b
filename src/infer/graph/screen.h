/* Candidate parents when there are too many nodes for tables over all sets of them. Over the rows
 * in which node i is free,
 *
 *   1. near (screen_near.c): forward selection of the nodes that explain z_i, whatever the
 *      direction; with few nodes, all others;
 *   2. order (screen_order.c): one causal order that fits well, by moving one node at a time; rows
 * in which a child is intervened on tell it from a parent;
 *   3. candidates (screen.c): near nodes ranked by what it costs in score, from that order, to make
 *      them parents of i: parents first, then what is doubtful, children of i last.
 *
 * A guess, not a posterior: it only has to keep the true parents. Deterministic, also in the number
 * of threads.
 */
#ifndef LSCM_INFER_GRAPH_SCREEN_H
#define LSCM_INFER_GRAPH_SCREEN_H

#include "base/status.h"

/* z, mask (rows, d); forbidden and required (d, d) or NULL: [j][i] = 1 for j -> i. At most `most`
 * candidates each: count (d), candidate (d, most) ascending. When d - 1 <= most, all others. Fails
 * when a node has more required parents than `most`, or one edge is both required and forbidden. */
lscm_status screen_candidates(const double *z, const uint8_t *mask, size_t rows, size_t d,
                              const uint8_t *forbidden, const uint8_t *required, size_t most,
                              size_t *count, size_t *candidate, const lscm_progress *progress,
                              lscm_error *why);
/* The same, and the order of step 2, a start for sampling orders: order (d) or NULL. */
lscm_status screen_with_order(const double *z, const uint8_t *mask, size_t rows, size_t d,
                              const uint8_t *forbidden, const uint8_t *required, size_t most,
                              size_t *count, size_t *candidate, size_t *order,
                              const lscm_progress *progress, lscm_error *why);

#endif
