#include "infer/baselines/vae.h"

static network_shape plain(size_t layers, const size_t *width)
{
    return network_dense(&(network_stack){.layers = layers,
                                          .width = width,
                                          .between = ACTIVATION_RELU,
                                          .last = ACTIVATION_IDENTITY,
                                          .bias = true});
}

network_shape vae_encoder(size_t d, size_t D)
{
    return plain(5, (size_t[]){D, 128, 128, 128, 64, 2 * d});
}

network_shape vae_decoder(size_t d, size_t D)
{
    return plain(5, (size_t[]){d, 64, 128, 256, 256, D});
}
