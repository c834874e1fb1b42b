/* The columns of x by themselves, before any model: which never vary, which copy another one up to
 * a factor and an offset, how many decades their sds span, and how coarse their numbers are.
 * Numbers that are written in steps of q carry an error of variance q^2/12.
 *
 * Copies are found by projecting each standardised column on one random vector: copies, to the
 * sign, have the same projection, so that only neighbours are compared.
 */
#ifndef LSCM_INFER_CHECK_CHECK_COLUMNS_H
#define LSCM_INFER_CHECK_CHECK_COLUMNS_H

#include "data/design/design.h"

typedef struct check_columns {
    size_t count;
    double *sd;     /* (count); 0: never varies */
    double *coarse; /* (count): q^2/12 */
    size_t *copied; /* (count): an earlier column that it copies; its own number where none */
    double decades; /* between the largest and the smallest sd */
    arena memory;
} check_columns;

/* x (rows, count). Where `free` is not NULL, columns are its nodes, rows its rows, and only numbers
 * that do() did not set tell how coarse a column is. */
lscm_status check_columns_of(check_columns *out, const double *x, size_t rows, size_t count,
                             const design *free, lscm_error *why);
void check_columns_close(check_columns *c);

#endif
