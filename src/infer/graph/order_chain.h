/* A Markov chain over causal orders, P(order) ~ prod_i e^(beta total_i(U_i)), U_i the candidates of
 * node i that stand before it, total_i summed over all parent sets within U_i (parent_sets.h).
 * Moves: one node drawn anew among all places (Gibbs); two nodes exchanged; two neighbouring blocks
 * exchanged (Metropolis). Only the sums of nodes whose U_i changes are looked up.
 */
#ifndef LSCM_INFER_GRAPH_ORDER_CHAIN_H
#define LSCM_INFER_GRAPH_ORDER_CHAIN_H

#include "base/arena.h"
#include "infer/graph/parent_sets.h"

/* What all chains share. */
typedef struct order_space {
    size_t d;
    const family *families; /* (d) */
    double **total;         /* (d): (2^count) each */
    size_t *first_child;    /* (d + 1): where the list of each node begins */
    uint32_t *child;        /* nodes that have it as a candidate */
    uint8_t *child_slot;    /* as which */
    double *log_whole;      /* (d + 1): log k */
} order_space;

typedef struct order_event order_event;
typedef struct order_chain {
    const order_space *space;
    rng r;
    uint64_t next;              /* number of the next random number */
    uint32_t *order, *position; /* (d) */
    uint32_t *before;           /* (d): U_i as a mask over candidates */
    double *total;              /* (d): total_i(U_i) */
    double score;               /* their sum */
    order_event *event;         /* (d) */
    uint32_t *mark;             /* (d): ranks of a start; scratch, all NONE between moves */
    uint32_t *touched, *mask;   /* (d): scratch of a proposal */
    double *value;              /* (d) */
} order_chain;

/* Lists of the space; its families and totals are there. `edges` is the sum of all counts. */
void order_space_lay_out(order_space *space, arena *a, size_t edges);
void order_space_fill(order_space *space);

void order_chain_lay_out(order_chain *chain, arena *a, size_t d);
/* A random order with every required parent before its child; false when there is none. Begins the
 * sums. `ranked`: of the nodes that may come next the one with the smallest chain->mark instead. */
bool order_chain_start(order_chain *chain, bool ranked);
/* Continues from another chain's order. */
void order_chain_adopt(order_chain *chain, const order_chain *other);
void order_chain_move(order_chain *chain, double beta);

#endif
