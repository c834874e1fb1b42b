/* Dense networks: h_0 = x, h_l = f_l(h_{l-1} W_l + b_l), rows are samples.
 *
 * A shape says what the network is; its parameters are one vector, layer after layer W_l (in, out)
 * row-major, then b_l (out), so that an optimiser and a checkpoint see one array. See mlp_real.h
 * for the network itself in either precision: mlp_f32, mlp_f64.
 */
#ifndef LSCM_NET_MLP_H
#define LSCM_NET_MLP_H

#include "backend/backend.h"
#include "base/rng.h"

enum { MLP_LAYERS = 8 }; /* at most */

typedef struct mlp_shape {
    size_t layers;                /* of weights */
    size_t width[MLP_LAYERS + 1]; /* the input's first, the output's last */
    activation between, last;     /* f_l of the layers before the last, and of the last */
    bool bias;
} mlp_shape;

/* Says what is wrong with a shape; the rest assumes that nothing is. */
lscm_status mlp_check(const mlp_shape *shape, lscm_error *why);
/* Number of parameters. */
size_t mlp_count(const mlp_shape *shape);
/* Where layer `layer` (from 0) begins among them; its bias follows its width[layer] *
 * width[layer + 1] weights. */
size_t mlp_offset(const mlp_shape *shape, size_t layer);

/* mlp_f32 or mlp_f64 */
#define MLP TYPED(mlp)

#include "backend/float32.h"

#include "net/mlp_real.h"

#include "backend/float64.h"

#include "net/mlp_real.h" /* NOLINT(readability-duplicate-include) */

#endif
