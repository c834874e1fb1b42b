/* A convolution by 3 x 3 with stride 1 or 2, channels last. A map of C channels has a border of
 * zeros, (height + 2, width + 2, C), so that no position is special:
 *
 *     y[i, j, o] = b_o + sum over p, q in 0..2 and k of x[s i + p, s j + q, k] w[p, q, k, o],
 *
 * and back, d = dloss/dy in a map of its own,
 *
 *     dw[p, q, k, o] += sum over i, j of x[s i + p, s j + q, k] d[i, j, o],
 *     dx[u, v, k]     = sum over those p, q, i, j that reach (u, v), and o, of w[p, q, k, o] d[i,
 * j, o].
 *
 * For dx weights are turned once a step: (p, q', o, k) with q' so ordered that what a position
 * needs of a row stands together. With stride 2 that is q = 2, 0 for odd columns and 1 for even
 * ones. The number of output channels is a multiple of TILE_LANES, so is that of input channels
 * where dx is asked for.
 */
#ifndef LSCM_NET_VISION_CONV_H
#define LSCM_NET_VISION_CONV_H

#include "net/vision/tiles.h"

typedef struct conv {
    size_t height, width; /* of x, without its border */
    size_t in, out, stride;
} conv;

static inline size_t conv_high(const conv *c)
{
    return (c->height + c->stride - 1) / c->stride;
}

static inline size_t conv_wide(const conv *c)
{
    return (c->width + c->stride - 1) / c->stride;
}

/* Numbers of its weights, without the bias (out) that follows them. */
static inline size_t conv_weights(const conv *c)
{
    return 9 * c->in * c->out;
}

/* Numbers of a map with its border. */
static inline size_t map_count(size_t height, size_t width, size_t channels)
{
    return (height + 2) * (width + 2) * channels;
}

#include "backend/float32.h"

#include "net/vision/conv_real.h"

#include "backend/float64.h"

#include "net/vision/conv_real.h" /* NOLINT(readability-duplicate-include) */

#endif
