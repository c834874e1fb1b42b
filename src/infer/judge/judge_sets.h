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
 * Errors of z that was read off are in what is predicted, and so is what kept rows of the same set
 * say of its own intercept. Beside each figure stands by how much chance would have to be beyond
 * the usual for it, in standard deviations of a normal with sets as what it deals out
 * (set_ratio.h).
 */
#ifndef LSCM_INFER_JUDGE_JUDGE_SETS_H
#define LSCM_INFER_JUDGE_JUDGE_SETS_H

#include "infer/judge/judged.h"

typedef struct judgement {
    size_t d;
    size_t sets; /* held out; 0: rows of every set */
    size_t rows; /* held out; 0: too few to judge by, or nodes without an anchor, and nothing else
                    is set */
    double log_likelihood, log_likelihood_empty;
    double *r2, *coverage; /* (d); NaN where the node is never free there */
    double better;         /* than without edges, by log likelihood: beyond chance if large */
    double *closer;        /* (d): than the mean, by squares */
    double *wider;         /* (d): intervals than they should be */
    double wider_all;      /* those of all nodes */
    arena memory;
} judgement;

/* Draws give nodes without an anchor other signs and names each time: no mean encoder, no z to
 * judge by. */
bool can_judge(const anchored *a);
/* `share` of the sets, 0 < share < 1. */
lscm_status judge(judgement *out, const judged *of, double share, lscm_error *why);
void judgement_close(judgement *j);

#endif
