/* Sums over the rows in which each node is free, of numbers about their mean: by set, for all pairs
 * of columns, or by family (families.h), in chunks of rows. In an order that depends on no thread
 * count. */
#ifndef LSCM_INFER_MECHANISM_FAMILY_SUMS_H
#define LSCM_INFER_MECHANISM_FAMILY_SUMS_H

#include "infer/mechanism/families.h"

enum { GRAM_CHUNK = 256 }; /* rows at a time */

/* Numbers of some rows. */
typedef struct gram_rows {
    const design *design;
    size_t used, width;
    const uint32_t *row;  /* (used): set by set */
    const double *x;      /* (rows, width) */
    const double *weight; /* (rows): what each counts; NULL: 1 */
    double *centre;       /* (width): gram_centre has their mean here */
} gram_rows;

/* For each node. */
typedef struct gram_sums {
    double *gram;  /* (d, width, width): products about the centre, upper triangles */
    double *sum;   /* (d, width) */
    double *count; /* (d): rows */
    double *heft;  /* (d): sum of weights */
} gram_sums;

/* Doubles of work for the two that follow. */
size_t gram_work(size_t d, size_t width);
void gram_centre(const gram_rows *r, double *work);
/* By set, after gram_centre; the sums lie in work. */
gram_sums gram_by_set(const gram_rows *r, double *work);

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

/* Doubles of work for families. */
size_t family_work(size_t d);
/* Scatter and mean of every family become sums of products and sums about f->centre, which is set,
 * and rows and heft are counted. */
void family_sums(families *f, const double *z);
/* Shows every node every chunk, in order; nodes in parallel. After family_sums of this z. */
typedef void (*gram_visit)(void *self, families *f, size_t i, const gram_chunk *chunk);
void gram_walk(families *f, const double *z, gram_visit visit, void *self);
/* The further levels of every family, from the first. */
void family_effects(families *f, const double *z);

#endif
