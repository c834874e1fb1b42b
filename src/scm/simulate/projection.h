/* x = g(z): from causal variables to what is seen (before the noise of x).
 *
 *   linear     x = z A,             A (d, D), entries U(low, high)
 *   mlp        x = f(f(z A + a) B + b) C,  D wide, weights N(0, 1/fan-in) cut at 2 sd;
 *              a = b = 0, or with biases entries N(0, u^2)
 *   image      node i lights a 10 x 10 square with z_i/16 + 1/2, on black; float32
 *   son        x = z exp(K),        K antisymmetric, entries 0.05 N(0, 1), D = d
 *   identity   x = z
 *   blobs      x = 1 - prod_i (1 - l_i k_i), light l_i = 1/(1 + exp(-z_i/4)), k_i(pixel) =
 *              exp(-r^2/(2 7^2)), r from the middle of node i's square; float32
 *   scene      a picture of things that nodes move, turn, scale and colour (scene.h); float32
 *
 * f is one of, with the unit u of scm_value_unit (half the rms of the values), near which
 * pre-activations lie: those of values alone have an rms of 1.76 u in the first layer
 *
 *   relu         max(h, 0)
 *   leaky        max(h, 0.2 h)
 *   tanh         h + u tanh(h/u)       the sum keeps what tanh alone would flatten
 *   silu         h/(1 + exp(-h/u))
 *   polynomial   h + h^3/(8u)^2 in the first hidden layer, h in the second: x is a cubic in z, and
 *                grows no faster where z reaches hundreds
 *
 * leaky, tanh and polynomial are strictly increasing, so that x determines z for almost every draw
 * of the weights; relu and silu do so by D > d.
 */
#ifndef LSCM_SCM_SIMULATE_PROJECTION_H
#define LSCM_SCM_SIMULATE_PROJECTION_H

#include "scm/simulate/scene.h"

enum { PROJECTION_LAYERS = 3 };

typedef struct projection {
    lscm_projection kind;
    lscm_activation activation;
    double unit; /* u */
    size_t d, features;
    size_t height, width;                /* of a picture, in pixels; else 0 */
    size_t channels;                     /* numbers of a pixel */
    double *matrix[PROJECTION_LAYERS];   /* (d, D), (D, D), (D, D), as far as needed; blobs: k */
    double *bias[PROJECTION_LAYERS - 1]; /* (D) of the hidden layers, or NULL */
    size_t *square;                      /* (d): first pixel of node i's square; not of a scene */
    scene scene;
    arena memory;
} projection;

lscm_status projection_random(projection *out, const lscm_simulation *settings, lscm_error *why);
void projection_close(projection *p);
/* Doubles of scratch that n samples need. */
size_t projection_scratch(const projection *p, size_t n);
/* z (n, d) to x (n, D), double. */
void projection_apply(const projection *p, size_t n, const double *z, double *scratch, double *x);

#endif
