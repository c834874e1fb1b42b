/* See vae.h. */
#include "infer/baselines/likelihood_body.h"
#include "infer/weights/weights.h"

void NAMED(vae, lay_out)(VAE *v, arena *a, const network_shape *encoder, const network_shape *to_x,
                         size_t rows, const device *on)
{
    *v = (VAE){.d = network_in(to_x), .D = network_in(encoder)};
    NAMED(network, lay_out)(&v->encode, a, encoder, rows, on);
    NAMED(network, lay_out)(&v->decode, a, to_x, rows, on);
    v->z = arena_take(a, rows * v->d, sizeof(REAL));
    v->slope = arena_take(a, rows * v->d, sizeof(REAL));
}

/* z of n rows from q (n, 2d); returns the sum of their KL. */
static double draw_z(const VAE *v, size_t n, const REAL *q, const double *eps)
{
    size_t d = v->d;
    double kl = 0;
    for (size_t k = 0; k < n * d; k++) {
        const REAL *own = q + k / d * 2 * d + k % d;
        double slope = 0;
        double m = (double)own[0];
        double log_s = weights_log_sd((double)own[d], &slope);
        double s = exp(log_s);
        v->z[k] = (REAL)(m + s * eps[k]);
        kl += (m * m + s * s - 1) / 2 - log_s;
    }
    return kl;
}

/* q (n, 2d) becomes the gradient in it, from the slopes in z. */
static void back_to_q(const VAE *v, size_t n, REAL *q, const double *eps)
{
    size_t d = v->d;
    for (size_t k = 0; k < n * d; k++) {
        REAL *own = q + k / d * 2 * d + k % d;
        double by_z = (double)v->slope[k];
        double slope = 0;
        double s = exp(weights_log_sd((double)own[d], &slope));
        own[0] = (REAL)(by_z + (double)own[0] / (double)n);
        own[d] = (REAL)((by_z * eps[k] * s + (s * s - 1) / (double)n) * slope);
    }
}

void NAMED(vae, loss)(const VAE *v, const NETWORK_BATCH *b, const double *eps,
                      const x_noise_rule *noise, training_terms *terms)
{
    size_t n = b->n;
    size_t count = network_count(&v->encode.shape);
    const NETWORK_BATCH to_x = {.parameters = b->parameters + count,
                                .n = n,
                                .input = v->z,
                                .gradient = b->gradient + count,
                                .input_gradient = v->slope};
    REAL *q = NAMED(network, forward)(&v->encode, b);
    *terms = (training_terms){.kl = draw_z(v, n, q, eps) / (double)n};
    REAL *y = NAMED(network, forward)(&v->decode, &to_x);
    gaussian_x(v->encode.device, n, v->D, b->input, y, noise, terms);
    terms->loss += terms->kl;
    NAMED(network, backward)(&v->decode, &to_x);
    back_to_q(v, n, q, eps);
    NAMED(network, backward)(&v->encode, b);
}
