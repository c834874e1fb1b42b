/* Missing entries of x given the others of their row, the encoder z = a + y B and a model of z.
 * With v_i = e_i - w_.i and the nodes that do() left free,
 *
 *     L = sum_i v_i'v_i / s_i^2,   h = sum_i v_i (c_i + a_ik) / s_i^2     (z ~ N(h L^-1, L^-1)),
 *
 * a_ik what the row's batch has of its own, drawn given z as it stands; a node that was set has its
 * value, to within the noise of the actuator, or where that entry itself is missing (observed
 * variables) the law of the values that were seen in its set. In the coordinates y that is
 * P = B L B', P mu = B (h - a L)', and linear_view.h says what was seen of the row makes of it.
 */
#ifndef LSCM_INFER_SAMPLE_FILL_H
#define LSCM_INFER_SAMPLE_FILL_H

#include "infer/problem/problem.h"
#include "scm/mechanism/mechanism.h"

typedef struct fill_law {
    mechanism_model model;
    const double *effect;        /* (d): sd of a_ik */
    const double *shift, *slope; /* (d), (r, d): a, B */
    double actuator_noise;
} fill_law;

/* y of rows that lack entries is completed by a draw (values of do() too, where those were
 * missing); mean and variance (rows, d), or NULL, get those of z there. */
lscm_status fill_draw(linear_view *s, const fill_law *law, rng random, double *mean,
                      double *variance, lscm_error *why);

#endif
