/* The two ways of summing (families.h): fill scatter and mean of every family with sums of products
 * and sums about f->centre, and its rows; and what sets have of their own. */
#ifndef LSCM_INFER_MECHANISM_FAMILY_SUMS_H
#define LSCM_INFER_MECHANISM_FAMILY_SUMS_H

#include "infer/mechanism/families.h"

enum { GRAM_CHUNK = 256 }; /* rows at a time */

/* Some rows by column: z about the centre, and the root of the weight where free, else 0; (d,
 * GRAM_CHUNK). */
typedef struct gram_chunk {
    size_t rows;
    const double *z_t, *free_t;
} gram_chunk;

/* Where family i has its numbers, to write. */
static inline double *family_scatter_of(families *f, size_t i)
{
    return f->scatter + (f->list[i].scatter - f->scatter);
}

static inline double *family_mean_of(families *f, size_t i)
{
    return f->mean + (f->list[i].mean - f->mean);
}

/* Doubles of work for either. */
size_t gram_work(size_t d);
/* f->centre: the mean of the rows in use. */
void gram_centre(families *f, const double *z);
/* By set, d <= GRAM_DENSE. */
void gram_dense(families *f, const double *z);
/* Shows every node every chunk, in order; nodes in parallel. After gram_centre. */
typedef void (*gram_visit)(void *self, families *f, size_t i, const gram_chunk *chunk);
void gram_walk(families *f, const double *z, gram_visit visit, void *self);
/* By family, in chunks of rows. */
void gram_sparse(families *f, const double *z);
/* The further levels of every family, from the first. */
void gram_effects(families *f, const double *z);

#endif
