/* Random numbers as pure functions of (seed, stream, index): Philox4x32-10 of Random123, counter =
 * (index, stream), key = seed. The same numbers in any order, on any number of threads; no state.
 *
 * A block of 128 bits serves two indices (2k, 2k+1). Uniforms are odd multiples of 2^-54 in (0, 1):
 * never 0, never 1. Normals are Box-Muller pairs, Gumbel is -log(-log u).
 */
#ifndef LSCM_BASE_RNG_H
#define LSCM_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct rng {
    uint64_t seed;
    uint64_t stream; /* one per use: graph, weights, noise, ... */
} rng;

/* The 128 random bits behind indices 2 block and 2 block + 1. */
void rng_block(rng r, uint64_t block, uint64_t out[2]);

double rng_uniform(rng r, uint64_t index);
double rng_normal(rng r, uint64_t index);
double rng_gumbel(rng r, uint64_t index);
/* An integer in [0, bound), bound > 0; exact to 2^-64 * bound. */
uint64_t rng_below(rng r, uint64_t index, uint64_t bound);

/* Gamma with a shape of at least 1 and scale 1 (chi2 with nu degrees of freedom is twice the one of
 * shape nu/2); uses indices first .. first + RNG_GAMMA - 1, first even. */
enum { RNG_GAMMA = 128 };
double rng_gamma(rng r, uint64_t first, double shape);

/* Numbers first .. first + n - 1, equal bit for bit to the calls above. */
void rng_uniforms(rng r, uint64_t first, size_t n, double *out);
void rng_normals(rng r, uint64_t first, size_t n, double *out);

/* A uniformly random order of 0 .. n-1; uses indices first .. first + n - 1. */
void rng_permutation(rng r, uint64_t first, size_t n, size_t *out);
/* The first `count` entries of out (n) become a uniformly random choice without replacement. */
void rng_choose(rng r, uint64_t first, size_t n, size_t count, size_t *out);

#endif
