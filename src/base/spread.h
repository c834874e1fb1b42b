/* Mean and sum of squares about it, of numbers as they come (Welford 1962):
 *
 *     mean += (x - mean) / n,   squares += (x - old mean)(x - mean).
 *
 * A division waits for the one before, so columns of a table go side by side, a cache line of them:
 * each has the numbers that it would have alone, to the last bit.
 */
#ifndef LSCM_BASE_SPREAD_H
#define LSCM_BASE_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct spread {
    double n, mean, squares;
} spread;

static inline void spread_add(spread *s, double x)
{
    double moved = x - s->mean;
    s->n += 1;
    s->mean += moved / s->n;
    s->squares += moved * (x - s->mean);
}

/* Numbers of which some count: by row, and by what the mask has. */
typedef struct spread_table {
    size_t rows, d;
    const double *x;     /* (rows, d) */
    const uint8_t *mask; /* (rows, d): 0 or 1 */
    const uint8_t *keep; /* (rows) or NULL: rows that count; NULL: all */
} spread_table;

enum {
    SPREAD_FREE = 1, /* entries where the mask has 0 */
    SPREAD_SET = 2,  /* entries where it has 1 */
    SPREAD_BLOCK = 8 /* columns at a time, at most */
};

/* Whether there is enough to do for a second thread. */
static inline bool spread_shared(const spread_table *t)
{
    return t->rows * t->d > (size_t)1 << 16;
}

/* Columns first, first + 1, .. of the table, SPREAD_BLOCK of them or what is left: into out. */
void spread_columns(const spread_table *t, size_t first, unsigned wanted, spread out[SPREAD_BLOCK]);

#endif
