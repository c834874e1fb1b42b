/* Are the nodes the columns of x themselves? */
#ifndef LSCM_DATA_CSV_CSV_OBSERVED_H
#define LSCM_DATA_CSV_CSV_OBSERVED_H

#include "data/dataset/dataset.h"

/* As many nodes as features, values that stand in x where do() acted, and z = x, where there are
 * values and z: then x and targets are all that there is to say. Reads rows until one differs. */
lscm_status csv_is_observed(const lscm_dataset *data, bool *observed, lscm_error *why);

#endif
