/* What nobody knows beforehand of the prior: whether edges may be arbitrarily weak or not (a slab
 * with a hole at 0, family_hole.h), the scale of the weights (the ridge t of family.h) and how
 * likely an edge is (p, between a node and one before it). All are integrated over a grid,
 *
 *     p(G | z) = sum_h p(G | z, h) p(h | z),   p(h | z) ~ p(h) p(z | h),   h = (hole, t, p),
 *
 * each value of each alike beforehand; what was asked for is a grid of one. A ridge that is given
 * has no hole, nor have observational data without an order: with one, graphs that say the same of
 * such data would not score the same. There it is units that are not known: the sd of a node, or
 * what all others leave of it (hyper_units.c).
 */
#ifndef LSCM_INFER_GRAPH_HYPER_H
#define LSCM_INFER_GRAPH_HYPER_H

#include "infer/mechanism/mechanism.h"

enum {
    HYPER_RIDGES = 6,
    HYPER_SLABS = 2 * HYPER_RIDGES, /* without a hole, then with one; or in either unit */
    HYPER_EDGES = 4,
    HYPER_MOST = HYPER_SLABS * HYPER_EDGES
};
enum { HYPER_STEP = 10 }; /* from one t to the next */

typedef struct hyper_grid {
    size_t slabs, edges; /* how many of each */
    bool hole[HYPER_SLABS];
    double ridge[HYPER_SLABS];       /* t */
    const double *unit[HYPER_SLABS]; /* (d) each: u */
    double edge[HYPER_EDGES];        /* p */
    double pairs;                    /* of a node and a possible parent before it, m */
} hyper_grid;

/* Units (d) of all nodes; others, of data without do(), or NULL. */
typedef struct hyper_scale {
    const double *unit, *conditional;
} hyper_scale;

/* The grid for `list`, whose candidates may stand in any order, or only as they do (ordered). */
void hyper_grid_of(hyper_grid *out, const lscm_fit_settings *s, const families *f, bool ordered,
                   const hyper_scale *scale);
/* The part of it with a hole, or without. */
hyper_grid hyper_part(const hyper_grid *g, bool hole);
/* One point, in this unit. */
void hyper_fix(hyper_grid *g, double ridge, bool hole, double log_odds, const double *unit);
size_t hyper_points(const hyper_grid *g);
/* Point h = 0 .. points - 1 into a prior. */
void hyper_take(const hyper_grid *g, size_t h, dag_prior *prior);
/* What point h adds to the log evidence of all graphs alike: m log(1 - p). */
double hyper_shared(const hyper_grid *g, size_t h);
/* log p(h), and what p adds, of the point that a prior has. */
double hyper_log_prior(const hyper_grid *g, const dag_prior *prior);
/* log p(z, G, h) of all points, (points), for the graph with parents (d). */
void hyper_scores(const hyper_grid *g, const mechanisms *m, const uint32_t *parents, double *out);
/* The same for graphs (count, d), into (count, points); first (count), score (count, slabs) are
 * scratch. A family that several graphs have is scored once. */
void hyper_scores_all(const hyper_grid *g, const mechanisms *m, const uint32_t *parents,
                      size_t count, size_t *first, double *score, double *out);
/* A point to begin with: that of the best parents of each node by forward selection, whether or not
 * they make a graph. *score: theirs. */
size_t hyper_guess(const hyper_grid *g, const mechanisms *m, double *score);
/* Leaves out what sets hardly have of their own, at the point and the parents of that guess: the
 * sums take as much longer as there are levels. */
void hyper_thin(const hyper_grid *g, const mechanisms *m, families *f, double least);
/* The number drawn with probabilities in proportion to e^x, by a uniform number. */
size_t hyper_pick(const double *x, size_t n, double u);
/* unit (d): the sd of each node given all others, over rows that count; *known: whether there are
 * enough of them to tell. */
lscm_status hyper_units(const latent_rows *from, double *unit, bool *known, lscm_error *why);
/* log sum e^x */
double hyper_log_sum(const double *x, size_t n);

#endif
