/* Arrays of posterior.nc whose shape is not believed. */
#include "result/store/run_folder.h"

lscm_status posterior_array_shape(const netcdf_file *file, const char *group, const char *name,
                                  int ndim, array_shape *shape, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(netcdf_arrays_shape(file, group, name, shape, why));
    if (!shape->present) {
        return fail(why, LSCM_FORMAT, "%s: this is not a posterior of lscm: '%s/%s' is missing",
                    file->path, group, name);
    }
    size_t count = shape_count(shape);
    if (shape->ndim != ndim || count == 0 || count > PTRDIFF_MAX / sizeof(double)) {
        return fail(why, LSCM_SHAPE,
                    "%s: '%s' has %d dimensions; it must have %d, none of them empty", file->path,
                    name, shape->ndim, ndim);
    }
done:
    return status;
}

lscm_status posterior_read_array(const netcdf_file *file, const char *group, const char *name,
                                 const size_t dims[LSCM_MAX_DIMS], double *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    array_shape shape;
    int ndim = 0;
    while (ndim < LSCM_MAX_DIMS && dims[ndim] > 0) {
        ndim++;
    }
    TRY(posterior_array_shape(file, group, name, ndim, &shape, why));
    for (int i = 0; i < ndim; i++) {
        if (shape.dims[i] != dims[i]) {
            TRY(fail(why, LSCM_SHAPE,
                     "%s: dimension %d of '%s' has length %zu, but the rest of the file says %zu",
                     file->path, i, name, shape.dims[i], dims[i]));
        }
    }
    TRY(netcdf_arrays_read(file, group, name, out, why));
done:
    return status;
}
