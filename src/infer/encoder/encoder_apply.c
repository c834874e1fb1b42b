/* From x to z: coordinates first, in tiles of rows and double, then the encoder itself. The same
 * numbers on any number of threads. */
#include "infer/encoder/encoder_slots.h"

#include "base/threads.h"
#include "infer/encoder/linear_encoder.h"

#include <cblas.h>
#include <string.h>

enum { TILE = 64 };

static size_t tile_at(size_t first, size_t n)
{
    return n - first < TILE ? n - first : TILE;
}

/* y = (x - mean) basis */
static void reduce_linear(const encoder *e, size_t n, double *x, double *y)
{
    size_t D = e->D;
    size_t r = e->width;
    threads_blas_single();
#pragma omp parallel for schedule(static)
    for (size_t row = 0; row < n; row += TILE) {
        size_t rows = tile_at(row, n);
        for (size_t i = row; i < row + rows; i++) {
            for (size_t k = 0; k < D; k++) {
                x[i * D + k] -= e->mean[k];
            }
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)r, (int)D, 1,
                    x + row * D, (int)D, e->basis, (int)r, 0, y + row * r, (int)r);
    }
    threads_blas_restore();
}

void encoder_reduce(const encoder *e, const encoder_rows *rows, size_t first, size_t n, double *x)
{
    size_t at = first * e->width;
    if (e->kind == ENCODES_IDENTITY) {
        memcpy(rows->y + at, x, n * e->D * sizeof *x);
    } else if (e->kind == ENCODES_LINEAR) {
        reduce_linear(e, n, x, rows->y + at);
    } else if (e->kind == ENCODES_PICTURES) {
        encoder_reduce_sight(e, n, x, rows->f + at);
    } else {
        if (e->unit != NULL) {
            const struct column_units u = {e->D, e->origin, e->unit};
            units_apply(&u, n, x);
        }
        const features f = {.D = e->D, .R = e->width, .basis = e->basis};
        features_project(&f, n, x, rows->f + at);
    }
}

/* ---- z ---- */

static void apply_linear(const encoder *e, const encoder_rows *rows)
{
    size_t d = e->d;
    size_t r = e->width;
    const encoder_errors errors = {.d = d,
                                   .rank = r,
                                   .noise = e->noise,
                                   .spread = e->spread,
                                   .actuator_noise = e->actuator_noise};
    threads_blas_single();
#pragma omp parallel for schedule(static)
    for (size_t row = 0; row < rows->rows; row += TILE) {
        size_t n = tile_at(row, rows->rows);
        double *z = rows->z + row * d;
        const double *y = rows->y + row * r;
        for (size_t i = 0; i < n; i++) {
            memcpy(z + i * d, e->shift, d * sizeof *z);
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)d, (int)r, 1, y, (int)r,
                    e->slope, (int)d, 1, z, (int)d);
        for (size_t i = 0; i < n; i++) {
            size_t at = (row + i) * d;
            encoder_row(&errors, y + i * r, z + i * d, design_targets(rows->design, row + i),
                        design_values(rows->design, row + i), z + i * d, rows->sd + at);
        }
    }
    threads_blas_restore();
}

static lscm_status apply_kernel(const encoder *e, const encoder_rows *rows,
                                const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t n = rows->rows * e->d;
    double *z = e->inverted ? rows->guess : rows->z;
    double *sd = e->inverted ? rows->guess + n : rows->sd;
    TRY(kernel_apply(&e->kernel, rows->rows, rows->f, z, sd, progress, why));
    if (e->inverted) {
        const generator_rows from = {.rows = rows->rows,
                                     .d = e->d,
                                     .R = e->width,
                                     .f = rows->f,
                                     .design = rows->design,
                                     .z = z,
                                     .sd = sd};
        TRY(generator_invert(&e->inverse, rows->device, &from, rows->z, rows->sd, why));
    }
    if (e->shrink.line != NULL) {
        kernel_shrink_rows(&e->shrink, rows->rows, rows->f, rows->design, rows->z, rows->sd);
    }
    design_put(rows->design, rows->z, rows->sd);
    if (e->alike != NULL) {
        alike_errors_add(e->alike, rows->design, rows->z, rows->sd);
    }
done:
    return status;
}

lscm_status encoder_apply(const encoder *e, const encoder_rows *rows, const lscm_progress *progress,
                          lscm_error *why)
{
    if (e->kind == ENCODES_KERNEL) {
        return apply_kernel(e, rows, progress, why);
    }
    if (e->kind == ENCODES_PICTURES) {
        return encoder_apply_sight(e, rows, progress, why);
    }
    if (e->kind == ENCODES_LINEAR) {
        apply_linear(e, rows);
    } else {
        memcpy(rows->z, rows->y, rows->rows * e->d * sizeof *rows->z);
        memset(rows->sd, 0, rows->rows * e->d * sizeof *rows->sd);
    }
    return LSCM_OK;
}

size_t encoder_outside(const encoder *e, const encoder_rows *rows)
{
    size_t d = e->d;
    size_t count = 0;
    bool known = false;
    for (size_t j = 0; e->range != NULL && j < d; j++) {
        known = known || e->range[j] < e->range[d + j];
    }
    for (size_t row = 0; known && row < rows->rows; row++) {
        bool outside = false;
        for (size_t j = 0; j < d; j++) {
            double z = rows->z[row * d + j];
            bool judged = !design_is_set(rows->design, row, j) && e->range[j] < e->range[d + j];
            outside = outside || (judged && !(z >= e->range[j] && z <= e->range[d + j]));
        }
        count += outside ? 1 : 0;
    }
    return known ? count : SIZE_MAX;
}
