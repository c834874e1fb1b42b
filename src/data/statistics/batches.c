#include "data/statistics/batches.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

static const double TAU[] = {0.3, 1, 3};
static const double ROUNDING = 1e-10; /* of a variance */

/* One set at a time. */
typedef struct finder {
    linear_view *s;
    size_t n, w, p; /* rows; columns of e; values that vary */
    const uint32_t *row;
    double *e;     /* (n, w): what values leave of y, then whitened */
    double *v;     /* (n, p) */
    double *sum;   /* (n + 1, w): of the first rows of whitened e */
    double *gram;  /* (side, side), side >= w, p */
    double *right; /* (p, w), or (w, w) */
    double *eigen; /* (side) */
    double *mean;  /* (w) */
    size_t *begin; /* (BATCHES_MOST + 1): where batches begin, then n */
    size_t batches;
    uint32_t *batch; /* (all rows): of each */
} finder;

/* ---- What values leave of y, in coordinates of unit variance about their neighbours ---- */

static void gather(finder *f, size_t set)
{
    const design *by = &f->s->design;
    bool observed = f->s->kind != VIEW_LINEAR;
    const uint8_t *target = by->target + set * by->d;
    f->row = by->row + by->first[set];
    f->n = design_set_rows(by, set);
    f->w = f->p = 0;
    for (size_t j = 0; j < by->d; j++) {
        f->p += target[j] != 0 ? 1 : 0;
    }
    f->w = observed ? by->d - f->p : f->s->rank;
    for (size_t k = 0; k < f->n; k++) {
        const double *y = f->s->y + f->row[k] * f->s->rank;
        size_t free = 0;
        size_t fixed = 0;
        for (size_t j = 0; j < by->d; j++) {
            if (target[j] != 0) {
                f->v[k * f->p + fixed++] = observed ? y[j] : design_value(by, f->row[k], j);
            } else if (observed) {
                f->e[k * f->w + free++] = y[j];
            }
        }
        if (!observed) {
            memcpy(f->e + k * f->w, y, f->w * sizeof *y);
        }
    }
}

/* Batches begin where values change, if all of them then have rows enough. */
static void begin(finder *f)
{
    size_t last = 0;
    bool held = true;
    f->begin[0] = 0;
    f->batches = 1;
    for (size_t k = 1; k < f->n && held; k++) {
        if (memcmp(f->v + k * f->p, f->v + (k - 1) * f->p, f->p * sizeof *f->v) != 0) {
            held = k - last > f->w && f->batches < BATCHES_MOST;
            last = k;
            f->begin[f->batches] = k;
            f->batches += held ? 1 : 0;
        }
    }
    held = held && f->n - last > f->w;
    f->batches = held ? f->batches : 1;
    f->begin[f->batches] = f->n;
    f->p = held ? 0 : f->p; /* nothing varies within */
}

/* left (m, m) of the differences of neighbours in x (n, m); with y (n, q), right (m, q), too. */
static void differences(const finder *f, const double *x, size_t m, const double *y, size_t q)
{
    memset(f->gram, 0, m * m * sizeof *f->gram);
    memset(f->right, 0, m * q * sizeof *f->right);
    for (size_t b = 0; b < f->batches; b++) {
        for (size_t k = f->begin[b] + 1; k < f->begin[b + 1]; k++) {
            for (size_t i = 0; i < m; i++) {
                double left = x[k * m + i] - x[(k - 1) * m + i];
                for (size_t j = 0; j < m; j++) {
                    f->gram[i * m + j] += left * (x[k * m + j] - x[(k - 1) * m + j]) / 2;
                }
                for (size_t j = 0; j < q; j++) {
                    f->right[i * q + j] += left * (y[k * q + j] - y[(k - 1) * q + j]) / 2;
                }
            }
        }
    }
}

/* e less what differences of the values say of its differences; false: they do not tell. */
static bool take_values(finder *f)
{
    size_t p = f->p;
    if (p == 0) {
        return true;
    }
    differences(f, f->v, p, f->e, f->w);
    for (size_t i = 0; i < p; i++) {
        f->gram[i * p + i] *= 1 + ROUNDING;
        f->gram[i * p + i] += f->gram[i * p + i] > 0 ? 0 : 1; /* it never varies */
    }
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'U', (int)p, (int)f->w, f->gram, (int)p, f->right,
                      (int)f->w) != 0) {
        return false;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)f->n, (int)f->w, (int)p, -1, f->v,
                (int)p, f->right, (int)f->w, 1, f->e, (int)f->w);
    return true;
}

/* e in the directions that vary, w of them; in units of what neighbours differ by. */
static bool whiten(finder *f)
{
    size_t w = f->w;
    size_t kept = 0;
    differences(f, f->e, w, NULL, 0);
    for (size_t i = 0; i < w; i++) {
        f->mean[i] = f->gram[i * w + i] > 0 ? 1 / sqrt(f->gram[i * w + i]) : 0;
    }
    for (size_t k = 0; k < w * w; k++) {
        f->gram[k] *= f->mean[k / w] * f->mean[k % w];
    }
    if (LAPACKE_dsyevd(LAPACK_ROW_MAJOR, 'V', 'U', (int)w, f->gram, (int)w, f->eigen) != 0) {
        return false;
    }
    for (size_t j = 0; j < w; j++) {
        bool varies = f->eigen[j] > ROUNDING * f->eigen[w - 1];
        double scale = varies ? sqrt((double)f->n / f->eigen[j]) : 0;
        for (size_t i = 0; i < w && varies; i++) {
            f->right[kept * w + i] = scale * f->mean[i] * f->gram[i * w + j];
        }
        kept += varies ? 1 : 0;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)f->n, (int)kept, (int)w, 1, f->e,
                (int)w, f->right, (int)w, 0, f->sum, (int)kept);
    memcpy(f->e, f->sum, f->n * kept * sizeof *f->e);
    f->w = kept;
    return kept > 0;
}

/* ---- Evidence ---- */

/* Sums over rows from .. to - 1. */
static double total(const finder *f, size_t from, size_t to, size_t i)
{
    return f->sum[to * f->w + i] - f->sum[from * f->w + i];
}

/* The factor of S(tau), or of the scatter within batches (tau < 0), in gram; its log determinant.
 */
static double factor(finder *f, double tau, double *heft, double *spread)
{
    size_t w = f->w;
    memset(f->mean, 0, w * sizeof *f->mean);
    *heft = *spread = 0;
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)w, (int)f->n, 1, f->e, (int)w, 0,
                f->gram, (int)w);
    for (size_t b = 0; b < f->batches; b++) {
        double n = (double)(f->begin[b + 1] - f->begin[b]);
        double h = tau < 0 ? 0 : n / (1 + n * tau * tau);
        for (size_t i = 0; i < w; i++) {
            f->eigen[i] = total(f, f->begin[b], f->begin[b + 1], i) / n;
            f->mean[i] += h * f->eigen[i];
        }
        cblas_dsyr(CblasRowMajor, CblasUpper, (int)w, h - n, f->eigen, 1, f->gram, (int)w);
        *heft += h;
        *spread += log1p(n * tau * tau);
    }
    if (*heft > 0) {
        cblas_dsyr(CblasRowMajor, CblasUpper, (int)w, -1 / *heft, f->mean, 1, f->gram, (int)w);
    }
    double log_det = 0;
    if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'U', (int)w, f->gram, (int)w) != 0) {
        return NAN;
    }
    for (size_t i = 0; i < w; i++) {
        log_det += 2 * log(f->gram[i * w + i]);
    }
    return log_det;
}

/* log p of the rows and of the batches as they are. */
static double evidence_of(finder *f)
{
    size_t count = f->batches > 1 ? sizeof TAU / sizeof TAU[0] : 1;
    double at[sizeof TAU / sizeof TAU[0]];
    double top = -INFINITY;
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        double heft = 0;
        double spread = 0;
        double log_det = factor(f, f->batches > 1 ? TAU[k] : 0, &heft, &spread);
        at[k] = -((double)f->n - 1) / 2 * log_det - (double)f->w / 2 * (spread + log(heft));
        top = fmax(top, at[k]);
    }
    for (size_t k = 0; k < count; k++) {
        sum += exp(at[k] - top) / (double)count;
    }
    return top + log(sum) - (double)(f->batches - 1) * log(2 * (double)f->n);
}

/* ---- Splitting ---- */

/* Where a batch is best split: the most of (n_1 n_2/n) |m_1 - m_2|^2 in units of what varies within
 * batches; 0: nowhere. */
static size_t best_split(finder *f)
{
    size_t w = f->w;
    size_t best = 0;
    double most = 0;
    double heft = 0;
    double spread = 0;
    if (!isfinite(factor(f, -1, &heft, &spread))) {
        return 0;
    }
    for (size_t b = 0; b < f->batches; b++) {
        size_t from = f->begin[b];
        size_t to = f->begin[b + 1];
        for (size_t at = from + w + 1; at + w < to; at++) {
            double left = (double)(at - from);
            double right = (double)(to - at);
            for (size_t i = 0; i < w; i++) {
                f->mean[i] = total(f, from, at, i) / left - total(f, at, to, i) / right;
            }
            cblas_dtrsv(CblasRowMajor, CblasUpper, CblasTrans, CblasNonUnit, (int)w, f->gram,
                        (int)w, f->mean, 1);
            double gain =
                left * right / (left + right) * cblas_ddot((int)w, f->mean, 1, f->mean, 1);
            best = gain > most ? at : best;
            most = fmax(most, gain);
        }
    }
    return best;
}

static void split(finder *f, size_t at)
{
    size_t b = f->batches;
    for (; f->begin[b - 1] > at; b--) {
        f->begin[b + 1] = f->begin[b];
    }
    f->begin[b + 1] = f->begin[b];
    f->begin[b] = at;
    f->batches++;
}

static void merge(finder *f, size_t at)
{
    size_t b = 0;
    while (f->begin[b] != at) {
        b++;
    }
    f->batches--;
    memmove(f->begin + b, f->begin + b + 1, (f->batches + 1 - b) * sizeof *f->begin);
}

static void find(finder *f, size_t set)
{
    gather(f, set);
    begin(f);
    if (f->n < 2 * (f->w + 1) || !take_values(f) || !whiten(f)) {
        return;
    }
    memset(f->sum, 0, f->w * sizeof *f->sum);
    for (size_t k = 0; k < f->n; k++) { /* about the first row, against rounding */
        for (size_t i = 0; i < f->w; i++) {
            f->e[k * f->w + i] -= k > 0 ? f->e[i] : 0;
        }
    }
    memset(f->e, 0, f->w * sizeof *f->e);
    for (size_t k = 0; k < f->n * f->w; k++) {
        f->sum[f->w + k] = f->sum[k] + f->e[k];
    }
    double evidence = evidence_of(f);
    while (f->batches < BATCHES_MOST) {
        size_t at = best_split(f);
        if (at == 0) {
            return;
        }
        split(f, at);
        double next = evidence_of(f);
        if (!(next > evidence)) {
            merge(f, at);
            return;
        }
        evidence = next;
    }
}

/* ---- All sets ---- */

static void lay_out(finder *f, arena *a, size_t rows, size_t side)
{
    f->e = arena_take(a, rows * side, sizeof(double));
    f->v = arena_take(a, rows * side, sizeof(double));
    f->sum = arena_take(a, (rows + 1) * side, sizeof(double));
    f->gram = arena_take(a, side * side, sizeof(double));
    f->right = arena_take(a, side * side, sizeof(double));
    f->eigen = arena_take(a, side, sizeof(double));
    f->mean = arena_take(a, side, sizeof(double));
    f->begin = arena_take(a, BATCHES_MOST + 2, sizeof *f->begin);
    f->batch = arena_take(a, f->s->design.rows, sizeof *f->batch);
}

lscm_status batches_find(linear_view *s, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t side = s->d > s->rank ? s->d : s->rank;
    size_t rows = 0;
    size_t count = 0;
    finder f = {.s = s};
    arena memory = {0};
    if (side > BATCHES_WIDEST || s->rank == 0) {
        return LSCM_OK;
    }
    for (size_t k = 0; k < s->design.sets; k++) {
        size_t own = design_set_rows(&s->design, k);
        rows = own > rows ? own : rows;
    }
    lay_out(&f, &memory, rows, side);
    TRY(arena_open(&memory, why));
    lay_out(&f, &memory, rows, side);
    for (size_t k = 0; k < s->design.sets; k++) {
        find(&f, k);
        for (size_t b = 0; b < f.batches; b++, count++) {
            for (size_t at = f.begin[b]; at < f.begin[b + 1]; at++) {
                f.batch[f.row[at]] = (uint32_t)count;
            }
        }
    }
    if (count > s->design.sets) {
        TRY(design_divide(&s->design, f.batch, count, why));
    }
done:
    arena_close(&memory);
    return status;
}
