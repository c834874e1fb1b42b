/* The checks of a fit (infer/check), for x that is observed or linear in z, and for x that bends.
 */
#ifndef LSCM_INFER_ANCHORED_ANCHORED_CHECK_H
#define LSCM_INFER_ANCHORED_ANCHORED_CHECK_H

#include "infer/anchored/read_off.h"
#include "infer/problem/problem.h"
#include "infer/run/run.h"

/* Into f->checks and f->pairs; with what the fit itself advises, which goes to
 * the warnings, too. */
lscm_status anchored_check(fit *f, const linear_view *s, const anchored *a, lscm_error *why);
lscm_status read_off_check(fit *f, const read_off *r, const anchored *a, lscm_error *why);

#endif
