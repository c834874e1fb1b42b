/* The horseshoe prior of a weight: w = tau lambda x, x ~ N(0, 1), lambda half-Cauchy. With lambda
 * integrated out, exactly,
 *
 *   log p(w) = h(u) - log(tau sqrt(2 pi^3)),   h(u) = log(exp(u) E1(u)),   u = w^2 / (2 tau^2),
 *
 * which is +infinity at w = 0 like log log 1/|w|, and falls like -2 log |w|. A gradient along draws
 * of w has infinite variance there, so the bound needs E log p(w), w ~ N(mean, sd^2), in closed
 * form or nearly: horseshoe_expect.c has a short sum for it, good to 1e-12.
 */
#ifndef LSCM_INFER_WEIGHTS_HORSESHOE_H
#define LSCM_INFER_WEIGHTS_HORSESHOE_H

#include <stddef.h>

enum {
    HORSESHOE_STARTS = 256, /* places where the sum may start, one per octave */
    HORSESHOE_TERMS = 64,   /* terms of one sum, two per octave */
    HORSESHOE_NODES = 2 * HORSESHOE_STARTS + HORSESHOE_TERMS,
};

/* What replaces the terms outside a sum; see horseshoe_expect.c. */
typedef struct horseshoe_ends {
    double constant;
    double below[2]; /* times powers 1, 2 of the first node */
    double above[2]; /* times powers -1/2, -3/2 of the node after the last */
} horseshoe_ends;

/* The prior and its sum: 15 KB, no pointers, never changes after horseshoe_init. */
typedef struct horseshoe {
    double tau;
    double log_scale; /* log(tau sqrt(2 pi^3)) */
    double term[HORSESHOE_NODES];
    horseshoe_ends ends[HORSESHOE_STARTS];
} horseshoe;

/* The scale for n_rows samples, d nodes and `degree` expected edges per node:
 * 2 degree / (d - 1 - 2 degree) / sqrt(n_rows); 1 / (2 d) where that is not positive. */
double horseshoe_scale(size_t n_rows, size_t d, double degree);

/* tau > 0; a fraction of a millisecond. */
void horseshoe_init(horseshoe *prior, double tau);

/* log p(w), to 1e-14; `slope` (may be NULL) gets d log p / d w. At w = 0: infinity, and NaN. */
double horseshoe_log_density(const horseshoe *prior, double w, double *slope);

/* E log p(w), w ~ N(mean, sd^2), to 1e-12, and its derivatives (may be NULL), to 2e-11 mean/r^2 and
 * 1e-9 sd/r^2, r^2 = mean^2 + sd^2. For r/tau from 1e-16 to 1e22 (sd = 0 gives the density
 * itself); NaN outside. */
double horseshoe_expect(const horseshoe *prior, double mean, double sd, double *by_mean,
                        double *by_sd);

#endif
