/* The colour of a pixel from z and where it is, q = (row, column) in (-1, 1):
 *
 *     h_1 = gelu([z, q] W_0 + b_0),   h_{k+1} = h_k + gelu(h_k W_k + b_k),   colour = h W + b
 *
 * PIXEL_HIDDEN wide, with PIXEL_RESIDUALS such additions. It draws pictures of any size, and is
 * trained on some pixels of each. Inputs and colours are filled up to a multiple of TILE_LANES:
 * what is put there has no effect. Parameters are one vector: W_0, b_0, W_1, .., W, b.
 */
#ifndef LSCM_NET_VISION_PIXEL_DECODER_H
#define LSCM_NET_VISION_PIXEL_DECODER_H

#include "base/rng.h"
#include "net/vision/tiles.h"

enum { PIXEL_HIDDEN = 64, PIXEL_RESIDUALS = 3, PIXEL_LAYERS = PIXEL_RESIDUALS + 2 };

typedef struct pixel_shape {
    size_t d, channels;
    size_t in[PIXEL_LAYERS], out[PIXEL_LAYERS]; /* filled up */
    size_t at[PIXEL_LAYERS + 1];                /* where W of a layer begins; all parameters */
} pixel_shape;

pixel_shape pixel_shape_of(size_t d, size_t channels);

static inline size_t pixel_count(const pixel_shape *s)
{
    return s->at[PIXEL_LAYERS];
}

#include "backend/float32.h"

#include "net/vision/pixel_decoder_real.h"

#include "backend/float64.h"

#include "net/vision/pixel_decoder_real.h" /* NOLINT(readability-duplicate-include) */

#endif
