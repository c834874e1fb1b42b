/* Sums over all orders of d nodes, by dynamic programming over the set S of those that come first
 * (Koivisto & Sood 2004). With a_i(U) = total of node i's parents among the predecessors U,
 *
 *     forward(S)  = log sum over orders of S            = log sum_{i in S} e^(forward(S - i) +
 * a_i(S - i)) backward(S) = log sum over orders of what follows = log sum_{i not in S} e^(a_i(S) +
 * backward(S + i)) P(predecessors of i are U) = e^(forward(U) + a_i(U) + backward(U + i) -
 * forward(all)) P(j -> i) = sum_{U with j} P(predecessors of i are U) (1 - e^(a_i(U - j) -
 * a_i(U))).
 */
#ifndef LSCM_INFER_GRAPH_ORDER_SUMS_H
#define LSCM_INFER_GRAPH_ORDER_SUMS_H

#include "base/arena.h"
#include "base/rng.h"

#include <stdint.h>

typedef struct order_sums {
    size_t d;
    double **total;   /* (d, 2^(d-1)): a_i over masks of the other nodes, node i's bit left out */
    double *forward;  /* (2^d) */
    double *backward; /* (2^d) */
    uint32_t *before; /* (d): nodes that must come before each; sets without them are passed by */
} order_sums;

/* total and before are the caller's. */
void order_sums_lay_out(order_sums *sums, arena *a, size_t d);
/* Which of the two are asked for: at once where there are two threads. */
void order_sums_run(const order_sums *sums, bool forward, bool backward, int threads);
/* Column i of edge_prob (d, d), when there are orders at all; needs backward. */
void order_sums_edges(const order_sums *sums, size_t i, double *edge_prob);
/* An order (d), causes first, by uniform numbers first .. first + d - 1. */
void order_sums_draw(const order_sums *sums, rng r, uint64_t first, size_t *order);

/* The mask over nodes without bit i, and back again with 0 there. */
static inline size_t mask_without(size_t mask, size_t i)
{
    size_t below = ((size_t)1 << i) - 1;
    return (mask & below) | (mask >> 1 & ~below);
}

static inline size_t mask_with(size_t mask, size_t i)
{
    size_t below = ((size_t)1 << i) - 1;
    return (mask & below) | (mask & ~below) << 1;
}

#endif
