/* The anchored method as a run. */
#ifndef LSCM_INFER_ANCHORED_ANCHORED_FIT_H
#define LSCM_INFER_ANCHORED_ANCHORED_FIT_H

#include "infer/run/run.h"

lscm_status anchored_fit(fit *f, lscm_posterior **out, lscm_error *why);

#endif
