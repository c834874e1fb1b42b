/* z of noisy rows given x, x linear in z: its law, and draws of z and of the decoder.
 */
#ifndef LSCM_INFER_MARGINAL_MARGINAL_H
#define LSCM_INFER_MARGINAL_MARGINAL_H

#include "infer/marginal/collapse.h"       /* the law, and draws */
#include "infer/marginal/collapse_state.h" /* the steps, one by one */

#endif
