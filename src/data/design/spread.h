/* Mean and sum of squares about it, of numbers as they come (Welford 1962):
 *
 *     mean += (x - mean) / n,   squares += (x - old mean)(x - mean).
 *
 * A division waits for the one before, so columns of a table go side by side, a cache line of them:
 * each has the numbers that it would have alone, to the last bit.
 */
#ifndef LSCM_DATA_DESIGN_SPREAD_H
#define LSCM_DATA_DESIGN_SPREAD_H

#include "data/design/design_sets.h"

typedef struct column_spread {
    double n, mean, squares;
} column_spread;

static inline void spread_add(column_spread *s, double x)
{
    double moved = x - s->mean;
    s->n += 1;
    s->mean += moved / s->n;
    s->squares += moved * (x - s->mean);
}

enum {
    SPREAD_FREE = 1, /* entries that are free */
    SPREAD_SET = 2,  /* entries that do() set */
    SPREAD_BLOCK = 8 /* columns at a time, at most */
};

/* Whether there is enough to do for a second thread. */
static inline bool spread_shared(const latent_rows *t)
{
    return t->design->rows * t->design->d > (size_t)1 << 16;
}

/* Columns first, first + 1, .. of z, SPREAD_BLOCK of them or what is left: into out. */
void spread_columns(const latent_rows *t, size_t first, unsigned wanted,
                    column_spread out[SPREAD_BLOCK]);

#endif
