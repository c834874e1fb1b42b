/* The posterior over DAGs given the causal variables, under the order-modular prior: a uniform
 * order, then each node its parents among those before it, P(G, order | data) ~ prod_i
 * score_i(pa_i) (mechanism/law.h). So a graph weighs as many times as it has orders;
 * dag_extensions.h counts them, for weights that make the prior over DAGs uniform. dag_exact.c sums
 * over all orders by dynamic programming over subsets (d <= DAG_EXACT_MOST); dag_mcmc.c samples
 * orders beyond, and from there graphs that each count once.
 */
#ifndef LSCM_INFER_GRAPH_DAG_H
#define LSCM_INFER_GRAPH_DAG_H

#include "infer/graph/order_sums.h"
#include "infer/graph/parent_sets.h"
#include "infer/mechanism/mechanism.h"

enum { DAG_EXACT_MOST = 20 };

/* Draws of graph and order. */
typedef struct dag_draws {
    size_t count, d;
    uint32_t *parents; /* (count, d): bit mask over the candidates of each family */
    size_t *order;     /* (count, d), causes first */
} dag_draws;

typedef struct dag_result {
    double *edge_prob;   /* (d, d): j -> i; NULL: not wanted, which saves time */
    double log_evidence; /* log sum over orders of prod_i score_i, minus log d!; for the one order
                          * where one is given; NaN from MCMC */
    double r_hat, ess;   /* of the edge indicators, the worst; 1 and the count when exact; NaN from
                          * MCMC without edge_prob. Where chains were replaced ess is no more than
                          * those that found the place by themselves */
    size_t replaced;     /* chains that stood far too low and went on from the best one's place */
    double r_hat_kept;   /* after that; r_hat is from before, where any did */
} dag_result;

/* What an exact sum over all orders leaves for the next of the same families: where the prior is
 * the same but for the log odds no set is scored again, and where these are, too, no order is
 * summed over again. Zero to begin with; d and threads are those of the first. */
typedef struct dag_tables {
    parent_sets *sets; /* (d) */
    double **scratch;  /* (threads, 2 subset_entries(d - 1)): the second for scores that are not
                        * kept */
    order_sums sums;
    int threads;
    dag_prior prior;       /* that the tables are of */
    bool scored, backward; /* the scores and forward sums are there; the backward sums, too */
    arena memory;
} dag_tables;
void dag_tables_close(dag_tables *t);

/* What graphs are of. */
typedef struct dag_problem {
    const mechanisms *mechanisms;
    const size_t *order; /* (d) or NULL: only this order, then any d */
    rng r;               /* a stream of its own */
    const lscm_progress *progress;
    dag_tables *tables; /* the caller's, or NULL: nothing is left; of exact sums over all orders */
} dag_problem;

/* draws->count may be 0; draw k takes the random numbers 3 d k .. 3 d k + 3 d - 1. Memory in the
 * caller's arrays; the same numbers for any number of threads. LSCM_VALUE when no DAG has the
 * required edges; LSCM_STOPPED when progress says so. */
lscm_status dag_exact(const dag_problem *problem, const dag_draws *draws, dag_result *out,
                      lscm_error *why);

/* What is known of the edges beforehand: masks over the candidates of each family. */
typedef struct dag_known {
    const uint32_t *may;  /* (d): those that may be parents */
    const uint32_t *must; /* (d): those of them that are */
} dag_known;

/* The same where no order is given, and some edges are known. */
lscm_status dag_exact_known(const dag_problem *problem, const dag_known *known,
                            const dag_draws *draws, dag_result *out, lscm_error *why);

/* Chains, where `asked` are asked for; draw k is of chain k mod chains. */
size_t dag_chains(int64_t asked);
typedef struct dag_mcmc_settings {
    size_t chains, steps; /* steps of each chain, the first half thrown away; 0 chooses */
    const size_t *start;  /* (d) or NULL: a good order, to begin one of the chains with */
    bool uniform;         /* graphs count once, not as often as they have orders (edge_walk.h) */
    bool brief;           /* where steps are chosen: a quarter fewer */
} dag_mcmc_settings;
lscm_status dag_mcmc(const dag_problem *problem, const dag_mcmc_settings *settings,
                     const dag_draws *draws, dag_result *out, lscm_error *why);

#endif
