/* The anchored method: causal variables read off x, then a posterior over graphs and mechanisms.
 *
 *     signal y -> anchor z = a + y B -> families -> graphs -> W, s, c given the graph
 *
 * Where the encoder is known so well that its error cannot show (or z is observed), the draws are
 * independent: graphs from dag_exact or dag_mcmc at this z, mechanisms from their conjugate law.
 * Elsewhere encoder, graph and mechanisms are drawn together (joint.h), from these as a start; and
 * where x is so noisy that z of a row is uncertain, or z was clipped, z too (latent_chain.h).
 */
#ifndef LSCM_INFER_ANCHORED_H
#define LSCM_INFER_ANCHORED_H

#include "infer/anchor.h"
#include "infer/dag.h"
#include "infer/gram.h"

typedef struct anchored_input {
    const signal *signal;
    const uint8_t *keep; /* (rows) or NULL: use only rows where it is not 0 */
    const lscm_fit_settings *settings;
    const size_t *order;                 /* (d), or NULL: learned */
    const uint8_t *forbidden, *required; /* (d, d), or NULL */
    bool read_off;       /* the variables are not observed, but were read off x before */
    const double *reach; /* (d) or NULL: z_j is known within +-reach_j, beyond that only its sign */
    bool saturated; /* with reach: x may say nothing of z beyond it, as pixels do at their ends */
    const double *leak; /* (d) or NULL: variance, per direction, that others leak into z_j */
    double gain;        /* with leak: sd of the error of the scale of z_j, a share of it */
    const double *blur; /* (d, d, d) or NULL: covariance of the error of z where node i is free,
                           mean over rows; for variables that were read off x before */
    const double *size; /* (rows) or NULL: of each row, as row_weights.h has it */
    size_t draws;
    bool brief; /* few draws are all that is wanted, of kept rows alone: no edge probabilities,
                   chains a quarter shorter */
    const lscm_progress *progress;
} anchored_input;

typedef enum anchored_sampler {
    SAMPLER_EXACT,
    SAMPLER_MCMC,
    SAMPLER_JOINT, /* encoder too */
    SAMPLER_LATENT /* z too */
} anchored_sampler;

typedef struct anchored {
    size_t d, rank, rows, draws;
    anchor anchor;
    double *unit;   /* (d): of the prior */
    double *z;      /* (rows, d): by the mean encoder; censored entries imputed */
    double *shift;  /* (d): a, mean over draws */
    double *slope;  /* (r, d): B, mean over draws */
    double *z_sd;   /* (rows, d): of z itself; NULL: by noise and spread */
    double *spread; /* (d, r + 1, r + 1): covariance of (a_j, b_j) over draws; NULL: none */
    double *w;      /* (draws, d, d) */
    double *sigma, *intercept; /* (draws, d) */
    size_t *order;             /* (draws, d) */
    double *log_p, *log_q;     /* (draws) */
    double *edge_prob;         /* (d, d) */
    anchored_sampler sampler;
    double r_hat, ess, log_evidence;
    double dispersion; /* F: a row counts as 1/F of one; 1 where rows are independent */
    double clip;       /* C: z is clipped at +-C, as asked or as found; 0: it is not */
    size_t censored;   /* entries of z at the clip */
    double seconds_anchor, seconds_graph;
    arena memory, rows_memory; /* of all; of z_sd */
} anchored;

lscm_status anchored_infer(anchored *out, const anchored_input *in, lscm_error *why);
void anchored_close(anchored *a);

/* ---- anchored_graph.c ---- */

/* Graphs given z: candidates, families, posterior. */
typedef struct graph_posterior {
    families families;
    size_t *count, *candidate; /* (d), (d, most) */
    size_t most, draws;
    size_t *guess; /* (d): an order to begin with, beyond DAG_EXACT_MOST nodes */
    dag_prior prior;
    uint32_t *parents;  /* (draws, d) */
    size_t *order;      /* (draws, d) */
    double *edge_prob;  /* (d, d) */
    double *row_weight; /* (rows): of the families' sums; or NULL: all alike */
    double *leak_sd;    /* (d, d): by which what leaks moves a weight; 0: nothing leaks */
    double *variance;   /* (draws): s^2 of the draw, one variance for all; else 0 */
    dag_result result;
    double dispersion; /* F: a row counts as 1/F of one; 1 where rows are independent */
    bool exact;
    arena memory;
} graph_posterior;

/* psi, step: as families_correct has them; NULL: z is free of noise. */
lscm_status graph_posterior_of(graph_posterior *out, const anchored_input *in, const double *z,
                               const double *unit, const double *psi, size_t step, lscm_error *why);
void graph_posterior_close(graph_posterior *g);

#endif
