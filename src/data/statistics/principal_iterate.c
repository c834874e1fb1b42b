/* Principal directions of wide rows x (n, D), centred, by block subspace iteration:
 *
 *     Q' = orth(random' x),   then  P = x Q (n, k),  P'P / n = V diag(v) V',  Q' <- orth(V' P' x).
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

typedef struct block {
    double *q, *next; /* (k, D) */
    double *p;        /* (n, k) */
    double *small;    /* (k, k) */
    double *ritz;     /* (k), ascending */
    double *before;   /* (k) */
    double *tau;      /* (k) */
} block;

static void lay_out(block *b, arena *a, const principal *p)
{
    b->q = arena_take(a, p->count * p->D, sizeof(double));
    b->next = arena_take(a, p->count * p->D, sizeof(double));
    b->p = arena_take(a, p->n * p->count, sizeof(double));
    b->small = arena_take(a, p->count * p->count, sizeof(double));
    b->ritz = arena_take(a, p->count, sizeof(double));
    b->before = arena_take(a, p->count, sizeof(double));
    b->tau = arena_take(a, p->count, sizeof(double));
}

/* P = x Q, by blocks of rows */
static void forward(const principal *p, const double *x, block *b)
{
    int k = (int)p->count;
    int D = (int)p->D;
#pragma omp parallel for schedule(dynamic)
    for (size_t first = 0; first < p->n; first += PRINCIPAL_ROWS) {
        size_t rows = p->n - first < PRINCIPAL_ROWS ? p->n - first : PRINCIPAL_ROWS;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, k, D, 1, x + first * p->D,
                    D, b->q, D, 0, b->p + first * p->count, k);
    }
}

/* Q' = P' x, by tiles of columns */
static void backward(const principal *p, const double *x, block *b)
{
    int k = (int)p->count;
    int D = (int)p->D;
#pragma omp parallel for schedule(dynamic)
    for (size_t first = 0; first < p->D; first += TILE) {
        size_t columns = p->D - first < TILE ? p->D - first : TILE;
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, k, (int)columns, (int)p->n, 1, b->p, k,
                    x + first, D, 0, b->q + first, D);
    }
}

/* Orthonormal rows of q; those without length of their own become arbitrary ones. */
static lscm_status orthonormal(const principal *p, block *b, lscm_error *why)
{
    lapack_int D = (lapack_int)p->D;
    lapack_int k = (lapack_int)p->count;
    lapack_int info = LAPACKE_dgeqrf(LAPACK_COL_MAJOR, D, k, b->q, D, b->tau);
    if (info == 0) {
        info = LAPACKE_dorgqr(LAPACK_COL_MAJOR, D, k, k, b->q, D, b->tau);
    }
    return info == 0 ? LSCM_OK : fail_memory(why, p->D * p->count * sizeof(double));
}

/* Ritz values, ascending, and V in the rows of `small`; the last values are remembered. */
static lscm_status rayleigh(const principal *p, block *b, lscm_error *why)
{
    int k = (int)p->count;
    memset(b->small, 0, p->count * p->count * sizeof(double));
    for (size_t first = 0; first < p->n; first += PRINCIPAL_ROWS) {
        size_t rows = p->n - first < PRINCIPAL_ROWS ? p->n - first : PRINCIPAL_ROWS;
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, k, (int)rows, 1 / (double)p->n,
                    b->p + first * p->count, k, 1, b->small, k);
    }
    memcpy(b->before, b->ritz, p->count * sizeof(double));
    return principal_eigen(b->small, p->count, b->ritz, why);
}

static bool settled(const principal *p, const block *b, size_t wanted)
{
    double largest = b->ritz[p->count - 1];
    for (size_t k = 0; k < p->count && k < wanted; k++) {
        double now = b->ritz[p->count - 1 - k];
        double was = b->before[p->count - 1 - k];
        if (now > NEGLIGIBLE * largest && !(fabs(now - was) <= tuned_principal_still() * now)) {
            return false;
        }
    }
    return true;
}

/* next = V' q, largest first, then becomes q */
static void turn(const principal *p, block *b)
{
    int k = (int)p->count;
    int D = (int)p->D;
    for (size_t i = 0; i < p->count / 2; i++) {
        cblas_dswap(k, b->small + i * p->count, 1, b->small + (p->count - 1 - i) * p->count, 1);
    }
#pragma omp parallel for schedule(dynamic)
    for (size_t first = 0; first < p->D; first += TILE) {
        size_t columns = p->D - first < TILE ? p->D - first : TILE;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, k, (int)columns, k, 1, b->small, k,
                    b->q + first, D, 0, b->next + first, D);
    }
    double *old = b->q;
    b->q = b->next;
    b->next = old;
}

/* The trace of cov: rows are centred. */
static double energy(const principal *p, const double *x)
{
    double sum = 0;
    for (size_t row = 0; row < p->n; row++) {
        sum += cblas_ddot((int)p->D, x + row * p->D, 1, x + row * p->D, 1);
    }
    return sum / (double)p->n;
}

lscm_status principal_iterate(principal *p, const double *x, size_t wanted, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena scratch = {0};
    block b;
    lay_out(&b, &scratch, p);
    TRY(arena_open(&scratch, why));
    lay_out(&b, &scratch, p);
    p->total = energy(p, x);
    if (!isfinite(p->total)) {
        status = fail(why, LSCM_VALUE, "x is so large that its squares overflow; scale it down");
        goto done;
    }
    rng_normals(stream_of(0, STREAM_PRINCIPAL), 0, p->n * p->count, b.p);
    backward(p, x, &b);
    TRY(orthonormal(p, &b, why));
    for (size_t round = 0; round < tuned_principal_rounds(); round++) {
        forward(p, x, &b);
        TRY(rayleigh(p, &b, why));
        if (round > 0 && settled(p, &b, wanted)) {
            break;
        }
        if (round + 1 < tuned_principal_rounds()) {
            backward(p, x, &b);
            turn(p, &b);
            TRY(orthonormal(p, &b, why));
        }
    }
    turn(p, &b);
    memcpy(p->directions, b.q, p->count * p->D * sizeof(double));
    for (size_t k = 0; k < p->count; k++) {
        double v = b.ritz[p->count - 1 - k];
        p->variance[k] = v > 0 ? v : 0;
    }
done:
    arena_close(&scratch);
    return status;
}
