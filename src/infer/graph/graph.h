/* Graphs given z: exact sums over all of them to DAG_EXACT_MOST nodes, chains over orders with
 * screened parents beyond and from there over graphs, and chains over single graphs for those who
 * draw z too.
 */
#ifndef LSCM_INFER_GRAPH_GRAPH_H
#define LSCM_INFER_GRAPH_GRAPH_H

#include "infer/graph/convergence.h"     /* R-hat and effective sample size */
#include "infer/graph/dag.h"             /* the posterior over graphs and its draws */
#include "infer/graph/dag_extensions.h"  /* orders of a graph */
#include "infer/graph/graph_chain.h"     /* graph and mechanisms as a chain */
#include "infer/graph/graph_posterior.h" /* all of it, from rows of z */
#include "infer/graph/subset_sums.h"     /* sums over parent sets */

#endif
