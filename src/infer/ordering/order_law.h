/* q(P | L, S): a distribution over causal orders. P[k][i] = 1 when node i stands at position k.
 *
 *   T = 10 tanh(net(L, log s)/10)         logits (d, d), net: inputs-128-128-d^2, GELU
 *   hard P = argmax <P, T + Gumbel>       by assignment
 *   soft P = Sinkhorn((T + Gumbel)/tau)   whose gradient stands in for that of the hard one
 *   log q(P | L, S) = <P, T> - log perm(exp T)
 *
 * The last line is the Gibbs law, not quite the law of Gumbel and assignment (KL about .16 to .19
 * at d = 5 to 7), as in the paper; the permanent by Bethe's approximation, or exactly.
 */
#ifndef LSCM_INFER_ORDERING_ORDER_LAW_H
#define LSCM_INFER_ORDERING_ORDER_LAW_H

#include "base/rng.h"
#include "net/network.h"

typedef struct order_law order_law;

lscm_status order_open(order_law **out, const device *on, size_t d, size_t inputs, size_t draws,
                       bool exact, lscm_error *why);
void order_close(order_law *law);

/* The network's parameters and, after order_back, their gradient. */
size_t order_parameters(const order_law *law);
float *order_parameter(order_law *law);
const float *order_gradient(const order_law *law);
/* A fresh network. */
void order_begin(order_law *law, rng r);

/* For each draw theta (draws, inputs): order (draws, d) and log_q (draws). Fails with LSCM_VALUE
 * when the logits are not finite. */
lscm_status order_draw(order_law *law, const double *theta, double temperature, rng gumbel,
                       size_t *order, double *log_q, lscm_error *why);
/* After order_draw: slope (draws, d, d) is the gradient of the rest of the loss in the hard P, and
 * `weight` that of each log_q. Sets the network's gradient; adds to theta_slope (draws, inputs). */
void order_back(order_law *law, const double *slope, double weight, double *theta_slope);

#endif
