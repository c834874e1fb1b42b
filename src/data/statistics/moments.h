/* What a linear decoder needs to know of the data, by intervention set t (K of them): with v the
 * values of do(), 0 off target,
 *
 *     n_t = rows,   Q_t = sum v'v (d, d),   C_t = sum v'x (d, D),   and over all rows  sum ||x||^2.
 *
 * One pass in blocks of rows; afterwards nothing depends on N.
 */
#ifndef LSCM_DATA_STATISTICS_MOMENTS_H
#define LSCM_DATA_STATISTICS_MOMENTS_H

#include "base/arena.h"
#include "data/dataset/dataset.h"

typedef struct moments {
    size_t rows, d, D;
    size_t sets;     /* K */
    uint8_t *target; /* (K, d), in the order in which they appear */
    double *count;   /* (K): n_t */
    double *vv;      /* (K, d, d): Q_t */
    double *vx;      /* (K, d, D): C_t */
    double xx;       /* sum ||x||^2 */
    arena memory;
} moments;

/* The rows must have been checked (lscm_dataset_check). `m` may be NULL. */
lscm_status moments_of(moments *out, const lscm_dataset *data, meter *m, lscm_error *why);
void moments_close(moments *m);

#endif
