/* See pixel_decoder.h. */
#include "base/simd.h"

#include <math.h>
#include <string.h>

void NAMED(pixel, lay_out)(PIXEL_WORK *w, arena *a, const pixel_shape *s, size_t rows)
{
    REAL **hidden[] = {&w->back, &w->back_slope, &w->back_before};
    w->rows = rows;
    w->input = arena_take(a, rows * s->in[0], sizeof(REAL));
    w->input_back = arena_take(a, rows * s->in[0], sizeof(REAL));
    for (size_t l = 0; l < PIXEL_LAYERS; l++) {
        w->value[l] = arena_take(a, rows * s->out[l], sizeof(REAL));
        if (l + 1 < PIXEL_LAYERS) {
            w->slope[l] = arena_take(a, rows * s->out[l], sizeof(REAL));
        }
    }
    w->colour_back = arena_take(a, rows * s->out[PIXEL_LAYERS - 1], sizeof(REAL));
    for (size_t k = 0; k < sizeof hidden / sizeof hidden[0]; k++) {
        *hidden[k] = arena_take(a, rows * PIXEL_HIDDEN, sizeof(REAL));
    }
}

void NAMED(pixel, draw)(const pixel_shape *s, rng r, REAL *parameters)
{
    memset(parameters, 0, pixel_count(s) * sizeof *parameters);
    for (size_t l = 0; l < PIXEL_LAYERS; l++) {
        bool first = l == 0;
        bool last = l + 1 == PIXEL_LAYERS;
        size_t in = first ? s->d + 2 : s->in[l];
        size_t out = last ? s->channels : s->out[l];
        double scale = sqrt((first || last ? 1.0 : 2.0) / (double)in);
        for (size_t i = 0; i < in; i++) {
            for (size_t o = 0; o < out; o++) {
                size_t at = s->at[l] + i * s->out[l] + o;
                parameters[at] = (REAL)(scale * rng_normal(r, at));
            }
        }
    }
}

void NAMED(pixel, turn)(const pixel_shape *s, const REAL *parameters, REAL *turned)
{
    for (size_t l = 0; l < PIXEL_LAYERS; l++) {
        for (size_t i = 0; i < s->in[l]; i++) {
            for (size_t o = 0; o < s->out[l]; o++) {
                turned[s->at[l] + o * s->in[l] + i] = parameters[s->at[l] + i * s->out[l] + o];
            }
        }
    }
}

CLONED static void add(size_t n, const REAL *restrict x, REAL *restrict y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] += x[i];
    }
}

CLONED static void multiply(size_t n, const REAL *restrict x, const REAL *restrict by,
                            REAL *restrict y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] * by[i];
    }
}

void NAMED(pixel, forward)(const pixel_shape *s, const device *on, const REAL *parameters,
                           size_t rows, const PIXEL_WORK *w)
{
    for (size_t l = 0; l < PIXEL_LAYERS; l++) {
        const REAL *x = l == 0 ? w->input : w->value[l - 1];
        const REAL *weights = parameters + s->at[l];
        const tile_runs all = {1, {{0, s->in[l], 0}}};
        NAMED(tiles, product)
        (rows, s->out[l], &all, x, s->in[l], weights, weights + s->in[l] * s->out[l], w->value[l],
         s->out[l]);
        if (l + 1 < PIXEL_LAYERS) {
            on->BACKEND->activate(on, ACTIVATION_GELU, rows, s->out[l], NULL, w->value[l],
                                  w->slope[l]);
        }
        if (l > 0 && l + 1 < PIXEL_LAYERS) {
            add(rows * PIXEL_HIDDEN, x, w->value[l]);
        }
    }
}

/* One layer: d (rows, out) is of what its product came to; its input's goes to dx. */
static void layer_back(const pixel_shape *s, size_t l, size_t rows, const REAL *x, const REAL *d,
                       const REAL *turned, REAL *dx, REAL *gradient)
{
    const tile_runs ahead = {1, {{0, s->in[l], 0}}};
    const tile_runs behind = {1, {{0, s->out[l], 0}}};
    REAL *to = gradient + s->at[l];
    NAMED(tiles, outer)(rows, s->out[l], &ahead, x, s->in[l], d, s->out[l], to);
    NAMED(tiles, sums)(rows, s->out[l], d, s->out[l], to + s->in[l] * s->out[l]);
    NAMED(tiles, product)
    (rows, s->in[l], &behind, d, s->out[l], turned + s->at[l], NULL, dx, s->in[l]);
}

void NAMED(pixel, backward)(const pixel_shape *s, const REAL *turned, size_t rows,
                            const PIXEL_WORK *w, REAL *gradient)
{
    size_t count = rows * PIXEL_HIDDEN;
    layer_back(s, PIXEL_LAYERS - 1, rows, w->value[PIXEL_LAYERS - 2], w->colour_back, turned,
               w->back, gradient);
    for (size_t l = PIXEL_LAYERS - 2; l > 0; l--) {
        multiply(count, w->back, w->slope[l], w->back_slope);
        layer_back(s, l, rows, w->value[l - 1], w->back_slope, turned, w->back_before, gradient);
        add(count, w->back_before, w->back);
    }
    multiply(count, w->back, w->slope[0], w->back_slope);
    layer_back(s, 0, rows, w->input, w->back_slope, turned, w->input_back, gradient);
}
