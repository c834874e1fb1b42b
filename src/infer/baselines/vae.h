/* The variational autoencoder (Kingma and Welling 2014), a baseline that knows no graph and no
 * intervention:
 *
 *   p(z) = N(0, I),   p(x | z) = N(g(z), s_x^2 I),   q(z | x) = N(m(x), diag s(x)^2)
 *
 *   (m, raw) = encoder(x): D-128-128-128-64-2d,   log s = 5 tanh(raw/5)
 *   g = decoder(z): d-64-128-256-256-D,           ReLU and biases in both
 *
 *   loss = -E_q log p(x | z) + KL(q || p)   per row,   z = m + s eps, one draw,
 *   KL = sum_i (m_i^2 + s_i^2 - 1)/2 - log s_i
 *
 * and with Z = dloss/dz, which the decoder hands back, n rows:
 *
 *   dloss/dm = Z + m/n,   dloss/draw = (Z eps s + (s^2 - 1)/n) (1 - tanh(raw/5)^2).
 *
 * Parameters are one vector, the encoder's and then the decoder's. See vae_real.h for the loss in
 * either precision.
 */
#ifndef LSCM_INFER_BASELINES_VAE_H
#define LSCM_INFER_BASELINES_VAE_H

#include "infer/run/run.h"
#include "net/network.h"

/* s_x in the units of the rows. */
typedef struct x_noise_rule {
    double given; /* 0: the best for the rows of a step */
    double floor;
} x_noise_rule;

network_shape vae_encoder(size_t d, size_t D);
network_shape vae_decoder(size_t d, size_t D);

/* vae_f32 or vae_f64 */
#define VAE TYPED(vae)

#include "backend/float32.h"

#include "infer/baselines/vae_real.h"

#include "backend/float64.h"

#include "infer/baselines/vae_real.h" /* NOLINT(readability-duplicate-include) */
#endif
