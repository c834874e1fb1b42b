/* What the mechanism of node i sees: over the n_i rows in which it is not intervened on,
 *
 *     m_i = mean of y (r),   S_i = sum (y - m_i)'(y - m_i)  (r, r),
 *
 * in the coordinates of the signal. An encoder z = a + y B turns them into those of z without the
 * rows: a + m_i B and B' S_i B. One pass over y; the rows of a set are one product.
 */
#ifndef LSCM_INFER_SAMPLE_VIEW_SCATTER_H
#define LSCM_INFER_SAMPLE_VIEW_SCATTER_H

#include "data/statistics/statistics.h"

typedef struct view_scatter {
    size_t d, rank;
    double *rows;    /* (d): n_i */
    double *mean;    /* (d, r) */
    double *scatter; /* (d, r, r): S_i, less n_i s_x^2 I where that leaves a covariance */
    const design *design;
    size_t used;
    uint32_t *row;                        /* (used): rows that count */
    double *centre, *work, *copy, *eigen; /* (r), (gram_work), (r, r), (r): scratch */
    arena memory;
} view_scatter;

/* `keep` (rows) or NULL: only rows where it is not 0. */
lscm_status view_scatter_of(view_scatter *out, const linear_view *s, const uint8_t *keep,
                            lscm_error *why);
/* The same rows with other numbers y (rows, r), noisy or not. */
void view_scatter_sum(view_scatter *g, const double *y, double x_noise);
void view_scatter_close(view_scatter *g);

/* z = a + y B */
typedef struct view_encoder {
    size_t d;
    const double *shift; /* (d): a */
    const double *slope; /* (r, d): B */
} view_encoder;

/* Mean (count) and scatter (count, count) of these columns of z over the rows in which
 * `node` is free. work: 2 * count * rank doubles. */
void view_scatter_encode(const view_scatter *g, size_t node, const view_encoder *by,
                         const size_t *column, size_t count, double *work, double *mean,
                         double *scatter);

#endif
