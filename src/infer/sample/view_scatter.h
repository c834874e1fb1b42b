/* What the mechanism of node i sees: over the n_i rows in which it is not intervened on,
 *
 *     m_i = mean of y (r),   S_i = sum (y - m_i)'(y - m_i)  (r, r),
 *
 * in the coordinates of the signal. An encoder z = a + y B turns them into those of z without the
 * rows: a + m_i B and B' S_i B. One pass over y; the rows of a set are one product. Where sets may
 * have an intercept of their own there is one of each for every tau (infer/mechanism/set_means.h).
 */
#ifndef LSCM_INFER_SAMPLE_VIEW_SCATTER_H
#define LSCM_INFER_SAMPLE_VIEW_SCATTER_H

#include "data/statistics/statistics.h"
#include "infer/mechanism/mechanism.h"

typedef struct view_scatter {
    size_t d, rank;
    size_t most;         /* levels there is room for: 1 without effects of sets */
    double *rows;        /* (d): n_i */
    size_t *levels;      /* (d): of each node */
    family_level *level; /* (d, most) */
    double *mean;        /* (d, most, r) */
    double *scatter;     /* (d, most, r, r): S_i, less n_i s_x^2 I where that leaves a covariance */
    const design *design;
    set_means sets;
    size_t used;
    uint32_t *row;                        /* (used): rows that count */
    double *centre, *work, *copy, *eigen; /* (r), (gram_work), (r, r), (r): scratch */
    arena memory;
} view_scatter;

/* `keep` (rows) or NULL: only rows where it is not 0. */
lscm_status view_scatter_of(view_scatter *out, const linear_view *s, const uint8_t *keep,
                            bool effects, lscm_error *why);
/* The same rows with other numbers y (rows, r), noisy or not; only (d) or NULL: of the levels of
 * each node beyond the first only that one. */
void view_scatter_sum(view_scatter *g, const double *y, double x_noise, const size_t *only);
void view_scatter_close(view_scatter *g);

/* m_i (r) and S_i (r, r) at a level. */
static inline const double *view_mean_at(const view_scatter *g, size_t node, size_t level)
{
    return g->mean + (node * g->most + level) * g->rank;
}

static inline const double *view_scatter_at(const view_scatter *g, size_t node, size_t level)
{
    return g->scatter + (node * g->most + level) * g->rank * g->rank;
}

/* z = a + y B */
typedef struct view_encoder {
    size_t d;
    const double *shift; /* (d): a */
    const double *slope; /* (r, d): B */
} view_encoder;

/* Columns of z over the rows in which `node` is free, at a level. */
typedef struct view_family {
    size_t node, level;
    const size_t *column; /* (count) */
    size_t count;
} view_family;

/* Their mean (count) and scatter (count, count). work: 2 * count * rank doubles. */
void view_scatter_encode(const view_scatter *g, const view_encoder *by, const view_family *of,
                         double *work, double *mean, double *scatter);

#endif
