/* x = g(z), without noise:
 *
 *   identity  z          linear  z A + b
 *   mlp       f(.. f(z A_0 + b_0) A_1 + b_1 ..) A_last + b      image  sigmoid of the same
 *
 * f is max(u, 0), ELU (u where u > 0, else exp(u) - 1) or GELU in its tanh form, u (1 + tanh(
 * sqrt(2/pi) (u + 0.044715 u^3))) / 2; b_k = 0 where the decoder has no such bias.
 */
#ifndef LSCM_SCM_POSTERIOR_DECODER_H
#define LSCM_SCM_POSTERIOR_DECODER_H

#include <stddef.h>

enum { DECODER_MOST_LAYERS = 7 };

typedef enum decoder_kind {
    DECODER_LINEAR,
    DECODER_MLP,
    DECODER_IMAGE,
    DECODER_IDENTITY
} decoder_kind;

typedef enum decoder_activation { DECODER_GELU, DECODER_RELU, DECODER_ELU } decoder_activation;
typedef enum decoder_biases { BIASES_NONE, BIASES_LAST, BIASES_ALL } decoder_biases;

/* x = g(z). Identity: no layers. Linear: weights (d, D). Networks: layers sizes[0] = d ..
 * sizes[layers] = D with an activation between, and at the end a sigmoid where the kind is image
 * (an mlp may make pictures too: x_dims says what x is). Weights of layer k (sizes[k], sizes[k +
 * 1]) one after the other; so are the biases, of the last layer or of all. */
typedef struct decoder {
    decoder_kind kind;
    decoder_activation between;
    decoder_biases biases;
    size_t layers; /* matrices: 1 for linear */
    size_t sizes[DECODER_MOST_LAYERS + 1];
    double *weights; /* all matrices */
    double *bias;    /* BIASES_LAST: (D); BIASES_ALL: (sizes[1]), .., (D); NULL without */
    double x_noise;  /* s_x */
} decoder;

static inline size_t decoder_features(const decoder *g)
{
    return g->sizes[g->layers];
}

/* Numbers in all matrices; SIZE_MAX when that does not fit. */
size_t decoder_weights(const decoder *g);
/* Numbers in all biases. */
size_t decoder_bias_count(const decoder *g);
/* Doubles of scratch that n rows need. */
size_t decoder_scratch(const decoder *g, size_t n);
/* z (n, d) to x (n, D). Rows in one call do not touch each other, but only the same rows in the
 * same call are promised to the last bit. */
void decoder_apply(const decoder *g, size_t n, const double *z, double *scratch, double *x);

/* The same for any number of rows, on all threads, DECODER_TILE rows at a time: z and x have room
 * for whole tiles. scratch: decoder_tiles_scratch doubles. */
enum { DECODER_TILE = 128 };
size_t decoder_tiles_scratch(const decoder *g, int threads);
void decoder_apply_tiles(const decoder *g, size_t tiles, const double *z, int threads,
                         double *scratch, double *x);

#endif
