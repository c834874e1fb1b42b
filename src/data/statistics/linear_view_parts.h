/* Between the files of signal: reading targets and values, and reducing x that is too large to
 * keep.
 */
#ifndef LSCM_DATA_STATISTICS_LINEAR_VIEW_PARTS_H
#define LSCM_DATA_STATISTICS_LINEAR_VIEW_PARTS_H

#include "base/rng.h"
#include "data/statistics/linear_view.h"
#include "data/statistics/principal.h"

/* Rows of x against m directions found in a sample of them. */
typedef struct reduced {
    principal sample; /* its directions (m, D) and mean are what x was projected with */
    double *y;        /* (rows, m): (x - sample.mean) directions'; owned */
    double *left;     /* (D): mean of x - sample.mean over all rows; owned */
    double total;     /* mean over rows of ||x - c||^2, in the sample's units */
} reduced;

lscm_status signal_reduce(reduced *out, const lscm_dataset *data, size_t wanted,
                          principal_units units, size_t sample_bytes, meter *m, lscm_error *why);
void signal_reduce_close(reduced *r);

/* principal_of, with the name of the data in the sentence of a failure. */
lscm_status signal_directions(principal *out, const lscm_dataset *data, double *x, size_t n,
                              size_t D, size_t wanted, principal_units units, lscm_error *why);
/* Columns of vectors have units of their own; pixels share one. */
principal_units signal_units(const lscm_dataset *data);

/* Fails where there are no values. */
lscm_status signal_needs_values(const lscm_dataset *data, lscm_error *why);
/* x (count, D): as many rows, one at random from each of `count` stretches; 0 < count <= rows. */
lscm_status signal_sample(const lscm_dataset *data, size_t count, rng r, double *x, meter *m,
                          lscm_error *why);
/* Who was set and, with `values`, to what; without, all are 0. */
lscm_status signal_design(const lscm_dataset *data, bool values, design *out, meter *m,
                          lscm_error *why);
/* All rows of x as double; y (rows, D). */
lscm_status signal_rows(const lscm_dataset *data, double *x, meter *m, lscm_error *why);

#endif
