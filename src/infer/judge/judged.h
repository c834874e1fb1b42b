/* A way to fit, to be judged by rows that it was not shown: whatever makes the model that is
 * reported, network, sampler and all, makes it again of the rows kept.
 */
#ifndef LSCM_INFER_JUDGE_JUDGED_H
#define LSCM_INFER_JUDGE_JUDGED_H

#include "infer/problem/problem.h"

/* The model of the rows kept. */
typedef struct judged_fit {
    anchored a;    /* few draws (tuned_judge_draws); z of all rows, by an encoder that never saw the
                      rows left out */
    double *blur;  /* (d, d) or NULL: covariance of the error of z, as far as all rows have it */
    double *doubt; /* (rows, d) or NULL: variance of its error in a row, beside */
    arena memory;  /* of these two */
} judged_fit;

static inline void judged_fit_close(judged_fit *f)
{
    anchored_close(&f->a);
    arena_close(&f->memory);
}

/* Enough for an anchor. */
static inline size_t judged_labels(size_t d)
{
    return 2 * (d + 2);
}

typedef struct judged {
    const design *design;
    uint64_t seed; /* of what is left out */
    size_t labels; /* rows in which do() must still set a node that it sets, to tell which it is; 0:
                      nodes are observed or read off already, and targets can be left out whole */
    /* keep (rows): 0 for rows left out */
    lscm_status (*fit)(const void *self, const uint8_t *keep, judged_fit *out, lscm_error *why);
    const void *self;
} judged;

#endif
