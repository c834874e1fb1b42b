/* What stands between the networks of autoencoders, on a queue (net/dense_machine.h): draws of
 * normal z, the likelihood of normal x, and the way back. Sums over rows are in double and in one
 * order.
 *
 *     log s = 5 tanh(raw/5),   z = m + s eps,   KL = (m^2 + s^2 - 1)/2 - log s
 */
#ifndef LSCM_NET_LATENT_MACHINE_H
#define LSCM_NET_LATENT_MACHINE_H

#include "net/dense_machine.h"

/* z (rows, d) of q: m (rows, d), raw (rows, d) side by side; kl (rows): sums over a row. Back: q
 * becomes the gradient of mean KL + loss in it, by that of the loss in z. */
typedef struct latent_normal {
    size_t rows, d;
    float *q;          /* (rows, 2d) */
    const double *eps; /* (rows, d) */
    float *z;          /* (rows, d) */
    const float *by_z; /* (rows, d) */
    double *kl;        /* (rows) */
} latent_normal;

/* What a step comes to, per row and number of x: mean square, s of x, mean KL; factor = 1/(rows
 * s^2). */
typedef struct latent_terms {
    double error, x_noise, kl, factor;
} latent_terms;

/* s is given, or where 0 the best, at least `floor`. */
typedef struct latent_likelihood {
    size_t rows, cols;
    double given, floor;
    const double *squares, *kl; /* (rows) */
    latent_terms *terms;
} latent_likelihood;

typedef struct latent_machine {
    void (*draw)(dense_queue *q, const latent_normal *n);
    void (*draw_back)(dense_queue *q, const latent_normal *n);
    void (*likelihood)(dense_queue *q, const latent_likelihood *l);
    /* x (n) <- terms->factor x */
    void (*scale)(dense_queue *q, size_t n, const latent_terms *terms, float *x);
} latent_machine;

#endif
