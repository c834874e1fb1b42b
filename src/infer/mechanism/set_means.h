/* Intercepts that sets have of their own: a_ik ~ N(0, tau_i^2 s_i^2) for node i in set k. From the
 * means m_k of the n_k rows of each set and the scatter S_0 about the mean m_0 of all rows in which
 * a node is free,
 *
 *     S = S_0 - sum_k (n_k - h_k) (m_k - m_0)'(m_k - m_0) - h (m - m_0)'(m - m_0),
 *     h_k = n_k/(1 + n_k tau^2),   h = sum_k h_k,   m = sum_k h_k m_k / h
 *
 * is the scatter at tau, in any coordinates: of z (families.h) or of the signal (view_scatter.h).
 * Sets are those of the design, or its batches where it is divided. Given the mechanisms, with e_ik
 * the mean over the set of what parents and c leave of the node,
 *
 *     a_ik ~ N(n_k tau^2 e_ik, tau^2 s^2) / (1 + n_k tau^2)     (the second: a variance).
 */
#ifndef LSCM_INFER_MECHANISM_SET_MEANS_H
#define LSCM_INFER_MECHANISM_SET_MEANS_H

#include "base/arena.h"
#include "base/rng.h"
#include "data/design/design.h"
#include "infer/mechanism/family.h"

typedef struct set_means {
    const design *design;
    size_t width;
    double *heft;         /* (sets): n_k, or the sum of weights */
    double *mean;         /* (sets, width): m_k about the centre */
    const double *centre; /* (width), the caller's */
    double *work;         /* (sets, widest): scratch */
} set_means;

/* Rows in use, set by set or not. */
typedef struct set_rows {
    size_t used;
    const uint32_t *row;  /* (used) */
    const double *x;      /* (rows, width) */
    const double *weight; /* (rows) or NULL */
} set_rows;

void set_means_lay_out(set_means *s, arena *a, size_t widest);
void set_means_sum(set_means *s, const set_rows *rows);
/* FAMILY_LEVELS, or 1 where the node is free in one set: nothing tells its own intercept from that
 * of all. */
size_t set_means_levels(const set_means *s, size_t node);
/* What level 0 is beforehand where there are `levels`. */
family_level set_means_none(size_t levels);

/* Sums of some columns over the rows in which a node is free. */
typedef struct level_sums {
    size_t node, count;
    const size_t *column; /* (count), or NULL: as they come */
    double heft;          /* of the rows */
    double *scatter;      /* (levels, count, count); the first is there */
    double *mean;         /* (levels, count), the same */
} level_sums;

/* Fills level l > 0, both triangles. */
family_level set_means_level(const set_means *s, const level_sums *sums, size_t l);

/* The mechanisms as far as they matter to a_ik: what is left of node i is x q_i - c_i. */
typedef struct set_residuals {
    const double *q;         /* (width, d) */
    const double *intercept; /* (d) */
    const double *sigma;     /* (d) */
    const family *family;    /* (d): of one level each */
} set_residuals;

/* own (sets, d): a draw of all a_ik, with the numbers [index, index + 1) sets d of the stream. */
void set_means_draw(const set_means *s, const set_residuals *by, rng r, uint64_t index,
                    double *own);

#endif
