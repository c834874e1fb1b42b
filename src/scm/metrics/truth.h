/* The truth stored with a data set, as lscm_evaluate takes it. */
#ifndef LSCM_SCM_METRICS_TRUTH_H
#define LSCM_SCM_METRICS_TRUTH_H

#include "base/arena.h"
#include "data/dataset/dataset.h"

/* Fails when there is no true graph. */
lscm_status truth_check(const lscm_dataset *data, lscm_error *why);
/* w, and what else there is: sigma, and of all `rows` rows z and targets (0: neither is read). It
 * lies in `memory`, which must be empty. */
lscm_status truth_read(lscm_truth *out, const lscm_dataset *data, size_t rows, arena *memory,
                       lscm_error *why);

/* Where the truth is a graph alone: NaN for the scores that compare weights. */
void truth_spare_weights(lscm_scores *scores, const lscm_dataset *data);

#endif
