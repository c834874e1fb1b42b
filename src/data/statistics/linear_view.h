/* The part of x in which the causal variables live. With c the mean of all rows (never of one set),
 * u (D) the units of its columns, w = (x - c) / u, and E (D, r) an orthonormal basis of the signal
 * subspace of w,
 *
 *     y = w E  (N, r),   s_x^2 = energy of w outside E / ((N - 1 - r)(D - r)).
 *
 * u is the noise of each column, as factor analysis with d factors tells it (principal_noise.c), or
 * its sd where there is none: y, and all that follows from it, is the same in whatever units x was
 * written. Pixels have one unit, u = 1, and so has x whose noise was given.
 *
 * Where labels of do() ask for it, E has other directions than those in which w varies most
 * (linear_view_guide.c): x may hold much that is no cause.
 *
 * Any projection of x = z A + b + noise is again such a model, with A E in the place of A: a basis
 * that misses a little of the signal costs a little precision and no bias. So the basis may come
 * from a sample of the rows when x is too large to keep, and x is then read in one pass.
 */
#ifndef LSCM_DATA_STATISTICS_LINEAR_VIEW_H
#define LSCM_DATA_STATISTICS_LINEAR_VIEW_H

#include "base/arena.h"
#include "data/dataset/dataset.h"
#include "data/design/design.h"

/* What y is to the causal variables. */
typedef enum view_kind {
    VIEW_OBSERVED, /* the variables themselves: y is x, c = 0, r = d = D */
    VIEW_LINEAR,   /* coordinates of x, in which they are linear */
    VIEW_READ_OFF  /* the variables as another encoder has read them off x, with its errors */
} view_kind;

typedef struct linear_view {
    view_kind kind;
    size_t rows, d, D;
    size_t rank;      /* r <= d: directions of x that are there at all, be they noise */
    double *y;        /* (rows, r) */
    design design;    /* who was set, to what */
    double *mean;     /* (D): c; 0 unless linear */
    double *scale;    /* (D): u; 0 where a column is constant; NULL unless linear */
    double *basis;    /* (D, r): E / u, so that y = (x - c) basis; NULL unless linear */
    double *spectrum; /* (r): variance of y, largest first; unless linear, of each variable */
    bool guided;      /* labels asked for directions that are not those of most variance */
    double variance;  /* mean over rows of ||w||^2 */
    double next;      /* the largest variance outside E; 0 when there is none */
    double x_noise;   /* s_x, in units u; 0 when nothing is left to tell it from, or only rounding
                       */
    arena memory;
    void *y_block; /* owned memory of y; NULL when y lies elsewhere */
} linear_view;

/* `noise`: sd of the noise of every number of x; 0 finds it. Values must be present. Targets and
 * values are checked as they are read; where x is not finite, it fails naming the place, or
 * `variance` is not finite (then ask lscm_dataset_check). `m` may be NULL; it gets the bytes of x,
 * targets and values as they stand in the file. Constant x has rank 0. */
lscm_status linear_view_of(linear_view *out, const lscm_dataset *data, double noise, meter *m,
                           lscm_error *why);
/* The same, keeping x in memory only when it has at most `bytes` as double (a quarter of that for
 * the sample of rows otherwise). */
lscm_status linear_view_of_within(linear_view *out, const lscm_dataset *data, double noise,
                                  size_t bytes, meter *m, lscm_error *why);
/* Observed variables: D = d, y = x; values at targets are read from x. */
lscm_status linear_view_identity(linear_view *out, const lscm_dataset *data, meter *m,
                                 lscm_error *why);
/* The rows that count alone, keep (rows), in the coordinates of all; those must stay. */
lscm_status linear_view_keep(linear_view *out, const linear_view *from, const uint8_t *keep,
                             lscm_error *why);
/* Noise of x in its own units: root of the mean square over columns. */
double linear_view_noise(const linear_view *s);
/* The share of the variance of w that y has. */
double linear_view_explained(const linear_view *s);
/* True where x varies beyond y in a way that noise does not: it may not be linear in z. */
bool linear_view_bends(const linear_view *s);
void linear_view_close(linear_view *s);

#endif
