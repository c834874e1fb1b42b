/* See likelihood_value.h: regressions on the sums of sets. */
#include "infer/likelihood/likelihood_value.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* x of matrix x = right (n), the matrix row by row and lost. */
static bool solve(double *matrix, double *right, size_t n)
{
    return LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', (int)n, 1, matrix, (int)n, right, (int)n) == 0;
}

bool likelihood_regress_labels(const likelihood_sums *s, size_t j, double *theta, double *work)
{
    size_t d = s->d;
    size_t f = 2 * d + 1;
    size_t n = d + 1;
    double *gram = work;
    double *cross = work + n * n;
    memset(work, 0, (n * n + n) * sizeof(double));
    for (size_t k = 0; k < s->sets; k++) {
        const double *own = s->gram + k * f * f;
        for (size_t r = 0; r < n && s->target[k * d + j] != 0; r++) {
            cblas_daxpy((int)n, 1, own + r * f, 1, gram + r * n, 1);
            cross[r] += own[r * f + d + 1 + j];
        }
    }
    if (!solve(gram, cross, n)) {
        return false;
    }
    theta[likelihood_layout(d).shift + j] = cross[0];
    for (size_t c = 0; c < d; c++) {
        theta[c * d + j] = cross[1 + c];
    }
    return true;
}

/* scatter (d, d), mean (d), rows of z = a + y B over the sets in which i is free. */
static double free_scatter(const likelihood_sums *s, size_t i, const double *theta, double *scatter,
                           double *mean, double *room)
{
    size_t d = s->d;
    size_t f = 2 * d + 1;
    size_t n = d + 1;
    double *gram = room;
    double *map = gram + n * n; /* (n, d): of (1, y) to z */
    double *half = map + n * d;
    double rows = 0;
    memcpy(map, theta + likelihood_layout(d).shift, d * sizeof(double));
    memcpy(map + d, theta, d * d * sizeof(double));
    memset(gram, 0, n * n * sizeof(double));
    for (size_t k = 0; k < s->sets; k++) {
        for (size_t r = 0; r < n && s->target[k * d + i] == 0; r++) {
            cblas_daxpy((int)n, 1, s->gram + k * f * f + r * f, 1, gram + r * n, 1);
        }
        rows += s->target[k * d + i] == 0 ? s->count[k] : 0;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)d, (int)n, 1, gram, (int)n,
                map, (int)d, 0, half, (int)d);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)d, (int)d, (int)n, 1, map, (int)d,
                half, (int)d, 0, scatter, (int)d);
    for (size_t c = 0; c < d; c++) {
        mean[c] = half[c] / fmax(rows, 1);
    }
    cblas_dger(CblasRowMajor, (int)d, (int)d, -rows, mean, 1, mean, 1, scatter, (int)d);
    return rows;
}

bool likelihood_regress_node(const likelihood_sums *s, size_t i, uint32_t parents, double *theta,
                             double *work)
{
    size_t d = s->d;
    likelihood_at at = likelihood_layout(d);
    double *scatter = work;
    double *mean = scatter + d * d;
    double *slope = mean + d;
    double *matrix = slope + d;
    size_t list[LIKELIHOOD_MOST];
    size_t n = 0;
    double rows = free_scatter(s, i, theta, scatter, mean, matrix);
    for (size_t p = 0; p < d; p++) {
        theta[at.weight + p * d + i] = 0;
        if ((parents >> p & 1) != 0) {
            slope[n] = scatter[p * d + i];
            list[n++] = p;
        }
    }
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) {
            matrix[a * n + b] = scatter[list[a] * d + list[b]];
        }
    }
    if (!(rows > (double)n + 1) || (n > 0 && !solve(matrix, slope, n))) {
        return false;
    }
    double centre = mean[i];
    double rest = scatter[i * d + i];
    for (size_t a = 0; a < n; a++) {
        theta[at.weight + list[a] * d + i] = slope[a];
        centre -= slope[a] * mean[list[a]];
        rest -= slope[a] * scatter[list[a] * d + i];
    }
    theta[at.centre + i] = centre;
    theta[at.log_sigma + i] = log(fmax(rest, 1e-6 * scatter[i * d + i]) / rows) / 2;
    return isfinite(theta[at.log_sigma + i]);
}
