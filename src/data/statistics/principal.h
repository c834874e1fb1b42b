/* Principal directions of rows in memory: with c the mean of the n rows of x (n, D),
 *
 *     cov(x) = (x - c)'(x - c) / n,   E' (k, D) its leading eigenvectors, v (k) the eigenvalues.
 *
 * By the matrix itself while D is moderate, by block subspace iteration beyond. Rows are centred
 * twice (a provisional mean, then a correction), so that large offsets do not cancel. The work is
 * cut into fixed parts whose sums are added in a fixed order: the same numbers on any number of
 * threads. BLAS must run on one thread (base/threads.h).
 */
#ifndef LSCM_DATA_STATISTICS_PRINCIPAL_H
#define LSCM_DATA_STATISTICS_PRINCIPAL_H

#include "base/arena.h"

enum {
    PRINCIPAL_SPARE = 16, /* directions beyond those wanted: they let the wanted ones converge */
    PRINCIPAL_PARTS = 8,  /* jobs that a pass over rows is cut into */
    PRINCIPAL_ROWS = 256  /* rows that a job takes at a time */
};

typedef struct principal {
    size_t n, D;
    size_t count;       /* k = min(D, n, wanted + PRINCIPAL_SPARE) */
    double *mean;       /* (D): c */
    double *left;       /* (D): mean of x as principal_of left it; small, not always 0 */
    double *directions; /* (k, D): E', orthonormal rows, largest variance first */
    double *variance;   /* (k): v */
    double total;       /* trace of cov(x) */
    arena memory;
} principal;

/* x (n, D) is changed: it loses mean - left. */
lscm_status principal_of(principal *out, double *x, size_t n, size_t D, size_t wanted,
                         lscm_error *why);
/* x (n, D) as principal_of left it becomes (x - left) E (n, r) at the beginning of its memory. */
lscm_status principal_project(const principal *p, double *x, size_t r, lscm_error *why);
void principal_close(principal *p);

/* The two ways, on centred rows; both fill directions, variance and total. */
lscm_status principal_gram(principal *p, const double *x, lscm_error *why);
lscm_status principal_iterate(principal *p, const double *x, size_t wanted, lscm_error *why);
/* Eigenvectors of symmetric a (n, n), upper triangle, as its rows; values (n) ascending. */
lscm_status principal_eigen(double *a, size_t n, double *values, lscm_error *why);

#endif
