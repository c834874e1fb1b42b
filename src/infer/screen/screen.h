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
#ifndef LSCM_INFER_SCREEN_SCREEN_H
#define LSCM_INFER_SCREEN_SCREEN_H

#include "infer/mechanism/mechanism.h"

/* Fills count and candidate of `lists`, at most `most` each; when d - 1 <= most, all others.
 * forbidden (d, d) or NULL: [j][i] = 1 for j -> i. order (d) or NULL: that of step 2, a start for
 * sampling orders. Fails when a node has more required
 * parents than `most`, or one edge is both required and forbidden. */
lscm_status screen_candidates(const latent_rows *rows, const uint8_t *forbidden,
                              const candidate_lists *lists, size_t *order,
                              const lscm_progress *progress, lscm_error *why);

#endif
