/* Anchoring from the inside: anchor_sets.c lists rows by intervention set, anchor_gram.c sums over
 * sets, anchor_solve.c regresses one node, anchor_direction.c finds what vanishes, anchor.c puts
 * them together. y is taken relative to its mean c over the rows used; v_j to its mean at the
 * targets.
 */
#ifndef LSCM_INFER_ANCHOR_ANCHOR_STATE_H
#define LSCM_INFER_ANCHOR_ANCHOR_STATE_H

#include "infer/anchor/anchor_values.h"

enum {
    ANCHOR_PIECE = 256,    /* rows of a piece, at most */
    ANCHOR_CHUNK = 256,    /* pieces summed at a time */
    ANCHOR_TILE = 64,      /* of a Gram matrix */
    ANCHOR_FOLDS = 5,      /* of the cross-validation */
    ANCHOR_FOLDS_TO = 128, /* largest rank for which all of them are tried; one beyond */
    ANCHOR_ALL = 31,       /* folds, as bits */
    ANCHOR_OUT = 255       /* fold of a node that is not a target */
};

/* Rows of one set: positions first, first + step, .. of row_sets.row. */
typedef struct row_piece {
    size_t first, count, step;
    size_t set;  /* of the design */
    size_t half; /* 0 or 1 where a set is halved: it is the only one of some node */
} row_piece;

typedef struct row_sets {
    size_t sets, rows, pieces;
    uint32_t *row;    /* (rows): kept rows with a target, set after set */
    uint32_t *set;    /* (sets): of the design */
    size_t *start;    /* (sets + 1): where each begins in row */
    size_t *samples;  /* (d): rows in which the node is a target */
    size_t *sets_of;  /* (d): sets that it is in */
    uint8_t *fold;    /* (sets of the design, d): in which a set of the node is left out */
    row_piece *piece; /* (pieces) */
    arena memory;
} row_sets;

lscm_status row_sets_of(row_sets *out, const design *s, const uint8_t *keep, lscm_error *why);
void row_sets_close(row_sets *sets);

/* What a thread works in. */
typedef struct anchor_scratch {
    double *gram, *inverse, *copy; /* (r, r) */
    double *eigen;                 /* 1 + 6 r + 2 r^2, for LAPACK */
    int *integer;                  /* 3 + 5 r, for LAPACK */
    double *scale, *sum, *cross;   /* (r) */
    double *slope, *other, *value; /* (r) */
    double *y;                     /* (PIECE, r) */
    double *v;                     /* (PIECE, nodes of a block) */
    double *sums;                  /* (2, nodes of a block) */
    double *left, *right;          /* (PIECE, TILE) */
} anchor_scratch;

/* The regression of one node; means are relative to the shifts above. */
typedef struct node_fit {
    double n, vv;     /* rows; centred sum of squares of v */
    double rest;      /* sum of squares of v - a - y b */
    bool shrunk;      /* the noise of y was left: b is that of a plain regression, nearer to 0 */
    double share;     /* of s_x^2 that the labels let y have */
    double ridge;     /* what was taken off the diagonal of the Gram matrix: share (n - ..) s_x^2 */
    double rank;      /* directions that vary at the targets */
    double condition; /* reciprocal, of the scaled matrix */
    double hidden; /* variance along the others over all rows, beside and relative to x_noise^2 */
    bool lost;     /* some were left out for the noise of x: part of z_j may be in them */
    double trace;  /* tr(G P): what the regression costs in degrees of freedom */
    double fold_rest, fold_vv; /* of rows left out; fold_vv 0: not possible */
    double spread, tilt;       /* tr(P G P S_j), (P b)' S_j (P b), S_j of y about its mean here */
} node_fit;

/* A group of nodes whose sums are in memory at the same time. */
typedef struct node_block {
    const linear_view *s;
    const row_sets *sets;
    const double *centre;                   /* (r): of y */
    const double *v_centre;                 /* (d) */
    size_t count, folds, tile, tiles, span; /* span: doubles of a packed Gram matrix */
    const size_t *node;                     /* (count) */
    size_t pieces;
    size_t *piece;           /* (pieces): those with a target among the nodes */
    uint8_t *fold;           /* (pieces, count) */
    double *gram;            /* (count, folds, span): tiles on and above the diagonal, row by row */
    double *sum;             /* (count, folds, r): of y */
    double *cross;           /* (count, folds, r + 2): sums of y v, v, v^2 */
    double *rows;            /* (count, folds) */
    double *b;               /* (r, count): slopes, for the residuals */
    double *a;               /* (count) */
    double *parts;           /* (CHUNK, TILE, TILE), or (CHUNK, count, r + 2): of each piece */
    double *totals;          /* (CHUNK, r): sum of y of each piece */
    double *weight;          /* (count, folds, CHUNK) */
    anchor_scratch *scratch; /* (threads) */
    bool shared;             /* enough work for several threads */
} node_block;

/* Which pieces matter to the nodes of the block, and in which fold of which node they are. */
void block_fold(node_block *b);
/* Fills rows, sum, cross; with `residual` of v - a - y b in the place of v, all in fold 0. */
void block_moments(node_block *b, bool residual);
void block_grams(node_block *b);
/* The Gram matrix (r, r) over some folds (a bit each), not centred; and a matrix into fold 0. */
void block_unpack(const node_block *b, size_t k, unsigned folds, double *gram);
void block_pack(const node_block *b, size_t k, const double *gram);
/* Second moments (r, r) of y about the centre, over the kept rows (`rows` of them); parts is
 * (anchor_slices, r, r). */
void anchor_covariance(const node_block *b, const uint8_t *keep, double rows, double *parts,
                       double *covariance);
size_t anchor_slices(size_t rank);

/* What the solvers need of a node: the centred sums. */
typedef struct node_sums {
    size_t r;
    double n, vv;
    double v_mean;
    double *gram;         /* (r, r), both triangles */
    double *mean, *cross; /* (r) */
} node_sums;

/* Sums of node k over some folds (a bit each), in the thread's scratch. */
node_sums block_sums(const node_block *b, size_t k, unsigned folds, anchor_scratch *w);

/* P = (G - ridge I)^-1 into w->inverse, and b = P c into w->slope; false when nothing varies.
 * `all`: (r, r), covariance of y over all rows, or NULL. */
bool anchor_solve(const node_sums *m, double noise, const double *all, anchor_scratch *w,
                  node_fit *fit);
/* Sum of squares of rows left out, of node k. */
void anchor_fold(const node_block *b, size_t k, double noise, anchor_scratch *w, node_fit *fit);

/* Constant values: the slope that vanishes into w->slope, covariance (r, r) into w->inverse, both
 * for a z with sd 1 where the node is free. `share`: of its variance that is left at the targets.
 * False when no direction, or more than one, vanishes. */
bool anchor_direction(const node_sums *m, const double *all, double rows, double noise,
                      anchor_scratch *w, double *share);

#endif
