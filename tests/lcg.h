/* Random numbers for tests that must not depend on the library's own: Knuth's MMIX generator. */
#ifndef LSCM_TESTS_LCG_H
#define LSCM_TESTS_LCG_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lcg {
    uint64_t state;
} lcg;

/* Uniform in (0, 1). */
static inline double lcg_uniform(lcg *g)
{
    g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(g->state >> 12) + 0.5) / 4503599627370496.0;
}

static inline size_t lcg_below(lcg *g, size_t bound)
{
    return (size_t)(lcg_uniform(g) * (double)bound);
}

static inline double lcg_normal(lcg *g)
{
    double radius = sqrt(-2 * log(lcg_uniform(g)));
    return radius * cos(6.283185307179586 * lcg_uniform(g));
}

/* A random order of 0 .. n-1. */
static inline void lcg_order(lcg *g, size_t n, size_t *order)
{
    for (size_t k = 0; k < n; k++) {
        size_t other = lcg_below(g, k + 1);
        order[k] = order[other];
        order[other] = k;
    }
}

/* A DAG (d, d) in a random order, each forward edge with probability p; weights 0.5 .. 2, +-. */
static inline void lcg_weights(lcg *g, size_t d, double p, size_t *order, double *w)
{
    lcg_order(g, d, order);
    for (size_t k = 0; k < d * d; k++) {
        w[k] = 0;
    }
    for (size_t a = 0; a < d; a++) {
        for (size_t b = a + 1; b < d; b++) {
            double size = 0.5 + 1.5 * lcg_uniform(g);
            double sign = lcg_uniform(g) < 0.5 ? -1 : 1;
            w[order[a] * d + order[b]] = lcg_uniform(g) < p ? sign * size : 0;
        }
    }
}

#endif
