/* Principal directions of rows in memory: with c the mean of the n rows of x (n, D) and s (D) the
 * units of its columns,
 *
 *     w = (x - c) / s,   cov(w) = w'w / n,   E' (k, D) its leading eigenvectors, v (k) eigenvalues.
 *
 * s is 1 for x whose columns have one unit (pixels), or the columns' own (principal_noise.c): their
 * noise where r = `wanted` directions leave some, else their sd. Multiplying columns by numbers
 * then changes s and nothing else.
 *
 * By the matrix itself while D is moderate, by block subspace iteration beyond. Rows are centred
 * twice (a provisional mean, then a correction), so that large offsets do not cancel. The work is
 * cut into fixed parts whose sums are added in a fixed order: the same numbers on any number of
 * threads. BLAS must run on one thread (base/threads.h).
 */
#ifndef LSCM_DATA_STATISTICS_PRINCIPAL_H
#define LSCM_DATA_STATISTICS_PRINCIPAL_H

#include "base/arena.h"

enum {
    PRINCIPAL_SPARE = 16, /* directions beyond those wanted: they let the wanted ones converge */
    PRINCIPAL_PARTS = 8,  /* jobs that a pass over rows is cut into */
    PRINCIPAL_ROWS = 256  /* rows that a job takes at a time */
};

typedef struct principal_units {
    bool own;           /* false: s = 1 */
    const double *most; /* (D): what the noise of each column, its variance, can be; or NULL */
} principal_units;

typedef struct principal {
    size_t n, D;
    principal_units units;
    size_t count;       /* k = min(D, n, wanted + PRINCIPAL_SPARE) */
    double *mean;       /* (D): c */
    double *left;       /* (D): mean of x as principal_of left it; small, not always 0 */
    double *scale;      /* (D): s; 0: the column is constant, and is left out */
    double *directions; /* (k, D): E' / s, so that w E = (x - c) directions'; largest v first */
    double *variance;   /* (k): v */
    double total;       /* trace of cov(w) */
    arena memory;
} principal;

/* x (n, D) is changed: it loses mean - left. */
lscm_status principal_of(principal *out, double *x, size_t n, size_t D, size_t wanted,
                         principal_units units, lscm_error *why);
/* x (n, D) as principal_of left it becomes (x - left) / s E (n, r) at the beginning of its memory.
 */
lscm_status principal_project(const principal *p, double *x, size_t r, lscm_error *why);
void principal_close(principal *p);

/* ---- Between the files ---- */

/* What cov(w) is multiplied by: the covariance of x, upper triangle, or else centred rows. */
typedef struct principal_source {
    const double *covariance; /* (D, D), or NULL: */
    const double *x;          /* (n, D) */
} principal_source;

/* Block subspace iteration: orthonormal q (k, D), and q cov(w). */
typedef struct principal_block {
    double *q, *image; /* (k, D) */
    double *scaled;    /* (k, D): scratch */
    double *p;         /* (n, k): scratch, without the covariance */
    double *small;     /* (k, k): scratch */
    double *ritz;      /* (k): variance along q, largest first */
    double *before;    /* (k): in the round before */
    double *tau;       /* (k): scratch */
} principal_block;

void principal_block_lay_out(principal_block *b, arena *a, const principal *p, bool rows);
/* Rounds until the variances of `wanted` directions are still: q become Ritz vectors. */
lscm_status principal_settle(const principal *p, principal_source from, principal_block *b,
                             size_t wanted, lscm_error *why);
/* One round, from the space of `image`. */
lscm_status principal_advance(const principal *p, principal_source from, principal_block *b,
                              lscm_error *why);
/* Random q, then one round. */
lscm_status principal_start(const principal *p, principal_source from, principal_block *b,
                            lscm_error *why);
/* From units that are sd of columns, variance (D), and settled q, to those of noise. */
lscm_status principal_noise(principal *p, principal_source from, principal_block *b,
                            const double *variance, size_t wanted, lscm_error *why);

/* The two ways, on centred rows; both fill scale, directions, variance and total. */
lscm_status principal_gram(principal *p, const double *x, size_t wanted, lscm_error *why);
lscm_status principal_iterate(principal *p, const double *x, size_t wanted, lscm_error *why);
/* Eigenvectors of symmetric a (n, n), upper triangle, as its rows; values (n) ascending. */
lscm_status principal_eigen(double *a, size_t n, double *values, lscm_error *why);

#endif
