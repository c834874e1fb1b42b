#include "infer/evidence/both_ways.h"

#include "base/arena.h"
#include "base/tuned.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* One node's regression on who was set, to what: columns 1, t (d), t (v - m)/u (d). */
typedef struct responses {
    const design *by;
    const double *z;
    const double *mean, *unit; /* (d): m, u */
    size_t every;              /* one row in so many counts */
    size_t columns;            /* 2 d + 1 */
    double *gram, *meat;       /* (columns, columns) */
    double *cross, *slope;     /* (columns) */
    double *x;                 /* (columns): a row, .. */
    size_t *at, count;         /* (columns): .. and where it is not 0 */
    arena memory;
} responses;

static void lay_out(responses *t)
{
    arena *a = &t->memory;
    size_t m = t->columns;
    t->gram = arena_take(a, m * m, sizeof *t->gram);
    t->meat = arena_take(a, m * m, sizeof *t->meat);
    t->cross = arena_take(a, m, sizeof *t->cross);
    t->slope = arena_take(a, m, sizeof *t->slope);
    t->x = arena_take(a, m, sizeof *t->x);
    t->at = arena_take(a, m, sizeof *t->at);
}

static void take_row(responses *t, size_t row)
{
    size_t d = t->by->d;
    t->x[0] = 1;
    t->at[0] = 0;
    t->count = 1;
    for (size_t q = 0; q < d; q++) {
        if (design_is_set(t->by, row, q) && t->unit[q] > 0) {
            t->x[t->count] = 1;
            t->at[t->count++] = 1 + q;
            t->x[t->count] = (design_value(t->by, row, q) - t->mean[q]) / t->unit[q];
            t->at[t->count++] = 1 + d + q;
        }
    }
}

/* out (columns, columns), lower, += weight x'x */
static void add_row(const responses *t, double weight, double *out)
{
    for (size_t a = 0; a < t->count; a++) {
        for (size_t b = 0; b <= a; b++) { /* `at` is in pairs, not ascending */
            size_t row = t->at[a] > t->at[b] ? t->at[a] : t->at[b];
            size_t column = t->at[a] > t->at[b] ? t->at[b] : t->at[a];
            out[row * t->columns + column] += weight * t->x[a] * t->x[b];
        }
    }
}

/* What the slopes leave of z_i in the row that was taken. */
static double rest_of(const responses *t, double z)
{
    for (size_t k = 0; k < t->count; k++) {
        z -= t->slope[t->at[k]] * t->x[k];
    }
    return z;
}

/* gram becomes its inverse; false where columns cannot be told apart. */
static bool invert(const responses *t)
{
    int m = (int)t->columns;
    for (size_t c = 0; c < t->columns; c++) { /* what was never set has no slope */
        double *on = &t->gram[c * t->columns + c];
        *on = *on > 0 ? *on * (1 + 1e-9) : 1;
    }
    return LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', m, t->gram, m) == 0 &&
           LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'L', m, t->gram, m) == 0;
}

/* Slopes of node i, in the place of `slope`, then what their squared errors are made of; the rows
 * that count, 0 where they do not tell. */
static double regress(responses *t, size_t i)
{
    size_t m = t->columns;
    double rows = 0;
    memset(t->gram, 0, m * m * sizeof *t->gram);
    memset(t->meat, 0, m * m * sizeof *t->meat);
    memset(t->cross, 0, m * sizeof *t->cross);
    memset(t->slope, 0, m * sizeof *t->slope);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t row = 0; row < t->by->rows; row += t->every) {
            double z = t->z[row * t->by->d + i] / t->unit[i];
            if (design_is_set(t->by, row, i)) {
                continue;
            }
            take_row(t, row);
            double rest = rest_of(t, z);
            add_row(t, pass == 0 ? 1 : rest * rest, pass == 0 ? t->gram : t->meat);
            for (size_t k = 0; k < t->count && pass == 0; k++) {
                t->cross[t->at[k]] += t->x[k] * z;
            }
            rows += pass == 0 ? 1 : 0;
        }
        if (pass == 0) {
            if (!(rows > (double)m) || !invert(t)) {
                return 0;
            }
            cblas_dsymv(CblasRowMajor, CblasLower, (int)m, 1, t->gram, (int)m, t->cross, 1, 0,
                        t->slope, 1);
        }
    }
    return rows;
}

/* s of column c: from c'G^-1 M G^-1 c. */
static double error_of(const responses *t, size_t c, double rows)
{
    int m = (int)t->columns;
    for (size_t k = 0; k < t->columns; k++) {
        t->x[k] = k < c ? t->gram[c * t->columns + k] : t->gram[k * t->columns + c];
    }
    cblas_dsymv(CblasRowMajor, CblasLower, m, 1, t->meat, m, t->x, 1, 0, t->cross, 1);
    double squares = cblas_ddot(m, t->x, 1, t->cross, 1);
    return sqrt(fmax(squares, 0) * rows / (rows - (double)t->columns));
}

/* Slopes and errors (d, d) of all pairs; NaN where do() does not tell. */
static void find_slopes(responses *t, double *slope, double *error)
{
    size_t d = t->by->d;
    for (size_t i = 0; i < d; i++) {
        double rows = t->unit[i] > 0 ? regress(t, i) : 0;
        for (size_t p = 0; p < d; p++) {
            bool told = p != i && rows > 0 && t->unit[p] > 0 && t->slope[1 + d + p] != 0;
            slope[p * d + i] = told ? t->slope[1 + d + p] : NAN;
            error[p * d + i] = told ? error_of(t, 1 + d + p, rows) : NAN;
        }
    }
}

static double mean_lesser(double A, double B)
{
    double a = sqrt(A);
    double b = sqrt(B);
    return 2 / PI * (A * atan2(b, a) + B * atan2(a, b) - a * b);
}

/* sum (min - E)/E^2 at lambda^2 = square, which falls with it. */
static double excess(size_t d, const double *slope, const double *error, double square)
{
    double sum = 0;
    for (size_t p = 0; p < d; p++) {
        for (size_t i = p + 1; i < d; i++) {
            double one = slope[p * d + i] * slope[p * d + i];
            double other = slope[i * d + p] * slope[i * d + p];
            double expected = mean_lesser(square + error[p * d + i] * error[p * d + i],
                                          square + error[i * d + p] * error[i * d + p]);
            double away = ((one < other ? one : other) - expected) / (expected * expected);
            sum += isfinite(one + other + away) ? away : 0;
        }
    }
    return sum;
}

double leaks_size(size_t d, const double *slope, const double *error)
{
    double low = 0;
    double high = 0;
    for (size_t e = 0; e < d * d; e++) { /* beyond which no pair asks for more */
        double square = slope[e] * slope[e];
        high = isfinite(square) ? fmax(high, square / (1 - 2 / PI)) : high;
    }
    if (!(excess(d, slope, error, 0) > 0)) {
        return 0;
    }
    for (int k = 0; k < 60; k++) {
        double middle = (low + high) / 2;
        bool more = excess(d, slope, error, middle) > 0;
        low = more ? middle : low;
        high = more ? high : middle;
    }
    return sqrt(low);
}

/* Mean and sd (d) of the values that do() set; sd 0 where there is one value, or none. */
static void find_units(const design *by, double *mean, double *unit)
{
    const latent_rows values = {by, by->value, NULL, false};
    for (size_t first = 0; first < by->d; first += SPREAD_BLOCK) {
        column_spread set[SPREAD_BLOCK];
        spread_columns(&values, first, SPREAD_SET, set);
        for (size_t j = first; j < by->d && j < first + SPREAD_BLOCK; j++) {
            const column_spread *s = &set[j - first];
            mean[j] = s->mean;
            unit[j] = s->n > 0 ? sqrt(s->squares / s->n) : 0;
        }
    }
}

lscm_status leaks_both_ways(double *sd, double *size, const design *by, const double *z,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = by->d;
    arena memory = {0};
    double *numbers = NULL;
    responses t = {.by = by,
                   .z = z,
                   .columns = 2 * d + 1,
                   .every = (by->rows + tuned_leak_rows() - 1) / tuned_leak_rows()};
    (void)arena_take(&memory, 2 * d * d + 2 * d, sizeof *numbers);
    TRY(arena_open(&memory, why));
    numbers = arena_take(&memory, 2 * d * d + 2 * d, sizeof *numbers);
    lay_out(&t);
    TRY(arena_open(&t.memory, why));
    lay_out(&t);
    double *error = numbers + d * d;
    double *mean = error + d * d;
    double *unit = mean + d;
    find_units(by, mean, unit);
    t.mean = mean;
    t.unit = unit;
    find_slopes(&t, numbers, error);
    double lambda = leaks_size(d, numbers, error);
    for (size_t e = 0; e < d * d; e++) {
        bool told = e / d != e % d && unit[e / d] > 0;
        sd[e] = told ? lambda * unit[e % d] / unit[e / d] : 0;
    }
    if (size != NULL) {
        *size = lambda;
    }
done:
    arena_close(&t.memory);
    arena_close(&memory);
    return status;
}
