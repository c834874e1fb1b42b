/* How much of the other nodes leaks into z_j: in each set of its held-out values, the error e of
 * z_j is regressed on x = (1, the other z), p of them. Of n rows,
 *
 *     (|X b|^2/p - |e - X b|^2/(n - p)) / n,
 *
 * at least 0, is the variance per direction that is not chance. A spurious edge into j of that size
 * is to be expected. And how wrong its scale may be: the share g of the values v that set's errors
 * e are alike, e = g v, has the mean square sum (sum e v)^2/(sum v^2) / sum (sum v^2) over the sets
 * of all nodes, each in the mean over its rows. */
#include "infer/generator/generator_state.h"

#include "base/quantile.h"
#include "base/tuned.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct leak_work {
    uint32_t *row;     /* (rows): those of a node, by set */
    double *e;         /* (rows): errors of that node, by row */
    double *sorted;    /* (rows) */
    double *v, *x, *g; /* (d, d), (d), (d) */
} leak_work;

/* e of n rows of node j, at most so many medians: rows that are misread altogether are no leak. */
static void take_errors(const generator *g, size_t j, size_t n, leak_work *t)
{
    for (size_t k = 0; k < n; k++) {
        size_t r = t->row[k];
        size_t at = r * g->rows.d + j;
        t->e[r] = generator_z_of(g, r, j, (double)g->u[at]) - design_value(g->rows.design, r, j);
        t->sorted[k] = fabs(t->e[r]);
    }
    qsort(t->sorted, n, sizeof *t->sorted, quantile_compare);
    double most = n > 0 ? tuned_leak_medians() * quantile_of_sorted(t->sorted, n, 0.5) : 0;
    for (size_t k = 0; k < n; k++) {
        double *e = t->e + t->row[k];
        *e = fmax(fmin(*e, most), -most);
    }
}

/* Of one set; NaN where it is too small to tell. */
static double leak_of_set(const generator *g, size_t j, const uint32_t *row, size_t n,
                          const leak_work *t)
{
    size_t d = g->rows.d;
    double squares = 0;
    double used = 0;
    memset(t->v, 0, d * d * sizeof *t->v);
    memset(t->g, 0, d * sizeof *t->g);
    for (size_t k = 0; k < n; k++) {
        size_t r = row[k];
        for (size_t i = 0; i < d; i++) {
            t->x[i] = i == j ? 1 : generator_z_of(g, r, i, (double)g->u[r * d + i]);
        }
        double e = t->e[r];
        cblas_daxpy((int)d, e, t->x, 1, t->g, 1);
        cblas_dsyr(CblasRowMajor, CblasLower, (int)d, 1, t->x, 1, t->v, (int)d);
        squares += e * e;
    }
    for (size_t i = 0; i < d; i++) {
        used += t->v[i * d + i] > 0 ? 1 : 0;
        t->v[i * d + i] = t->v[i * d + i] > 0 ? t->v[i * d + i] * (1 + 1e-9) : 1;
    }
    if (n < 2 * d || LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', (int)d, t->v, (int)d) != 0) {
        return NAN;
    }
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)d, t->v, (int)d, t->g,
                1);
    double explained = cblas_ddot((int)d, t->g, 1, t->g, 1);
    double chance = fmax(squares - explained, 0) / ((double)n - used);
    return fmax(explained / used - chance, 0) / (double)n;
}

/* The held-out rows of node j, set by set: n of them. */
static size_t list_rows(const generator *g, size_t j, uint32_t *row)
{
    size_t n = 0;
    for (size_t k = 0; k < g->rows.rows; k++) {
        uint32_t r = g->rows.design->row[k];
        if (g->rows.held[r * g->rows.d + j] != 0) {
            row[n++] = r;
        }
    }
    return n;
}

/* Of one set: adds (sum e v)^2/(sum v^2 n) and sum v^2/n, v about where the network's z begins. */
static void add_gain(const generator *g, size_t j, const uint32_t *row, size_t n, const double *e,
                     double *gain)
{
    double product = 0;
    double squares = 0;
    for (size_t k = 0; k < n; k++) {
        double v = design_value(g->rows.design, row[k], j) - g->offset[j];
        product += v * e[row[k]];
        squares += v * v;
    }
    if (squares > 0) {
        gain[0] += product * product / (squares * (double)n);
        gain[1] += squares / (double)n;
    }
}

static double leak_of(const generator *g, size_t j, leak_work *t, double *gain)
{
    const uint32_t *set = g->rows.design->set;
    size_t n = list_rows(g, j, t->row);
    take_errors(g, j, n, t);
    double sum = 0;
    double sets = 0;
    for (size_t from = 0, to = 0; from < n; from = to) {
        while (to < n && set[t->row[to]] == set[t->row[from]]) {
            to++;
        }
        double one = leak_of_set(g, j, t->row + from, to - from, t);
        sum += isnan(one) ? 0 : one;
        sets += isnan(one) ? 0 : 1;
        add_gain(g, j, t->row + from, to - from, t->e, gain);
    }
    if (sets == 0) { /* a few rows of every set */
        return leak_of_set(g, j, t->row, n, t);
    }
    return sum / sets;
}

lscm_status generator_leaks(const generator *g, generator_errors *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = g->rows.d;
    double *leak = out->leak;
    double mean = 0;
    double known = 0;
    double gain[2] = {0};
    leak_work t = {.row = calloc(g->rows.rows, sizeof *t.row),
                   .e = calloc(2 * g->rows.rows, sizeof *t.e),
                   .v = calloc(d * d + 2 * d, sizeof *t.v)};
    if (t.row == NULL || t.e == NULL || t.v == NULL) {
        status = fail_memory(why, g->rows.rows * sizeof *t.row);
        goto done;
    }
    t.sorted = t.e + g->rows.rows;
    t.x = t.v + d * d;
    t.g = t.x + d;
    /* rows in which nothing set z_j are further from the labels than those held out */
    for (size_t j = 0; j < d; j++) {
        leak[j] = tuned_leak_beyond() * leak_of(g, j, &t, gain);
        mean += isnan(leak[j]) ? 0 : leak[j];
        known += isnan(leak[j]) ? 0 : 1;
    }
    out->gain = gain[1] > 0 ? sqrt(gain[0] / gain[1]) : 0;
    for (size_t j = 0; j < d; j++) { /* a node like the others */
        leak[j] = !isnan(leak[j]) ? leak[j] : known > 0 ? mean / known : 0;
    }
done:
    free(t.row);
    free(t.e);
    free(t.v);
    return status;
}
