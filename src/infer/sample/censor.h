/* Saturation: values that reached a known clip C are censored. Where node j of a row is free and
 * its z-hat is at least b_j = C - tolerance_j (at most -b_j), all that is known is z_j >= b_j (<=
 * -b_j): true whatever the tolerance, as long as it covers the error of z-hat. Parents act
 * unclipped, so the censored z of a row are drawn from the model, one after the other, each from
 *
 *     N(m, 1/p) beyond its bound:   p = 1/s_j^2 + sum_k w_jk^2/s_k^2      (k: free children of j),
 *     m = z_j + (-e_j/s_j^2 + sum_k w_jk e_k/s_k^2)/p,   e = z - c - a - z W  (residuals).
 *
 * An entry of which nothing is known at all (`unknown`) is drawn from the same law without a bound.
 *
 * Alternating these sweeps with draws of (graph, W, c, s) given z samples the joint posterior.
 */
#ifndef LSCM_INFER_SAMPLE_CENSOR_H
#define LSCM_INFER_SAMPLE_CENSOR_H

#include "base/arena.h"
#include "base/rng.h"
#include "infer/mechanism/mechanism.h"

enum { CENSOR_NEITHER = 2 };

typedef struct censored {
    const design *design;
    const double *own; /* (batches, d): what each adds to c, the caller's; NULL: nothing */
    size_t hit;        /* rows with a censored entry */
    size_t count;      /* censored entries */
    size_t *row;       /* (hit), ascending */
    size_t *first;     /* (hit + 1): row[h] has entries first[h] .. first[h + 1] - 1 */
    size_t *node;      /* (count), ascending within a row */
    uint8_t *high;     /* (count): 1 at C, 0 at -C, CENSOR_NEITHER where nothing is known */
    double *bound;     /* (d): b */
    double *share;     /* (2, d): how much of the free rows is censored, at -C and at C */
    double *excess;    /* (2, d): what censor_start puts beyond the bound */
    int threads;
    double *residual; /* (threads, d): scratch */
    arena memory;
} censored;

/* z (rows, d); targets of do() are known and never censored; tolerance (d), from 0 to below the
 * clip; unknown (rows, d) or NULL: 1 where z says nothing. The design must outlive what is found.
 */
lscm_status censor_find(censored *out, const design *s, const double *z, double clip,
                        const double *tolerance, const uint8_t *unknown, lscm_error *why);
void censor_close(censored *c);

/* Puts the censored entries of z (rows, d) where a normal variable with these shares on either side
 * of the bounds has its mean beyond them, unknown ones in the middle. A start for the draws below:
 * left at the clip, the weights begin too small and grow slowly. */
void censor_start(const censored *c, double *z);

/* Updates the censored entries of z (rows, d), which must be beyond their bounds or at least
 * finite, by the sweeps numbered sweep .. sweep + sweeps - 1: the numbers choose the random
 * numbers, so let them run on. Parallel over rows; the same z for any number of threads. */
void censor_draw(const censored *c, const mechanism_model *model, size_t sweeps, rng r,
                 uint64_t sweep, double *z);

/* How well a model fits: the log density of what do() did not set given its parents in this z
 * (rows, d), of censored entries the log probability of lying beyond their bounds, of unknown ones
 * nothing. */
double censor_fit(const censored *c, const mechanism_model *model, const double *z);

#endif
