/* The steps of the screen (screen.h). */
#ifndef LSCM_INFER_SCREEN_SCREEN_PARTS_H
#define LSCM_INFER_SCREEN_SCREEN_PARTS_H

#include "base/arena.h"
#include "infer/mechanism/mechanism.h"

enum { SCREEN_ALL = GRAM_WIDEST + 1 }; /* up to so many nodes all others are near */
enum { NOT_NEAR = 255 };

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

/* No parents yet; in units in which every diagonal is 1, so that a pivot tells collinearity. */
void sweep_begin(sweep *s, const family *f);
void sweep_copy(sweep *to, const sweep *from);
/* log score: -n/2 log rss - inside/2 log n */
double sweep_score(const sweep *s, double rss, size_t inside);
double sweep_now(const sweep *s);
/* Its change when near node k is put in or taken out. */
double sweep_change(const sweep *s, size_t k);
void sweep_toggle(sweep *s, size_t k);
/* Takes parents out while that raises the score. */
void sweep_eliminate(sweep *s);

/* What there is against letting a near node be a parent, in nats. */
typedef struct screen_cost {
    double edge;    /* against an edge, whichever its direction; below 0: what speaks for it */
    double against; /* at least 0: what do() has against this direction */
    bool found;     /* the graph found has an edge there */
} screen_cost;

typedef struct screen_work {
    screen_data s;
    size_t usual;  /* candidates of a node that needs no more */
    families f;    /* of the near nodes */
    sweep *sweeps; /* (d): the parents of every node in the graph found so far */
    sweep spare;   /* room for the largest */
    uint8_t *slot; /* (d, d): [i][j] = number of j among the near nodes of i, or NOT_NEAR */
    size_t *order, *position; /* (d) */
    sweep *blank;             /* (d): without parents */
    uint8_t *open;            /* (d): may be a parent; scratch */
    screen_cost *cost;        /* (d, near_most) */
    size_t *lacking;          /* (d): edges whose other direction lacks room at each node */
    size_t *best;             /* (d): the order of the graph that fits best */
    screen_cost *least;       /* (d, near_most): by the graphs before */
    arena lists, matrices;
} screen_work;

/* A start by what interventions reach: order (d), causes first. */
lscm_status screen_reach(const screen_data *s, families *f, size_t *order, lscm_error *why);
/* w->order, a start, becomes a local optimum; sweeps, empty at first, hold the near nodes before
 * each. */
void screen_order(screen_work *w);

/* w->order, a start, becomes that of a sparse graph that fits, whose parents the sweeps hold. */
void screen_place(screen_work *w);
/* The score of that graph. */
double screen_fit(const screen_work *w);

/* Fills w->cost by the graph found. */
void screen_price(screen_work *w);

static inline size_t screen_near_of(const screen_work *w, size_t i, size_t k)
{
    return w->s.near[i * w->s.near_most + k];
}

#endif
