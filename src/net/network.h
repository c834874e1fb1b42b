/* A network is a list of layers (net/layer.h), h_0 = x, h_l = layer_l(h_{l-1}), rows are samples.
 *
 * A shape says what the network is; its parameters are one vector, layer after layer, so that an
 * optimiser and a checkpoint see one array. Running averages, where layers keep any, are another
 * beside it. See network_real.h for the network itself in either precision: network_f32,
 * network_f64.
 */
#ifndef LSCM_NET_NETWORK_H
#define LSCM_NET_NETWORK_H

#include "net/layer.h"

enum { NETWORK_LAYERS = 16 }; /* at most */

typedef struct network_shape {
    size_t layers;
    layer layer[NETWORK_LAYERS];
} network_shape;

/* What a stack of dense layers is like. */
typedef struct network_stack {
    size_t layers;
    const size_t *width;      /* (layers + 1): the input's first, the output's last */
    activation between, last; /* f of the layers before the last, and of the last */
    bool bias;
} network_stack;

network_shape network_dense(const network_stack *s);
/* The same with a norm between a layer's product and its activation, which stands for its bias, but
 * for the last. */
network_shape network_normed(const network_stack *s);
/* What it is once training is over and norms are linear: dense layers that have taken them in. */
network_shape network_plain(const network_shape *shape);

/* Says what is wrong with a shape; the rest assumes that nothing is. */
lscm_status network_check(const network_shape *shape, lscm_error *why);
/* Numbers of parameters, of running averages. */
size_t network_count(const network_shape *shape);
size_t network_running(const network_shape *shape);
/* Where layer l (from 0) begins among them. */
size_t network_offset(const network_shape *shape, size_t l);
size_t network_running_offset(const network_shape *shape, size_t l);
/* Numbers of a row that goes in, and of one that comes out. */
size_t network_in(const network_shape *shape);
size_t network_out(const network_shape *shape);

/* network_f32 or network_f64, and so on */
#define NETWORK TYPED(network)
#define NETWORK_BATCH TYPED(network_batch)

#include "backend/float32.h"

#include "net/network_real.h"

#include "backend/float64.h"

#include "net/network_real.h" /* NOLINT(readability-duplicate-include) */

#endif
