/* Between a fit and anchored inference, x linear in z or not. */
#ifndef LSCM_INFER_ANCHORED_ANCHORED_RUN_H
#define LSCM_INFER_ANCHORED_ANCHORED_RUN_H

#include "infer/anchored/anchored_infer.h"
#include "infer/run/run.h"

/* What a fit tells inference. */
anchored_input anchored_input_of(const fit *f, const linear_view *s);
/* Draws and edges into a posterior, how they were made into its summary. */
void anchored_store(const anchored *a, lscm_posterior *p, json_t *summary);

#endif
