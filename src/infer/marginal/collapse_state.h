/* The collapsed likelihood from the inside; notation of collapse.h. collapse_open.c reduces the
 * rows, collapse_law.c conditions z on y within a set, collapse_expect.c sums over sets,
 * collapse_maximise.c,
 * collapse_expand.c and collapse_gauge.c step up, collapse_em.c repeats it, collapse_start.c
 * starts, collapse_draw.c goes back to the rows. */
#ifndef LSCM_INFER_MARGINAL_COLLAPSE_STATE_H
#define LSCM_INFER_MARGINAL_COLLAPSE_STATE_H

#include "infer/marginal/collapse.h"

#include <cblas.h>

enum {
    COLLAPSE_GROUPS = 8, /* partial sums, whatever the number of threads */
    COLLAPSE_BLOCK = 512 /* rows conditioned at once */
};

/* The law of (y, z) in one set; matrices with u rows are packed. */
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
    double log_det; /* log |K| */
} set_law;

/* A thread's scratch. */
typedef struct collapse_slot {
    set_law law;
    double *m;      /* (BLOCK, d): m, then m + e */
    double *z;      /* (BLOCK, d + 1): [1 z] */
    double *h, *up; /* (BLOCK, u): h, and what refines it */
    double *rest;   /* (BLOCK, r): y - E[z] A - b */
    double *y, *v;  /* (BLOCK, r), (BLOCK, d): gathered rows */
    double *one;    /* (BLOCK) */
    double *gram;   /* (d + 1, d + 1) */
    double *cross;  /* (d + 1, d) */
    double *xa;     /* (u, r): X A */
    double *root;   /* (u, u): C^-1 D */
} collapse_slot;

/* Expected sums over rows; one block of `collapse.sum_size` numbers. */
typedef struct collapse_sums {
    double *log_likelihood; /* (1): without the dimensions outside y */
    double *rest;           /* (1): E |y - zA - b|^2 */
    double *target;         /* (1): E e^2 at targets */
    double *node;           /* (d): E e_i^2 where i is free */
    double *gram;           /* (d + 1, d + 1): E [1 z]'[1 z] */
    double *by_a;           /* (d + 1, r): E [1 z]'(y - zA - b) */
    double *node_gram;      /* (d, d + 1, d + 1): where i is free */
    double *by_node;        /* (d, d + 1): E [1 z]' e_i where i is free */
    double *by_target;      /* (d, d + 1): the same where i is a target and s_I > 0 */
} collapse_sums;

/* Rows from .. to - 1 of design.row are of this set. */
typedef struct collapse_job {
    size_t set, from, to;
} collapse_job;

struct collapse {
    const linear_view *s;
    const design *design; /* that of the view: K sets, n_t rows in each */
    size_t d, rank, rows;
    size_t *targeted; /* (d): rows with t_i = 1 */
    size_t *first;    /* (K + 1): of each set in the reduced rows */
    double *one;      /* (Q): reduced rows */
    double *y;        /* (Q, r) */
    double *v;        /* (Q, d), 0 off target */
    size_t jobs;
    collapse_job *job;
    double outside;      /* N (D - r) */
    double floor;        /* of s_x */
    double target_floor; /* of a learned s_I */

    size_t team;
    collapse_slot *slot; /* (team) */
    size_t sum_size;
    double *sums;                    /* (GROUPS, sum_size); the first ends as the total */
    double *solve;                   /* (d + 1, d + 1) */
    double *side, *step;             /* (d + 1, max(r, 2)): right-hand sides and solutions */
    double *ruler;                   /* (d + 1): scale of each unknown in a solve */
    double *wide;                    /* (d + 1, d + 1) */
    double *change, *image;          /* (d + 1) */
    double *theta[3];                /* (parameters): for the extrapolation */
    double *weight;                  /* (parameters) */
    collapse_parameters next, other; /* other points of EM */
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

/* Threads for work on this many rows: a few, or none when waking them takes longer. */
static inline int collapse_team(const collapse *c, size_t rows)
{
    return rows * c->d * (c->d + c->rank) > 200000 ? (int)c->team : 1;
}

static inline double collapse_x_noise(const collapse *c, const collapse_parameters *p)
{
    return p->x_noise > c->floor ? p->x_noise : c->floor;
}

collapse_sums collapse_sums_at(const collapse *c, size_t group);
/* The law of set t under p; in slot->law. */
void collapse_law(const collapse *c, const collapse_graph *g, const collapse_parameters *p,
                  size_t t, collapse_slot *slot);
/* E[z | y], h and rest of n rows of that set. */
void collapse_condition(const collapse *c, const collapse_parameters *p, size_t n,
                        const double *one, const double *y, const double *v, collapse_slot *slot);
/* All sums at p into the first group; returns the log likelihood. With `all` false only what the
 * log likelihood is made of. */
double collapse_expect(collapse *c, const collapse_graph *g, const collapse_parameters *p,
                       bool all);
/* What p should be given the sums, in p. */
void collapse_maximise(collapse *c, const collapse_graph *g, const collapse_settings *s,
                       collapse_parameters *p);
/* Before the M-step: redefines nodes that do() does not fix, in p and in the sums. */
void collapse_expand(collapse *c, const collapse_graph *g, collapse_parameters *p);
/* The best of the equivalent choices for nodes that are never a target. */
void collapse_gauge(const collapse *c, const collapse_graph *g, const collapse_settings *s,
                    collapse_parameters *p);

/* a (n, n), positive semidefinite, becomes the upper factor F of S a S = F'F, S = diag(ruler); a
 * rank that is missing is filled with as little as will do. False when a is not finite. */
bool collapse_factor(size_t n, double *a, double *ruler);
/* side (n, m) becomes a^-1 side. */
void collapse_solve(size_t n, size_t m, const double *factor, const double *ruler, double *side);
/* side (n, m) becomes a^-1/2 side: of identity covariance, of covariance a^-1. */
void collapse_solve_half(size_t n, size_t m, const double *factor, const double *ruler,
                         double *side);

#endif
