/* Intervention values label the causal variables: where t_j = 1, z_j = v_j (+ actuator noise). So a
 * regression of v_j on [1, y] over these rows gives an encoder for every row,
 *
 *     z_j = a_j + y b_j,   corrected for noise of x:  b_j = (Y'Y - n s_x^2 I)^-1 Y'v  (centred),
 *     and for actuator noise: divided by the slope lambda_j of that z_j on v_j,
 *     lambda_j = Var v_j / (Var v_j + s_I^2),  s_I^2 what the noise of x leaves of the residual.
 *
 * (a_j, b_j) has an error that all rows share; its covariance is kept. A node needs rank + 2 rows.
 * When y does not vary in some direction at its rows, or not clearly more than its noise, the
 * shortest b is taken, if it predicts v_j of rows left out (r2 >= .5) and if y hardly varies in
 * that direction elsewhere; otherwise z_j could be anything there, and there is no anchor (two
 * nodes that are always set to the same value, for instance).
 */
#ifndef LSCM_INFER_ANCHOR_ANCHOR_VALUES_H
#define LSCM_INFER_ANCHOR_ANCHOR_VALUES_H

#include "base/arena.h"
#include "data/statistics/statistics.h"

typedef enum anchor_kind {
    ANCHOR_VALUES,    /* a regression on varying values */
    ANCHOR_DIRECTION, /* values constant: the direction that vanishes; its scale is a convention */
    ANCHOR_NONE       /* never, or too rarely, intervened on, or not to be told from others; column
                         j of the slope is 0, as is all else of the node but samples and r2 */
} anchor_kind;

typedef struct anchor {
    size_t d, rank;
    anchor_kind *kind;      /* (d) */
    size_t *samples;        /* (d): rows used with t_j = 1 */
    double *intercept;      /* (d): a */
    double *slope;          /* (r, d): B, z = a + y B */
    double *covariance;     /* (d, r + 1, r + 1): of (a_j, b_j); NULL when it would take more than
                               ANCHOR_COVARIANCE_BYTES */
    double *residual;       /* (d): sd of v_j - z_j at the targets, over n - rank - 1 */
    double *standard_error; /* (d): rms over the rows of the error that (a_j, b_j) gives z_j */
    double *r2;             /* (d): of v_j at rows left out, see below */
    double *noise; /* (d): sd that the noise of x gives z_j: s_x |b_j|; more when part of z_j is
                      lost in the noise: then all of the residual that s_I does not explain */
    double *label_noise;   /* (d): s_I of the node, as far as its own labels tell */
    double actuator_noise; /* s_I, over all nodes */
    bool rough; /* no node could be anchored in all directions of y: they are in those there are */
    arena memory;
} anchor;

enum { ANCHOR_COVARIANCE_BYTES = 512 << 20 };

/* `keep` (rows) or NULL: use only rows where it is not 0.
 *
 * r2: whole intervention sets of the node are left out, in 5 folds (all but one
 * fold of 5 are skipped when the rank exceeds 128); a node with one set only: every second row of
 * it. NaN when what is left is too little for a regression, and without an anchor. For a direction:
 * 1 - the share of its variance that is left at the targets. */
lscm_status anchor_of(anchor *out, const linear_view *s, const uint8_t *keep, lscm_error *why);
void anchor_close(anchor *a);
/* z (rows, d) of rows y; with anchor.intercept and .slope, or others. */
void anchor_apply(const linear_view *s, const double *intercept, const double *slope, double *z);

#endif
