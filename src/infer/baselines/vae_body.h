/* See vae.h. */
#include "infer/baselines/likelihood_body.h"
#include "infer/weights/weights.h"

void NAMED(vae, lay_out)(VAE *v, arena *a, const mlp_shape *encoder, const mlp_shape *to_x,
                         size_t rows, const device *on)
{
    *v = (VAE){.d = to_x->width[0], .D = encoder->width[0]};
    NAMED(mlp, lay_out)(&v->encode, a, encoder, rows, on);
    NAMED(mlp, lay_out)(&v->decode, a, to_x, rows, on);
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

void NAMED(vae, loss)(const VAE *v, const REAL *parameters, size_t n, const REAL *x,
                      const double *eps, const x_noise_rule *noise, training_terms *terms,
                      REAL *gradient)
{
    size_t count = mlp_count(&v->encode.shape);
    REAL *q = NAMED(mlp, forward)(&v->encode, parameters, n, x);
    *terms = (training_terms){.kl = draw_z(v, n, q, eps) / (double)n};
    REAL *y = NAMED(mlp, forward)(&v->decode, parameters + count, n, v->z);
    gaussian_x(v->encode.device, n, v->D, x, y, noise, terms);
    terms->loss += terms->kl;
    NAMED(mlp, backward)
    (&v->decode, parameters + count, n, v->z, false, gradient + count, v->slope);
    back_to_q(v, n, q, eps);
    NAMED(mlp, backward)(&v->encode, parameters, n, x, false, gradient, NULL);
}
