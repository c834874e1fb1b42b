/* A chain of joint.h from the inside. */
#ifndef LSCM_INFER_JOINT_STATE_H
#define LSCM_INFER_JOINT_STATE_H

#include "infer/joint.h"

/* What the labels say of node j: over the rows with t_j = 1, centred. */
typedef struct label_sums {
    double rows;
    double *mean;         /* (r): of y */
    double *scatter;      /* (r, r) */
    double *cross;        /* (r): with v_j */
    double value, values; /* mean of v_j; its scatter */
} label_sums;

typedef struct joint_chain {
    const joint_problem *p;
    const label_sums *label; /* (d) */
    size_t d, r;
    double rows; /* n: rows in use */
    rng random;
    uint64_t used;  /* random numbers so far */
    rng mechanisms; /* their own stream */
    uint64_t drawn;
    dag_prior prior; /* its variance moves when equal */

    family *family;                    /* (d): own scatter and mean */
    uint32_t *parents;                 /* (d) */
    double *score;                     /* (d): of the parents */
    size_t *order, *position;          /* (d) */
    double *w;                         /* (d, d) */
    double *sigma, *intercept, *shift; /* (d) */
    double *slope;                     /* (r, d): B */
    double *inverse;                   /* (d, r): B^-1 */
    double log_det;                    /* of B */
    double *noise;                     /* (d): t_j */
    double *label_fit;                 /* (d): log p of the labels */

    double *precision, *factor;                /* (r, r) */
    double *linear, *column, *product, *other; /* (r) */
    double *encode;                            /* (2 most r): work of grams_encode */
    size_t *columns;                           /* (most) */
    int *pivots;                               /* (r) */
    size_t *rename; /* (3 d): of nodes without labels, in the draw that is kept; scratch */
    double *sign;   /* (d) */
} joint_chain;

/* Scatter and mean of family i for the present encoder. */
void joint_refresh(joint_chain *c, size_t i);
/* The log score of family i with these parents. */
double joint_score(const joint_chain *c, size_t i, uint32_t parents);
double joint_uniform(joint_chain *c);
double joint_normal(joint_chain *c);
double joint_chi2(joint_chain *c, double dof);

/* joint_graph.c: edges and order given the scatters; W, s, c given all that. */
void joint_move_graph(joint_chain *c);
void joint_draw_mechanisms(joint_chain *c);

/* joint_encoder.c: B^-1 afresh; one pass over the labelled columns; nodes without labels, W and s
 * integrated out; label noise and shifts. */
bool joint_invert(joint_chain *c);
void joint_draw_columns(joint_chain *c);
void joint_move_unlabelled(joint_chain *c);
void joint_draw_labels(joint_chain *c);

#endif
