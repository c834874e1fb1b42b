/* The paper's algorithm (BIOLS): stochastic variational inference of order, weights, noise and
 * decoder.
 */
#ifndef LSCM_INFER_BIOLS_BIOLS_H
#define LSCM_INFER_BIOLS_BIOLS_H

#include "infer/biols/biols_estimator.h" /* the estimator */
#include "infer/biols/biols_moments.h"   /* the expected error in closed form */
#include "infer/biols/biols_state.h"     /* from the inside */
#include "infer/biols/expected_z.h"      /* z given the interventions */
#include "infer/biols/sampled.h"         /* the same with z sampled */
#include "infer/biols/tile_linear.h"     /* for a matrix */
#include "infer/biols/tile_net.h"        /* for networks */
#include "infer/biols/tile_queue.h"      /* for networks on a device with memory of its own */

lscm_status biols_fit(fit *f, lscm_posterior **out, lscm_error *why);

#endif
