/* What an inference over graphs answers: encoder, draws of graph and mechanisms, how far to trust
 * them. */
#ifndef LSCM_INFER_PROBLEM_ANCHORED_DRAWS_H
#define LSCM_INFER_PROBLEM_ANCHORED_DRAWS_H

#include "infer/anchor/anchor.h"
#include "scm/mechanism/mechanism.h"

typedef enum anchored_sampler {
    SAMPLER_EXACT,
    SAMPLER_MCMC,
    SAMPLER_JOINT,     /* encoder too */
    SAMPLER_LATENT,    /* z too */
    SAMPLER_LIKELIHOOD /* none: a quadratic of the likelihood */
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
    double *effect;            /* (draws, d): sd of the intercepts that sets have of their own */
    bent_mechanisms bent;      /* with terms where mechanisms bend; `bends` */
    bool bends;
    noise_shapes noise;    /* (draws, d): laws of noise, sigma their sd; NULL: normal */
    double *noise_weight;  /* (d, rows), .. */
    double *noise_sd;      /* .. (d): as drawn last (anchored_input.h); NULL: normal */
    double noise_evidence; /* log of how much likelier residuals are with such laws; 0: not asked */
    size_t *order;         /* (draws, d) */
    double *log_p, *log_q; /* (draws) */
    double *edge_prob;     /* (d, d) */
    anchored_sampler sampler;
    bool hole;              /* of the slab, beside these */
    bool conditional;       /* .. in units of data without do() (graph/hyper.h) */
    double ridge, log_odds; /* of the prior, as a draw in the middle has them */
    double r_hat, ess, log_evidence;
    double edge_ess;   /* independent draws that chains are worth where edges come and go */
    size_t replaced;   /* chains that fitted far worse than the best and went on from its place */
    double r_hat_kept; /* after that; r_hat is from before, where any did */
    size_t crowded;    /* edges whose direction may be undecided, but had no room to be turned .. */
    size_t hub;        /* .. most of them at this node */
    double dispersion; /* F: a row counts as 1/F of one; 1 where rows are independent */
    double clip;       /* C: z is clipped at +-C, as asked or as found; 0: it is not */
    size_t censored;   /* entries of z at the clip */
    double seconds_anchor, seconds_graph;
    double seconds_search;     /* of the second, graphs given the encoder */
    double seconds_brief;      /* of both, what they take where few draws are wanted */
    arena memory, rows_memory; /* of all; of z_sd */
    arena bent_memory;         /* of bent */
    arena noise_memory;        /* of noise */
} anchored;

void anchored_close(anchored *a);

#endif
