/* What the draws of a fit say of rows under do(), in closed form. Given a draw (W, s, c) and what
 * do() set, the free z of a row are normal: their means follow from the values set, and
 *
 *     z_i - E z_i = sum_a L_ia e_a,   L_i = s_i e_i + sum over free parents p of w_pi L_p,
 *
 * with e ~ N(0, I); so var z_i = |L_i|^2 depends on the targets alone and serves all rows of a set.
 * The predictive law is the mixture of the draws': nothing is sampled again.
 */
#ifndef LSCM_INFER_ANCHORED_JUDGE_SCORE_H
#define LSCM_INFER_ANCHORED_JUDGE_SCORE_H

#include "infer/problem/problem.h"

typedef struct predictions {
    size_t count, d;
    double *mean;  /* (count, d): E[z_i | do] */
    double *below; /* (count, d): P(z_i < the z_i seen | do) */
    double *log_p; /* (count): log density of the free z seen, averaged over draws before the log */
    arena memory;
} predictions;

/* For rows row[0], row[1], .. of the design; z seen is that of `a`. Entries of nodes that do() set
 * there are 0. The same numbers for any number of threads. */
lscm_status predictions_of(predictions *out, const anchored *a, const design *s, const size_t *row,
                           size_t count, lscm_error *why);
void predictions_close(predictions *p);

#endif
