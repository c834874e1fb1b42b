/* do_mean_error and do_energy: what a posterior and the true model say of do() that the data do not
 * have. See docs/metrics.md. */
#ifndef LSCM_RESULT_ASK_EVALUATE_DO_H
#define LSCM_RESULT_ASK_EVALUATE_DO_H

#include "lscm.h"

/* Fills both where the data hold the recipe of a simulation and its truth is theirs; else they stay
 * as they are. */
lscm_status evaluate_do(lscm_scores *out, const lscm_posterior *posterior,
                        const lscm_dataset *truth, lscm_error *why);

#endif
