/* Principal directions of wide rows x (n, D), centred, in units s, by block subspace iteration:
 *
 *     Q' = orth(random' w),   then  Z = Q' cov(w),  Z Q = V diag(v) V',  Q' <- orth(V' Z).
 *
 * The Ritz values v grow towards the eigenvalues; when those wanted no longer move by a millionth
 * the directions miss less than that of their variance. Where nothing stands out of the noise that
 * may take long and gains nothing, so the number of rounds has a limit.
 */
#include "base/rng.h"
#include "base/streams.h"
#include "base/tuned.h"
#include "data/statistics/principal.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { TILE = 256 };

static const double NEGLIGIBLE = 1e-14; /* of the largest: rounding, which never settles */

void principal_block_lay_out(principal_block *b, arena *a, const principal *p, bool rows)
{
    b->q = arena_take(a, p->count * p->D, sizeof(double));
    b->image = arena_take(a, p->count * p->D, sizeof(double));
    b->scaled = arena_take(a, p->count * p->D, sizeof(double));
    b->p = rows ? arena_take(a, p->n * p->count, sizeof(double)) : NULL;
    b->small = arena_take(a, p->count * p->count, sizeof(double));
    b->ritz = arena_take(a, p->count, sizeof(double));
    b->before = arena_take(a, p->count, sizeof(double));
    b->tau = arena_take(a, p->count, sizeof(double));
}

/* to = from / s, columns that are left out 0; both (k, D) */
static void to_units(const principal *p, const double *from, double *to)
{
    for (size_t k = 0; k < p->count; k++) {
        for (size_t j = 0; j < p->D; j++) {
            double s = p->scale[j];
            to[k * p->D + j] = s > 0 ? from[k * p->D + j] / s : 0;
        }
    }
}

/* P = x scaled', by blocks of rows */
static void forward(const principal *p, const double *x, principal_block *b)
{
    int k = (int)p->count;
    int D = (int)p->D;
#pragma omp parallel for schedule(dynamic)
    for (size_t first = 0; first < p->n; first += PRINCIPAL_ROWS) {
        size_t rows = p->n - first < PRINCIPAL_ROWS ? p->n - first : PRINCIPAL_ROWS;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, k, D, 1, x + first * p->D,
                    D, b->scaled, D, 0, b->p + first * p->count, k);
    }
}

/* scaled = P' x / n, by tiles of columns */
static void backward(const principal *p, const double *x, principal_block *b)
{
    int k = (int)p->count;
    int D = (int)p->D;
#pragma omp parallel for schedule(dynamic)
    for (size_t first = 0; first < p->D; first += TILE) {
        size_t columns = p->D - first < TILE ? p->D - first : TILE;
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, k, (int)columns, (int)p->n,
                    1 / (double)p->n, b->p, k, x + first, D, 0, b->scaled + first, D);
    }
}

/* image = q cov(w) */
static void multiply(const principal *p, principal_source from, principal_block *b)
{
    int D = (int)p->D;
    to_units(p, b->q, b->scaled);
    if (from.covariance != NULL) {
        cblas_dsymm(CblasRowMajor, CblasRight, CblasUpper, (int)p->count, D, 1, from.covariance, D,
                    b->scaled, D, 0, b->image, D);
        to_units(p, b->image, b->image);
        return;
    }
    forward(p, from.x, b);
    backward(p, from.x, b);
    to_units(p, b->scaled, b->image);
}

/* Orthonormal rows of q; those without length of their own become arbitrary ones. */
static lscm_status orthonormal(const principal *p, principal_block *b, lscm_error *why)
{
    lapack_int D = (lapack_int)p->D;
    lapack_int k = (lapack_int)p->count;
    lapack_int info = LAPACKE_dgeqrf(LAPACK_COL_MAJOR, D, k, b->q, D, b->tau);
    if (info == 0) {
        info = LAPACKE_dorgqr(LAPACK_COL_MAJOR, D, k, k, b->q, D, b->tau);
    }
    return info == 0 ? LSCM_OK : fail_memory(why, p->D * p->count * sizeof(double));
}

/* *a = V' a, V' in the rows of `small`; `scaled` takes the old place. */
static void turn(const principal *p, principal_block *b, double **a)
{
    int k = (int)p->count;
    int D = (int)p->D;
#pragma omp parallel for schedule(dynamic)
    for (size_t first = 0; first < p->D; first += TILE) {
        size_t columns = p->D - first < TILE ? p->D - first : TILE;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, k, (int)columns, k, 1, b->small, k,
                    *a + first, D, 0, b->scaled + first, D);
    }
    double *old = *a;
    *a = b->scaled;
    b->scaled = old;
}

/* A round for orthonormal q: image, and both turned to Ritz vectors. */
static lscm_status rayleigh(const principal *p, principal_source from, principal_block *b,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t many = p->count;
    int k = (int)many;
    multiply(p, from, b);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, k, k, (int)p->D, 1, b->image, (int)p->D,
                b->q, (int)p->D, 0, b->small, k);
    memcpy(b->before, b->ritz, many * sizeof(double));
    TRY(principal_eigen(b->small, many, b->ritz, why));
    for (size_t i = 0; i < many / 2; i++) { /* largest first */
        double last = b->ritz[many - 1 - i];
        b->ritz[many - 1 - i] = b->ritz[i];
        b->ritz[i] = last;
        cblas_dswap(k, b->small + i * many, 1, b->small + (many - 1 - i) * many, 1);
    }
    turn(p, b, &b->q);
    turn(p, b, &b->image);
done:
    return status;
}

lscm_status principal_advance(const principal *p, principal_source from, principal_block *b,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double *old = b->q;
    b->q = b->image;
    b->image = old;
    TRY(orthonormal(p, b, why));
    TRY(rayleigh(p, from, b, why));
done:
    return status;
}

lscm_status principal_start(const principal *p, principal_source from, principal_block *b,
                            lscm_error *why)
{
    rng_normals(stream_of(0, STREAM_PRINCIPAL), 0, p->n * p->count, b->p);
    backward(p, from.x, b);
    to_units(p, b->scaled, b->image);
    return principal_advance(p, from, b, why);
}

static bool settled(const principal *p, const principal_block *b, size_t wanted)
{
    for (size_t k = 0; k < p->count && k < wanted; k++) {
        double now = b->ritz[k];
        if (now > NEGLIGIBLE * b->ritz[0] &&
            !(fabs(now - b->before[k]) <= tuned_principal_still() * now)) {
            return false;
        }
    }
    return true;
}

lscm_status principal_settle(const principal *p, principal_source from, principal_block *b,
                             size_t wanted, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t round = 1; round < tuned_principal_rounds(); round++) {
        TRY(principal_advance(p, from, b, why));
        if (settled(p, b, wanted)) {
            break;
        }
    }
done:
    return status;
}

/* variance (D) of columns: rows are centred. */
static void column_variances(const principal *p, const double *x, double *variance)
{
    memset(variance, 0, p->D * sizeof *variance);
    for (size_t row = 0; row < p->n; row++) {
        for (size_t j = 0; j < p->D; j++) {
            variance[j] += x[row * p->D + j] * x[row * p->D + j];
        }
    }
    for (size_t j = 0; j < p->D; j++) {
        variance[j] /= (double)p->n;
    }
}

/* s, and the trace of cov(w) */
static void choose_units(principal *p, const double *variance)
{
    p->total = 0;
    for (size_t j = 0; j < p->D; j++) {
        bool own = p->units.own;
        p->scale[j] = own ? sqrt(variance[j]) : 1;
        p->total += !own ? variance[j] : variance[j] > 0 ? 1 : 0;
    }
}

lscm_status principal_iterate(principal *p, const double *x, size_t wanted, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena scratch = {0};
    principal_block b = {0};
    principal_source from = {.x = x};
    double *variance = NULL; /* (D) */
    for (int placing = 0; placing < 2; placing++) {
        if (placing) {
            TRY(arena_open(&scratch, why));
        }
        principal_block_lay_out(&b, &scratch, p, true);
        variance = arena_take(&scratch, p->D, sizeof *variance);
    }
    column_variances(p, x, variance);
    double energy = 0;
    for (size_t j = 0; j < p->D; j++) {
        energy += variance[j];
    }
    if (!isfinite(energy)) {
        status = fail(why, LSCM_VALUE, "x is so large that its squares overflow; scale it down");
        goto done;
    }
    choose_units(p, variance);
    TRY(principal_start(p, from, &b, why));
    TRY(principal_settle(p, from, &b, wanted, why));
    TRY(principal_noise(p, from, &b, variance, wanted, why));
done:
    arena_close(&scratch);
    return status;
}
