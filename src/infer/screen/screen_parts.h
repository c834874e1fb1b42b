/* The steps of the screen (screen.h). */
#ifndef LSCM_INFER_SCREEN_SCREEN_PARTS_H
#define LSCM_INFER_SCREEN_SCREEN_PARTS_H

#include "infer/mechanism/mechanism.h"

enum { SCREEN_ALL = GRAM_WIDEST + 1 }; /* up to so many nodes all others are near */

typedef struct screen_data {
    const design *design;
    const double *z;          /* of all rows */
    const uint8_t *forbidden; /* (d, d) or NULL */
    size_t rows, d;           /* rows that count */
    uint32_t *row;            /* (rows), ascending */
    size_t near_most;         /* <= GRAM_WIDEST */
    double *free;             /* (d): rows in which each is free */
    size_t *count, *near;     /* (d), (d, near_most) ascending */
} screen_data;

/* In ascending order. */
void screen_sort(size_t *list, size_t count);

/* Fills count and near. LSCM_STOPPED when progress says so. */
lscm_status screen_near(const screen_data *s, const lscm_progress *progress, lscm_error *why);

/* The regression of a node on those of its near nodes that are `in`: the scatter swept on them. */
typedef struct sweep {
    size_t m;      /* near nodes; the node itself is number m */
    double n;      /* rows */
    double *a;     /* (m + 1, m + 1) */
    uint8_t *in;   /* (m): is a parent; 2: too collinear to be swept */
    size_t inside; /* parents */
} sweep;

/* log score: -n/2 log rss - inside/2 log n */
double sweep_score(const sweep *s, double rss, size_t inside);
double sweep_now(const sweep *s);
/* Its change when near node k is put in or taken out. */
double sweep_change(const sweep *s, size_t k);
void sweep_toggle(sweep *s, size_t k);

/* order (d), a start, becomes a local optimum; sweeps, empty at first, hold the near nodes before
 * each. `slot` (d, d): [i][j] = number of j among the near nodes of i, 255 when it is not one.
 * `spare` has room for the largest; position (d) is scratch. */
void screen_order(sweep *sweeps, sweep *spare, const screen_data *s, const uint8_t *slot,
                  size_t *order, size_t *position);
/* Takes parents out while that raises the score. */
void sweep_eliminate(sweep *s);
/* A start by what interventions reach: order (d), causes first. */
lscm_status screen_reach(const screen_data *s, families *f, size_t *order, lscm_error *why);

#endif
