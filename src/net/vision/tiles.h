/* Products of many rows by a narrow matrix: y (rows, out) = b + x W, where a row of x is a few
 * stretches of memory, so that convolutions need no copies of their input:
 *
 *     y_r = b + sum over runs s of x[offset_s + r step .. + length_s] W_s,   W_s (length_s, out)
 *
 * and the other way, W_s (length, out) += sum over rows of x_r' d_r. `out` is a multiple of
 * TILE_LANES; eight rows by 32 columns stay in registers, which reaches what a core can do at 16 to
 * 64 columns, where general products reach half of it (bench/vision).
 */
#ifndef LSCM_NET_VISION_TILES_H
#define LSCM_NET_VISION_TILES_H

#include "backend/backend.h"

enum { TILE_LANES = 16, TILE_RUNS = 3 };

/* What `out` columns take, filled up. */
static inline size_t tile_columns(size_t out)
{
    return (out + TILE_LANES - 1) / TILE_LANES * TILE_LANES;
}

/* A stretch of a row, and where its weights begin. */
typedef struct tile_run {
    size_t offset, length, weights;
} tile_run;

typedef struct tile_runs {
    size_t count;
    tile_run run[TILE_RUNS];
} tile_runs;

#include "backend/float32.h"

#include "net/vision/tiles_real.h"

#include "backend/float64.h"

#include "net/vision/tiles_real.h" /* NOLINT(readability-duplicate-include) */

#endif
