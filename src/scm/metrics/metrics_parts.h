/* The parts of metrics_evaluate, one file per idea; definitions in docs/metrics.md. Every part has
 * its scratch in one arena (lay_out measures, then places) and fills its own fields of lscm_scores,
 * which start as NaN. All parts trust metrics_evaluate to have checked the numbers.
 */
#ifndef LSCM_SCM_METRICS_METRICS_PARTS_H
#define LSCM_SCM_METRICS_METRICS_PARTS_H

#include "base/arena.h"
#include "scm/graph/graph.h"
#include "scm/metrics/metrics.h"

/* Graphs of the draws against the true graph: SHDs, counts, rates. */
typedef struct structure_work {
    uint8_t *truth, *truth_class; /* (d, d): the true graph and its CPDAG */
    uint8_t *draw, *draw_class;   /* (d, d): those of one draw */
    cpdag_work cpdag;
} structure_work;
void structure_lay_out(structure_work *work, arena *a, size_t d);
lscm_status structure_scores(lscm_scores *out, const lscm_estimate *estimate,
                             const lscm_truth *truth, const char *estimate_name,
                             const char *truth_name, const structure_work *work, lscm_error *why);

/* Entries of w over the draws: w_mse, edge probabilities and their ranking. */
typedef struct edges_work {
    double *share;    /* (d, d): of draws over the threshold */
    double *mean_abs; /* (d, d): mean |w| over draws */
    double *error;    /* (d): squared error of one row, summed over draws */
    scored *items;    /* (d*(d-1)): off-diagonal entries */
} edges_work;
void edges_lay_out(edges_work *work, arena *a, size_t d);
void edges_scores(lscm_scores *out, const lscm_estimate *estimate, const lscm_truth *truth,
                  const edges_work *work);

/* Do intervals and probabilities say what they mean: coverage of weights, ECE of edges. */
typedef struct calibration_work {
    double *not_above, *not_below; /* (d): number of draws <= truth, >= truth */
    double *last_at, *first_over;  /* (d): largest draw <= truth, smallest > truth */
    double *first_at, *last_under; /* (d): smallest draw >= truth, largest < truth */
} calibration_work;
void calibration_lay_out(calibration_work *work, arena *a, size_t d);
/* edge_prob (d, d): the estimate's own, or the share of draws. */
void calibration_scores(lscm_scores *out, const lscm_estimate *estimate, const lscm_truth *truth,
                        const double *edge_prob, const calibration_work *work);

/* Latents: correlations of z. */
typedef struct column_centres {
    size_t *count;  /* (d): rows that count */
    double *origin; /* (d): the first of them */
    double *mean;   /* (d): their mean, less the origin */
    double *scale;  /* (d): 1 / largest distance from the origin, or 0 for a constant */
} column_centres;
typedef struct latents_work {
    column_centres estimate, truth;
    double *left, *right;   /* (block, d): centred rows */
    double *cross;          /* (d, d): left' right, then -|correlation| */
    double *ss_e, *ss_t;    /* (d): sums of squares */
    double *dot;            /* (d): sums of products node by node */
    size_t *match;          /* (d) */
    assignment_work assign; /* of d rows */
    size_t block;           /* rows in a block */
} latents_work;
void latents_lay_out(latents_work *work, arena *a, size_t d);
lscm_status latents_scores(lscm_scores *out, const lscm_estimate *estimate, const lscm_truth *truth,
                           const latents_work *work, lscm_error *why);

/* Distribution: KL(true || draw) of the observational z. */
typedef struct kl_work {
    double *reach; /* (d, d): [i][k] = s_k R[k][i], R = (I - W)^-1 of the truth */
    double *gap;   /* (d, d): [i][k] = s_k (R (I - W of a draw))[k][i] */
    uint8_t *graph;
    size_t *order, *waiting;
} kl_work;
void kl_lay_out(kl_work *work, arena *a, size_t d);
void kl_scores(lscm_scores *out, const lscm_estimate *estimate, const lscm_truth *truth,
               const kl_work *work);

#endif
