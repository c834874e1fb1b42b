#include "data/statistics/missing.h"

#include "base/arena.h"
#include "base/streams.h"
#include "base/tuned.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST_NOISE = 1e-12; /* psi of a column of variance 1 */

/* Column j has no number. */
static lscm_status fail_empty(const char *path, char *const *names, const array_shape *shape,
                              size_t j, lscm_error *why)
{
    if (shape != NULL && shape->ndim > 2) {
        size_t channels = shape->ndim == 4 ? shape->dims[3] : 1;
        size_t pixel = j / channels;
        char channel[32] = "";
        if (shape->ndim == 4) {
            (void)snprintf(channel, sizeof channel, ", channel %zu", j % channels);
        }
        return fail(why, LSCM_VALUE,
                    "%s: pixel (%zu, %zu)%s (0-based) has no number in any picture; crop or leave "
                    "out what was not seen, or set it to 0 in all of them",
                    path, pixel / shape->dims[2], pixel % shape->dims[2], channel);
    }
    if (names != NULL) {
        return fail(why, LSCM_VALUE, "%s: column '%s' has no number in any row; leave it out", path,
                    names[j]);
    }
    return fail(why, LSCM_VALUE, "%s: column %zu (0-based) has no number in any row; leave it out",
                path, j);
}

lscm_status missing_find(uint8_t **mask, const char *path, char *const *names,
                         const array_shape *shape, const double *x, size_t n, size_t D,
                         lscm_error *why)
{
    lscm_status status = LSCM_OK;
    uint8_t *found = calloc(n * D + 1, 1);
    size_t *there = calloc(D + 1, sizeof *there); /* (D): numbers of each column */
    size_t count = 0;
    if (found == NULL || there == NULL) {
        status = fail_memory(why, n * D + D * sizeof *there);
        goto done;
    }
    for (size_t row = 0; row < n; row++) {
        for (size_t j = 0; j < D; j++) {
            bool is = isnan(x[row * D + j]);
            found[row * D + j] = is ? 1 : 0;
            count += is ? 1 : 0;
            there[j] += is ? 0 : 1;
        }
    }
    if (count == n * D) {
        TRY(fail(why, LSCM_VALUE,
                 "%s: 'x' holds no number: all its entries are missing (NaN); store what was seen",
                 path));
    }
    for (size_t j = 0; j < D; j++) {
        if (there[j] == 0) {
            TRY(fail_empty(path, names, shape, j, why));
        }
    }
    *mask = count > 0 ? found : NULL;
    found = count > 0 ? NULL : found;
done:
    free(found);
    free(there);
    return status;
}

size_t missing_count(const uint8_t *mask, size_t n)
{
    size_t count = 0;
    for (size_t k = 0; k < n; k++) {
        count += mask[k];
    }
    return count;
}

/* x in units of its columns, the model, and sums over rows; q = r + 1. */
typedef struct factors {
    const uint8_t *mask;
    size_t n, D, r;
    double *x;             /* (n, D) */
    double *centre, *unit; /* (D) */
    double *there;         /* (D): rows that have it, .. */
    double *squares;       /* (D): .. and the sum of its squares there */
    double *loading;       /* (D, q): l_j, c_j */
    double *psi;           /* (D) */
    double *mean;          /* (BLOCK, q): m, 1 */
    double *product;       /* (BLOCK, q, q + 1): E (y, 1)'(y, 1), lower, one after the other */
    double *all;           /* (q, q): its sum over rows, .. */
    double *lacking;       /* (D, q, q): .. and over those that lack a column */
    double *cross;         /* (D, q): sum of x_j (m, 1) over those that have it */
    double *moved;         /* (D): of the squared length of l_j */
    arena memory;
} factors;

enum { BLOCK = 256 }; /* rows at a time */

static void lay_out(factors *f)
{
    arena *a = &f->memory;
    size_t q = f->r + 1;
    double **columns[] = {&f->centre, &f->unit, &f->there, &f->squares, &f->psi, &f->moved};
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++) {
        *columns[k] = arena_take(a, f->D, sizeof(double));
    }
    f->loading = arena_take(a, f->D * q, sizeof(double));
    f->mean = arena_take(a, BLOCK * q, sizeof(double));
    f->product = arena_take(a, BLOCK * q * (q + 1), sizeof(double));
    f->all = arena_take(a, q * q, sizeof(double));
    f->lacking = arena_take(a, f->D * q * q, sizeof(double));
    f->cross = arena_take(a, f->D * q, sizeof(double));
}

/* Columns of mean 0 and variance 1 over what is there of them; the rest is 0. */
static void standardise(const factors *f)
{
#pragma omp parallel for schedule(static)
    for (size_t j = 0; j < f->D; j++) {
        double mean = 0;
        double squares = 0;
        for (size_t row = 0; row < f->n; row++) {
            if (f->mask[row * f->D + j] == 0) {
                double away = f->x[row * f->D + j] - mean;
                f->there[j]++;
                mean += away / f->there[j];
                squares += away * (f->x[row * f->D + j] - mean);
            }
        }
        bool moves = squares > 0;
        f->centre[j] = mean;
        f->unit[j] = moves ? sqrt(squares / f->there[j]) : 1;
        f->squares[j] = moves ? f->there[j] : 0;
        f->psi[j] = moves ? 0.5 : LEAST_NOISE;
        for (size_t row = 0; row < f->n; row++) {
            double *x = f->x + row * f->D + j;
            *x = f->mask[row * f->D + j] == 0 ? (*x - mean) / f->unit[j] : 0;
        }
    }
}

/* Half the variance of every column is by factors, whichever. */
static void begin(const factors *f, rng random)
{
    size_t q = f->r + 1;
    rng_normals(random, 0, f->D * q, f->loading);
    for (size_t j = 0; j < f->D; j++) {
        double share = f->squares[j] > 0 ? 0.5 / (double)f->r : 0;
        cblas_dscal((int)f->r, sqrt(share), f->loading + j * q, 1);
        f->loading[j * q + f->r] = 0;
    }
}

/* m (r) of a row and the Cholesky factor of V^-1, lower in (q, q). */
static void law_of_row(const factors *f, size_t row, double *m, double *factor)
{
    int r = (int)f->r;
    int q = r + 1;
    memset(factor, 0, (size_t)(q * q) * sizeof *factor);
    memset(m, 0, f->r * sizeof *m);
    for (int k = 0; k < r; k++) {
        factor[k * q + k] = 1;
    }
    for (size_t j = 0; j < f->D; j++) {
        const double *l = f->loading + j * (size_t)q;
        if (f->mask[row * f->D + j] == 0) {
            cblas_dsyr(CblasRowMajor, CblasLower, r, 1 / f->psi[j], l, 1, factor, q);
            cblas_daxpy(r, (f->x[row * f->D + j] - l[r]) / f->psi[j], l, 1, m, 1);
        }
    }
    /* never singular: I is part of it */
    (void)LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', r, factor, q);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, r, factor, q, m, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, r, factor, q, m, 1);
}

/* (m, 1) (q) of a row, and E (y, 1)'(y, 1) (q, q), lower. */
static void read_row(const factors *f, size_t row, double *m, double *product)
{
    int r = (int)f->r;
    int q = r + 1;
    law_of_row(f, row, m, product);
    m[r] = 1;
    (void)LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'L', r, product, q);
    cblas_dsyr(CblasRowMajor, CblasLower, q, 1, m, 1, product, q);
}

/* Adds rows first .. first + rows - 1, whose laws are in hand, to the sums of all columns. */
static void add_rows(const factors *f, size_t first, size_t rows)
{
    size_t q = f->r + 1;
    for (size_t k = 0; k < rows; k++) {
        cblas_daxpy((int)(q * q), 1, f->product + k * q * q, 1, f->all, 1);
    }
#pragma omp parallel for schedule(static)
    for (size_t j = 0; j < f->D; j++) {
        for (size_t k = 0; k < rows; k++) {
            size_t at = (first + k) * f->D + j;
            if (f->mask[at] != 0) {
                cblas_daxpy((int)(q * q), 1, f->product + k * q * q, 1, f->lacking + j * q * q, 1);
            } else {
                cblas_daxpy((int)q, f->x[at], f->mean + k * q, 1, f->cross + j * q, 1);
            }
        }
    }
}

static void read_rows(const factors *f)
{
    size_t q = f->r + 1;
    memset(f->all, 0, q * q * sizeof *f->all);
    memset(f->lacking, 0, f->D * q * q * sizeof *f->lacking);
    memset(f->cross, 0, f->D * q * sizeof *f->cross);
    for (size_t first = 0; first < f->n; first += BLOCK) {
        size_t rows = f->n - first < BLOCK ? f->n - first : BLOCK;
#pragma omp parallel for schedule(static)
        for (size_t k = 0; k < rows; k++) {
            read_row(f, first + k, f->mean + k * q, f->product + k * q * q);
        }
        add_rows(f, first, rows);
    }
}

/* Column j on (y, 1). */
static void fit_column(const factors *f, size_t j)
{
    int q = (int)f->r + 1;
    double *gram = f->lacking + j * (size_t)(q * q);
    double *l = f->loading + j * (size_t)q;
    double *next = f->cross + j * (size_t)q; /* becomes l_j by way of its own Cholesky factor */
    double left = f->squares[j];
    f->moved[j] = 0;
    for (int k = 0; k < q * q; k++) {
        gram[k] = f->all[k] - gram[k];
    }
    if (!(f->squares[j] > 0) || LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', q, gram, q) != 0) {
        return;
    }
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, q, gram, q, next, 1);
    left -= cblas_ddot(q, next, 1, next, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, q, gram, q, next, 1);
    for (int k = 0; k < q; k++) {
        f->moved[j] += (next[k] - l[k]) * (next[k] - l[k]);
        l[k] = next[k];
    }
    f->psi[j] = fmax(left / f->there[j], LEAST_NOISE);
}

/* One step of EM; true when nothing moves beside the noise any more, nor that itself. */
static bool step(const factors *f)
{
    double moved = 0;
    double noise = 0;
    double before = 0;
    read_rows(f);
    for (size_t j = 0; j < f->D; j++) {
        before += f->psi[j];
    }
#pragma omp parallel for schedule(static)
    for (size_t j = 0; j < f->D; j++) {
        fit_column(f, j);
    }
    for (size_t j = 0; j < f->D; j++) {
        moved += f->moved[j];
        noise += f->psi[j];
    }
    double still = tuned_missing_still();
    return moved <= still * still * noise && fabs(before - noise) <= 10 * still * noise;
}

/* Factors of a row, drawn: (y, 1) (q). scratch (q, q + 1). */
static void draw_row(const factors *f, size_t row, rng random, double *y, double *scratch)
{
    int r = (int)f->r;
    int q = r + 1;
    double *away = scratch + (size_t)(q * q);
    law_of_row(f, row, y, scratch);
    rng_normals(random, row * f->r, f->r, away);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, r, scratch, q, away, 1);
    cblas_daxpy(r, 1, away, 1, y, 1);
    y[r] = 1;
}

/* x in its own units again, whole. */
static void put(const factors *f, rng random)
{
    size_t q = f->r + 1;
    for (size_t first = 0; first < f->n; first += BLOCK) {
        size_t rows = f->n - first < BLOCK ? f->n - first : BLOCK;
#pragma omp parallel for schedule(static)
        for (size_t k = 0; k < rows; k++) {
            double *m = f->mean + k * q;
            draw_row(f, first + k, stream_part(random, 1), m, f->product + k * q * (q + 1));
            for (size_t j = 0; j < f->D; j++) {
                size_t at = (first + k) * f->D + j;
                if (f->mask[at] != 0) {
                    f->x[at] = cblas_ddot((int)q, m, 1, f->loading + j * q, 1) +
                               sqrt(f->psi[j]) * rng_normal(stream_part(random, 2), at);
                }
                f->x[at] = f->centre[j] + f->unit[j] * f->x[at];
            }
        }
    }
}

lscm_status missing_fill(double *x, const uint8_t *mask, size_t n, size_t D, size_t r, rng random,
                         lscm_error *why)
{
    lscm_status status = LSCM_OK;
    factors f = {.mask = mask, .n = n, .D = D, .r = r < D ? r : D - 1};
    f.x = x;
    lay_out(&f);
    TRY(arena_open(&f.memory, why));
    lay_out(&f);
    standardise(&f);
    begin(&f, random);
    for (size_t k = 0; k < tuned_missing_rounds() && !step(&f); k++) {
    }
    put(&f, random);
done:
    arena_close(&f.memory);
    return status;
}
