/* A fit of pictures by networks that see where things are. */
#ifndef LSCM_INFER_ANCHORED_VIEWING_FIT_H
#define LSCM_INFER_ANCHORED_VIEWING_FIT_H

#include "infer/anchored/anchored_run.h"

/* reason: why so, for people. */
lscm_status viewing_fit(fit *f, const char *reason, lscm_posterior **out, lscm_error *why);
/* What one of them misses of labels held out after a few steps: 1 - R2. */
lscm_status viewing_trial_of(fit *f, double *missed, lscm_error *why);

#endif
