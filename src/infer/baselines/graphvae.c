#include "infer/baselines/graphvae.h"

#include "infer/weights/weights.h"

static network_shape normed(size_t layers, const size_t *width)
{
    return network_normed(&(network_stack){.layers = layers,
                                           .width = width,
                                           .between = ACTIVATION_ELU,
                                           .last = ACTIVATION_IDENTITY,
                                           .bias = true});
}

network_shape graphvae_encoder(size_t d, size_t D)
{
    return normed(5, (size_t[]){D, 512, 512, 256, 128, 2 * d});
}

network_shape graphvae_decoder(size_t d, size_t D)
{
    return normed(4, (size_t[]){d, 256, 512, 512, D});
}

network_shape graphvae_top_down(size_t d)
{
    return normed(2, (size_t[]){d, 128, 2});
}

graphvae_layout graphvae_lay_out_parameters(const network_shape *encoder, const network_shape *to_x,
                                            const network_shape *top_down)
{
    graphvae_layout l = {.encoder = *encoder, .decoder = *to_x, .top_down = *top_down};
    size_t d = network_in(to_x);
    l.decode = network_count(encoder);
    l.top = l.decode + network_count(to_x);
    l.gates = l.top + (d - 1) * network_count(top_down);
    l.count = l.gates + d * (d - 1) / 2;
    l.decode_running = network_running(encoder);
    l.top_running = l.decode_running + network_running(to_x);
    l.running = l.top_running + (d - 1) * network_running(top_down);
    return l;
}

graphvae_fusion graphvae_fuse(double mb, double raw_b, const double top[2])
{
    graphvae_fusion f = {.st = 1};
    double log_st = 0;
    double log_sb = weights_log_sd(raw_b, &f.slope_b);
    if (top != NULL) {
        log_st = weights_log_sd(top[1], &f.slope_t);
        f.mt = top[0];
        f.st = exp(log_st);
    }
    double r = exp(2 * (log_st - log_sb));
    f.e = mb - f.mt;
    f.h = r / (1 + r);
    f.m = f.mt + f.h * f.e;
    f.s = f.st / sqrt(1 + r);
    double pull = f.h * f.e / f.st;
    f.kl = (log1p(r) + 1 / (1 + r) + pull * pull - 1) / 2;
    return f;
}
