/* The maximum of the likelihood under a graph, and log p about it as a quadratic in the weights of
 * all pairs of nodes, edges or not:
 *
 *     log p(y | W) ~ h'w - 1/2 w' L w,   L = H_ww - H_wn H_nn^-1 H_nw,   h = g_w - H_wn H_nn^-1 g_n
 * + L w_0,
 *
 * H the observed information (derivatives by theta of the gradient, differences of either side), n
 * all of theta but W: encoder, intercepts, sigma. L carries their errors into the weights.
 */
#ifndef LSCM_INFER_LIKELIHOOD_LIKELIHOOD_FIT_H
#define LSCM_INFER_LIKELIHOOD_LIKELIHOOD_FIT_H

#include "infer/likelihood/likelihood_value.h"

typedef struct likelihood_quadratic {
    size_t d, nuisances;
    bool positive;  /* L is, by itself */
    double value;   /* log p at theta */
    double *theta;  /* (count) */
    double *root;   /* (n, n): Cholesky factor of H_nn, lower, column by column */
    double *across; /* (n, d^2): H_nn^-1 H_nw */
    double *along;  /* (n): H_nn^-1 g_n */
    double *l;      /* (d^2, d^2): L, 0 where a pair is a node and itself */
    double *h;      /* (d^2) */
} likelihood_quadratic;

/* Memory of a fit; lay_out as ever. */
typedef struct likelihood_fit {
    const likelihood_sums *sums;
    likelihood_fixed fixed;
    likelihood_quadratic quadratic;
    double *theta;       /* (count) */
    double *information; /* (count, count): H */
    size_t *active;      /* (count): what is free to move */
    double *metric;      /* (count, count): about H^-1 of these */
    double *vectors;     /* (8, count) */
    double *eigen;       /* (count, count) */
    double *work;        /* (threads, likelihood_work + 3 count) */
    size_t threads;
    const lscm_progress *progress; /* of likelihood_information; may be NULL */
    bool stopped;                  /* it said so */
} likelihood_fit;

void likelihood_fit_lay_out(likelihood_fit *f, arena *a, size_t d);
/* H at theta, unless it is stopped. */
void likelihood_information(likelihood_fit *f);
/* Moves theta to the maximum over all but the weights outside `parents` (d), which are 0; H should
 * be that of a place nearby. False where it is not reached. *out: log p there. */
bool likelihood_maximise(likelihood_fit *f, const uint32_t *parents, double *out);
/* The quadratic at theta, from H there. False where H_nn is not positive; where L is not, it is
 * made so, good enough to look for a better graph. */
bool likelihood_expand(likelihood_fit *f);
/* What the quadratic has for the maximum over the weights of these edges (count), less log p at
 * theta; scratch as in likelihood_evidence. */
double likelihood_told(const likelihood_quadratic *q, const uint32_t *parents, double *scratch);

#endif
