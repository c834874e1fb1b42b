/* The CPDAG of a DAG: the graph of its Markov equivalence class. An edge is directed (compelled)
 * when every DAG with the same skeleton and the same v-structures has it in the same direction,
 * and undirected (reversible) otherwise.
 *
 * Chickering's labelling (1995) visits the edges by the order of their child and, for one child,
 * from the last parent in the order. The first visit to a child y labels all edges into y, so with
 * parent sets as bits a node costs O(d/64) and a graph O(d^2).
 */
#ifndef LSCM_SCM_GRAPH_CPDAG_H
#define LSCM_SCM_GRAPH_CPDAG_H

#include "base/arena.h"

#include <stdint.h>

typedef struct cpdag_work {
    size_t *order;       /* (d): node at each position, causes first */
    size_t *waiting;     /* (d) */
    uint64_t *parents;   /* (d, words): row and bits are positions in the order */
    uint64_t *compelled; /* (d, words): the parents whose edge is compelled */
} cpdag_work;

/* Measures or places the scratch for d nodes. */
void cpdag_lay_out(cpdag_work *work, arena *a, size_t d);

/* dag (d, d) to cpdag (d, d), reversible edges as cpdag[j][i] = cpdag[i][j] = 1. Returns false, and
 * leaves cpdag as it was, when dag has a cycle. Both may be the same array. */
bool cpdag_of_dag(const uint8_t *dag, size_t d, uint8_t *cpdag, const cpdag_work *work);

#endif
