/* Between the files of the posterior over graphs. */
#ifndef LSCM_INFER_GRAPH_GRAPH_PARTS_H
#define LSCM_INFER_GRAPH_GRAPH_PARTS_H

#include "base/stages.h"
#include "infer/graph/dag_extensions.h"
#include "infer/graph/graph_posterior.h"

/* What one kind of slab says, while the other is asked. */
typedef struct graph_other {
    double log_evidence, ess;
    double *edge_prob; /* (d, d) */
    uint32_t *parents; /* (draws, d) */
    size_t *order;     /* (draws, d) */
    dag_prior *prior;  /* (draws) */
} graph_other;

typedef struct graph_scratch {
    graph_other other;
    uint8_t *forbidden;         /* (d, d) */
    double *w, *edge_prob;      /* (d, d) */
    double *weight;             /* (draws) */
    double *ratio;              /* (draws, points) */
    double *series;             /* (3, draws) */
    size_t *first;              /* (draws) */
    double *score;              /* (draws, slabs) */
    double *intercept, *slopes; /* (d) */
    double *variance, *leak;    /* (d) */
    uint32_t *parents;          /* (draws, d) */
    size_t *order;              /* (draws, d) */
    dag_prior *prior;           /* (draws) */
    dag_extensions extensions;  /* for a uniform prior over graphs */
    stages *runs;               /* graph_kinds.c: the first run, all others */
} graph_scratch;

/* graph_search.c: graphs at the prior as it is, draws first .. first + count - 1 and g->result; and
 * over all that is not known of the prior. */
lscm_status graph_run(graph_posterior *g, const anchored_input *in, size_t first, size_t count,
                      lscm_error *why);
lscm_status graph_search(graph_posterior *g, const anchored_input *in, graph_scratch *t,
                         lscm_error *why);
/* graph_kinds.c: the same by ratios of what draws are worth at the points of the grid. */
lscm_status graph_search_kinds(graph_posterior *g, const anchored_input *in, graph_scratch *t,
                               lscm_error *why);

/* graph_bends.c: whether mechanisms may bend at all; and the same again with bends, where they were
 * asked for or draws of g ask for them. psi, step: what noise of z adds (families_correct). */
bool graph_may_bend(const anchored_input *in);
lscm_status graph_bend(graph_posterior *g, const anchored_input *in, const double *z,
                       const double *psi, size_t step, graph_scratch *t, lscm_error *why);
/* graph_bends_read.c: the same of variables that were read off x, rows counting 1/F. Where g does
 * not bend after it, its families are as they were. */
lscm_status graph_bend_read_off(graph_posterior *g, const anchored_input *in, const double *z,
                                const double *psi, size_t step, graph_scratch *t, lscm_error *why);
/* Between the two: families of z in which a row counts so much, and their bends;
 * asking: bends_of. */
typedef struct graph_bent {
    families families;
    bends bends;
} graph_bent;
lscm_status graph_bent_of(graph_bent *out, const graph_posterior *g, const anchored_input *in,
                          const double *z, const double *psi, size_t step, double worth,
                          const bend_asking *asking, lscm_error *why);

/* graph_again.c: draws of g, their orders and priors, again with these weights, which come back as
 * shares of the largest; what was drawn before is in t. */
void graph_draw_again(graph_posterior *g, double *log_weight, graph_scratch *t, rng r);
/* Adds `weight` to the edges of a graph, parents (d). */
void graph_add_edges(const graph_posterior *g, const uint32_t *parents, double weight);
/* Draws and edges under the uniform prior over graphs. */
void graph_make_uniform(graph_posterior *g, const anchored_input *in, graph_scratch *t);

/* graph_class.c: to DAG_EXACT_MOST nodes; graphs that no set tells apart count alike in draws and
 * edges. */
void graph_share_classes(graph_posterior *g, const anchored_input *in, graph_scratch *t);

/* graph_weigh.c, of variables that were read off x: weights of rows, whose mean size is then
 * g->share; F, by the mean model of the draws of g; and what is left of all rows. */
lscm_status graph_weigh_rows(graph_posterior *g, const anchored_input *in, const double *z,
                             lscm_error *why);
lscm_status graph_find_dispersion(graph_posterior *g, const anchored_input *in, const double *z,
                                  graph_scratch *t, lscm_error *why);
lscm_status graph_weigh_slopes(graph_posterior *g, const anchored_input *in, const double *z,
                               graph_scratch *t, lscm_error *why);

#endif
