/* A chain of joint.h from the inside. */
#ifndef LSCM_INFER_SAMPLE_JOINT_STATE_H
#define LSCM_INFER_SAMPLE_JOINT_STATE_H

#include "infer/graph/graph.h"
#include "infer/marginal/marginal.h"
#include "infer/sample/joint.h"

/* What the labels say of node j: over the rows with t_j = 1, centred. */
typedef struct label_sums {
    double rows;
    double *mean;         /* (r): of y */
    double *scatter;      /* (r, r) */
    double *cross;        /* (r): with v_j */
    double value, values; /* mean of v_j; its scatter */
    double noise;         /* t_j to begin with; 0 when labels are exact */
    bool any;             /* enough rows to say something: two */
} label_sums;

typedef struct moving_edge moving_edge;
typedef struct slide_aim slide_aim;

typedef struct joint_chain {
    const joint_problem *p;
    const label_sums *label; /* (d) */
    size_t d, r;
    double rows; /* n: rows in use */
    double heat; /* share of the mechanisms' evidence that counts: below 1 while warming up */
    graph_chain g;
    family *family;           /* (d): own scatter and mean; g looks at them */
    double **scatter, **mean; /* (d): the same, to be filled: (m, m) and (m), m = count + 1 */
    const view_scatter *seen; /* of y, or of the z that stands in its place (joint_rows.c) */
    size_t *level;            /* (d): which tau each node has */
    family_room *narrow;      /* its parents alone, at every tau */

    double *shift;     /* (d): a */
    double *slope;     /* (r, d): B */
    double *inverse;   /* (d, r): B^-1 */
    double log_det;    /* of B */
    double *noise;     /* (d): t_j */
    double *label_fit; /* (d): log p of the labels */

    collapse *rows_law; /* joint_rows.c, where x is noisy: the laws of rows, .. */
    collapse_parameters model;
    view_scatter room[2], *own, *other_own; /* .. what is seen of their z, and scratch, .. */
    double *z, *moved;  /* (rows, d) .. that and scratch; NULL until it is drawn .. */
    double *read;       /* (r, d), .. and the encoder A^-1, .. */
    double *read_shift; /* (d), .. -b A^-1, .. */
    double *offset;     /* (sets, d), .. what sets have of their own, and .. */
    double *residual;   /* (r, d), .. B (I - W) */
    rng rows_random, offset_random;
    arena rows_memory;

    double *precision, *factor;                /* (r, r) */
    double *linear, *column, *product, *other; /* (r) */
    double *encode;                            /* (2 most r): work of view_scatter_encode */
    size_t *columns;                           /* (most) */
    int *pivots;                               /* (r) */
    double *ridge;                             /* (d): the nodes' own */
    moving_edge *moving;                       /* (4 d): work of joint_orbit.c */
    double *option;                            /* (4 d + 1) */
    slide_aim *aim;                            /* (2 d): work of joint_slide.c */
    size_t *rename; /* (3 d): of nodes without labels, in the draw that is kept; scratch */
    double *sign;   /* (d) */
} joint_chain;

/* Scatter and mean of family i for the present encoder. */
void joint_refresh(joint_chain *c, size_t i);
/* n - r - 1, the power of |det B|. */
double joint_power(const joint_chain *c);
/* joint_encoder.c: B^-1 afresh; one pass over the labelled columns; moves of the encoder with W and
 * s integrated out; label noise and shifts. */
bool joint_invert(joint_chain *c);
void joint_draw_columns(joint_chain *c);
void joint_move_encoder(joint_chain *c);
void joint_draw_labels(joint_chain *c);
/* The scores of all families that z_j is in, with the present parents. */
double joint_scores_with(joint_chain *c, size_t j);
/* The bit of node k among the candidates of node j, or 0. */
uint32_t joint_bit(const joint_chain *c, size_t j, size_t k);

/* joint_orbit.c: B, W and edges of nodes without labels, along what no data tell. */
void joint_lay_out_orbits(joint_chain *c, arena *a);
void joint_move_orbits(joint_chain *c);

/* joint_slide.c: B and edges along the same lines, W and s integrated out. */
void joint_lay_out_slides(joint_chain *c, arena *a);
void joint_move_slides(joint_chain *c);

/* Scores and intercepts for the present encoder. */
void joint_refresh_means(joint_chain *c);
/* joint_rows.c: from joint_rows_begin on z of noisy rows is drawn, sweep by sweep. */
lscm_status joint_rows_open(joint_chain *c, lscm_error *why);
void joint_rows_close(joint_chain *c);
void joint_rows_begin(joint_chain *c);
void joint_rows_move(joint_chain *c);
void joint_rows_draw(joint_chain *c, size_t sweep);

#endif
