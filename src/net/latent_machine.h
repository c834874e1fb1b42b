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

/* z of a graph with gates (GraphVAE): position k of `order` is node i = order[k]; pair k (k - 1)/2
 * + a is that of the nodes at positions a < k, c its gate sigmoid((logit + drawn)/tau). Node i sees
 * c_ij z_j; its z is normal, between what comes from below and from above by their precisions, as
 * infer/baselines/graphvae.h has it, with the same way back. */
typedef struct latent_graph {
    size_t rows, d;
    uint32_t *order;     /* (d) */
    const float *logits; /* (pairs) */
    float *by_logits;    /* (pairs) */
    const double *drawn; /* (pairs), then tau */
    double *gate, *by;   /* (d, d): c_ij at [j * d + i], 0 where there is no pair; its slope */
    float *below;        /* (rows, 2d): m, raw; back: their gradient */
    const double *eps;   /* (rows, d) */
    float *z, *by_z;     /* (rows, d) */
    float *seen, *back;  /* (d - 1, rows, d): of position k at k - 1; (rows, d): its slope */
    double *kl;          /* (rows): sums over nodes */
} latent_graph;

typedef struct latent_machine {
    void (*draw)(dense_queue *q, const latent_normal *n);
    void (*draw_back)(dense_queue *q, const latent_normal *n);
    void (*likelihood)(dense_queue *q, const latent_likelihood *l);
    /* x (n) <- terms->factor x */
    void (*scale)(dense_queue *q, size_t n, const latent_terms *terms, float *x);
    /* Gates; z and kl are 0 then. */
    void (*graph_open)(dense_queue *q, const latent_graph *g);
    /* What position k > 0 sees; then its z from that of above (rows, 2), NULL at position 0. */
    void (*graph_see)(dense_queue *q, const latent_graph *g, size_t k);
    void (*graph_draw)(dense_queue *q, const latent_graph *g, size_t k, const float *above);
    /* From by_z to below and above; then from `back` to by_z and gates of what is before. */
    void (*graph_draw_back)(dense_queue *q, const latent_graph *g, size_t k, float *above);
    void (*graph_see_back)(dense_queue *q, const latent_graph *g, size_t k);
    /* From gates to logits. */
    void (*graph_close)(dense_queue *q, const latent_graph *g);
} latent_machine;

#endif
