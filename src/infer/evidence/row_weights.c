#include "infer/evidence/row_weights.h"

#include "base/tuned.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct residuals {
    double *square; /* (used): sum over the free nodes of e^2/m */
    double *free;   /* (used): how many there are */
    double *own;    /* (used): e of one node */
    double *gram;   /* (GRAM_WIDEST, GRAM_WIDEST) */
    double *slope;  /* (GRAM_WIDEST) */
} residuals;

/* z_i on its candidates; false where they do not tell. */
static bool regress(const family *f, double *gram, double *slope)
{
    size_t n = f->count;
    size_t m = n + 1;
    for (size_t a = 0; a < n; a++) {
        memcpy(gram + a * n, f->scatter + a * m, n * sizeof *gram);
        gram[a * n + a] *= 1 + 1e-9;
        slope[a] = f->scatter[a * m + n];
    }
    return n == 0 || LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (int)n, 1, gram, (int)n, slope, 1) == 0;
}

/* Adds what its candidates leave of node i. */
static void add_node(const families *f, size_t i, const double *z, const residuals *t)
{
    const family *fam = &f->list[i];
    size_t d = f->d;
    double mean = 0;
    if (!(fam->rows > (double)fam->count + 1) || !regress(fam, t->gram, t->slope)) {
        return;
    }
    for (size_t k = 0; k < f->used; k++) {
        const double *row = z + f->row[k] * d;
        if (!design_is_set(f->design, f->row[k], i)) {
            double e = family_residual(fam, t->slope, row);
            t->own[k] = e;
            mean += e * e / fam->rows;
        }
    }
    for (size_t k = 0; k < f->used && mean > 0; k++) {
        if (!design_is_set(f->design, f->row[k], i)) {
            t->square[k] += t->own[k] * t->own[k] / mean;
            t->free[k] += 1;
        }
    }
}

/* rho: least squares, weighed again with what they gave until that stays. */
static double fit(const families *f, const residuals *t, const double *size)
{
    double a = 0.5;
    double b = 0.5;
    for (size_t round = 0; round < tuned_row_rounds(); round++) {
        double n = 0;
        double u = 0;
        double uu = 0;
        double y = 0;
        double uy = 0;
        for (size_t k = 0; k < f->used; k++) {
            double by = size[f->row[k]];
            double weight = 1 / ((a + b * by) * (a + b * by));
            n += weight * t->free[k];
            u += weight * t->free[k] * by;
            uu += weight * t->free[k] * by * by;
            y += weight * t->square[k];
            uy += weight * t->square[k] * by;
        }
        double det = n * uu - u * u;
        if (!(det > 1e-12 * n * uu)) { /* all rows are of one size */
            return 0;
        }
        double next_a = (uu * y - u * uy) / det;
        double next_b = (n * uy - u * y) / det;
        next_a = next_b > 0 ? next_a : y / n;
        next_b = next_a > 0 ? fmax(next_b, 0) : uy / uu;
        next_a = fmax(next_a, next_b / tuned_row_ratio());
        bool still = fabs(next_a - a) + fabs(next_b - b) < tuned_row_still() * (a + b);
        a = next_a;
        b = next_b;
        if (still) {
            break;
        }
    }
    return isfinite(b / a) ? b / a : 0;
}

lscm_status row_weights(double *weight, double *share, const families *f, const double *z,
                        const double *size, lscm_error *why)
{
    size_t most = GRAM_WIDEST;
    double *memory = calloc(3 * f->used + most * most + most, sizeof *memory);
    double sum = 0;
    double weighted = 0;
    if (memory == NULL) {
        return fail_memory(why, (3 * f->used + most * most + most) * sizeof *memory);
    }
    residuals t = {.square = memory,
                   .free = memory + f->used,
                   .own = memory + 2 * f->used,
                   .gram = memory + 3 * f->used,
                   .slope = memory + 3 * f->used + most * most};
    for (size_t i = 0; i < f->d; i++) {
        add_node(f, i, z, &t);
    }
    double rho = fit(f, &t, size);
    for (size_t k = 0; k < f->used; k++) {
        sum += 1 / (1 + rho * size[f->row[k]]);
    }
    for (size_t k = 0; k < f->used; k++) {
        size_t r = f->row[k];
        weight[r] = (double)f->used / sum / (1 + rho * size[r]);
        weighted += weight[r] * size[r] / (double)f->used;
    }
    *share = f->used > 0 ? weighted : 1;
    free(memory);
    return LSCM_OK;
}
