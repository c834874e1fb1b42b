/* What exports share: which of the pairs of lscm_posterior_edges go out, and their curves. */
#ifndef LSCM_RESULT_ASK_EXPORT_EDGES_H
#define LSCM_RESULT_ASK_EXPORT_EDGES_H

#include "data/drawing/drawing.h"
#include "scm/posterior/posterior.h"

/* How many edges, the likeliest first, from the first on have a probability above `least`. */
size_t export_edges_over(const lscm_edge *edges, size_t count, double least);

/* Leaves those of a graph: over 1/2, both ways where together they are and nothing tells which. */
size_t export_edges_shown(const lscm_posterior *p, lscm_edge *edges, size_t count);

/* Their curves, where any mechanism bends; count is 0 where none does, or no draw has an edge that
 * is likely. export_curves_close is due also after a failure. */
enum { EXPORT_PLACES = 41 };
typedef struct export_curves {
    size_t count;
    int64_t *from, *to;             /* (count) */
    double *at, *low, *mean, *high; /* (count, EXPORT_PLACES) */
    double *seen;                   /* (count, 2) */
    double *bends;                  /* (count) */
    arena memory;
} export_curves;
lscm_status export_curves_open(export_curves *out, const lscm_posterior *p, lscm_error *why);
void export_curves_close(export_curves *c);

/* The writer of .json. */
lscm_status export_json(const lscm_posterior *p, const char *to, const char *what, lscm_error *why);

#endif
