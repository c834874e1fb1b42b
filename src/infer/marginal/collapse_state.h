/* z given x from the inside; notation of collapse.h. collapse_open.c lists the rows by set,
 * collapse_law.c conditions z on y within a set, collapse_draw.c draws. */
#ifndef LSCM_INFER_MARGINAL_COLLAPSE_STATE_H
#define LSCM_INFER_MARGINAL_COLLAPSE_STATE_H

#include "infer/marginal/collapse.h"

#include <cblas.h>

enum {
    COLLAPSE_GROUPS = 8, /* partial sums, whatever the number of threads */
    COLLAPSE_BLOCK = 512 /* rows conditioned at once */
};

/* The law of (y, z) under one set; matrices with u rows are packed. */
typedef struct set_law {
    const uint8_t *target; /* (d) */
    size_t u;
    size_t *active; /* (u): U */
    double *scale;  /* (u): D */
    double *reach;  /* (d, d): R */
    double *effect; /* (d, r): L */
    double *g;      /* (u, r): G */
    double *h;      /* (u, u): the upper triangle is C' */
    double *x;      /* (u, d): X */
} set_law;

/* A thread's scratch. */
typedef struct collapse_slot {
    set_law law;
    double *m;      /* (BLOCK, d): m, then m + e */
    double *z;      /* (BLOCK, d + 1): [1 z] */
    double *h, *up; /* (BLOCK, u): h, and what refines it */
    double *rest;   /* (BLOCK, r): y - E[z] A - b */
    double *y, *v;  /* (BLOCK, r), (BLOCK, d): gathered rows; v where free: what is added to c */
} collapse_slot;

/* Rows from .. to - 1 of design.row are of one set. */
typedef struct collapse_job {
    size_t from, to;
} collapse_job;

struct collapse {
    const linear_view *s;
    size_t d, rank, rows;
    size_t jobs;
    collapse_job *job;
    double floor; /* of s_x */
    size_t team;
    collapse_slot *slot; /* (team) */
    double *sums;        /* (GROUPS, d + 1, d + 1 + r): [1 z]'[1 z], then [1 z]'(y - zA - b) */
    double *side;        /* (d + 1, r) */
    double *ruler;       /* (d + 1): scale of each unknown in a solve */
    arena memory;
};

/* A factor of a product: rows and columns as it stands in memory, then perhaps turned. */
typedef struct matrix {
    const double *data;
    size_t rows, cols;
    bool turned;
} matrix;

static inline matrix plain(const double *data, size_t rows, size_t cols)
{
    return (matrix){data, rows, cols, false};
}

static inline matrix turned(const double *data, size_t rows, size_t cols)
{
    return (matrix){data, rows, cols, true};
}

/* C = alpha A B + beta C; rows of C are `stride` apart. */
static inline void product(double alpha, matrix a, matrix b, double beta, double *c, size_t stride)
{
    size_t m = a.turned ? a.cols : a.rows;
    size_t n = b.turned ? b.rows : b.cols;
    size_t inner = a.turned ? a.rows : a.cols;
    if (m > 0 && n > 0) { /* nothing inside: scales C */
        cblas_dgemm(CblasRowMajor, a.turned ? CblasTrans : CblasNoTrans,
                    b.turned ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)inner, alpha, a.data,
                    (int)(a.cols > 0 ? a.cols : 1), b.data, (int)(b.cols > 0 ? b.cols : 1), beta, c,
                    (int)stride);
    }
}

/* Threads for work on all rows: a few, or none when waking them takes longer. */
static inline int collapse_team(const collapse *c)
{
    return c->rows * c->d * (c->d + c->rank) > 200000 ? (int)c->team : 1;
}

static inline double collapse_x_noise(const collapse *c, const collapse_parameters *p)
{
    return p->x_noise > c->floor ? p->x_noise : c->floor;
}

/* The law under p of the rows of a set, in slot->law. */
void collapse_law(const collapse *c, const collapse_parameters *p, size_t set, collapse_slot *slot);
/* E[z | y], h and rest of n rows of that set, which are in slot->y and slot->v. */
void collapse_condition(const collapse *c, const collapse_parameters *p, size_t n,
                        collapse_slot *slot);

#endif
