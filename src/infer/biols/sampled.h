/* The squared error of a decoder with z sampled, as in Algorithm 1: for each draw s and row r
 *
 *   z = (v + n) R,   n_i = sigma_i eps_i off target,   F_s = sum_r ||x_r - g(z_r)||^2.
 *
 * Backwards, with g_z = dF/dz given by the decoder and lambda = g_z R' (the ancestral recursion run
 * the other way), dF/dW = sum_r z' (lambda M) - off the triangle too, as in biols_moments.h - and
 * dF/dlog sigma_i = sum_r lambda_i n_i. Rows go in tiles, columns contiguous.
 */
#ifndef LSCM_INFER_BIOLS_SAMPLED_H
#define LSCM_INFER_BIOLS_SAMPLED_H

#include "base/rng.h"
#include "infer/biols/biols_moments.h"

/* Draws are dealt to a fixed number of slots, each worked on by one thread at a time: sums kept
 * apart by slot are the same for any number of threads. */
enum { SAMPLED_TILE = 128 /* rows */, SAMPLED_SLOTS = LANES };

/* Rows of data in memory. */
typedef struct row_batch {
    size_t rows, d;
    const uint8_t *mask;  /* (rows, d) */
    const double *values; /* (rows, d), 0 off target */
} row_batch;

/* What turns z into an error. A decoder keeps what it writes apart by `slot` < SAMPLED_SLOTS. */
typedef struct tile_decoder tile_decoder;
struct tile_decoder {
    /* Rows first .. first + n - 1 of the batch, z (n, d) by node: returns their squared error;
     * slope (n, d), when not NULL, gets its gradient in z, and the decoder adds to its own
     * gradients. */
    double (*error)(tile_decoder *self, size_t slot, size_t first, size_t n, const double *z,
                    double *slope);
};

typedef struct sampled_work sampled_work;

lscm_status sampled_open(sampled_work **out, size_t d, lscm_error *why);
void sampled_close(sampled_work *work);
/* error (S) gets F_s; noise of draw s, row r, node i is index (s rows + r) d + i of `noise`.
 * Gradients (weights and log_sigma; `decoder` is not touched) may be NULL as a whole. */
void sampled_error(sampled_work *work, const row_batch *batch, const model_draws *draws, rng noise,
                   tile_decoder *decode, double *error, const linear_gradients *gradients);

#endif
