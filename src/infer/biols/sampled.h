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

/* Draws are dealt to a fixed number of slots, whose tiles are worked on in their order: sums kept
 * apart by slot are the same for any number of threads. A CPU's decoder has many slots and takes
 * tiles one by one, while they are in a core's cache; one that is far away has one slot and takes
 * many at a time, and z is drawn and pushed back by all threads. */
enum { SAMPLED_TILE = 128 /* rows */, SAMPLED_SLOTS = LANES };

/* Rows of data in memory. */
typedef struct row_batch {
    size_t rows, d;
    const uint8_t *mask;  /* (rows, d) */
    const double *values; /* (rows, d), 0 off target */
} row_batch;

/* Some rows of the batch as a draw has them. */
typedef struct sampled_tile {
    size_t first, rows;
    double *z;     /* (rows, d): by node */
    double *slope; /* (rows, d): the gradient of the error in it */
    double error;  /* squared */
} sampled_tile;

/* What turns z into an error. */
typedef struct tile_decoder tile_decoder;
struct tile_decoder {
    size_t slots;    /* worked on side by side, SAMPLED_SLOTS at most; what is written is apart */
    size_t together; /* tiles that a slot takes at a time */
    /* Sets `error`, and where asked for `slope` and the decoder's own gradients, added up. */
    void (*errors)(tile_decoder *self, size_t slot, size_t count, sampled_tile *tile, bool slopes);
};

typedef struct sampled_work sampled_work;

/* For a decoder like this one. */
lscm_status sampled_open(sampled_work **out, size_t d, const tile_decoder *decode, lscm_error *why);
void sampled_close(sampled_work *work);
/* error (S) gets F_s; noise of draw s, row r, node i is index (s rows + r) d + i of `noise`.
 * Gradients (weights and log_sigma; `decoder` is not touched) may be NULL as a whole. */
void sampled_error(sampled_work *work, const row_batch *batch, const model_draws *draws, rng noise,
                   tile_decoder *decode, double *error, const linear_gradients *gradients);

#endif
