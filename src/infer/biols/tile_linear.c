#include "infer/biols/tile_linear.h"

#include <cblas.h>
#include <string.h>

static void error_of(const tile_linear *t, size_t slot, sampled_tile *tile, bool slopes)
{
    size_t d = t->d;
    size_t n = tile->rows;
    const double *z = tile->z;
    int dd = (int)d;
    const double *y = t->y + tile->first * d;
    double *product = t->product + slot * SAMPLED_TILE * d;
    double total = t->xx[tile->first / SAMPLED_TILE];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, dd, dd, 1, z, dd, t->gram, dd, 0,
                product, dd);
    for (size_t i = 0; i < n * d; i++) {
        total += z[i] * (product[i] - 2 * y[i]);
    }
    if (slopes) {
        double *sum = t->sum + (slot * t->rows + tile->first) * d;
        for (size_t i = 0; i < n * d; i++) {
            tile->slope[i] = 2 * (product[i] - y[i]);
            sum[i] += z[i];
        }
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, dd, dd, (int)n, 1, z, dd, z, dd, 1,
                    t->second + slot * d * d, dd);
    }
    tile->error = total;
}

static void errors(tile_decoder *self, size_t slot, size_t count, sampled_tile *tile, bool slopes)
{
    for (size_t k = 0; k < count; k++) {
        error_of((const tile_linear *)(const void *)self, slot, &tile[k], slopes);
    }
}

static void lay_out(tile_linear *t, arena *a)
{
    t->xx = arena_take(a, t->rows / SAMPLED_TILE + 1, sizeof(double));
    t->y = arena_take(a, t->rows * t->d, sizeof(double));
    t->gram = arena_take(a, t->d * t->d, sizeof(double));
    t->second = arena_take(a, SAMPLED_SLOTS * t->d * t->d, sizeof(double));
    t->sum = arena_take(a, SAMPLED_SLOTS * t->rows * t->d, sizeof(double));
    t->product = arena_take(a, (size_t)SAMPLED_SLOTS * SAMPLED_TILE * t->d, sizeof(double));
}

lscm_status tile_linear_open(tile_linear *out, size_t rows, size_t d, size_t D, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    tile_linear t = {.decode = {SAMPLED_SLOTS, 1, errors}, .rows = rows, .d = d, .D = D};
    lay_out(&t, &t.memory);
    TRY(arena_open(&t.memory, why));
    lay_out(&t, &t.memory);
    *out = t;
done:
    return status;
}

void tile_linear_close(tile_linear *t)
{
    arena_close(&t->memory);
}

void tile_linear_begin(tile_linear *t, const double *x, const double *decoder)
{
    int d = (int)t->d;
    int D = (int)t->D;
    t->x = x;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)t->rows, d, D, 1, x, D, decoder, D, 0,
                t->y, d);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, d, d, D, 1, decoder, D, decoder, D, 0,
                t->gram, d);
    for (size_t first = 0; first < t->rows; first += SAMPLED_TILE) {
        size_t n = t->rows - first < SAMPLED_TILE ? t->rows - first : SAMPLED_TILE;
        const double *rows = x + first * t->D;
        t->xx[first / SAMPLED_TILE] = cblas_ddot((int)(n * t->D), rows, 1, rows, 1);
    }
    memset(t->second, 0, SAMPLED_SLOTS * t->d * t->d * sizeof(double));
    memset(t->sum, 0, SAMPLED_SLOTS * t->rows * t->d * sizeof(double));
}

void tile_linear_gradient(tile_linear *t, const double *decoder, double *out)
{
    int d = (int)t->d;
    int D = (int)t->D;
    for (size_t k = 1; k < SAMPLED_SLOTS; k++) {
        cblas_daxpy(d * d, 1, t->second + k * t->d * t->d, 1, t->second, 1);
        cblas_daxpy((int)(t->rows * t->d), 1, t->sum + k * t->rows * t->d, 1, t->sum, 1);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, d, D, d, 2, t->second, d, decoder, D, 0,
                out, D);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, d, D, (int)t->rows, -2, t->sum, d, t->x, D,
                1, out, D);
}
