/* What the tests of CSV share. Included before testing.h, whose fail() is not ours. */
#ifndef LSCM_TESTS_CSV_TESTING_H
#define LSCM_TESTS_CSV_TESTING_H

#include "data/csv/csv.h"
#include "data/netcdf/netcdf.h"
#include "data/npy/npy.h"
#include "data/picture/picture.h"

#include "scratch.h"

static lscm_error why;

/* Opens `from`; the caller frees the data set whatever came of it. */
static inline lscm_status open_csv(const char *from, const char *ignore, lscm_dataset **data)
{
    lscm_open_options options = {.ignore = ignore};
    lscm_status status = dataset_new(data, from, "CSV", &why);
    return status == LSCM_OK ? csv_open(*data, &options, &why) : status;
}

#endif
