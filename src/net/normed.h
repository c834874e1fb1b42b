/* Dense networks with batch normalisation between a layer's product and its activation:
 *
 *   h_0 = x,   h_l = f(BN_l(h_{l-1} W_l)) but for the last,   y = h_{L-1} W_L + b
 *
 * A shape is that of a plain network with biases (net/mlp.h; the last activation is the identity).
 * Parameters are one vector: layer after layer W_l (in, out), then shift (out) and scale (out), and
 * for the last W_L and b. `running`, layer after layer the averages of mean (out) and variance
 * (out), is beside them. Once training is over, both together are a plain network: normed_fold. See
 * normed_real.h for the network in either precision.
 */
#ifndef LSCM_NET_NORMED_H
#define LSCM_NET_NORMED_H

#include "net/batch_norm.h"
#include "net/mlp.h"

/* Numbers of parameters; of running averages. */
size_t normed_count(const mlp_shape *shape);
size_t normed_running(const mlp_shape *shape);
/* Where layer `layer` begins among the parameters; among the averages. */
size_t normed_offset(const mlp_shape *shape, size_t layer);
size_t normed_running_offset(const mlp_shape *shape, size_t layer);

/* normed_f32 or normed_f64 */
#define NORMED TYPED(normed)

#include "backend/float32.h"

#include "net/normed_real.h"

#include "backend/float64.h"

#include "net/normed_real.h" /* NOLINT(readability-duplicate-include) */

#endif
