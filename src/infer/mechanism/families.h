/* Families from rows of the causal variables: for every node i, over the n rows r in which it is
 * free,
 *
 *     mean = sum_r z_r / n,   S = sum_r (z_r - mean)' (z_r - mean)     (candidates, then i).
 *
 * Sums run about the mean of all rows and in an order that depends on no thread count. With d <=
 * GRAM_DENSE nodes rows go set by set, so that all families cost about one Gram product; with
 * more, each family sums over its own columns. A node that is never free has n = 0, S = 0.
 *
 * Rows may count differently for each node: where the noise of node i in row r has the variance
 * s_i^2 / l_ri given l, weights l_ri give the likelihood but for a factor that all parent sets
 * share.
 *
 * Where sets may have an intercept of their own, a family has a level for each tau (family.h,
 * set_means.h).
 */
#ifndef LSCM_INFER_MECHANISM_FAMILIES_H
#define LSCM_INFER_MECHANISM_FAMILIES_H

#include "data/design/design.h"
#include "infer/mechanism/family.h"
#include "infer/mechanism/set_means.h"

enum { GRAM_DENSE = FAMILY_MOST + 1, GRAM_WIDEST = 63 };

typedef struct families {
    size_t d;
    family *list;         /* (d) */
    double *kept;         /* (d): share of the last correction that could be subtracted; 1: all */
    const design *design; /* the caller's */
    const double *weight; /* (rows), the caller's: what each row counts; NULL: 1 */
    const double *node_weight; /* (d, rows), the caller's: the same for each node; NULL: as above */
    double *heft;              /* (d): sum of weights */
    double worth;              /* what a row counts for since families_weigh: 1 until then */
    size_t *candidate;         /* (sum of counts) */
    size_t levels;             /* of every family: 1 without effects of sets */
    double *scatter;           /* (levels, sum of (count + 1)^2), family by family */
    double *mean;              /* (levels, sum of count + 1), the same */
    set_means sets;            /* of z; with effects */
    size_t used;               /* rows */
    uint32_t *row;             /* (used): their numbers; set by set when d <= GRAM_DENSE */
    double *centre;            /* (d) */
    double *work;              /* of the sums */
    arena memory;
} families;

/* The candidate parents of every node. */
typedef struct candidate_lists {
    size_t most;
    size_t *count;           /* (d) */
    size_t *candidate;       /* (d, most), ascending */
    const uint8_t *required; /* (d, d) or NULL: [j][i] = 1 for j -> i, which must be a candidate */
} candidate_lists;

/* Lists all other nodes but those in forbidden (d, d), or NULL: [j][i] = 1 for j -> i. */
void candidate_lists_all(const candidate_lists *lists, size_t d, const uint8_t *forbidden);

/* The design must outlive the families. */
lscm_status families_of(families *out, const latent_rows *rows, const candidate_lists *lists,
                        lscm_error *why);
/* The same for scatters alone: up to GRAM_WIDEST candidates, none required. */
lscm_status families_wide(families *out, const latent_rows *rows, const candidate_lists *lists,
                          lscm_error *why);
void families_close(families *f);
/* The same rows with other numbers z, or weights (f->weight, f->node_weight); allocates nothing. */
lscm_status families_update(families *f, const double *z, lscm_error *why);
/* Subtracts share (n - 1) psi, the scatter that noise of covariance share psi (d, d) gives z; that
 * of family i is at psi + i step (step 0: the same for all). Where it would leave less than a
 * thousandth of the scatter in some direction, only a share of it (kept). */
void families_correct(families *f, const double *psi, size_t step, double share);
/* Level l of a family as a family of its own. */
family family_of_level(const family *f, size_t l);
/* Leaves out the levels of family i, but the first, that have less than the share `least` of the
 * score of these parents. */
void families_leave_out(families *f, size_t i, const dag_prior *prior, uint32_t parents,
                        double least);
/* Leaves out the levels of family i that keep (levels) says no to; the first must stay. */
void families_keep_levels(families *f, size_t i, const bool *keep);
/* Lets every row count `weight` times what it does. */
void families_weigh(families *f, double weight);

#endif
