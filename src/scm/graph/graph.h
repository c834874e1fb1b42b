/* Graphs over d nodes and what is combinatorial about them: edges from weights, causal order,
 * distances, the equivalence class of a DAG, and the permutation that costs least.
 */
#ifndef LSCM_SCM_GRAPH_GRAPH_H
#define LSCM_SCM_GRAPH_GRAPH_H

#include "scm/graph/adjacency.h"  /* graphs as bytes: order, distances */
#include "scm/graph/assignment.h" /* permutations of least cost */
#include "scm/graph/cpdag.h"      /* Markov equivalence classes */
#include "scm/graph/essential.h"  /* .. under interventions */

#endif
