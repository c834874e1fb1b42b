/* Rows of the causal variables under a design: numbers of every node, of which some rows count. */
#ifndef LSCM_DATA_DESIGN_LATENT_ROWS_H
#define LSCM_DATA_DESIGN_LATENT_ROWS_H

#include "data/design/design_sets.h"

typedef struct latent_rows {
    const design *design;
    const double *z;     /* (rows, d) */
    const uint8_t *keep; /* (rows): 0 leaves a row out; NULL: all count */
    bool effects;        /* sets may have an intercept of their own */
} latent_rows;

static inline bool row_counts(const uint8_t *keep, size_t row)
{
    return keep == NULL || keep[row] != 0;
}

/* row (rows): those that count, set by set or as they come; returns how many. */
size_t latent_rows_list(const latent_rows *rows, bool by_set, uint32_t *row);

#endif
