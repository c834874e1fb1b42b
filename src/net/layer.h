/* A layer of a network, rows are samples: y (rows, out) = f(op(x (rows, in))). What it can be:
 *
 *     dense   op(x) = x W + b            W (in, out) row-major, then b (out) where it has a bias
 *     norm    op(x) = scale u + shift    shift (out), then scale (out); u is x normalised by mean
 *                                        and variance of the batch (backend/batch_norm.h), of which
 *                                        running averages are kept beside the parameters
 *
 * A kind is a row in layer.c (how many parameters) and one in layer_body.h (forward, back, where it
 * begins). Networks tell kinds apart only to give norms their memory, and to fold them away. See
 * layer_real.h for a layer in either precision.
 */
#ifndef LSCM_NET_LAYER_H
#define LSCM_NET_LAYER_H

#include "backend/backend.h"
#include "backend/batch_norm.h"
#include "base/rng.h"

typedef enum layer_kind { LAYER_DENSE, LAYER_NORM, LAYER_COUNT } layer_kind;

typedef struct layer {
    layer_kind kind;
    size_t in, out;
    activation f;
    bool bias; /* dense */
} layer;

/* Numbers of parameters; of those the first that are a matrix (in, out); of running averages. */
size_t layer_count(const layer *l);
size_t layer_matrix(const layer *l);
size_t layer_running(const layer *l);

/* layer_run_f32 or layer_run_f64, and so on */
#define LAYER_RUN TYPED(layer_run)
#define LAYER_STEPS TYPED(layer_steps)

#include "backend/float32.h"

#include "net/layer_real.h"

#include "backend/float64.h"

#include "net/layer_real.h" /* NOLINT(readability-duplicate-include) */

#endif
