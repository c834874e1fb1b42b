/* q(L, S): independent Gaussians over the d (d-1)/2 entries of L below the diagonal, row by row,
 * and after them the logarithms of the k noise scales (k = 1: shared by all nodes; k = d: one
 * each). Each has a mean and a raw log standard deviation, squashed: log sd = m tanh(raw/m), m = 5.
 *
 *   KL(q || p) = sum over L of (-H - E log horseshoe) + sum over log s of (-H - E log N(0, 3^2))
 *
 * with H = log sd + log(2 pi e)/2 and every expectation integrated, none sampled.
 */
#ifndef LSCM_INFER_WEIGHTS_WEIGHT_LAW_H
#define LSCM_INFER_WEIGHTS_WEIGHT_LAW_H

#include <stddef.h>

#include "infer/weights/horseshoe.h"

#define WEIGHTS_LOG_SD_BOUND 5.0
#define WEIGHTS_NOISE_PRIOR_SD 3.0

typedef struct weights {
    size_t d;           /* nodes */
    size_t k;           /* noise scales: 1 or d */
    const double *mean; /* (d (d-1)/2 + k) */
    const double *raw;  /* (d (d-1)/2 + k) */
} weights;

static inline size_t weights_count(size_t d, size_t k)
{
    return d * (d - 1) / 2 + k;
}

/* log sd of a raw parameter, and d log sd / d raw. */
double weights_log_sd(double raw, double *slope);

/* KL(q || p) of everything; the gradients (d (d-1)/2 + k) are set, not added to. */
double weights_kl(const weights *q, const horseshoe *prior, double *grad_mean, double *grad_raw);

#endif
