/* Posteriors made by hand for tests. Include it before testing.h: cmocka has a macro `fail`. */
#ifndef LSCM_TESTS_MADE_POSTERIOR_H
#define LSCM_TESTS_MADE_POSTERIOR_H

#include "data/text/text.h"
#include "lcg.h"
#include "scm/posterior/posterior.h"

#include <stdlib.h>
#include <string.h>

/* A decoder without weights: d to D by way of the hidden sizes, ended by 0. A linear one has a
 * bias, networks have none and GELU. */
static inline decoder made_decoder(decoder_kind kind, size_t d, const size_t *hidden, size_t D)
{
    decoder g = {.kind = kind, .x_noise = 0.25, .sizes = {d}};
    g.biases = kind == DECODER_LINEAR ? BIASES_LAST : BIASES_NONE;
    for (size_t k = 0; hidden[k] > 0; k++) {
        g.sizes[++g.layers] = hidden[k];
    }
    if (kind != DECODER_IDENTITY) {
        g.sizes[++g.layers] = D;
    }
    return g;
}

/* Random everything, a DAG and its order in every draw; x is a vector. */
static inline lscm_posterior *made_posterior(size_t draws, size_t rows, const decoder *g)
{
    lcg random = {draws + 10 * rows};
    lcg more = {draws + 10 * rows + 1};
    size_t d = g->sizes[0];
    size_t biases = decoder_bias_count(g);
    lscm_posterior *p = NULL;
    if (posterior_new(&p, draws, d, rows, decoder_weights(g), biases, NULL) != LSCM_OK) {
        abort();
    }
    double *weights = p->decode.weights;
    double *bias = p->decode.bias;
    p->decode = *g;
    p->decode.weights = weights;
    p->decode.bias = bias;
    p->features = decoder_features(g);
    p->x_ndim = 2;
    p->x_dims[0] = p->features;
    p->threshold = 0.3;
    for (size_t s = 0; s < draws; s++) {
        lcg_weights(&random, d, 0.6, p->order + s * d, p->w + s * d * d);
        p->log_p[s] = lcg_normal(&random);
        p->log_q[s] = lcg_normal(&random);
    }
    for (size_t k = 0; k < draws * d; k++) {
        p->sigma[k] = 0.1 + lcg_uniform(&random);
        p->intercept[k] = lcg_normal(&more);
    }
    for (size_t k = 0; k < d * d; k++) {
        p->edge_prob[k] = k % (d + 1) == 0 ? 0 : lcg_uniform(&random);
    }
    for (size_t k = 0; k < rows * d; k++) {
        p->z[k] = lcg_normal(&random);
        p->z_sd[k] = lcg_uniform(&random);
    }
    for (size_t k = 0; k < decoder_weights(g); k++) {
        weights[k] = lcg_normal(&random);
    }
    for (size_t k = 0; k < biases; k++) {
        bias[k] = lcg_normal(&more);
    }
    return p;
}

/* The usual one: 6 draws of 3 nodes, 5 rows, a linear decoder to 4 features. */
static inline lscm_posterior *made_linear(void)
{
    const size_t none[] = {0};
    const decoder g = made_decoder(DECODER_LINEAR, 3, none, 4);
    return made_posterior(6, 5, &g);
}

#endif
