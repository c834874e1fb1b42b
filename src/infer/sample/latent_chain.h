/* Graphs and mechanisms together with z itself, for rows whose z is uncertain: x is noisy, or z was
 * clipped. A sweep draws
 *
 *   z given the model       noisy: collapse_draw_z;  clipped: the censored entries, censor_draw
 *   tau given z and graph   what sets have of their own (set_means.h), which is integrated out here
 *   graph, W, s, c given z  graph_chain.h, on the scatters of this z at tau
 *   a_ik given all that     what sets have of their own, for the z that is drawn next
 *   A, b, s_I given z       noisy: collapse_draw_decoder, and the actuator's residuals
 *
 * and costs one pass over z. Noisy chains start from the z of the anchors, clipped ones from
 * censor_start. Clipped chains may get stuck: z that was drawn with a wrong graph speaks for it. So
 * once they have settled, those whose models fit far worse than the best go on from where that one
 * is. They agree with it by that alone: R-hat is then that of the chains as they settled, and the
 * one of the draws is told beside it.
 */
#ifndef LSCM_INFER_SAMPLE_LATENT_CHAIN_H
#define LSCM_INFER_SAMPLE_LATENT_CHAIN_H

#include "infer/graph/graph.h"

typedef struct latent_problem {
    const linear_view *view;
    const anchor *anchor;
    const double *z;              /* (rows, d): by the anchors */
    double clip;                  /* 0: noisy x; else z is clipped to [-clip, clip] */
    const double *reach;          /* (d) or NULL: of each node, where it is less than the clip */
    const uint8_t *unknown;       /* (rows, d) or NULL: entries that z says nothing of */
    const graph_posterior *graph; /* candidates and prior */
    const dag_draws *start;       /* a graph and order for each chain */
    size_t chains, sweeps;        /* the first third of the sweeps settles, and is left out */
    bool order_given;
    bool effects;   /* sets may have intercepts of their own */
    double *series; /* (draws): scratch */
    const lscm_progress *progress;
} latent_problem;

/* Fills the draws of `out`, its edge_prob, z, and z_sd (rows, d), and how far chains agree; counts
 * what is censored. */
lscm_status latent_sample(const latent_problem *p, rng r, anchored *out, double *z_sd,
                          lscm_error *why);

#endif
