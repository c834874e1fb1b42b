/* A data set whose x is another's in units of its columns,
 *
 *     x'_j = (x_j - o_j) / s_j,   s_j the sd of column j (1 where it is constant),
 *
 * for methods that take all columns alike: whatever units x was written in, they see the same
 * numbers. Pixels have one unit, and stay as they are (o = 0, s = 1).
 */
#ifndef LSCM_DATA_DATASET_IN_UNITS_H
#define LSCM_DATA_DATASET_IN_UNITS_H

#include "base/arena.h"
#include "data/dataset/blocks.h"
#include "data/dataset/dataset_handle.h"

/* o: where a model has its x = 0. */
typedef enum units_origin {
    ORIGIN_FREE, /* the mean of rows in which nothing was set; 0 without such rows */
    ORIGIN_NEAR  /* 0, or the mean of all rows where that is so far off that 0 means nothing */
} units_origin;

struct column_units {
    size_t D;
    double *origin, *scale; /* (D): o, s */
};

typedef struct in_units {
    lscm_dataset data; /* what is to be read; nothing of it is to be freed */
    struct column_units columns;
    struct units_source *source; /* owned */
    arena memory;
} in_units;

/* One pass over x, checked, that counts for nothing in progress. `of` must stay open. */
lscm_status in_units_open(in_units *out, const lscm_dataset *of, units_origin origin,
                          lscm_error *why);
void in_units_close(in_units *u);
/* x (n, D) becomes x'. */
void units_apply(const struct column_units *u, size_t n, double *x);

#endif
