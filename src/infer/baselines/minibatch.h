/* Rows of x in memory for networks, in units that suit them, and batches of them.
 *
 *   row = (x - mean) / scale,   mean (D) of each feature, scale the root mean square of x - mean
 *
 * An epoch is all rows in a random order, a pure function of seed and epoch, cut into batches of
 * `batch` rows; what is left at its end waits for the next.
 */
#ifndef LSCM_INFER_BASELINES_MINIBATCH_H
#define LSCM_INFER_BASELINES_MINIBATCH_H

#include "base/arena.h"
#include "base/rng.h"
#include "data/dataset/dataset.h"

typedef struct minibatch {
    size_t rows, D, batch;
    float *x;     /* (rows, D) */
    double *mean; /* (D) */
    double scale;
    size_t *order; /* (rows): of the present epoch */
    rng from;      /* what the present epoch was shuffled by, if `shuffled` */
    bool shuffled;
    float *out; /* (batch, D) */
    arena memory;
} minibatch;

/* batch 0: `usual`; never more than all rows. */
lscm_status minibatch_open(minibatch *out, const lscm_dataset *data, size_t batch, size_t usual,
                           lscm_error *why);
void minibatch_close(minibatch *m);
size_t minibatch_per_epoch(const minibatch *m);
/* The batch (batch, D) of step `step`; epochs are shuffled by `r`, whose stream they add
 * themselves to, times 2^32. */
const float *minibatch_at(minibatch *m, rng r, uint64_t step);
/* The numbers of its rows (batch). */
void minibatch_rows(minibatch *m, rng r, uint64_t step, uint32_t *row);

#endif
