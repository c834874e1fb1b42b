/* The paper's estimator (Algorithm 1, eq. 9): q(L, S) q(P | L, S) and a decoder, found by
 * stochastic gradients of
 *
 *   loss = E_q [ F/(2 s_x^2) + (N D/2) log(2 pi s_x^2) ] + KL(q(L,S) || p) + E log q(P | L, S) +
 * log d!
 *
 * the negative evidence bound in nats, with F the squared error of x given draws of (P, L, S) and z
 * integrated (biols_moments.h) or sampled (sampled.h). s_x, when learned, is set to its
 * optimum for the draws of the step, and never below a floor. Objective `mse`: F/(N D) alone.
 */
#ifndef LSCM_INFER_BIOLS_BIOLS_ESTIMATOR_H
#define LSCM_INFER_BIOLS_BIOLS_ESTIMATOR_H

#include "data/dataset/dataset.h"
#include "infer/run/run.h"
#include "scm/posterior/posterior.h"

typedef struct biols biols;

/* `order` (d): given; NULL: learned. Reads the data (moments, or all rows). The decoder setting
 * must be linear, mlp or image; what is left to choose (noise, degree, steps, rate) is chosen here
 * and written back to `settings`. */
lscm_status biols_open(biols **out, const device *on, const lscm_dataset *data,
                       lscm_fit_settings *settings, const size_t *order,
                       const lscm_progress *progress, lscm_error *why);
void biols_close(biols *b);

/* See trainee.h. In the terms, `error` is E_q F/(N D). */
trainee biols_trainee(biols *b);
void biols_begin(biols *b, size_t restart);
lscm_status biols_step(biols *b, double rate, training_terms *terms, lscm_error *why);
lscm_status biols_draw(biols *b, size_t count, uint64_t stream, const model_sample *out,
                       lscm_error *why);
/* The network's numbers that are on a device come back. */
lscm_status biols_collect(biols *b, lscm_error *why);
/* The decoder as it was when it was collected: without its numbers, or into out->weights and
 * out->bias, which have room for them. */
decoder biols_decoder_shape(const biols *b);
void biols_decoder(const biols *b, decoder *out);

#endif
