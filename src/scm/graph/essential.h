/* The essential graph of a DAG under interventions: what is left undirected in it no number of rows
 * of these sets can direct (Hauser and Buehlmann 2012). From the equivalence class without
 * interventions (cpdag.h), an edge is directed where some set of targets has exactly one of its
 * ends, or something else that is known says so; then Meek's four rules (1995), until nothing
 * moves.
 */
#ifndef LSCM_SCM_GRAPH_ESSENTIAL_H
#define LSCM_SCM_GRAPH_ESSENTIAL_H

#include "scm/graph/cpdag.h"

/* dag (d, d) to essential (d, d), edges without direction as 1 both ways. told (d, d), symmetric: 1
 * where a pair is told apart. False, and nothing done, when dag has a cycle. */
bool essential_of_dag(const uint8_t *dag, size_t d, const uint8_t *told, uint8_t *essential,
                      const cpdag_work *work);

/* Adds `share` to reversible (d, d) where an edge has no direction. */
void essential_add_reversible(const uint8_t *essential, size_t d, double share, double *reversible);

#endif
