/* A small data set with everything right, for tests to wrap and to spoil. */
#ifndef LSCM_TESTS_ARRAYS_H
#define LSCM_TESTS_ARRAYS_H

#include "lcg.h"
#include "lscm.h"

#include <math.h>
#include <string.h>

enum { N = 7, D = 4, NODES = 3 };

typedef struct arrays {
    double x[N * D];
    uint8_t targets[N * NODES];
    double values[N * NODES], z[N * NODES];
    double w[NODES * NODES], sigma[NODES];
} arrays;

/* Everything right: edges 2 -> 0 and 0 -> 1. */
static inline lscm_arrays fill(arrays *a)
{
    lcg g = {1};
    for (size_t i = 0; i < (size_t)N * D; i++) {
        a->x[i] = lcg_normal(&g);
    }
    for (size_t i = 0; i < (size_t)N * NODES; i++) {
        a->targets[i] = lcg_uniform(&g) < 0.4 ? 1 : 0;
        a->values[i] = a->targets[i] ? lcg_normal(&g) : NAN;
        a->z[i] = lcg_normal(&g);
    }
    memset(a->w, 0, sizeof a->w);
    a->w[2 * NODES + 0] = 1.5;
    a->w[0 * NODES + 1] = -0.5;
    a->sigma[0] = a->sigma[1] = a->sigma[2] = 0.1;
    return (lscm_arrays){.rows = N,
                         .nodes = NODES,
                         .features = D,
                         .x = a->x,
                         .targets = a->targets,
                         .values = a->values,
                         .z = a->z,
                         .w = a->w,
                         .sigma = a->sigma};
}

#endif
