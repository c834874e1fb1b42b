/* x = g(z): from causal variables to what is seen (before the noise of x).
 *
 *   linear     x = z A,             A (d, D), entries U(low, high)
 *   mlp        x = relu(relu(z A) B) C,  D wide, weights N(0, 1/fan-in) cut at 2 sd, no bias
 *   image      node i lights a 10 x 10 square with z_i/16 + 1/2, on black; float32
 *   son        x = z exp(K),        K antisymmetric, entries 0.05 N(0, 1), D = d
 *   identity   x = z
 */
#ifndef LSCM_SCM_PROJECTION_H
#define LSCM_SCM_PROJECTION_H

#include "base/arena.h"

/* Choices of the settings table, in its order. */
typedef enum projection_kind {
    PROJECTION_LINEAR,
    PROJECTION_MLP,
    PROJECTION_IMAGE,
    PROJECTION_SON,
    PROJECTION_IDENTITY
} projection_kind;

enum { PROJECTION_LAYERS = 3 };

typedef struct projection {
    projection_kind kind;
    size_t d, features;
    size_t side;                       /* of a picture: side x side pixels; else 0 */
    double *matrix[PROJECTION_LAYERS]; /* (d, D), (D, D), (D, D), as far as needed */
    size_t *square;                    /* (d): first pixel of node i's square */
    arena memory;
} projection;

lscm_status projection_random(projection *out, const lscm_simulation *settings, lscm_error *why);
void projection_close(projection *p);
/* Doubles of scratch that n samples need. */
size_t projection_scratch(const projection *p, size_t n);
/* z (n, d) to x (n, D), double. */
void projection_apply(const projection *p, size_t n, const double *z, double *scratch, double *x);

#endif
