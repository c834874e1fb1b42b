/* What comes of a fit where x is not linear in z. */
#ifndef LSCM_INFER_ANCHORED_NONLINEAR_RESULT_H
#define LSCM_INFER_ANCHORED_NONLINEAR_RESULT_H

#include "infer/anchored/nonlinear.h"
#include "infer/run/run.h"

/* A posterior with decoder, encoder and z; the draws are anchored_store's. */
lscm_status nonlinear_posterior(const fit *f, const nonlinear *n, lscm_posterior **out,
                                lscm_error *why);
/* How z was found; names (d) or NULL. */
json_t *nonlinear_summary(const nonlinear *n, const char *reason, char *const *names);
/* What a scientist would want to be told, appended to `warnings`; names (d) or NULL. */

#endif
