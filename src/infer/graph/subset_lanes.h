/* Eight neighbouring entries of a table over bit masks are one vector; its lanes differ in the
 * three lowest bits. */
#ifndef LSCM_INFER_GRAPH_SUBSET_LANES_H
#define LSCM_INFER_GRAPH_SUBSET_LANES_H

#include "base/lanes_math.h"

enum { SUBSET_LOW = 3 };

/* The entries whose masks differ in one low bit: lane k gets lane k ^ 2^bit. */
LANES_INLINE lanes subset_neighbours(lanes x, size_t bit)
{
    return bit == 0   ? __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6)
           : bit == 1 ? __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5)
                      : __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3);
}

#endif
