/* Whose a setting is. One that was changed and that the method never looks at is a mistake of the
 * caller's: it is refused, with the name of the method that it belongs to. */
#ifndef LSCM_INFER_RUN_BELONGING_H
#define LSCM_INFER_RUN_BELONGING_H

#include "infer/run/fit_state.h"

/* The method is chosen. */
lscm_status belonging_check(const fit *f, lscm_error *why);
/* A warning for each of these settings (their names, NULL at the end) that was changed and had no
 * use: "--width 64 was not used: " and `why_not`. */
void belonging_unused(const fit *f, const char *const *names, const char *why_not);

#endif
