/* Graphs given z: candidates, families, posterior; see graph_posterior.c. */
#ifndef LSCM_INFER_GRAPH_GRAPH_POSTERIOR_H
#define LSCM_INFER_GRAPH_GRAPH_POSTERIOR_H

#include "infer/graph/dag.h"
#include "infer/graph/hyper.h"
#include "infer/mechanism/mechanism.h"
#include "infer/problem/problem.h"

typedef struct graph_posterior {
    families families;
    mechanisms
        mechanisms; /* of these families; they and the prior are what graphs are drawn from */
    candidate_lists lists;
    size_t draws;
    size_t *guess;       /* (d): an order to begin with, beyond DAG_EXACT_MOST nodes */
    uint32_t *parents;   /* (draws, d) */
    size_t *order;       /* (draws, d) */
    double *edge_prob;   /* (d, d) */
    double *row_weight;  /* (rows): of the families' sums; or NULL: all alike */
    double share;        /* mean size of rows so weighted, of which blur is that of 1 */
    double *leak_sd;     /* (d, d): by which what leaks moves a weight; 0: nothing leaks */
    hyper_grid grid;     /* what is not known of the prior */
    const double *unit;  /* (d): the caller's */
    double *conditional; /* (d): units of data without do(), or NULL */
    dag_prior *prior;    /* (draws): of each draw */
    uint32_t *may;       /* (d): candidates that may be parents, and those that must, */
    uint32_t *must;      /* where `known` */
    bool known;
    dag_tables *tables; /* that runs at several priors share, or NULL */
    dag_result result;
    size_t crowded, hub; /* as the screen tells them (screen.h) */
    double dispersion;   /* F: a row counts as 1/F of one; 1 where rows are independent */
    bends bends;         /* where `bent` */
    bool bent;
    bool exact;
    size_t chains; /* that draws are of, in turn; 0: they are independent */
    arena memory;
} graph_posterior;

/* psi, step: as families_correct has them; NULL: z is free of noise. */
lscm_status graph_posterior_of(graph_posterior *out, const anchored_input *in, const double *z,
                               const double *unit, const double *psi, size_t step, lscm_error *why);
/* Edge probabilities (d, d) by chains worth `ess` draws: of candidates that are not required what
 * chains_told says (convergence.h), m the share of them that are edges, (sum of p +
 * 1/2)/(candidates
 * + 1). So doubt is spread over all pairs, but makes no edges: 1/2 in place of m would give chains
 * worth 4 draws a tenth of an edge for every pair that none of them has. */
void edges_told(double *edge_prob, const mechanisms *m, double ess);
/* What becomes of the first draws of the linear law, drawn by `of`, where mechanisms bend
 * (g->bent); their parents are those of g. */
lscm_status graph_draw_bends(const graph_posterior *g, rng of, rng by, bend_draws *draws,
                             lscm_error *why);
void graph_posterior_close(graph_posterior *g);

#endif
