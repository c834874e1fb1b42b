#include "infer/baselines/vae.h"

mlp_shape vae_encoder(size_t d, size_t D)
{
    return (mlp_shape){.layers = 5,
                       .width = {D, 128, 128, 128, 64, 2 * d},
                       .between = ACTIVATION_RELU,
                       .last = ACTIVATION_IDENTITY,
                       .bias = true};
}

mlp_shape vae_decoder(size_t d, size_t D)
{
    return (mlp_shape){.layers = 5,
                       .width = {d, 64, 128, 256, 256, D},
                       .between = ACTIVATION_RELU,
                       .last = ACTIVATION_IDENTITY,
                       .bias = true};
}
