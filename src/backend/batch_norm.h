/* Batch normalisation (Ioffe and Szegedy 2015): column by column over the n rows of a batch,
 *
 *   u = (y - m) / sqrt(v + e),   a = scale u + shift,    m, v: mean and variance of y, e = 1e-5
 *
 * and back, D = dloss/da,
 *
 *   dscale = sum D u,   dshift = sum D,   dy = scale / sqrt(v + e) (D - mean D - u mean(D u)).
 *
 * Beside it run averages of m and of n v/(n - 1), the newest counting a tenth, which stand for m
 * and v once training is over: then a is linear in y. Sums over rows are in double and in their
 * order. It is an operation of a
 * device (backend_table.h: norm, norm_back); batch_norm_real.h has the CPU's.
 */
#ifndef LSCM_BACKEND_BATCH_NORM_H
#define LSCM_BACKEND_BATCH_NORM_H

#include "backend/backend.h"

#include <math.h>

#define BATCH_NORM_EPSILON 1e-5
#define BATCH_NORM_NEWEST 0.1

/* With these averages for m and v, a = factor y + offset. */
static inline void batch_norm_linear(double shift, double scale, double mean, double variance,
                                     double *factor, double *offset)
{
    *factor = scale / sqrt(variance + BATCH_NORM_EPSILON);
    *offset = shift - *factor * mean;
}

#include "backend/float32.h"

#include "backend/batch_norm_real.h"

#include "backend/float64.h"

#include "backend/batch_norm_real.h" /* NOLINT(readability-duplicate-include) */

#endif
