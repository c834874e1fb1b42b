/* The law of the z seen in one set under every draw, from the inside: judge_law.c finds it,
 * judge_score.c and judge_bent.c hold rows against it.
 */
#ifndef LSCM_INFER_JUDGE_JUDGE_LAW_H
#define LSCM_INFER_JUDGE_JUDGE_LAW_H

#include "base/lanes_math.h"
#include "infer/judge/judge_score.h"

/* The draws' graphs: edges into the node at place `at` of draw k's order, parents in that order,
 * are numbers first[k d + at] .. first[k d + at + 1] - 1. */
typedef struct edge_list {
    size_t count;
    size_t *first;  /* (draws d + 1) */
    size_t *parent; /* (count) */
    double *weight; /* (count) */
} edge_list;

/* Up to eight rows of one set: numbers among those asked for. */
typedef struct row_group {
    size_t count;
    size_t number[LANES];
} row_group;

/* What a thread works in. */
typedef struct judge_scratch {
    size_t set;            /* 1 + the one that the rest is of; 0: none yet */
    const uint8_t *target; /* (d): its targets */
    double *middle;        /* (d): mean of z over its rows that were kept, and `kept` of them */
    double kept;
    double *doubt;       /* (d): mean over its rows that are asked for */
    double *base;        /* (draws, d): c and what is known of the set's own */
    double *own, *sd;    /* (draws, d): sd of a node given its parents; of the z seen */
    double *factor;      /* (draws, d, d), or NULL: of cov z + errors over the free nodes, lower */
    double *log_det;     /* (draws): of the factor; or log of the product of `own` */
    double *loading;     /* (d, d): L_i, by the parents' places in the order */
    size_t *place;       /* (d) */
    double *path;        /* (2, d): z of a row, seen or simulated */
    double *given;       /* (d): sd of what is seen of a node given its causes seen */
    lanes *seen;         /* (d): z, with what do() set at targets */
    lanes *z;            /* (d): E z of a draw */
    lanes *away;         /* (d) */
    lanes *mean, *below; /* (d) */
    lanes *log_p;        /* (draws) */
} judge_scratch;

typedef struct judge_work {
    const judged_fit *f;
    const anchored *a;
    const design *s;
    const judged_rows *rows;
    bool errors; /* z has some */
    edge_list edges;
    size_t *head;     /* (sets): 1 + the first of the rows asked for that are in it; 0: none */
    size_t *next;     /* (count): the same of the next one in the set */
    row_group *group; /* (groups) */
    size_t groups, threads;
    judge_scratch *scratch; /* (threads) */
    arena memory;
} judge_work;

/* Makes the scratch that of this set. */
void judge_take_set(const judge_work *w, judge_scratch *t, size_t set);

/* judge_bent.c: draws in which a node bends. */
bool judge_draw_bends(const judge_work *w, size_t k);
/* Mean of the terms of node i, which bends, over the rows of the set that were kept. */
double judge_bent_middle(const judge_work *w, size_t set, size_t k, size_t i);
/* Draw k on the rows of a group: adds to mean and below, sets log_p. */
void judge_bent_predict(const judge_work *w, judge_scratch *t, const row_group *g, size_t k);

#endif
