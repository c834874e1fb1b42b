/* The data that a run was fitted on. */
#ifndef LSCM_CLI_FITTED_H
#define LSCM_CLI_FITTED_H

#include "lscm.h"

/* What to compare the run in `folder` with: the truth in the file `named`, or where that is NULL
 * the data that were fitted, opened as they were then. *out is NULL when that fails. */
lscm_status open_truth(lscm_dataset **out, const lscm_posterior *run, const char *folder,
                       const char *named, lscm_error *why);

#endif
