/* The posterior of one node's parents among any set of predecessors U:
 *
 *     total(U) = log sum_{pa part of U} e^score(pa),   P(pa | U) = e^(score(pa) - total(U)).
 *
 * Scores are kept less their maximum, so that where the mass is, numbers are small and exact. A
 * draw first takes the upper half of the bits, by sums over the lower half (subset_sums.h), then
 * the lower half: 2 2^(|U|/2) terms instead of 2^|U|.
 */
#ifndef LSCM_INFER_GRAPH_PARENT_SETS_H
#define LSCM_INFER_GRAPH_PARENT_SETS_H

#include "base/arena.h"
#include "infer/mechanism/mechanism.h"

typedef struct parent_sets {
    size_t count;    /* candidates; sets are masks over them */
    double offset;   /* what was taken off all scores */
    double *score;   /* (subset_entries(count)) */
    double *partial; /* the same: sums over the lower half of the bits; NULL: nothing is drawn */
} parent_sets;

void parent_sets_lay_out(parent_sets *sets, arena *a, size_t count);
/* Scores all sets of f, a family of `m` or a part of one; `total` and `scratch` have
 * subset_entries(count) too. */
void parent_sets_fill(parent_sets *sets, const mechanisms *m, const family *f, double *total,
                      double *scratch);
/* The same for the candidates that are not required: `count` of these, and masks over them. */
void parent_sets_fill_free(parent_sets *sets, const mechanisms *m, const family *f, double *total,
                           double *scratch);
/* Adds `odds` to all scores for each parent; totals again. */
void parent_sets_shift(parent_sets *sets, double odds, double *total, double *scratch);
/* A parent set within U, whose total is given, by two uniform numbers. */
uint32_t parent_sets_draw(const parent_sets *sets, uint32_t within, double total, double upper,
                          double lower);

#endif
