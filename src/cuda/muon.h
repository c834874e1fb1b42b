/* The steps of net/muon.h on the device, all matrices side by side: five rounds of three products,
 * each one launch for all of them.
 *
 *     muon_push     M <- b M + G, U <- (G + b M)/|G + b M|      a block a matrix
 *     muon_gram     A = U U' or U' U, whichever is smaller       a block a tile of 32 x 32
 *     muon_power    B = b A + c A A
 *     muon_turn     V = a U + B U or a U + U B                   U and V change places each round
 *     muon_apply    W <- (1 - rate decay) W - rate length U; Adam for what is no matrix
 */
#ifndef LSCM_CUDA_MUON_H
#define LSCM_CUDA_MUON_H

#include "cuda/cuda.h"
#include "cuda/pool.h"

extern "C" {
#include "net/muon.h"
}

/* A matrix (in, out) among the parameters, and where its scratch begins. */
struct muon_place {
    size_t at, u, v, gram, power;
    int in, out, least;
    float length; /* size sqrt(max(in, out)) */
};

/* Numbers of a step, in the device's memory. */
struct muon_dials {
    const float *rate, *adam_rate, *adam_correct;
};

/* A tile of a product of matrix `matrix`, from row i and column j on. */
struct muon_tile {
    int matrix, i, j;
};

struct muon_device {
    size_t count;
    int matrices, gram_tiles, turn_tiles;
    float decay;
    muon_place *place;      /* (matrices) */
    int *matrix;            /* (count): of each parameter, or -1 */
    muon_tile *gram, *turn; /* of A and B, of U */
    float *work;
    float *state; /* (2 count): as on the host */
};

/* Takes memory for a plan: run twice, as all that is laid out. */
void muon_lay_out(muon_device *m, device_pool *pool, const muon_plan *plan);
/* Fills it, in `stream`. */
lscm_status muon_begin(muon_device *m, const muon_plan *plan, cudaStream_t stream, lscm_error *why);
/* A step, as launches. */
void muon_step(const muon_device *m, muon_dials dials, float *parameters, const float *gradient,
               cudaStream_t stream);

#endif
