/* A Markov chain over graphs themselves, P(G) ~ 2^-edges prod_i score_i(pa_i): every graph with as
 * many edges counts alike, where a chain over orders (order_chain.h) counts it as often as it has
 * orders; and a pair has an edge with the probability that it has there, either way with half of
 * it. From draws of that one it has a short way to go. Moves, each Metropolis:
 *
 *   - an edge between a node and a candidate comes or goes;
 *   - an edge is turned: that of one of the n_i parents of a node drawn alike, so that the ratio
 * has n_i / n_j', n_j' the parents that the other node then has;
 *   - a node v with one parent becomes a root: the path v <- p_1 <- .. <- p_m, each the only parent
 *     of the one before or one drawn alike, and p_m without any, is turned as a whole. From there
 *     p_m leads back, and as often, since p_1 .. p_m-1 have as many parents as before.
 *
 * The first and last of these are symmetric. Edges of one node's tree are what data without do()
 * cannot tell apart, and one by one they would turn in the square of its length.
 */
#ifndef LSCM_INFER_GRAPH_EDGE_WALK_H
#define LSCM_INFER_GRAPH_EDGE_WALK_H

#include "infer/graph/dag.h"
#include "infer/graph/parent_sets.h"

/* Moves the draws, draw k of chain k mod chains, by walks that begin at some of them and go on over
 * those that follow, and tells edges, R-hat and ESS by them. sets (d): the scores of each node. The
 * same numbers for any number of threads. */
lscm_status edge_walk_draws(const dag_problem *problem, const parent_sets *sets,
                            const dag_draws *draws, size_t chains, dag_result *out,
                            lscm_error *why);

#endif
