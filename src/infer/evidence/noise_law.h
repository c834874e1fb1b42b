/* Laws of noise beside the normal one, as scale mixtures: for node i in row r
 *
 *     e_ri = s_i g_ri / sqrt(l_ri),   g_ri ~ N(0, 1),
 *
 *     student   l_ri ~ Gamma(nu/2, rate nu/2), so that e_ri/s_i is Student's t with nu,
 *     mixture   l_ri = 1, or 1/k^2 with probability p,
 *
 * nu, or (p, k), of a small grid whose points have probabilities, the normal law 1/2. nu is above
 * 2, so that e has a variance. Given l rows count l_ri in the sums of node i (families.h); given
 * the residuals e_ri of a model, s_i and what batches have of their own,
 *
 *     the point, l integrated out      P(point) prod_r p(e_ri/s_i | point)
 *     l_ri given the point             Gamma((nu + 1)/2, rate (nu + e_ri^2/s_i^2)/2), or one of two
 *     s_i given l                      sum_r l_ri e_ri^2 / chi2(n)
 *
 * in turn (noise_draw); the slopes' turn is the caller's.
 */
#ifndef LSCM_INFER_EVIDENCE_NOISE_LAW_H
#define LSCM_INFER_EVIDENCE_NOISE_LAW_H

#include "base/rng.h"
#include "infer/problem/problem.h"

enum { NOISE_POINTS = 15 };

typedef struct noise_point {
    double dof;          /* nu; INFINITY: normal, or a mixture */
    double share, ratio; /* p, k; p = 0: no mixture */
    double log_prior;
} noise_point;

typedef struct noise_grid {
    size_t count;
    noise_point point[NOISE_POINTS]; /* (count), the first normal */
} noise_grid;

/* auto: all of them. */
noise_grid noise_grid_of(lscm_noise_kind kind);
/* log density of x = e/s. */
double noise_log_density(const noise_point *p, double x);
/* Of x. */
double noise_variance(const noise_point *p);
/* The mean of l given x. */
double noise_mean_weight(const noise_point *p, double x);

/* The rows in which a node is free. */
typedef struct noise_rows {
    size_t count, batches;
    const double *e;       /* (count): residuals, with what batches have of their own */
    const uint32_t *batch; /* (count): which each is of */
} noise_rows;

/* The law of a node's noise. */
typedef struct noise_state {
    size_t point;
    double sigma;  /* s */
    double effect; /* sd of what batches have of their own */
} noise_state;

/* A few turns from state, and what they make of l (count). x (count), own (2, batches): scratch.
 * Turn 0, 1, .. takes part `part`, part + 1, .. of NOISE_TURNS of the stream. */
enum { NOISE_TURNS = 6, NOISE_PARTS = 5 * NOISE_TURNS };
void noise_draw(const noise_grid *grid, const noise_rows *rows, noise_state *state, double *weight,
                double *x, double *own, rng r, uint64_t part);

/* The log likelihood of x (n) as normal, at the scale that it likes best; and log of how much
 * likelier than `normal` it is where noise may be of any law of the grid, each law at the scale
 * that it likes best. Numbers without heavy tails are not asked. */
double noise_normal_likelihood(const double *x, size_t n);
double noise_likelier(const noise_grid *grid, const double *x, size_t n, double normal);
/* The same of residuals. */
double noise_evidence(const noise_grid *grid, const noise_rows *rows, const noise_state *state,
                      double *weight, double *x, double *own);

#endif
