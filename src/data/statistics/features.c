/* f = x E: see features.h. Narrow x goes straight to float32; wide x that is small enough is kept
 * as double, which gives E and then f; the rest is in features_stream.c. Products are cut into
 * fixed parts: the same numbers on any number of threads.
 */
#include "data/statistics/features.h"

#include "base/pages.h"
#include "base/threads.h"
#include "data/statistics/features_parts.h"
#include "data/statistics/linear_view_parts.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256 };                               /* rows multiplied at a time */
static const size_t KEEP_BYTES = (size_t)256 << 20; /* of x as double */
static const size_t NARROW_COUNT = (size_t)1 << 28; /* numbers of narrow x taken as they are */

static void lay_out(features *s, arena *a, bool basis)
{
    s->mean = arena_take(a, s->R, sizeof(double));
    s->basis = basis ? arena_take(a, s->D * s->R, sizeof(double)) : NULL;
}

lscm_status features_open(features *s, const double *directions, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t bytes = s->rows * s->R * sizeof(float);
    lay_out(s, &s->memory, directions != NULL);
    TRY(arena_open(&s->memory, why));
    lay_out(s, &s->memory, directions != NULL);
    for (size_t k = 0; directions != NULL && k < s->R; k++) {
        for (size_t j = 0; j < s->D; j++) {
            s->basis[j * s->R + k] = directions[k * s->D + j];
        }
    }
    s->f_block = malloc(bytes);
    if (s->f_block == NULL) {
        status = fail_memory(why, bytes);
        goto done;
    }
    pages_large(s->f_block, bytes);
    s->f = s->f_block;
done:
    return status;
}

lscm_status features_finish(features *s, const lscm_dataset *data, lscm_error *why)
{
    double N = (double)s->rows;
    bool finite = true;
    memset(s->mean, 0, s->R * sizeof *s->mean);
    for (size_t row = 0; row < s->rows; row++) {
        const float *f = s->f + row * s->R;
        for (size_t k = 0; k < s->R; k++) {
            s->mean[k] += (double)f[k];
        }
    }
    for (size_t k = 0; k < s->R; k++) {
        s->mean[k] /= N;
        finite = finite && isfinite(s->mean[k]);
    }
    return finite ? LSCM_OK
                  : fail(why, LSCM_VALUE,
                         "%s: numbers of 'x' are too large for single precision; scale them down",
                         data->path);
}

/* ---- Narrow x ---- */

/* Mean over rows of |x - c|^2, about the mean of f, which is x. */
static void measure(features *s)
{
    double sum = 0;
    for (size_t row = 0; row < s->rows; row++) {
        for (size_t k = 0; k < s->R; k++) {
            double off = (double)s->f[row * s->R + k] - s->mean[k];
            sum += off * off;
        }
    }
    s->variance = sum / (double)s->rows;
}

static lscm_status from_narrow(features *s, const lscm_dataset *data, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    row_blocks walk = {0};
    double *x = NULL; /* (block, D) */
    s->R = s->D;
    TRY(features_open(s, NULL, why));
    TRY(blocks_begin(&walk, data, LSCM_X, m, why));
    x = malloc(walk.block_rows * s->D * sizeof *x);
    if (x == NULL) {
        status = fail_memory(why, walk.block_rows * s->D * sizeof *x);
        goto done;
    }
    for (;;) {
        TRY(blocks_next(&walk, why));
        if (walk.count == 0) {
            break;
        }
        dtype_to_double(data->shape[LSCM_X].type, walk.raw, walk.count * s->D, x);
        for (size_t k = 0; k < walk.count * s->D; k++) {
            s->f[walk.first * s->D + k] = (float)x[k];
        }
    }
    TRY(features_finish(s, data, why));
    measure(s);
done:
    free(x);
    blocks_end(&walk);
    return status;
}

/* ---- Wide x in memory ---- */

/* f = (x - left) E + c E for rows x as features_basis_of left them; and left_out. */
static lscm_status project_kept(features *s, const features_basis *b, const double *x,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena scratch = {0};
    size_t R = s->R;
    int D = (int)s->D;
    size_t blocks = (s->rows + BLOCK - 1) / BLOCK;
    double *mean = NULL;   /* (R): c E */
    double *left = NULL;   /* (R): left E */
    double *inside = NULL; /* (blocks): sum of |(x - left) E|^2 */
    double *y = NULL;      /* (blocks, BLOCK, R) */
    for (int placing = 0; placing < 2; placing++) {
        if (placing) {
            TRY(arena_open(&scratch, why));
        }
        mean = arena_take(&scratch, R, sizeof *mean);
        left = arena_take(&scratch, R, sizeof *left);
        inside = arena_take(&scratch, blocks, sizeof *inside);
        y = arena_take(&scratch, blocks * BLOCK * R, sizeof *y);
    }
    for (size_t k = 0; k < R; k++) {
        const double *e = b->directions + k * s->D;
        mean[k] = cblas_ddot(D, b->mean, 1, e, 1);
        left[k] = cblas_ddot(D, b->left, 1, e, 1);
    }
#pragma omp parallel for schedule(dynamic)
    for (size_t block = 0; block < blocks; block++) {
        size_t first = block * BLOCK;
        size_t rows = s->rows - first < BLOCK ? s->rows - first : BLOCK;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)R, D, 1,
                    x + first * s->D, D, b->directions, D, 0, y + first * R, (int)R);
        for (size_t i = first * R; i < (first + rows) * R; i++) {
            double centred = y[i] - left[i % R];
            inside[block] += centred * centred;
            s->f[i] = (float)(centred + mean[i % R]);
        }
    }
    s->left_out = s->variance;
    for (size_t block = 0; block < blocks; block++) {
        s->left_out -= inside[block] / (double)s->rows;
    }
    s->left_out = fmax(s->left_out, 0);
done:
    arena_close(&scratch);
    return status;
}

static lscm_status from_memory(features *s, const lscm_dataset *data, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    features_basis b = {0};
    size_t bytes = s->rows * s->D * sizeof(double);
    double *x = malloc(bytes);
    if (x == NULL) {
        status = fail_memory(why, bytes);
        goto done;
    }
    pages_large(x, bytes);
    TRY(signal_rows(data, x, m, why));
    TRY(features_basis_of(&b, data, x, s->rows, s->D, s->d, why));
    s->R = b.R;
    s->variance = b.variance;
    TRY(features_open(s, b.directions, why));
    TRY(project_kept(s, &b, x, why));
    TRY(features_finish(s, data, why));
done:
    features_basis_close(&b);
    free(x);
    return status;
}

/* ---- All of it ---- */

lscm_status features_of_within(features *out, const lscm_dataset *data, size_t bytes, meter *m,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    features s = {.rows = data->rows, .d = data->nodes, .D = lscm_dataset_features(data)};
    threads_blas_single();
    TRY(signal_needs_values(data, why));
    if (s.D <= FEATURES_NARROW && s.rows <= NARROW_COUNT / s.D) {
        TRY(from_narrow(&s, data, m, why));
    } else if (s.rows <= bytes / sizeof(double) / s.D) {
        TRY(from_memory(&s, data, m, why));
    } else {
        TRY(features_stream(&s, data, bytes / 2, m, why));
    }
    TRY(signal_design(data, true, &s.design, m, why));
    *out = s;
    s = (features){0};
done:
    threads_blas_restore();
    features_close(&s);
    return status;
}

lscm_status features_of(features *out, const lscm_dataset *data, meter *m, lscm_error *why)
{
    return features_of_within(out, data, KEEP_BYTES, m, why);
}

void features_project(const features *s, size_t n, const double *x, float *out)
{
    enum { TILE = 64 };
    size_t R = s->R;
    if (s->basis == NULL) {
        for (size_t k = 0; k < n * R; k++) {
            out[k] = (float)x[k];
        }
        return;
    }
    threads_blas_single();
#pragma omp parallel for schedule(dynamic)
    for (size_t row = 0; row < n; row += TILE) {
        double part[TILE * TILE];
        size_t rows = n - row < TILE ? n - row : TILE;
        for (size_t first = 0; first < R; first += TILE) {
            size_t columns = R - first < TILE ? R - first : TILE;
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)columns,
                        (int)s->D, 1, x + row * s->D, (int)s->D, s->basis + first, (int)R, 0, part,
                        TILE);
            for (size_t i = 0; i < rows; i++) {
                for (size_t k = 0; k < columns; k++) {
                    out[(row + i) * R + first + k] = (float)part[i * TILE + k];
                }
            }
        }
    }
    threads_blas_restore();
}

lscm_status features_keep(features *out, const features *from, const uint8_t *keep, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t rows = 0;
    features s = *from;
    s.memory = (arena){0};
    s.design = (design){0};
    s.f = s.f_block = malloc(from->rows * s.R * sizeof *s.f);
    if (s.f == NULL) {
        status = fail_memory(why, from->rows * s.R * sizeof *s.f);
        goto done;
    }
    TRY(design_keep(&s.design, &from->design, keep, why));
    for (size_t r = 0; r < from->rows; r++) {
        if (row_counts(keep, r)) {
            memcpy(s.f + rows++ * s.R, from->f + r * s.R, s.R * sizeof *s.f);
        }
    }
    s.rows = rows;
    *out = s;
    s = (features){0};
done:
    features_close(&s);
    return status;
}

void features_close(features *s)
{
    free(s->f_block);
    s->f_block = NULL;
    design_close(&s->design);
    arena_close(&s->memory);
}
