/* Who was set by do(), and to what. In row r do() acts on the nodes j with t_rj = 1 and sets them
 * to v_rj; rows with the same targets t are a set.
 *
 * Sets are numbered by their targets, read as a number whose lowest bit is node 0: what is summed
 * set by set does not depend on the order of the rows. Rows without targets are set 0.
 *
 * What else there may be to say of a set, the label of its environment or that do() was soft, is an
 * array (sets) beside `target` and tells sets apart as targets do; that a value is not known is for
 * design_value to answer.
 */
#ifndef LSCM_DATA_DESIGN_DESIGN_SETS_H
#define LSCM_DATA_DESIGN_DESIGN_SETS_H

#include "base/arena.h"

#include <string.h>

typedef struct design {
    size_t rows, d, sets;
    uint8_t *target;       /* (sets, d): 1 where do() acts */
    uint32_t *set;         /* (rows): the set of each row */
    uint32_t *row;         /* (rows): rows, set by set, ascending within a set */
    size_t *first;         /* (sets + 1): where each set begins in `row` */
    double *value;         /* (rows, d): what do() set there, 0 elsewhere */
    size_t batches;        /* parts of sets that may differ for reasons of their own; .. */
    uint32_t *batch;       /* (rows): .. that of each row; NULL: sets are not divided */
    uint8_t *batch_target; /* (batches, d) */
    arena memory;
    arena values;       /* of `value`; empty where it is another design's */
    arena parts;        /* of batches */
    char *const *names; /* (d) or NULL: of nodes, whoever has them */
} design;

/* mask (rows, d): 1 where do() acts; values (rows, d), read there alone, or NULL: all 0. */
lscm_status design_of(design *out, size_t rows, size_t d, const uint8_t *mask, const double *values,
                      lscm_error *why);
/* The same in two steps, for those who read values to where they stay: `value` is there to be
 * filled, 0 off target, before or after the rows are grouped. */
lscm_status design_open(design *out, size_t rows, size_t d, lscm_error *why);
lscm_status design_group(design *s, const uint8_t *mask, lscm_error *why);
/* Without what is held out, held (rows, d): there nodes count as free. Shares the values. */
lscm_status design_hide(design *out, const design *from, const uint8_t *held, lscm_error *why);
/* The rows that count alone, in their order: keep (rows). */
lscm_status design_keep(design *out, const design *from, const uint8_t *keep, lscm_error *why);
/* Divides sets: batch (rows) is the number, below batches, of the part that a row is in. They
 * ascend with the sets, and with the rows of a set. */
lscm_status design_divide(design *s, const uint32_t *batch, size_t batches, lscm_error *why);
void design_close(design *s);

/* Targets and values (d) of a row. */
static inline const uint8_t *design_targets(const design *s, size_t row)
{
    return s->target + s->set[row] * s->d;
}

static inline const double *design_values(const design *s, size_t row)
{
    return s->value + row * s->d;
}

static inline bool design_is_set(const design *s, size_t row, size_t node)
{
    return design_targets(s, row)[node] != 0;
}

static inline double design_value(const design *s, size_t row, size_t node)
{
    return s->value[row * s->d + node];
}

/* Batches: those of a divided design, or the sets. */
static inline size_t design_batches(const design *s)
{
    return s->batch != NULL ? s->batches : s->sets;
}

static inline size_t design_batch(const design *s, size_t row)
{
    return s->batch != NULL ? s->batch[row] : s->set[row];
}

static inline const uint8_t *design_batch_targets(const design *s, size_t batch)
{
    return (s->batch != NULL ? s->batch_target : s->target) + batch * s->d;
}

/* Rows of a set, and whether it has no target. */
static inline size_t design_set_rows(const design *s, size_t set)
{
    return s->first[set + 1] - s->first[set];
}

static inline bool design_untouched(const design *s, size_t set)
{
    return memchr(s->target + set * s->d, 1, s->d) == NULL;
}

/* Whether every set has both of two nodes as targets, or neither. */
static inline bool design_alike(const design *s, size_t i, size_t j)
{
    bool alike = true;
    for (size_t k = 0; k < s->sets; k++) {
        alike = alike && s->target[k * s->d + i] == s->target[k * s->d + j];
    }
    return alike;
}

/* Whether do() was never used. */
static inline bool design_observational(const design *s)
{
    return s->sets * s->d == 0 || memchr(s->target, 1, s->sets * s->d) == NULL;
}

/* z (rows, d) gets the values where do() set them; sd (rows, d), or NULL, is 0 there. */
void design_put(const design *s, double *z, double *sd);
/* Sum of squares of what z (rows, d) misses the values of do() by, and of how many. */
double design_missed(const design *s, const double *z, double *count);
/* Adds `times` by (d) to the values that do() set. */
void design_shift(design *s, const double *by, double times);
/* keep (rows): 0 leaves a row out; NULL: all count. */
static inline bool row_counts(const uint8_t *keep, size_t row)
{
    return keep == NULL || keep[row] != 0;
}

/* row (rows): those that count, set by set or as they come; returns how many. */
size_t design_list(const design *s, const uint8_t *keep, bool by_set, uint32_t *row);
/* In how many rows, and in how many sets, each node is set: (d) each, or NULL. A set counts where
 * one of its rows does. */
void design_count(const design *s, const uint8_t *keep, size_t *rows, size_t *sets);

/* Rows of the causal variables under a design. */
typedef struct latent_rows {
    const design *design;
    const double *z;     /* (rows, d) */
    const uint8_t *keep; /* (rows) or NULL: those that count */
    bool effects;        /* sets may have an intercept of their own */
} latent_rows;

#endif
