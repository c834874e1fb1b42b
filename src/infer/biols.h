/* The paper's estimator (Algorithm 1, eq. 9): q(L, S) q(P | L, S) and a decoder, found by
 * stochastic gradients of
 *
 *   loss = E_q [ F/(2 s_x^2) + (N D/2) log(2 pi s_x^2) ] + KL(q(L,S) || p) + E log q(P | L, S) +
 * log d!
 *
 * the negative evidence bound in nats, with F the squared error of x given draws of (P, L, S) and z
 * integrated (infer/linear.h) or sampled (infer/sampled.h). s_x, when learned, is set to its
 * optimum for the draws of the step, and never below a floor. Objective `mse`: F/(N D) alone.
 */
#ifndef LSCM_INFER_BIOLS_H
#define LSCM_INFER_BIOLS_H

#include "data/dataset.h"
#include "scm/posterior.h"

typedef struct biols biols;

typedef struct biols_terms {
    double loss;    /* what is minimised, nats */
    double error;   /* E_q F/(N D): mean squared error of x */
    double kl;      /* KL(q(L,S) || p) */
    double log_q;   /* E log q(P | L, S) + log d!; 0 when the order is given */
    double x_noise; /* s_x */
} biols_terms;

/* `order` (d): given; NULL: learned. Reads the data (moments, or all rows). The decoder setting
 * must be linear, mlp or image; what is left to choose (noise, degree, steps, rate) is chosen here
 * and written back to `settings`. */
lscm_status biols_open(biols **out, const lscm_dataset *data, lscm_fit_settings *settings,
                       const size_t *order, const lscm_progress *progress, lscm_error *why);
void biols_close(biols *b);

/* Start number `restart`: fresh parameters. */
void biols_begin(biols *b, size_t restart);
/* One step of the optimiser at this rate; fails with LSCM_VALUE when something is no longer finite.
 */
lscm_status biols_step(biols *b, double rate, biols_terms *terms, lscm_error *why);
size_t biols_steps_done(const biols *b);

/* Everything that a continuation needs, as bytes. */
size_t biols_state_size(const biols *b);
void biols_state_get(const biols *b, void *state);
void biols_state_set(biols *b, const void *state);

/* Fresh draws of W (count, d, d) and sigma (count, d) by node, order (count, d), log densities
 * (count) or NULL; count a multiple of LANES. */
typedef struct biols_sample {
    double *w, *sigma, *log_p, *log_q;
    size_t *order;
} biols_sample;
lscm_status biols_draw(biols *b, size_t count, uint64_t stream, const biols_sample *out,
                       lscm_error *why);
/* The decoder as it stands: without its numbers, or into out->weights and out->bias, which have
 * room for them. */
decoder biols_decoder_shape(const biols *b);
void biols_decoder(const biols *b, decoder *out);

#endif
