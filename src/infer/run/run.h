/* What every method needs while it runs: the fit as it stands, background knowledge, the run
 * folder with its checkpoint and trace, and the one loop that trains whatever learns by steps.
 *
 * Promise: a run that was stopped and resumed takes the same steps, bit for bit.
 */
#ifndef LSCM_INFER_RUN_RUN_H
#define LSCM_INFER_RUN_RUN_H

#include "infer/run/belonging.h"  /* whose a setting is */
#include "infer/run/directions.h" /* edges that nothing directs */
#include "infer/run/fit_state.h"  /* a fit from the inside */
#include "infer/run/knowledge.h"  /* edges that must or may not be */
#include "infer/run/run_files.h"  /* checkpoints */
#include "infer/run/seen.h"       /* values that the rows have */
#include "infer/run/trace.h"      /* trace.csv */
#include "infer/run/trainee.h"    /* what learns by steps */
#include "infer/run/training.h"   /* the loop */

#endif
