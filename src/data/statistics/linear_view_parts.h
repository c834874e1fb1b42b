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

/* `labels`: columns have units of their own; NULL: one unit. */
lscm_status signal_reduce(reduced *out, const lscm_dataset *data, size_t wanted,
                          const design *labels, size_t sample_bytes, meter *m, lscm_error *why);
void signal_reduce_close(reduced *r);

/* principal_of, with the name of the data in the sentence of a failure. */
lscm_status signal_directions(principal *out, const lscm_dataset *data, double *x, size_t n,
                              size_t D, size_t wanted, principal_units units, lscm_error *why);
/* most (D): of the variance of noise, for rows x (n, D); row (n) of the design's each is, or NULL:
 * the first n. */
lscm_status signal_noise_most(const double *x, const size_t *row, size_t n, size_t D,
                              const design *s, double *most, lscm_error *why);

/* The first d directions by what they say of labels, where others say clearly more; x (n, D) as
 * principal_of left it. */
lscm_status signal_guide(principal *p, const double *x, const design *s, bool *turned,
                         lscm_error *why);

/* Where x (rows, D) lacks entries: finds and fills them, .. */
lscm_status signal_fill(linear_view *s, const lscm_dataset *data, double *x, lscm_error *why);
/* .. and what the others say of y, x as principal_of left it. */
lscm_status signal_seen(linear_view *s, const principal *p, const double *x, lscm_error *why);
/* The same of observed variables: y and who was set are there. */
lscm_status signal_observed(linear_view *s, const lscm_dataset *data, lscm_error *why);

/* Fails where there are no values. */
lscm_status signal_needs_values(const lscm_dataset *data, lscm_error *why);
/* x (count, D): as many rows, one at random from each of `count` stretches; 0 < count <= rows. */
size_t signal_sample_row(size_t rows, size_t count, rng r, size_t k);
lscm_status signal_sample(const lscm_dataset *data, size_t count, rng r, double *x, meter *m,
                          lscm_error *why);
/* All rows of x as double; y (rows, D). */
lscm_status signal_rows(const lscm_dataset *data, double *x, meter *m, lscm_error *why);

#endif
