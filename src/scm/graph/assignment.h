/* Minimum-cost assignment: the permutation that minimises sum_i cost[i][column_of[i]].
 *
 * Shortest augmenting paths (Jonker & Volgenant 1987): keep column prices v such that every matched
 * row sits on a cheapest column of cost[i][j] - v[j]; take one free row at a time to a free column
 * along a shortest path of reduced costs. O(d^3) at worst, near O(d^2) where column minima hardly
 * clash. Ties and negative costs are fine; no allocation.
 */
#ifndef LSCM_SCM_GRAPH_ASSIGNMENT_H
#define LSCM_SCM_GRAPH_ASSIGNMENT_H

#include "base/arena.h"

typedef struct assignment_work {
    double *price;    /* (d): v; after a solution cost[i][j] - v[j] >= cost[i][c] - v[c], c of i */
    double *distance; /* (d): shortest path found so far from the free row to each column */
    size_t *row_of;   /* (d): row on the column, or d */
    size_t *from;     /* (d): row before the column on its path */
    size_t *columns;  /* (d): those at their final distance, then the others */
} assignment_work;

/* Measures or places the scratch for d rows. */
void assignment_lay_out(assignment_work *work, arena *a, size_t d);

/* cost (d, d) row-major, column_of (d). A cost that is not finite fails with LSCM_VALUE. */
lscm_status assignment_solve(const double *cost, size_t d, size_t *column_of,
                             const assignment_work *work, lscm_error *why);

#endif
