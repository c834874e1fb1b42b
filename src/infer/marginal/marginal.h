/* The likelihood of x with the causal variables integrated out, x linear in z: its value, its
 * gradient, EM, and draws of z given x.
 */
#ifndef LSCM_INFER_MARGINAL_MARGINAL_H
#define LSCM_INFER_MARGINAL_MARGINAL_H

#include "infer/marginal/collapse.h"       /* the law and its maximum */
#include "infer/marginal/collapse_state.h" /* the steps, one by one */

#endif
