/* A network decoder over sampled z (infer/biols/sampled.h): sum ||x - g(z)||^2 in float, gradients
 * in z and in the parameters. Each slot has a network and a gradient of its own, added up in their
 * order. */
#ifndef LSCM_INFER_BIOLS_TILE_NET_H
#define LSCM_INFER_BIOLS_TILE_NET_H

#include "infer/biols/sampled.h"
#include "net/network.h"

typedef struct tile_net {
    tile_decoder decode; /* first: it is a tile decoder */
    const device *device;
    network_shape shape;
    network_f32 *net;    /* (SAMPLED_SLOTS) */
    float *gradient;     /* (SAMPLED_SLOTS, parameters) */
    float *input, *back; /* (SAMPLED_SLOTS, SAMPLED_TILE, d) */
    bool *begun;         /* (SAMPLED_SLOTS): the gradient of this pass has a first part */
    const float *x;      /* (rows, D) */
    const float *parameter;
    arena memory;
} tile_net;

lscm_status tile_net_open(tile_net *out, const device *on, const network_shape *shape,
                          lscm_error *why);
void tile_net_close(tile_net *t);
/* Before a pass: these rows, these parameters. */
void tile_net_begin(tile_net *t, const float *x, const float *parameter);
/* After a pass with slopes: the gradient, summed over draws. */
float *tile_net_gradient(tile_net *t);

#endif
