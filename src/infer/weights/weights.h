/* q(L, S), the law of weights and noise of the paper's algorithm and the baselines: a horseshoe
 * prior with every expectation integrated.
 */
#ifndef LSCM_INFER_WEIGHTS_WEIGHTS_H
#define LSCM_INFER_WEIGHTS_WEIGHTS_H

#include "infer/weights/horseshoe.h"  /* the prior */
#include "infer/weights/weight_law.h" /* the law */

#endif
