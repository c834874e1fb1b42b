#include "data/netcdf/netcdf_arrays.h"

#include "data/text/text.h"

#include <netcdf.h>
#include <stdlib.h>
#include <string.h>

static bool has(const netcdf_file *file, int code)
{
    return netcdf_end(code, file, "", NULL) == LSCM_OK;
}

static bool find_group(const netcdf_file *file, const char *name, int *id)
{
    *id = file->id;
    if (*name == '\0') {
        return true;
    }
    netcdf_begin();
    return has(file, nc_inq_grp_ncid(file->id, name, id));
}

static bool find_array(const netcdf_file *file, const char *group, const char *name, int *group_id,
                       int *id)
{
    if (!find_group(file, group, group_id)) {
        return false;
    }
    netcdf_begin();
    return has(file, nc_inq_varid(*group_id, name, id));
}

/* Type and lengths of what find_array found. */
static lscm_status describe(const netcdf_file *file, int group, int id, const char *name,
                            nc_type *type, array_shape *shape, lscm_error *why)
{
    static const char what[] = "its variables cannot be read";
    lscm_status status = LSCM_OK;
    int dims[LSCM_MAX_DIMS];
    NC(file, what, nc_inq_vartype(group, id, type));
    NC(file, what, nc_inq_varndims(group, id, &shape->ndim));
    if (shape->ndim > LSCM_MAX_DIMS) {
        TRY(fail(why, LSCM_SHAPE, "%s: '%s' has %d dimensions; %d are possible", file->path, name,
                 shape->ndim, LSCM_MAX_DIMS));
    }
    NC(file, what, nc_inq_vardimid(group, id, dims));
    for (int i = 0; i < shape->ndim; i++) {
        NC(file, what, nc_inq_dimlen(group, dims[i], &shape->dims[i]));
    }
done:
    return status;
}

lscm_status netcdf_arrays_shape(const netcdf_file *file, const char *group, const char *name,
                                array_shape *shape, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    nc_type type = NC_NAT;
    int at = 0;
    int id = 0;
    *shape = (array_shape){0};
    if (!find_array(file, group, name, &at, &id)) {
        return LSCM_OK;
    }
    TRY(describe(file, at, id, name, &type, shape, why));
    shape->type = netcdf_dtype(type);
    if (shape->type == DTYPE_COUNT) {
        TRY(fail(why, LSCM_FORMAT, "%s: '%s' does not hold numbers", file->path, name));
    }
    shape->present = true;
done:
    return status;
}

static lscm_status must_find(const netcdf_file *file, const char *group, const char *name, int *at,
                             int *id, lscm_error *why)
{
    return find_array(file, group, name, at, id)
               ? LSCM_OK
               : fail(why, LSCM_MISSING, "%s: there is no '%s' in the group '%s'", file->path, name,
                      group);
}

static const char DAMAGED[] = "its arrays cannot be read; the file may be damaged";

static lscm_status read_array(const netcdf_file *file, const char *group, const char *name,
                              bool raw, void *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    int at = 0;
    int id = 0;
    TRY(must_find(file, group, name, &at, &id, why));
    NC(file, DAMAGED, raw ? nc_get_var(at, id, out) : nc_get_var_double(at, id, out));
done:
    return status;
}

lscm_status netcdf_arrays_read(const netcdf_file *file, const char *group, const char *name,
                               double *out, lscm_error *why)
{
    return read_array(file, group, name, false, out, why);
}

lscm_status netcdf_arrays_read_raw(const netcdf_file *file, const char *group, const char *name,
                                   void *out, lscm_error *why)
{
    return read_array(file, group, name, true, out, why);
}

lscm_status netcdf_arrays_list(const netcdf_file *file, const char *group, char ***names,
                               size_t *count, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char **list = NULL;
    int at = 0;
    int n = 0;
    *names = NULL;
    *count = 0;
    if (!find_group(file, group, &at)) {
        return LSCM_OK;
    }
    NC(file, "its variables cannot be read", nc_inq_nvars(at, &n));
    list = n > 0 ? calloc((size_t)n, sizeof *list) : NULL;
    for (int id = 0; id < n; id++) {
        char name[NC_MAX_NAME + 1];
        NC(file, "its variables cannot be read", nc_inq_varname(at, id, name));
        if (list == NULL || (list[id] = strdup(name)) == NULL) {
            status = fail_memory(why, (size_t)n * sizeof *list);
            goto done;
        }
    }
    *names = list;
    *count = (size_t)n;
    list = NULL;
done:
    names_free(list, (size_t)n);
    return status;
}

lscm_status netcdf_arrays_texts(const netcdf_file *file, const char *group, const char *name,
                                size_t count, char ***texts, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    array_shape shape = {0};
    nc_type type = NC_NAT;
    int at = 0;
    int id = 0;
    *texts = NULL;
    if (!find_array(file, group, name, &at, &id)) {
        return LSCM_OK;
    }
    TRY(describe(file, at, id, name, &type, &shape, why));
    if (type == NC_STRING && shape.ndim == 1 && shape.dims[0] == count && count > 0) {
        TRY(netcdf_get_names(file, at, id, count, texts, why));
    }
done:
    return status;
}

lscm_status netcdf_arrays_note(const netcdf_file *file, const char *group, const char *name,
                               char **text, lscm_error *why)
{
    int at = 0;
    *text = NULL;
    return find_group(file, group, &at) ? netcdf_get_text(file, at, NC_GLOBAL, name, text, why)
                                        : LSCM_OK;
}

lscm_status netcdf_arrays_numbers(const netcdf_file *file, const char *group, const char *name,
                                  size_t most, double *out, size_t *count, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    nc_type type = NC_NAT;
    size_t length = 0;
    int at = 0;
    *count = 0;
    if (!find_group(file, group, &at)) {
        return LSCM_OK;
    }
    netcdf_begin();
    bool there = has(file, nc_inq_att(at, NC_GLOBAL, name, &type, &length));
    if (there && netcdf_dtype(type) != DTYPE_COUNT && length <= most) {
        NC(file, "an attribute cannot be read", nc_get_att_double(at, NC_GLOBAL, name, out));
        *count = length;
    }
done:
    return status;
}
