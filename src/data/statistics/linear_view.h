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
 *
 * Where entries of x are missing (linear_view_missing.c) E is that of x filled in by factors, and a
 * row keeps what its columns that were seen, o, say of y: `seen` = w_o E_o and, by the mask of
 * those that were not, G = E_o'E_o. Then y ~ N(mu, P^-1) is known to be
 *
 *     N(m, s_x^2 (s_x^2 P + G)^-1),   (s_x^2 P + G) m = s_x^2 P mu + seen,
 *
 * and y is completed by what its missing columns would add. Observed variables are the case E = I
 * with s_x small.
 */
#ifndef LSCM_DATA_STATISTICS_LINEAR_VIEW_H
#define LSCM_DATA_STATISTICS_LINEAR_VIEW_H

#include "base/arena.h"
#include "base/rng.h"
#include "data/dataset/dataset.h"
#include "data/design/design.h"

#include <string.h>

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
    size_t missing;   /* entries of x that are NaN */
    uint8_t *mask;    /* (rows, D): 1 where they are; NULL without. Owned */
    double *seen;     /* (rows, r): w_o E_o; NULL without. Owned */
    double *told;     /* (rows + 1, d): of observed variables what do() is said to have set, and the
                         variance of what x misses that by; NULL where nobody said. Owned */
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
/* y of a row that lacks entries, under y ~ N(mu, P^-1): precision P (r, r), pull P mu (r), noise
 * s_x^2 > 0. Puts the Cholesky factor of noise P + G (lower) and m. */
typedef struct view_row_law {
    const double *precision, *pull;
    double noise;
    double *factor; /* (r, r) */
    double *mean;   /* (r) */
} view_row_law;
void linear_view_row(const linear_view *s, size_t row, const view_row_law *law);
/* y of the row becomes `seen` and what its missing columns add where y is `drawn` (r), with noise
 * of their own of this sd. */
void linear_view_complete(const linear_view *s, size_t row, const double *drawn, double noise,
                          rng random);
/* Observed variables: what is there of a node in the rows of a set, else in all in which it is set,
 * or free, as there, else at all. */
void linear_view_column(const linear_view *s, size_t set, size_t node, column_spread *out);
/* Whether the row lacks something. */
static inline bool linear_view_lacks(const linear_view *s, size_t row)
{
    return s->mask != NULL && memchr(s->mask + row * s->D, 1, s->D) != NULL;
}
/* The rows that count alone, keep (rows), in the coordinates of all; those must stay. */
lscm_status linear_view_keep(linear_view *out, const linear_view *from, const uint8_t *keep,
                             lscm_error *why);
/* Of a data set: who was set and, with `values`, to what; without, all are 0. */
lscm_status signal_design(const lscm_dataset *data, bool values, design *out, meter *m,
                          lscm_error *why);
/* Noise of x in its own units: root of the mean square over columns. */
double linear_view_noise(const linear_view *s);
/* The share of the variance of w that y has. */
double linear_view_explained(const linear_view *s);
/* True where x varies beyond y in a way that noise does not: it may not be linear in z. */
bool linear_view_bends(const linear_view *s);
void linear_view_close(linear_view *s);

#endif
