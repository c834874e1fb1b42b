/* The scores of lscm_evaluate: an estimate, in memory or in a file, against the truth.
 *
 * Promise: every number that comes in was checked; a score that cannot be computed is NaN.
 */
#ifndef LSCM_SCM_METRICS_METRICS_H
#define LSCM_SCM_METRICS_METRICS_H

#include "scm/metrics/metrics_do.h" /* samples under do() against those of the truth */
#include "scm/metrics/ranking.h"    /* AUROC, average precision */
#include "scm/metrics/truth.h"      /* the truth of a data set */

/* lscm_evaluate with names for the two sides in messages: "run.npz", "data.nc". */
lscm_status metrics_evaluate(lscm_scores *out, const lscm_estimate *estimate,
                             const lscm_truth *truth, const char *estimate_name,
                             const char *truth_name, lscm_error *why);

/* Rows first, first + 1, .. of an array, x (rows, columns) or NULL: LSCM_VALUE names what is not
 * finite. */
lscm_status metrics_check_finite(const char *who, const char *name, const double *x, size_t first,
                                 size_t rows, size_t columns, lscm_error *why);

#endif
