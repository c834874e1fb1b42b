/* z of a picture x, by convolutions that see where things are:
 *
 *     m_0 = x with two channels of coordinates,   m_l = gelu(conv_l m_{l-1})        (conv.h)
 *     k   = m_L W_k + b_k                          keys: (positions, K) scores
 *     p   = softmax of k over positions,           e = sum_n p_n (position n)       key points (K,
 * 2) f   = (e, mean m_L, max m_L, log sum exp k) z   = gelu(f W_1 + b_1) W_2 + b_2 + e W_e
 *
 * Key points say where, means how much, maxima whether; the direct path W_e lets z begin as a
 * linear function of places. Convolutions halve the sides until the lesser one is below 32, then
 * two go on at that size, four in all at least. Two keys for each node, 16 at least.
 *
 * Parameters are one vector: convolutions (w, b), W_k, b_k, W_1, b_1, W_2, b_2, W_e. Outputs are
 * filled up to a multiple of TILE_LANES columns, which nothing reads: their gradient is 0.
 */
#ifndef LSCM_NET_VISION_PICTURE_ENCODER_H
#define LSCM_NET_VISION_PICTURE_ENCODER_H

#include "base/rng.h"
#include "net/vision/conv.h"

enum { PICTURE_CONVS = 6, PICTURE_SIDE_LEAST = 16, PICTURE_SIDE_MOST = 256, PICTURE_HIDDEN = 128 };

typedef struct picture_shape {
    size_t height, width, channels;
    size_t d;
    size_t convs;
    conv conv[PICTURE_CONVS];
    size_t high, wide, maps; /* of m_L */
    size_t keys;
    size_t features; /* of f: 3 keys + 2 maps */
} picture_shape;

picture_shape picture_shape_of(size_t height, size_t width, size_t channels, size_t d);
/* Parameters, and where those after the convolutions begin. */
size_t picture_count(const picture_shape *s);

typedef enum picture_part {
    PICTURE_KEYS,
    PICTURE_FIRST,
    PICTURE_SECOND,
    PICTURE_DIRECT,
    PICTURE_END
} picture_part;
size_t picture_conv_at(const picture_shape *s, size_t l);
size_t picture_part_at(const picture_shape *s, picture_part part);

#include "backend/float32.h"

#include "net/vision/picture_encoder_real.h"

#include "backend/float64.h"

#include "net/vision/picture_encoder_real.h" /* NOLINT(readability-duplicate-include) */

#endif
