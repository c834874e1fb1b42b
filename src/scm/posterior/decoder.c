#include "scm/posterior/decoder.h"

#include "base/threads.h"
#include "scm/posterior/positions.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

size_t decoder_weights(const decoder *g)
{
    size_t count = 0;
    for (size_t k = 0; k < g->layers; k++) {
        size_t one = 0;
        if (__builtin_mul_overflow(g->sizes[k], g->sizes[k + 1], &one) ||
            __builtin_add_overflow(count, one, &count)) {
            return SIZE_MAX;
        }
    }
    return count;
}

size_t decoder_bias_count(const decoder *g)
{
    size_t count = 0;
    size_t first = g->biases == BIASES_ALL    ? 0
                   : g->biases == BIASES_LAST ? g->layers - 1
                                              : g->layers;
    for (size_t k = first; k < g->layers; k++) {
        count += g->sizes[k + 1];
    }
    return count;
}

/* The widest layer between z and x. */
static size_t widest(const decoder *g)
{
    size_t most = 0;
    for (size_t k = 1; k < g->layers; k++) {
        most = g->sizes[k] > most ? g->sizes[k] : most;
    }
    return most;
}

size_t decoder_scratch(const decoder *g, size_t n)
{
    return g->kind == DECODER_POSITIONS ? positions_scratch(g)
                                        : 2 * n * widest(g); /* a layer's input and output */
}

static void gelu(size_t n, double *u)
{
    const double root = 0.79788456080286535588; /* sqrt(2/pi) */
    for (size_t k = 0; k < n; k++) {
        double v = u[k];
        u[k] = 0.5 * v * (1 + tanh(root * (v + 0.044715 * v * v * v)));
    }
}

static void relu(size_t n, double *u)
{
    for (size_t k = 0; k < n; k++) {
        u[k] = u[k] < 0 ? 0 : u[k]; /* NaN stays */
    }
}

static void elu(size_t n, double *u)
{
    for (size_t k = 0; k < n; k++) {
        u[k] = u[k] > 0 ? u[k] : expm1(u[k]);
    }
}

static void sigmoid(size_t n, double *u)
{
    for (size_t k = 0; k < n; k++) {
        double small = exp(-fabs(u[k])); /* never overflows */
        u[k] = (u[k] >= 0 ? 1 : small) / (1 + small);
    }
}

/* out (n, cols) = bias in every row, on which the product is added. */
static void put_bias(const double *bias, size_t n, size_t cols, double *out)
{
    for (size_t row = 0; row < n; row++) {
        memcpy(out + row * cols, bias, cols * sizeof *out);
    }
}

void decoder_apply(const decoder *g, size_t n, const double *z, double *scratch, double *x)
{
    static void (*const between[])(size_t, double *) = {
        [DECODER_GELU] = gelu, [DECODER_RELU] = relu, [DECODER_ELU] = elu};
    if (g->kind == DECODER_POSITIONS) {
        for (size_t k = 0; k < n * positions_tiles(g); k++) {
            positions_apply(g, k, z, scratch, x);
        }
        return;
    }
    const double *weights = g->weights;
    const double *bias = g->bias;
    const double *in = z;
    size_t half = n * widest(g);
    if (g->layers == 0) {
        memcpy(x, z, n * g->sizes[0] * sizeof *x);
        return;
    }
    for (size_t k = 0; k < g->layers; k++) {
        size_t rows = g->sizes[k];
        size_t cols = g->sizes[k + 1];
        bool last = k + 1 == g->layers;
        bool biased = g->biases == BIASES_ALL || (g->biases == BIASES_LAST && last);
        double *out = last ? x : scratch + (k % 2) * half;
        if (biased) {
            put_bias(bias, n, cols, out);
            bias += cols;
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)n, (blasint)cols,
                    (blasint)rows, 1, in, (blasint)rows, weights, (blasint)cols, biased ? 1 : 0,
                    out, (blasint)cols);
        if (!last) {
            between[g->between](n * cols, out);
        }
        weights += rows * cols;
        in = out;
    }
    if (g->kind == DECODER_IMAGE) {
        sigmoid(n * decoder_features(g), x);
    }
}

size_t decoder_round(const decoder *g, size_t rows, int threads)
{
    enum { NUMBERS = 1 << 22 }; /* in pictures made at a time */
    size_t tiles = rows / decoder_tile(g) + (rows % decoder_tile(g) > 0 ? 1 : 0);
    size_t most = (size_t)threads;
    if (g->kind == DECODER_POSITIONS) {
        size_t room = NUMBERS / decoder_features(g);
        most *= DECODER_TILE;
        most = room < 1 ? 1 : room < most ? room : most;
    }
    return tiles < most ? tiles : most;
}

size_t decoder_tiles_scratch(const decoder *g, int threads)
{
    return (size_t)threads * decoder_scratch(g, DECODER_TILE);
}

void decoder_apply_tiles(const decoder *g, size_t tiles, const double *z, int threads,
                         double *scratch, double *x)
{
    bool placed = g->kind == DECODER_POSITIONS;
    size_t each = decoder_scratch(g, DECODER_TILE);
    size_t pieces = tiles * (placed ? positions_tiles(g) : 1);
    threads_blas_single();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (ptrdiff_t k = 0; k < (ptrdiff_t)pieces; k++) {
        size_t row = (size_t)k * DECODER_TILE;
        double *own = scratch + (size_t)omp_get_thread_num() * each;
        if (placed) {
            positions_apply(g, (size_t)k, z, own, x);
        } else {
            decoder_apply(g, DECODER_TILE, z + row * g->sizes[0], own,
                          x + row * decoder_features(g));
        }
    }
    threads_blas_restore();
}
