/* Inverses and determinants for tests, by Gauss-Jordan with the largest pivot. */
#ifndef LSCM_TESTS_INVERT_H
#define LSCM_TESTS_INVERT_H

#include <math.h>
#include <stddef.h>

static inline void swap_rows(double *a, size_t n, size_t one, size_t other)
{
    for (size_t j = 0; j < n; j++) {
        double kept = a[one * n + j];
        a[one * n + j] = a[other * n + j];
        a[other * n + j] = kept;
    }
}

/* inverse (n, n) of a (n, n), which is lost; returns log |det a|. */
static inline double invert(double *a, size_t n, double *inverse)
{
    double log_det = 0;
    for (size_t k = 0; k < n * n; k++) {
        inverse[k] = k % (n + 1) == 0 ? 1 : 0;
    }
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t i = c; i < n; i++) {
            best = fabs(a[i * n + c]) > fabs(a[best * n + c]) ? i : best;
        }
        swap_rows(a, n, c, best);
        swap_rows(inverse, n, c, best);
        double pivot = a[c * n + c];
        log_det += log(fabs(pivot));
        for (size_t j = 0; j < n; j++) {
            a[c * n + j] /= pivot;
            inverse[c * n + j] /= pivot;
        }
        for (size_t i = 0; i < n; i++) {
            double factor = i == c ? 0 : a[i * n + c];
            for (size_t j = 0; j < n; j++) {
                a[i * n + j] -= factor * a[c * n + j];
                inverse[i * n + j] -= factor * inverse[c * n + j];
            }
        }
    }
    return log_det;
}

#endif
