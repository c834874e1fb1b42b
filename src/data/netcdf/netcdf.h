/* netCDF-4, the native format: data sets, and other files of named arrays in groups. The library's
 * headers and its lock are here alone.
 */
#ifndef LSCM_DATA_NETCDF_NETCDF_H
#define LSCM_DATA_NETCDF_NETCDF_H

#include "data/dataset/dataset.h"

#include "data/netcdf/netcdf_arrays.h" /* named arrays in groups */
#include "data/netcdf/netcdf_file.h"   /* the lock and the errors */

lscm_status netcdf_open(lscm_dataset *data, lscm_error *why);
lscm_status netcdf_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why);

#endif
