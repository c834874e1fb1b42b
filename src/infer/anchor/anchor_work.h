/* The state of anchoring all nodes, and its steps: each node of a block (anchor_nodes.c), then all
 * of them together (anchor_finish.c). */
#ifndef LSCM_INFER_ANCHOR_ANCHOR_WORK_H
#define LSCM_INFER_ANCHOR_ANCHOR_WORK_H

#include "infer/anchor/anchor_state.h"

typedef struct anchor_fits {
    size_t d, r;
    double x_noise;
    double *centre;   /* (r): what y is relative to */
    double *v_centre; /* (d) */
    node_fit *fit;    /* (d) */
    double *slope;    /* (d, r): b of the regression */
    double *mean;     /* (d, r): of y at the targets */
    double *tilt;     /* (d, r): P b */
} anchor_fits;

typedef struct anchor_work {
    const linear_view *s;
    const uint8_t *keep;
    double rows; /* kept */
    row_sets sets;
    node_block block;
    anchor_fits fits;
    size_t threads, active, largest; /* largest: nodes of a block */
    size_t *node;                    /* (active): nodes with rows enough */
    double *all, *parts;             /* (r, r) covariance of y; (slices, r, r) */
    double *share, *doubt;           /* (d) */
    double *mean;                    /* (threads, r) */
    bool *constant;                  /* (d) */
    bool rough;                      /* a node is anchored although directions are missing */
    arena memory;
} anchor_work;

/* Node k of the block: its regression; b, a and P stay in the block. True when b and the residual
 * are too coarse: the rows must be looked at again. */
bool anchor_fit_node(const anchor_work *w, anchor *out, size_t k, anchor_scratch *t);
/* One step, with the residuals of the rows in the sums of the block. */
void anchor_refine_node(const anchor_work *w, size_t k, anchor_scratch *t);
/* What is left to say of a node once b stands. */
void anchor_measure_node(const anchor_work *w, anchor *out, size_t k, anchor_scratch *t);

/* share (d): the part u of Var v_j that actuator noise leaves in the residual, 0 when it is none
 * for all that is seen; doubt (d): the same for standard errors. Returns s_I. */
double anchor_shares(const anchor_fits *f, const anchor_kind *kind, double *share, double *doubt);
/* Node j of `out`; rows and columns 1 .. r of its covariance hold P G P (the result itself for a
 * direction). */
void anchor_finish(anchor *out, const anchor_fits *f, size_t j, double share, double doubt,
                   double *mean);

#endif
