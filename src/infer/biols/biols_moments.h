/* The expected squared error of a linear decoder, Z integrated out, on moments
 * (data/statistics/moments.h):
 *
 *   F_s = E_z sum ||x - z A||^2 = sum ||x||^2 + sum_t ( <R, (Q_t + n_t N_t) R G> - 2 <R, H_t> ),
 *   R = (I - W M_t)^-1,   G = A A',   H_t = C_t A',   N_t = M_t S M_t
 *
 * for posterior draws s of (order, L, sigma), W = P' L' P. Everything is d x d per (draw, set) and
 * is worked out in the order of the draw, where R is upper triangular, for eight draws at once
 * (lanes). Gradients follow from dR = R dW M R, also off the triangle:
 *
 *   E_t = 2 ((Q_t + n_t N_t) R G - H_t),   dF/dW = sum_t R' E_t R' M_t,
 *   dF/dA = 2 (sum_t R' (Q_t + n_t N_t) R) A - 2 sum_t R' C_t,   dF/dlog sigma_a = 2 (R E R')-like
 * diagonal.
 *
 * Cost O(draws K d^3 + K d^2 D), independent of N.
 */
#ifndef LSCM_INFER_BIOLS_BIOLS_MOMENTS_H
#define LSCM_INFER_BIOLS_BIOLS_MOMENTS_H

#include "base/lanes.h"
#include "data/statistics/statistics.h"

/* Draws of the model, in nodes; `order` is each draw's own. */
typedef struct model_draws {
    size_t count;        /* S, a multiple of LANES */
    const size_t *order; /* (S, d) */
    const double *lower; /* (S, d, d): L in positions, strictly lower */
    const double *sigma; /* (S, d): by node */
} model_draws;

typedef struct linear_gradients {
    double *
        weights; /* (S, d, d): dF_s/dW in positions, entry (a, b) is a -> b; off the triangle too */
    double *log_sigma; /* (S, d): by node */
    double *decoder;   /* (d, D): sum over draws of dF_s/dA */
} linear_gradients;

typedef struct linear_work linear_work;

lscm_status linear_open(linear_work **out, const moments *m, size_t draws, lscm_error *why);
void linear_close(linear_work *work);
/* error (S) gets F_s. Gradients may be NULL as a whole: then values only. */
void linear_error(linear_work *work, const model_draws *draws, const double *decoder, double *error,
                  const linear_gradients *gradients);
/* F is quadratic in A. After linear_error with gradients this takes A to the minimum of the draws'
 * mean error, A - (sum_t R' (Q_t + n_t N_t) R)^-1 (dF/dA)/2; a small ridge keeps still what the
 * draws do not determine. `gradient` (d, D) is linear_gradients.decoder and is overwritten. */
void linear_best_decoder(linear_work *work, double *gradient, double *decoder);

#endif
