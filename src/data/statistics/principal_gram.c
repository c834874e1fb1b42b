/* Principal directions from the covariance matrix (D, D) of rows x in memory:
 *
 *     n cov = x'x - n left' left,   x'x = sum over parts,
 *
 * where narrow matrices are cut by rows (each part has its own sum) and wide ones by tiles of the
 * result, of which only those on and above the diagonal are computed.
 */
#include "data/statistics/principal.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { NARROW = 512, TILE = 256, ROWS = 2 * PRINCIPAL_ROWS };

typedef struct cut {
    size_t parts; /* sums over rows */
    size_t tile;  /* columns of a tile */
    size_t tiles; /* tiles in a row of the result */
} cut;

static cut cut_of(size_t D)
{
    if (D <= NARROW) {
        return (cut){PRINCIPAL_PARTS, D, 1};
    }
    return (cut){1, TILE, (D + TILE - 1) / TILE};
}

/* Tile (a, b) of the sum of one part: columns a of x against columns b. */
static void add_tile(const double *x, size_t n, size_t D, cut c, size_t part, size_t a, size_t b,
                     double *sum)
{
    size_t left = a * c.tile;
    size_t right = b * c.tile;
    int wide = (int)(D - left < c.tile ? D - left : c.tile);
    int other = (int)(D - right < c.tile ? D - right : c.tile);
    double *to = sum + left * D + right;
    for (size_t first = part * ROWS; first < n; first += c.parts * ROWS) {
        int rows = (int)(n - first < ROWS ? n - first : ROWS);
        const double *from = x + first * D;
        if (a == b) {
            cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, wide, rows, 1, from + left, (int)D,
                        1, to, (int)D);
        } else {
            cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, wide, other, rows, 1, from + left,
                        (int)D, from + right, (int)D, 1, to, (int)D);
        }
    }
}

/* sums (parts, D, D); the first becomes cov, upper triangle */
static void covariance(const principal *p, const double *x, cut c, double *sums)
{
    size_t D = p->D;
    double n = (double)p->n;
    size_t jobs = c.parts * c.tiles * c.tiles;
#pragma omp parallel for schedule(dynamic)
    for (size_t job = 0; job < jobs; job++) {
        size_t part = job % c.parts;
        size_t a = job / c.parts / c.tiles;
        size_t b = job / c.parts % c.tiles;
        if (a <= b) {
            add_tile(x, p->n, D, c, part, a, b, sums + part * D * D);
        }
    }
    for (size_t part = 1; part < c.parts; part++) {
        cblas_daxpy((int)(D * D), 1, sums + part * D * D, 1, sums, 1);
    }
    for (size_t i = 0; i < D; i++) {
        for (size_t j = i; j < D; j++) {
            sums[i * D + j] = sums[i * D + j] / n - p->left[i] * p->left[j];
        }
    }
}

/* cov(w) from cov(x) in `sums`, both upper triangles; s and the trace. variance (D): of x. */
static void to_units(principal *p, const double *variance, double *sums)
{
    size_t D = p->D;
    p->total = 0;
    for (size_t j = 0; j < D; j++) {
        p->scale[j] = p->units.own ? sqrt(variance[j]) : 1;
    }
    for (size_t i = 0; i < D && p->units.own; i++) {
        for (size_t j = i; j < D; j++) {
            double unit = p->scale[i] * p->scale[j];
            sums[i * D + j] = unit > 0 ? sums[i * D + j] / unit : 0;
        }
    }
    for (size_t j = 0; j < D; j++) {
        p->total += sums[j * D + j];
    }
}

typedef struct scratch {
    double *sums;     /* (parts, D, D) */
    double *kept;     /* (D, D): cov(x), where it is needed again */
    double *values;   /* (D) */
    double *variance; /* (D): of x */
    principal_block block;
} scratch;

static void lay_out(scratch *s, arena *a, const principal *p, cut c)
{
    size_t D = p->D;
    bool own = p->units.own;
    s->sums = arena_take(a, c.parts * D * D, sizeof(double));
    s->kept = own ? arena_take(a, D * D, sizeof(double)) : NULL;
    s->values = arena_take(a, D, sizeof(double));
    s->variance = arena_take(a, D, sizeof(double));
    if (own) {
        principal_block_lay_out(&s->block, a, p, false);
    }
}

/* To units of noise: the directions that were found are where the block begins. */
static lscm_status refine(principal *p, scratch *s, size_t wanted, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    memcpy(s->block.q, p->directions, p->count * p->D * sizeof(double));
    memcpy(s->block.ritz, p->variance, p->count * sizeof(double));
    TRY(principal_noise(p, (principal_source){.covariance = s->kept}, &s->block, s->variance,
                        wanted, why));
done:
    return status;
}

lscm_status principal_gram(principal *p, const double *x, size_t wanted, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena memory = {0};
    size_t D = p->D;
    cut c = cut_of(D);
    scratch s = {0};
    lay_out(&s, &memory, p, c);
    TRY(arena_open(&memory, why));
    lay_out(&s, &memory, p, c);
    covariance(p, x, c, s.sums);
    for (size_t j = 0; j < D; j++) {
        s.variance[j] = s.sums[j * D + j] < 0 ? 0 : s.sums[j * D + j]; /* NaN stays */
        p->total += s.variance[j];
    }
    if (!isfinite(p->total)) {
        status = fail(why, LSCM_VALUE, "x is so large that its squares overflow; scale it down");
        goto done;
    }
    if (s.kept != NULL) {
        memcpy(s.kept, s.sums, D * D * sizeof *s.kept);
    }
    to_units(p, s.variance, s.sums);
    TRY(principal_eigen(s.sums, D, s.values, why));
    for (size_t k = 0; k < p->count; k++) {
        size_t from = D - 1 - k;
        p->variance[k] = s.values[from] > 0 ? s.values[from] : 0;
        memcpy(p->directions + k * D, s.sums + from * D, D * sizeof *s.sums);
    }
    if (p->units.own) {
        TRY(refine(p, &s, wanted, why));
    }
done:
    arena_close(&memory);
    return status;
}
