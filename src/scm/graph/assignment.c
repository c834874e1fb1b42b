#include "scm/graph/assignment.h"

#include <float.h>
#include <math.h>

void assignment_lay_out(assignment_work *work, arena *a, size_t d)
{
    work->price = arena_take(a, d, sizeof *work->price);
    work->distance = arena_take(a, d, sizeof *work->distance);
    work->row_of = arena_take(a, d, sizeof *work->row_of);
    work->from = arena_take(a, d, sizeof *work->from);
    work->columns = arena_take(a, d, sizeof *work->columns);
}

/* Every price starts at the minimum of its column; a row that holds such a minimum takes the column
 * unless it has one already. Most rows are settled here. False when a cost is not finite. */
static bool take_column_minima(const double *cost, size_t d, size_t *column_of,
                               const assignment_work *work)
{
    size_t broken = 0;
    for (size_t j = 0; j < d; j++) {
        work->price[j] = cost[j];
        work->from[j] = 0;
        column_of[j] = d;
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            double c = cost[i * d + j];
            broken += !(fabs(c) <= DBL_MAX) ? 1 : 0;
            if (c < work->price[j]) {
                work->price[j] = c;
                work->from[j] = i;
            }
        }
    }
    for (size_t j = 0; j < d; j++) {
        size_t i = work->from[j];
        bool settled = column_of[i] == d;
        work->row_of[j] = settled ? i : d;
        column_of[i] = settled ? j : column_of[i];
    }
    return broken == 0;
}

/* Dijkstra over columns from a free row. Returns the free column that is nearest, with the number
 * of final columns before it in `ready`; or d when distances overflow. */
static size_t find_path(const double *cost, size_t d, size_t free_row, size_t *ready,
                        const assignment_work *work)
{
    double *distance = work->distance;
    size_t *columns = work->columns;
    const double *price = work->price;
    for (size_t j = 0; j < d; j++) {
        distance[j] = INFINITY;
        columns[j] = j;
    }
    size_t row = free_row;
    double base = 0; /* length of the path to `row`, less the reduced cost of its matched edge */
    for (size_t done = 0; done < d; done++) {
        const double *c = cost + row * d;
        size_t nearest = d;
        double least = INFINITY;
        for (size_t k = done; k < d; k++) {
            size_t j = columns[k];
            double through = base + (c[j] - price[j]);
            if (through < distance[j]) {
                distance[j] = through;
                work->from[j] = row;
            }
            /* among equals a free column ends the search */
            if (distance[j] < least || (distance[j] == least && work->row_of[j] == d)) {
                least = distance[j];
                nearest = k;
            }
        }
        if (!(least < INFINITY)) {
            break;
        }
        size_t column = columns[nearest];
        columns[nearest] = columns[done];
        columns[done] = column;
        if (work->row_of[column] == d) {
            *ready = done;
            return column;
        }
        row = work->row_of[column];
        base = least - (cost[row * d + column] - price[column]);
    }
    return d;
}

lscm_status assignment_solve(const double *cost, size_t d, size_t *column_of,
                             const assignment_work *work, lscm_error *why)
{
    if (!take_column_minima(cost, d, column_of, work)) {
        size_t k = 0;
        while (fabs(cost[k]) <= DBL_MAX) {
            k++;
        }
        return fail(why, LSCM_VALUE, "the cost of row %zu in column %zu is %g; it must be finite",
                    k / d, k % d, cost[k]);
    }
    for (size_t i = 0; i < d; i++) {
        if (column_of[i] != d) {
            continue;
        }
        size_t ready = 0;
        size_t column = find_path(cost, d, i, &ready, work);
        if (column == d) {
            return fail(why, LSCM_VALUE, "the costs of an assignment are too large; scale them");
        }
        double length = work->distance[column];
        for (size_t k = 0; k < ready; k++) {
            size_t j = work->columns[k];
            work->price[j] += work->distance[j] - length;
        }
        /* each row on the path moves to the column that follows it */
        for (size_t row = d; row != i;) {
            row = work->from[column];
            size_t left = column_of[row];
            work->row_of[column] = row;
            column_of[row] = column;
            column = left;
        }
    }
    return LSCM_OK;
}
