/* x = g(z), without noise:
 *
 *   identity  z          linear  z A + b
 *   mlp       f(.. f(z A_0 + b_0) A_1 + b_1 ..) A_last + b      image  sigmoid of the same
 *   positions the colour of pixel (i, j) of H x W, of any size, at q = (2(i + 1/2)/H - 1,
 *             2(j + 1/2)/W - 1):   h <- f([z, q] A_0 + b_0),  then h <- h + f(h A_k + b_k),
 *             and in the end x_ij = backdrop_ij + h A_last + b_last
 *
 * f is max(u, 0), ELU (u where u > 0, else exp(u) - 1) or GELU in its tanh form, u (1 + tanh(
 * sqrt(2/pi) (u + 0.044715 u^3))) / 2; b_k = 0 where the decoder has no such bias.
 */
#ifndef LSCM_SCM_POSTERIOR_DECODER_H
#define LSCM_SCM_POSTERIOR_DECODER_H

#include <stddef.h>

enum { DECODER_MOST_LAYERS = 7, DECODER_MOST_CHANNELS = 4, DECODER_PLACE = 2 /* numbers in q */ };

typedef enum decoder_kind {
    DECODER_LINEAR,
    DECODER_MLP,
    DECODER_IMAGE,
    DECODER_IDENTITY,
    DECODER_POSITIONS
} decoder_kind;

typedef enum decoder_activation { DECODER_GELU, DECODER_RELU, DECODER_ELU } decoder_activation;
typedef enum decoder_biases { BIASES_NONE, BIASES_LAST, BIASES_ALL } decoder_biases;

/* x = g(z). Identity: no layers. Linear: weights (d, D). Networks: layers sizes[0] = d ..
 * sizes[layers] = D with an activation between, and at the end a sigmoid where the kind is image
 * (an mlp may make pictures too: x_dims says what x is). Weights of layer k (sizes[k], sizes[k +
 * 1]) one after the other; so are the biases, of the last layer or of all.
 *
 * Positions: sizes d + 2, width, .., width, C, at least two layers, all biases, GELU. Size and
 * backdrop are those of the pictures that were fitted, or of others (decoder_resample). */
typedef struct decoder {
    decoder_kind kind;
    decoder_activation between;
    decoder_biases biases;
    size_t layers; /* matrices: 1 for linear */
    size_t sizes[DECODER_MOST_LAYERS + 1];
    double *weights;      /* all matrices */
    double *bias;         /* BIASES_LAST: (D); BIASES_ALL: (sizes[1]), .., (D); NULL without */
    double x_noise;       /* s_x */
    size_t height, width; /* positions: of a picture */
    double *backdrop;     /* positions: (height, width, C) */
} decoder;

/* d */
static inline size_t decoder_nodes(const decoder *g)
{
    return g->sizes[0] - (g->kind == DECODER_POSITIONS ? DECODER_PLACE : 0);
}

/* D */
static inline size_t decoder_features(const decoder *g)
{
    size_t pixels = g->kind == DECODER_POSITIONS ? g->height * g->width : 1;
    return pixels * g->sizes[g->layers];
}

/* Numbers in all matrices; SIZE_MAX when that does not fit. */
size_t decoder_weights(const decoder *g);
/* Numbers in all biases. */
size_t decoder_bias_count(const decoder *g);
/* Doubles of scratch that n rows need. */
size_t decoder_scratch(const decoder *g, size_t n);
/* z (n, d) to x (n, D). Rows in one call do not touch each other, but only the same rows in the
 * same call are promised to the last bit; of positions the same row is the same anywhere. */
void decoder_apply(const decoder *g, size_t n, const double *z, double *scratch, double *x);

/* The same for any number of rows, on all threads, a tile of rows at a time: z and x have room for
 * whole tiles. A tile of positions is a row, since a picture is work enough. Of so many rows,
 * decoder_round tiles are made at a time: enough for all threads, and of large pictures no more
 * than some tens of megabytes. scratch: decoder_tiles_scratch doubles. */
enum { DECODER_TILE = 128 };
static inline size_t decoder_tile(const decoder *g)
{
    return g->kind == DECODER_POSITIONS ? 1 : DECODER_TILE;
}
size_t decoder_round(const decoder *g, size_t rows, int threads);
size_t decoder_tiles_scratch(const decoder *g, int threads);
void decoder_apply_tiles(const decoder *g, size_t tiles, const double *z, int threads,
                         double *scratch, double *x);

/* Positions: the backdrop (height, width, C) of pictures of another size, bilinear between the
 * middles of its pixels and constant beyond them; of its own size as it is. */
void decoder_resample(const decoder *g, size_t height, size_t width, double *out);

#endif
