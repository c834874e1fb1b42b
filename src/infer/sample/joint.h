/* The joint posterior of encoder, graph and mechanisms by Gibbs sampling, for data whose encoder is
 * not known exactly. With z = a + y B, B square, t_j the label noise of node j and n rows,
 *
 *     log p = (n - r - 1) log |det B|  -  sum_j sum_{t_j = 1} (z_j - v_j)^2 / (2 t_j^2)
 *             -  sum_i sum_{t_i = 0} (z_i - c_i - sum_p z_p w_pi)^2 / (2 s_i^2)  +  priors
 *
 * (a and c are flat in the units of y, B has the prior |det B|^-r: no choice of coordinates changes
 * them; integrated out, they leave this power). A sweep
 *
 *   1. moves the encoder, and edges with it, W and s integrated out           (joint_encoder.c,
 *      nodes without labels: joint_slide.c)
 *   2. draws edges and order given z, W and s integrated out                  (graph_chain.c)
 *   3. draws W, s, c, then B, W and edges along what no data tell             (joint_orbit.c),
 *      then each column b_j exactly: it is Gaussian but for |b_j . u|^(n-r-1)
 *
 * on d Gram matrices (view_scatter.h): its cost does not depend on n. Sets may have intercepts of
 * their own, a_ik ~ N(0, tau_i^2 s_i^2): these are integrated out, so that node i has a Gram matrix
 * for each tau, and a sweep begins by drawing tau_i, W and s integrated out. Where nodes were never
 * intervened on nothing tells which of them is which, nor their signs; each draw takes these at
 * random.
 */
#ifndef LSCM_INFER_SAMPLE_JOINT_H
#define LSCM_INFER_SAMPLE_JOINT_H

#include "infer/anchor/anchor.h"
#include "infer/graph/graph.h"
#include "infer/sample/view_scatter.h"

typedef struct joint_problem {
    const linear_view *view;
    const uint8_t *keep; /* (rows) or NULL */
    const anchor *anchor;
    const double *slope; /* (r, d): where to begin; full rank, columns without labels too */
    const view_scatter *scatter;
    mechanisms mechanisms;  /* scatters are each chain's own */
    bool equal;             /* one variance for all nodes */
    const hyper_grid *grid; /* of the prior */
    const size_t *order;    /* (d), or NULL: learned */
    bool noisy;             /* z of rows is drawn, too (joint_rows.c); keep is NULL then */
    bool interchangeable;   /* nodes without labels are: no background knowledge tells them apart */
} joint_problem;

typedef struct joint_draws {
    size_t count;
    size_t *order;             /* (count, d) */
    double *w;                 /* (count, d, d) */
    double *sigma, *intercept; /* (count, d) */
    double *effect;            /* (count, d): sd of what sets have of their own, tau s */
    double *log_p;             /* (count): log p of encoder, labels and graph, up to a constant */
    double *shift;             /* (count, d): a */
    double *slope;             /* (count, r, d): B */
} joint_draws;

typedef struct joint_settings {
    size_t chains;
    size_t sweeps; /* of each chain, its first third thrown away */
} joint_settings;

/* start: one graph and order for each chain. */
lscm_status joint_sample(const joint_problem *problem, const joint_settings *settings,
                         const dag_draws *start, rng r, const joint_draws *out,
                         const lscm_progress *progress, lscm_error *why);

#endif
