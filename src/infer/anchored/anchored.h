/* The anchored method: assembly only. Linear x, x that bends, what held-out interventions say of
 * the result, and what a scientist would want to be told.
 */
#ifndef LSCM_INFER_ANCHORED_ANCHORED_H
#define LSCM_INFER_ANCHORED_ANCHORED_H

#include "infer/anchored/advice.h"          /* warnings */
#include "infer/anchored/anchored_fit.h"    /* the method */
#include "infer/anchored/anchored_infer.h"  /* from a view of x to draws */
#include "infer/anchored/anchored_judged.h" /* the same without some rows, to be judged */
#include "infer/anchored/anchored_noise.h"  /* noise with heavy tails */
#include "infer/anchored/nonlinear.h"       /* x that bends */
#include "infer/anchored/viewing.h"         /* pictures of things that move */

#endif
