/* Between the files of features: finding E in rows that are in memory, and the pass over rows that
 * are not. */
#ifndef LSCM_DATA_STATISTICS_FEATURES_PARTS_H
#define LSCM_DATA_STATISTICS_FEATURES_PARTS_H

#include "data/statistics/features.h"
#include "data/statistics/principal.h"

/* E of rows x (n, D), which are changed: they lose c - left, where c is their mean. */
typedef struct features_basis {
    size_t n, D, R;
    double *directions; /* (R, D): E'; owned */
    double *mean;       /* (D): c; owned */
    double *left;       /* (D): mean of x as it is now; owned */
    double variance;    /* of the rows */
} features_basis;

lscm_status features_basis_of(features_basis *out, const lscm_dataset *data, double *x, size_t n,
                              size_t D, size_t d, lscm_error *why);
void features_basis_close(features_basis *b);

/* basis, f, mean, variance, left_out of x that is not kept. s->rows, d, D are set. */
lscm_status features_stream(features *s, const lscm_dataset *data, size_t sample_bytes, meter *m,
                            lscm_error *why);
/* basis (D, R) from directions (R, D); mean and f are made room for. */
lscm_status features_open(features *s, const double *directions, lscm_error *why);
/* mean of f, and whether all of it is finite. */
lscm_status features_finish(features *s, const lscm_dataset *data, lscm_error *why);

#endif
