/* GraphVAE (He et al. 2019, "Variational autoencoders with jointly optimized latent dependency
 * structure"), a baseline whose latents form a graph with gated edges; interventions are not known
 * to it. Nodes have a fixed order; for node i with parents j, all before it:
 *
 *   gates      c_ij = sigmoid((l_ij + G - G')/tau),   G, G' Gumbel, one for all rows of a step:
 *              Bernoulli(mu_ij), mu = sigmoid(l), relaxed; tau falls
 *   top-down   p(z_i | parents) = N(mt, st^2),   (mt, raw) = net_i(c_ij z_j): d-128-2
 *              (N(0, 1) for the first node)
 *   bottom-up  (mb, raw) = encoder(x): D-512-512-256-128-2d
 *   q(z_i | x, parents) = N(m, s^2), both weighed by their precision: with r = st^2/sb^2,
 *              h = r/(1 + r),   m = mt + h (mb - mt),   s = st/sqrt(1 + r)
 *   x          N(decoder(z), s_x^2 I): d-256-512-512-D
 *
 * log sd = 5 tanh(raw/5). All networks have ELU and batch normalisation. loss = -E_q log p(x | z) +
 * sum_i KL_i per row, z = m + s eps,
 *
 *   KL_i = (log(1 + r) + 1/(1 + r) + h^2 (mb - mt)^2/st^2 - 1)/2.
 *
 * Back, with e = mb - mt, k = e/st^2/n, t = log st, b = log sb, Z = dloss/dz from the decoder and
 * from the children (sum of c_ij times the slope in what their networks saw), n rows:
 *
 *   dloss/dmb = h Z + h^2 k,     dloss/dmt = (1 - h) Z - h^2 k
 *   R = dloss/dlog r = h (1 - h) (e Z + h e k) + h^2/(2 n) - h Z eps s/2
 *   dloss/dt = Z eps s - h^2 e k + 2 R,    dloss/db = -2 R,    dloss/dl = dloss/dc c (1 - c)/tau.
 *
 * Parameters are one vector: encoder, decoder, net of the second node and so on, gates l. See
 * graphvae_real.h for the loss in either precision.
 */
#ifndef LSCM_INFER_BASELINES_GRAPHVAE_H
#define LSCM_INFER_BASELINES_GRAPHVAE_H

#include "infer/baselines/vae.h"
#include "net/network.h"

network_shape graphvae_encoder(size_t d, size_t D);
network_shape graphvae_decoder(size_t d, size_t D);
network_shape graphvae_top_down(size_t d);

/* Where things are among the parameters, and among the running averages, whose networks follow one
 * another in the same way. */
typedef struct graphvae_layout {
    network_shape encoder, decoder, top_down;
    size_t decode, top, gates, count; /* encoder at 0; nets of nodes 1 .. d - 1 in order at top */
    size_t decode_running, top_running, running;
} graphvae_layout;

graphvae_layout graphvae_lay_out_parameters(const network_shape *encoder, const network_shape *to_x,
                                            const network_shape *top_down);

/* What a step draws: eps (n, d), and G - G' (d (d - 1)/2) with tau. */
typedef struct graphvae_drawn {
    const double *eps, *gumbel;
    double temperature;
} graphvae_drawn;

/* q of a node from what comes from below and from above. */
typedef struct graphvae_fusion {
    double mt, st, e, h; /* st = 1, mt = 0 for the first node */
    double m, s;
    double slope_b, slope_t; /* of log sb and log st in their raws */
    double kl;
} graphvae_fusion;

/* top NULL: the first node. below, top: mean and raw. */
graphvae_fusion graphvae_fuse(double mb, double raw_b, const double top[2]);

/* graphvae_f32 or graphvae_f64 */
#define GRAPHVAE TYPED(graphvae)

#include "backend/float32.h"

#include "infer/baselines/graphvae_real.h"

#include "backend/float64.h"

#include "infer/baselines/graphvae_real.h" /* NOLINT(readability-duplicate-include) */
#endif
