/* Judging a fit without the truth: whole intervention sets are held out, the model is fitted to the
 * rest, and asked what do() gives there.
 *
 *   r2_i        = 1 - sum (z_i - E[z_i | do])^2 / sum (z_i - mean_i)^2,  mean_i of the rows fitted
 *   coverage_i  = share of z_i inside their central 90% predictive interval
 *   log likelihood of the free z of a row given do, mean over rows: log of the mean over draws
 *   the same of a model without edges: each node normal as in the rows fitted
 *
 * over held-out rows in which node i is free; z by the encoder of the rows fitted. A set is held
 * out only where each of its targets keeps half of its rows; where no set can be, rows of all sets
 * are held out instead.
 *
 * What is judged is a way to fit, handed in: what is told of held-out rows rests on rows kept.
 */
#ifndef LSCM_INFER_ANCHORED_JUDGE_H
#define LSCM_INFER_ANCHORED_JUDGE_H

#include "infer/anchored/anchored_infer.h"

/* The model of the rows kept. */
typedef struct judged_fit {
    anchored a;    /* few draws (tuned_judge_draws); z of all rows, by an encoder that never saw the
                      rows left out */
    double *blur;  /* (d, d) or NULL: covariance of the error of z, as far as all rows have it */
    double *doubt; /* (rows, d) or NULL: variance of its error in a row, beside */
    arena memory;  /* of these two */
} judged_fit;

void judged_fit_close(judged_fit *f);

typedef struct judged {
    const design *design;
    uint64_t seed; /* of what is held out */
    /* keep (rows): 0 for rows left out */
    lscm_status (*fit)(const void *self, const uint8_t *keep, judged_fit *out, lscm_error *why);
    const void *self;
} judged;

/* Inference on a view, again without the rows left out. The input must stay. */
judged judged_view(const anchored_input *in);

typedef struct judgement {
    size_t d;
    size_t sets; /* held out; 0: rows of every set */
    size_t rows; /* held out; 0: too few to judge by, or nodes without an anchor, and nothing else
                    is set */
    double log_likelihood, log_likelihood_empty;
    double *r2, *coverage; /* (d); NaN where the node is never free there */
    arena memory;
} judgement;

/* Draws give nodes without an anchor other signs and names each time: no mean encoder, no z to
 * judge by. */
bool can_judge(const anchored *a);
/* `share` of the sets, 0 < share < 1. */
lscm_status judge(judgement *out, const judged *of, double share, lscm_error *why);
void judgement_close(judgement *j);

#endif
