/* The number of orders of a DAG (its linear extensions). Under the order-modular prior a graph has
 * weight proportional to it; draws weighted by its inverse are draws under the uniform prior over
 * DAGs. With P any convex part of the graph,
 *
 *     orders(P) = |P|! / prod |P_k|! prod orders(P_k)   over its connected parts P_k,
 *     orders(P) = sum over its sources (or its sinks, when they are fewer) s of orders(P - s),
 *
 * each part counted once and remembered. Exact to rounding; up to 2^d parts for the worst graphs,
 * some hundreds for sparse ones.
 */
#ifndef LSCM_INFER_GRAPH_DAG_EXTENSIONS_H
#define LSCM_INFER_GRAPH_DAG_EXTENSIONS_H

#include "base/arena.h"
#include "infer/graph/dag.h"

typedef struct dag_extensions {
    size_t d;
    uint32_t *parents, *children; /* (d): masks over nodes */
    double *orders;               /* (2^d): of parts met so far; 0 elsewhere */
    uint32_t *met;                /* (2^d) */
} dag_extensions;

/* d <= DAG_EXACT_MOST; 12 2^d bytes, of which only what is used is touched. */
void dag_extensions_lay_out(dag_extensions *work, arena *a, size_t d);
/* log of the number of orders of draw `index`. */
double dag_log_extensions(const dag_extensions *work, const family *list, const dag_draws *draws,
                          size_t index);

#endif
