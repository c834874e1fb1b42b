/* Principal directions: centring, the choice between the two ways, and projecting. See principal.h.
 *
 * The provisional mean is that of a thousand rows spread over x, taken relative to the first row:
 * where x is constant the difference is exactly 0.
 */
#include "data/statistics/principal.h"

#include "base/simd.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 1000, GRAM_MOST = 1000 };
static const size_t BLOCK_DOUBLES = (size_t)1 << 17; /* projected at a time: 1 MB, in cache */

static void provisional_mean(const double *x, size_t n, size_t D, double *mean)
{
    size_t step = n > SAMPLE ? n / SAMPLE : 1;
    double count = 0;
    memset(mean, 0, D * sizeof *mean);
    for (size_t row = 0; row < n; row += step) {
        for (size_t j = 0; j < D; j++) {
            mean[j] += x[row * D + j] - x[j];
        }
        count++;
    }
    for (size_t j = 0; j < D; j++) {
        mean[j] = x[j] + mean[j] / count;
    }
}

CLONED static void shift_rows(double *x, size_t rows, size_t D, const double *by, double *sum)
{
    for (size_t row = 0; row < rows; row++) {
        for (size_t j = 0; j < D; j++) {
            x[row * D + j] -= by[j];
            sum[j] += x[row * D + j];
        }
    }
}

/* x -= by; left = mean of what remains. sums (PARTS, D) is scratch. */
static void shift_all(double *x, size_t n, size_t D, const double *by, double *sums, double *left)
{
    memset(sums, 0, PRINCIPAL_PARTS * D * sizeof *sums);
#pragma omp parallel for schedule(dynamic)
    for (size_t part = 0; part < PRINCIPAL_PARTS; part++) {
        size_t stride = (size_t)PRINCIPAL_PARTS * PRINCIPAL_ROWS;
        for (size_t first = part * PRINCIPAL_ROWS; first < n; first += stride) {
            size_t rows = n - first < PRINCIPAL_ROWS ? n - first : PRINCIPAL_ROWS;
            shift_rows(x + first * D, rows, D, by, sums + part * D);
        }
    }
    memset(left, 0, D * sizeof *left);
    for (size_t part = 0; part < PRINCIPAL_PARTS; part++) {
        for (size_t j = 0; j < D; j++) {
            left[j] += sums[part * D + j] / (double)n;
        }
    }
}

static void lay_out(principal *p, arena *a)
{
    p->mean = arena_take(a, p->D, sizeof(double));
    p->left = arena_take(a, p->D, sizeof(double));
    p->scale = arena_take(a, p->D, sizeof(double));
    p->directions = arena_take(a, p->count * p->D, sizeof(double));
    p->variance = arena_take(a, p->count, sizeof(double));
}

/* Either sign of a direction will do; the same in all units, whatever was rounded: the largest
 * entry of E is positive. */
static void choose_signs(principal *p)
{
    for (size_t k = 0; k < p->count; k++) {
        double *direction = p->directions + k * p->D;
        double most = 0;
        for (size_t j = 0; j < p->D; j++) {
            double e = direction[j] * p->scale[j];
            most = fabs(e) > fabs(most) ? e : most;
        }
        if (most < 0) {
            cblas_dscal((int)p->D, -1, direction, 1);
        }
    }
}

lscm_status principal_of(principal *out, double *x, size_t n, size_t D, size_t wanted,
                         principal_units units, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    principal p = {.n = n, .D = D, .units = units, .count = wanted + PRINCIPAL_SPARE};
    p.count = p.count < D ? p.count : D;
    p.count = p.count < n ? p.count : n;
    double *sums = calloc(PRINCIPAL_PARTS * D, sizeof *sums);
    if (sums == NULL) {
        return fail_memory(why, PRINCIPAL_PARTS * D * sizeof *sums);
    }
    lay_out(&p, &p.memory);
    TRY(arena_open(&p.memory, why));
    lay_out(&p, &p.memory);

    provisional_mean(x, n, D, p.mean);
    shift_all(x, n, D, p.mean, sums, p.left);
    if (D <= GRAM_MOST || D <= 4 * p.count) {
        TRY(principal_gram(&p, x, wanted, why));
        cblas_daxpy((int)D, 1, p.left, 1, p.mean, 1);
    } else {
        cblas_daxpy((int)D, 1, p.left, 1, p.mean, 1);
        double *by = p.directions; /* free until they are computed */
        memcpy(by, p.left, D * sizeof *by);
        shift_all(x, n, D, by, sums, p.left);
        TRY(principal_iterate(&p, x, wanted, why));
    }
    choose_signs(&p);
    *out = p;
    p.memory = (arena){0};
done:
    arena_close(&p.memory);
    free(sums);
    return status;
}

lscm_status principal_project(const principal *p, double *x, size_t r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t D = p->D;
    size_t block = PRINCIPAL_ROWS * (1 + BLOCK_DOUBLES / PRINCIPAL_ROWS / (r + 1));
    block = block < p->n ? block : p->n;
    double *offset = calloc(r + 1, sizeof *offset);  /* (r): left / s E */
    double *y = malloc((block * r + 1) * sizeof *y); /* (block, r) */
    if (offset == NULL || y == NULL) {
        status = fail_memory(why, (block + 1) * r * sizeof *y);
        goto done;
    }
    for (size_t k = 0; k < r; k++) {
        offset[k] = cblas_ddot((int)D, p->left, 1, p->directions + k * D, 1);
    }
    /* a block is computed beside x, then put where earlier rows, already used, have been */
    for (size_t first = 0; r > 0 && first < p->n; first += block) {
        size_t rows = p->n - first < block ? p->n - first : block;
#pragma omp parallel for schedule(dynamic)
        for (size_t from = 0; from < rows; from += PRINCIPAL_ROWS) {
            size_t some = rows - from < PRINCIPAL_ROWS ? rows - from : PRINCIPAL_ROWS;
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)some, (int)r, (int)D, 1,
                        x + (first + from) * D, (int)D, p->directions, (int)D, 0, y + from * r,
                        (int)r);
            for (size_t row = from; row < from + some; row++) {
                for (size_t k = 0; k < r; k++) {
                    y[row * r + k] -= offset[k];
                }
            }
        }
        memcpy(x + first * r, y, rows * r * sizeof *y);
    }
done:
    free(offset);
    free(y);
    return status;
}

void principal_close(principal *p)
{
    arena_close(&p->memory);
}

lscm_status principal_eigen(double *a, size_t n, double *values, lscm_error *why)
{
    /* column-major eigenvectors in columns are row-major ones in rows; the triangle turns over */
    lapack_int info =
        LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)n, a, (lapack_int)n, values);
    if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR) {
        return fail_memory(why, 2 * n * n * sizeof *a);
    }
    return info == 0 ? LSCM_OK
                     : fail(why, LSCM_VALUE,
                            "the principal directions of x could not be found (LAPACK dsyevd: %d); "
                            "scale x to ordinary size",
                            (int)info);
}
