/* See dispersion.h. With G the matrix whose column g_k is the sum of e x over set k,
 * tr(V^-1 G G') = |L^-1 G|^2, V = L L'. */
#include "infer/evidence/uneven_slopes.h"
#include "base/tuned.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct slopes {
    const design *design;
    const double *weight, *z;
    const mechanism_model *model;
    const uint8_t *keep;
} slopes;

/* Node i, whose place stands for the intercept, and its parents into column (d); returns how many:
 * what is no parent says nothing. */
static size_t list_columns(const slopes *s, size_t i, size_t *column)
{
    size_t d = s->design->d;
    size_t m = 0;
    for (size_t j = 0; j < d; j++) {
        if (j == i || s->model->w[j * d + i] != 0) {
            column[m++] = j;
        }
    }
    return m;
}

/* Adds weight e x to g (m), weight x x' to v (m, m), the lower half. */
static void add_row(const double *x, size_t m, double weight, double e, double *g, double *v)
{
    for (size_t a = 0; a < m; a++) {
        g[a] += weight * e * x[a];
        for (size_t b = 0; b <= a; b++) {
            v[a * m + b] += weight * x[a] * x[b];
        }
    }
}

/* F of node i; g (sets, d), v (d, d), x (d), column (d) are scratch. */
static double slope_of(const slopes *s, size_t i, double *variance, double *g, double *v, double *x,
                       size_t *column)
{
    const design *of = s->design;
    size_t m = list_columns(s, i, column);
    size_t sets = 0;
    double squares = 0;
    double rows = 0;
    double sum = 0;
    double used = 0;
    memset(g, 0, of->sets * m * sizeof *g);
    memset(v, 0, m * m * sizeof *v);
    for (size_t k = 0; k < of->sets; k++) {
        bool any = false;
        for (size_t at = of->first[k]; at < of->first[k + 1]; at++) {
            size_t row = of->row[at];
            const double *z = s->z + row * of->d;
            if (of->target[k * of->d + i] != 0 || !row_counts(s->keep, row)) {
                continue;
            }
            for (size_t a = 0; a < m; a++) {
                x[a] = column[a] != i ? z[column[a]] : 1;
            }
            double e = mechanism_residual(s->model, i, z);
            double weight = s->weight != NULL ? s->weight[row] : 1;
            add_row(x, m, weight, e, g + sets * m, v);
            squares += weight * e * e;
            rows += 1;
            any = true;
        }
        sets += any ? 1 : 0;
    }
    *variance = rows > 0 ? squares / rows : 0;
    if (sets < tuned_slope_sets() || rows < 2 * (double)of->d || !(squares > 0)) {
        return 1;
    }
    for (size_t j = 0; j < m; j++) { /* what does not vary says nothing */
        used += v[j * m + j] > 0 ? 1 : 0;
        v[j * m + j] = v[j * m + j] > 0 ? v[j * m + j] * (1 + 1e-9) : 1;
    }
    if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', (int)m, v, (int)m) != 0) {
        return 1;
    }
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)sets, (int)m,
                1, v, (int)m, g, (int)m);
    for (size_t k = 0; k < sets * m; k++) {
        sum += g[k] * g[k];
    }
    double f = sum / (squares / rows) / used;
    return f > 1 && isfinite(f) ? f : 1;
}

lscm_status uneven_slopes(double *out, double *variance, const anchored_input *in,
                          const double *weight, const double *z, const mechanism_model *model,
                          lscm_error *why)
{
    const design *s = &in->view->design;
    size_t d = s->d;
    size_t size = s->sets * d + d * d + d;
    double *work = calloc(size, sizeof *work);
    size_t *column = calloc(d, sizeof *column);
    if (work == NULL || column == NULL) {
        free(work);
        free(column);
        return fail_memory(why, size * sizeof *work);
    }
    slopes all = {s, weight, z, model, in->keep};
    for (size_t i = 0; i < d; i++) {
        double *v = work + s->sets * d;
        out[i] = slope_of(&all, i, variance + i, work, v, v + d * d, column);
    }
    free(work);
    free(column);
    return LSCM_OK;
}
