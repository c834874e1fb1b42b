/* What is held out of a design, to judge by it what was made of the rest: whole sets wherever there
 * are enough of them, for the rows of a set are alike, single rows elsewhere. Which sets these are
 * depends on the seed and their targets, not on the order of the rows. */
#ifndef LSCM_DATA_DESIGN_HOLD_OUT_H
#define LSCM_DATA_DESIGN_HOLD_OUT_H

#include "data/design/design_sets.h"

/* Rows: keep (rows) is 0 where held out, else 1. Sets with a target, one after the other, up to
 * `share` of their rows, each target keeping half of its rows and `least`; where no
 * set can be spared, every so many rows of all of them (sets is 0). */
typedef struct held_rows {
    size_t sets, rows;
} held_rows;
lscm_status hold_out_rows(const design *s, uint64_t seed, double share, size_t least, uint8_t *keep,
                          held_rows *out, lscm_error *why);

/* Values: held (rows, d) is 1 where held out, a part of where do() set something. Of each node
 * those of about one set in twelve, whatever other nodes have; where it is set in fewer sets than
 * that, of one row in twelve. */
lscm_status hold_out_values(const design *s, uint64_t seed, uint8_t *held, lscm_error *why);
/* The same with all values of a set: sets as long as at least half of their nodes have not yet a
 * fifth of their sets there, then one for every node that has none. Nodes with fewer than five sets
 * have one row in five held out instead. */
lscm_status hold_out_labels(const design *s, uint64_t seed, uint8_t *held, lscm_error *why);

/* Folds: in which of `folds` parts a node's values in a set are, fold (sets, d), from 0; its sets
 * in turn, in this order (count) of sets. Of other sets and nodes nothing is said. */
void hold_out_folds(const design *s, const uint32_t *order, size_t count, size_t folds,
                    uint8_t *fold);

#endif
