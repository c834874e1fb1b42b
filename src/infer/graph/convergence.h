/* Have several chains told the same story? For a quantity x[chain][t], chains of n each:
 *
 *   split R-hat: every chain in two halves, W their mean variance, B/n the variance of their means,
 *                R = sqrt(((n-1)/n W + B/n) / W);
 *   ESS: m n / (1 + 2 sum_t rho_t), rho_t = 1 - (W - mean autocovariance at t)/var+, summed in
 * pairs while they are positive and made to fall (Geyer).
 *
 * Both finite for any finite x; 1 and m n when x is constant.
 *
 * What chains say of an event can be no surer than the independent draws they are worth, n: of one
 * that a share p of them has, and that has probability m beforehand, the posterior mean of its
 * probability is (n p + m)/(n + 1): what is known beforehand counts as one draw. Chains in modes of
 * their own are worth about as many draws as there are chains, and so say nothing beyond some .9;
 * chains that agree are worth hundreds, and nothing changes.
 */
#ifndef LSCM_INFER_GRAPH_CONVERGENCE_H
#define LSCM_INFER_GRAPH_CONVERGENCE_H

#include <stddef.h>

/* x (chains, n); at least 4 of each chain, else 1 and chains n. */
double split_r_hat(const double *x, size_t chains, size_t n);
double effective_samples(const double *x, size_t chains, size_t n);
/* The same of x (chains, n), 0 or 1, whose draws have weights w (chains, n), not all 0: p (1 - p)
 * over the variance of p = sum w x / sum w, which is that of the mean of w (x - p). work (chains,
 * n). */
double weighted_samples(const double *x, const double *w, size_t chains, size_t n, double *work);
/* (n p + m)/(n + 1) */
double chains_told(double p, double n, double m);

#endif
