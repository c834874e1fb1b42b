/* A causal order as a permutation matrix: order[k] is the node with P[node][k] = 1, and
 * L = P^T W^T P, that is L[a][b] = W[order b][order a], is lower triangular. Orders and matrices
 * are kept in any element type, so that files keep theirs.
 */
#ifndef LSCM_DATA_NPY_PERMUTATION_H
#define LSCM_DATA_NPY_PERMUTATION_H

#include "data/dataset/dataset.h"

/* The order (d) of P (d, d); false when P is no permutation: a single 1 in each row and column and
 * 0 elsewhere. */
bool permutation_order(const double *p, size_t d, size_t *order);
/* elements[at] = value, exact up to type_counts_to(type). */
void type_store(dtype type, void *elements, size_t at, size_t value);
/* The largest n such that 0 .. n are all exact; 0 for bool, which does not count. */
size_t type_counts_to(dtype type);

#endif
