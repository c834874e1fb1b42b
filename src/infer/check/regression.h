/* Regressions of the last column of some rows on others of them, by their products: a Cholesky
 * factor that leaves out columns which add nothing new, so that everything has an answer. */
#ifndef LSCM_INFER_CHECK_REGRESSION_H
#define LSCM_INFER_CHECK_REGRESSION_H

#include <stddef.h>

typedef struct regression {
    size_t wide;    /* columns of the rows */
    double *x;      /* (rows, wide) */
    double *gram;   /* (wide, wide) */
    double *factor; /* (wide, wide) */
    size_t *column; /* (wide): those regressed on, in this order */
} regression;

/* Products of all columns of so many rows. */
void regression_sum(const regression *q, size_t rows);
/* Chance of as much more that columns column[base .. all - 1] tell than column[0 .. base - 1] do,
 * by an F test with `freedom` degrees of freedom before any of them. `shared`: variance of an error
 * that all rows share, per direction: it is there however many rows there are. 1: nothing to test
 * by. */
double regression_test(const regression *q, size_t base, size_t all, double freedom, double shared);
/* The coefficients b (n) of column[0 .. n - 1]; 0 where one was left out. */
void regression_solve(const regression *q, size_t n, double *b);

#endif
