/* Have several chains told the same story? For a quantity x[chain][t], chains of n each:
 *
 *   split R-hat: every chain in two halves, W their mean variance, B/n the variance of their means,
 *                R = sqrt(((n-1)/n W + B/n) / W);
 *   ESS: m n / (1 + 2 sum_t rho_t), rho_t = 1 - (W - mean autocovariance at t)/var+, summed in
 * pairs while they are positive and made to fall (Geyer).
 *
 * Both finite for any finite x; 1 and m n when x is constant.
 */
#ifndef LSCM_INFER_GRAPH_CONVERGENCE_H
#define LSCM_INFER_GRAPH_CONVERGENCE_H

#include <stddef.h>

/* x (chains, n); at least 4 of each chain, else 1 and chains n. */
double split_r_hat(const double *x, size_t chains, size_t n);
double effective_samples(const double *x, size_t chains, size_t n);

#endif
