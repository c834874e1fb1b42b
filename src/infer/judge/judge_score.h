/* What the draws of a fit say of rows under do(), in closed form where they are linear. Given such
 * a draw (W, s, c) and what do() set, the free z of a row are normal: their means follow from the
 * values set, and
 *
 *     z_i - E z_i = sum_a L_ia e_a,   L_i = s_i e_i + sum over parents p of w_pi L_p,
 *
 * with e ~ N(0, I), L_i = s_I e_i at targets (the actuator's noise); so cov z = L L' depends on the
 * targets alone and serves all rows of a set. The predictive law is the mixture of the draws':
 * nothing is sampled again.
 *
 * Sets may have an intercept of their own, N(0, tau_i^2). Of the rows of its set that were kept, n
 * of them with a mean residual r_i, a draw knows
 *
 *     N(n tau_i^2 r_i, s_i^2 tau_i^2)/(s_i^2 + n tau_i^2)  (mean, variance):
 *
 * its mean is added to c_i and its variance to s_i^2; n = 0 in sets held out whole.
 *
 * z that was read off has errors, and so has what is seen: cov z + blur + the set's mean of doubt.
 *
 * In a draw in which a node bends, z is no longer normal, but each node is, given its causes:
 *
 *     log p(z | do) = sum over free i of log N(z_i; c_i + f_i(z seen), s_i^2 + o_i),
 *     E[z_i | do], P(z_i < seen)   averages over paths z' of c_i + f_i(z'), and of its normal law,
 *
 * two paths for each draw and row (judge_bent.c). o_i, the errors of z_i and, by average slopes, of
 * its causes, takes these as independent: exact without errors, to first order with them.
 */
#ifndef LSCM_INFER_JUDGE_JUDGE_SCORE_H
#define LSCM_INFER_JUDGE_JUDGE_SCORE_H

#include "infer/judge/judged.h"

typedef struct predictions {
    size_t count, d;
    double *mean;  /* (count, d): E[z_i | do] */
    double *below; /* (count, d): P(z_i < the z_i seen | do) */
    double *log_p; /* (count): log density of the free z seen, averaged over draws before the log */
    arena memory;
} predictions;

/* The rows asked for, row[0], row[1], .. of the design; keep (rows): 1 for those fitted. */
typedef struct judged_rows {
    const design *design;
    const uint8_t *keep;
    const size_t *row; /* (count) */
    size_t count;
    bool mean_alone; /* nothing else is asked for: below and log_p are NULL */
    uint64_t seed;   /* of paths, where mechanisms bend */
} judged_rows;

/* z seen is that of the fit. Entries of nodes that do() set there are 0. The same numbers for any
 * number of threads. */
lscm_status predictions_of(predictions *out, const judged_fit *f, const judged_rows *rows,
                           lscm_error *why);
void predictions_close(predictions *p);

#endif
