/* What a fit says of interventions that it was not shown. Rows are left out, the model is made
 * again of the others, and asked what do() gives there: sets at random (judge_sets.h), then targets
 * whole (judge_targets.h).
 */
#ifndef LSCM_INFER_JUDGE_JUDGE_H
#define LSCM_INFER_JUDGE_JUDGE_H

#include "infer/judge/judge_score.h"   /* the predictive law of z */
#include "infer/judge/judge_sets.h"    /* sets held out */
#include "infer/judge/judge_targets.h" /* targets left out whole */
#include "infer/judge/judged.h"        /* a way to fit */
#include "infer/judge/set_ratio.h"     /* ratios of sums over sets, and how far chance takes them */

#endif
