/* What the rows of a field are like, column by column: see lscm_dataset_bands in lscm.h. */
#ifndef LSCM_DATA_STATISTICS_BANDS_H
#define LSCM_DATA_STATISTICS_BANDS_H

#include "data/dataset/dataset.h"

/* `m` may be NULL; it is only asked whether to go on, nothing is added to it. */
lscm_status bands_of(const lscm_dataset *data, lscm_field field, const lscm_bands *out, meter *m,
                     lscm_error *why);

#endif
