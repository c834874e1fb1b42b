/* What looking for hidden causes takes from the rows: of every set the mean of zeta, and its
 * scatter about it, E[zeta zeta' | z]; where nodes bend, of zeta and then of nodes as their causes
 * see them, less what of these is not straight.
 */
#ifndef LSCM_INFER_CHECK_CHECK_SCATTER_H
#define LSCM_INFER_CHECK_CHECK_SCATTER_H

#include "infer/check/check_family.h"

typedef struct check_scatter {
    size_t both;     /* d, or 2 d where nodes bend */
    double *row;     /* (both) */
    double *mean;    /* (sets, both) */
    double *scatter; /* (sets, both, both) */
    double *with;    /* (sets, both): scatter of these with e_a */
    double *own;     /* (sets): scatter of e_a */
} check_scatter;

static inline double check_rows_in(const check_rows *t, size_t set)
{
    return (double)(t->first[set + 1] - t->first[set]);
}

/* The place of node i as its causes see it. */
static inline size_t check_caused(const check_scatter *q, const check_rows *t, size_t i)
{
    return i + q->both - t->d;
}

void check_scatter_lay_out(check_scatter *q, arena *m, const check_rows *t);
/* all (d): families of a graph. */
void check_scatter_take(check_scatter *q, const check_rows *t, const check_family *all);
/* e_a of its family. */
void check_scatter_rest(check_scatter *q, const check_rows *t, const check_family *f, size_t a);

#endif
