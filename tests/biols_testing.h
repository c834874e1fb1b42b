/* Draws of models for tests of expected errors: orders, weights in positions, noise, a decoder. */
#ifndef LSCM_TESTS_BIOLS_TESTING_H
#define LSCM_TESTS_BIOLS_TESTING_H

#include "base/rng.h"
#include "infer/biols/biols.h"
#include "testing.h"

/* order, sigma (LANES, d), lower (LANES, d, d) with weights of that size, decoder (d, D) */
typedef struct random_draws {
    size_t *order;
    double *lower, *sigma, *decoder;
} random_draws;

static inline void draw_models(rng r, size_t d, size_t D, double size, const random_draws *out)
{
    uint64_t used = 0;
    for (size_t k = 0; k < LANES; k++) {
        rng_permutation((rng){7, k}, 0, d, out->order + k * d);
        for (size_t i = 0; i < d; i++) {
            out->sigma[k * d + i] = exp(0.3 * rng_normal(r, used++));
            for (size_t j = 0; j < i; j++) {
                out->lower[(k * d + i) * d + j] = size * rng_normal(r, used++);
            }
        }
    }
    for (size_t i = 0; i < d * D; i++) {
        out->decoder[i] = rng_normal(r, used++);
    }
}

/* W (d, d) by node of one draw, also with entries off the triangle: extra, in positions, or NULL.
 */
static inline void weights_by_node(size_t d, const size_t *order, const double *lower,
                                   const double *extra, double *w)
{
    for (size_t a = 0; a < d; a++) {
        for (size_t b = 0; b < d; b++) {
            w[order[a] * d + order[b]] = lower[b * d + a] + (extra != NULL ? extra[a * d + b] : 0);
        }
    }
}

#endif
