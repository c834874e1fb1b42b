/* What is checked: the rows, the fit to them, and what is known of the errors of z. */
#ifndef LSCM_INFER_CHECK_CHECK_INPUT_H
#define LSCM_INFER_CHECK_CHECK_INPUT_H

#include "infer/check/check_columns.h"
#include "infer/problem/problem.h"

typedef struct check_input {
    const linear_view *view;
    const anchored *a;
    const double *z;     /* (rows, d): as read off, or observed, in every row */
    const double *blur;  /* (d, d): covariance of its error, row by row; NULL: there is none */
    const double *amiss; /* (d): variance of z - value where do() set one; NaN: not known; NULL: the
                            variables are observed */
    const double *unsure; /* (d) or NULL: variance of z that all rows share, by the error of its
                             encoder */
    char *const *names;   /* (d) or NULL */
    const check_columns *columns;        /* of x, or NULL */
    char *const *column_names;           /* or NULL */
    bool equal_noise;                    /* noise of one variance tells directions, too */
    const uint8_t *forbidden, *required; /* (d, d) or NULL */
    const size_t *order;                 /* (d) or NULL */
} check_input;

#endif
