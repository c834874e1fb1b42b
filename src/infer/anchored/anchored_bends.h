/* What a fit says of mechanisms that bend: in its posterior, and in its summary. */
#ifndef LSCM_INFER_ANCHORED_ANCHORED_BENDS_H
#define LSCM_INFER_ANCHORED_ANCHORED_BENDS_H

#include "infer/problem/problem.h"
#include "infer/run/run.h"

#include <jansson.h>

/* Curves of the draws, where any has one. */
lscm_status bends_store(const anchored *a, lscm_posterior *p, lscm_error *why);
/* A warning where bends were asked for and mechanisms are straight all the same. */
void bends_unused(const fit *f, const anchored *a, const char *why_not);
/* How far mechanisms may bend where what is judged is to be like `a`: as they did there. */
lscm_mechanism bends_found(const anchored *a, const anchored_input *in);
/* "mechanism": how far they may bend, and where they may "bends": {node: share of draws in which it
 * does}. Adds to "reason" which nodes do in most draws. */
void bends_tell(json_t *summary, const anchored_input *in, const anchored *a, char *const *names);

#endif
