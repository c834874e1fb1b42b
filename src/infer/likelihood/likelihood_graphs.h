/* Graphs, and the point (t, p, hole) of the prior, given the quadratic. With G the edges of a
 * graph, V = diag(sigma_i^2/t) their slab,
 *
 *     log p(y | G, t) = 1/2 h_G'(L_GG + V^-1)^-1 h_G - 1/2 log |L_GG + V^-1| - 1/2 log |V| + log
 * p(sigma | t, G),
 *
 * exact given it (with a hole, times the mean of w^2/V of each edge). A chain adds, removes, turns
 * and exchanges edges, each way as likely as back, and draws the point in turn.
 */
#ifndef LSCM_INFER_LIKELIHOOD_LIKELIHOOD_GRAPHS_H
#define LSCM_INFER_LIKELIHOOD_LIKELIHOOD_GRAPHS_H

#include "base/rng.h"
#include "infer/graph/graph.h"
#include "infer/likelihood/likelihood_fit.h"

typedef struct likelihood_prior {
    const hyper_grid *grid;
    double dof;               /* of sigma, without parents */
    const uint32_t *allowed;  /* (d): parents that may be, .. */
    const uint32_t *required; /* .. and must be */
} likelihood_prior;

typedef struct likelihood_draw {
    double ridge, log_odds, score; /* score: log p(y, G, point) */
    bool hole;
    uint32_t parents[LIKELIHOOD_MOST];
} likelihood_draw;

size_t likelihood_scratch(size_t d); /* doubles, of what follows */
/* From `draw` on, `steps` moves; draws (count) taken evenly over the last three quarters. */
void likelihood_chain(const likelihood_quadratic *q, const likelihood_prior *p, size_t steps, rng r,
                      likelihood_draw *draw, likelihood_draw *draws, size_t count, double *scratch);
/* Weights w (d, d), 0 without an edge, and nuisances (n) drawn given graph and point. */
void likelihood_weights(const likelihood_quadratic *q, const likelihood_draw *draw, rng r,
                        uint64_t index, double *w, double *nuisances, double *scratch);
/* log p(y | G, t) of the draw's graph at some slab; not its prior. */
double likelihood_evidence(const likelihood_quadratic *q, const likelihood_prior *p,
                           const uint32_t *parents, double ridge, bool hole, double *scratch);

#endif
