/* A chain of graphs and mechanisms given z, W and s integrated out where graphs move. Whoever owns
 * the families fills in their scatters before each sweep: z may move between sweeps (joint.c,
 * latent_chain.c).
 */
#ifndef LSCM_INFER_GRAPH_GRAPH_CHAIN_H
#define LSCM_INFER_GRAPH_GRAPH_CHAIN_H

#include "base/arena.h"
#include "infer/graph/dag.h"
#include "infer/graph/hyper.h"

typedef struct graph_chain {
    size_t d;
    mechanisms all;         /* the variance of the prior moves when equal */
    const hyper_grid *grid; /* of the prior, whose point moves; NULL: it stays */
    bool equal;             /* one variance for all nodes */
    bool order_given;
    bool *stopped; /* shared by all chains: somebody wants to stop */
    rng random;
    uint64_t used;  /* random numbers so far; every second index: neighbours share their bits */
    rng mechanisms; /* their own stream */
    uint64_t drawn;

    uint32_t *parents;         /* (d) */
    double *score;             /* (d): of the parents */
    size_t *order, *position;  /* (d) */
    double *w;                 /* (d, d) */
    double *sigma, *intercept; /* (d) */
    double *effect;            /* (d): sd of what sets have of their own */
} graph_chain;

/* The mechanisms as they are now. */
static inline mechanism_model graph_chain_model(const graph_chain *c)
{
    return (mechanism_model){.d = c->d, .w = c->w, .intercept = c->intercept, .sigma = c->sigma};
}

void graph_chain_lay_out(graph_chain *c, arena *a);
/* From graph and order `number` of `start`, with random numbers of its own. */
void graph_chain_begin(graph_chain *c, const dag_draws *start, size_t number, rng r);
/* Graph and mechanisms of another chain of the same families; random numbers stay its own. */
void graph_chain_copy(graph_chain *to, const graph_chain *from);
/* The log score of family i with these parents. */
double graph_chain_score(const graph_chain *c, size_t i, uint32_t parents);
/* Edges and order given the scatters; then W, s, c given all that. */
void graph_chain_move(graph_chain *c);
void graph_chain_draw(graph_chain *c);

/* After sweep `done` of `total`: reports where `progress` is not NULL (one chain does), and fails
 * with LSCM_STOPPED in every chain once a report said to stop. */
lscm_status chain_report(const graph_chain *c, const char *what, size_t done, size_t total,
                         const lscm_progress *progress, lscm_error *why);

/* The chain's own random numbers. */
double chain_uniform(graph_chain *c);
double chain_normal(graph_chain *c);
double chain_chi2(graph_chain *c, double dof);

#endif
