#include "data/netcdf/netcdf_arrays.h"

#include <netcdf.h>
#include <string.h>

static bool has(const netcdf_file *file, int code)
{
    return netcdf_end(code, file, "", NULL) == LSCM_OK;
}

/* The group of that name, made when it is new. */
static lscm_status group_of(const netcdf_file *file, const char *name, int *id, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    *id = file->id;
    if (*name == '\0') {
        return LSCM_OK;
    }
    netcdf_begin();
    if (!has(file, nc_inq_grp_ncid(file->id, name, id))) {
        NC(file, "a group cannot be written", nc_def_grp(file->id, name, id));
    }
done:
    return status;
}

static lscm_status axis_of(const netcdf_file *file, int group, const netcdf_axis *axis, int *id,
                           lscm_error *why)
{
    lscm_status status = LSCM_OK;
    netcdf_begin();
    if (!has(file, nc_inq_dimid(group, axis->name, id))) {
        NC(file, "a dimension cannot be written", nc_def_dim(group, axis->name, axis->length, id));
    }
done:
    return status;
}

static lscm_status define(const netcdf_file *file, const netcdf_array *array, lscm_error *why)
{
    static const char what[] = "a variable cannot be written";
    lscm_status status = LSCM_OK;
    int type = array->texts != NULL ? NC_STRING : netcdf_type(array->type);
    int dims[LSCM_MAX_DIMS];
    int group = 0;
    int id = 0;
    TRY(group_of(file, array->group, &group, why));
    for (int i = 0; i < array->ndim; i++) {
        TRY(axis_of(file, group, &array->axes[i], &dims[i], why));
    }
    NC(file, what, nc_def_var(group, array->name, type, array->ndim, dims, &id));
    if (array->texts == NULL) {
        NC(file, what, nc_def_var_chunking(group, id, NC_CONTIGUOUS, NULL));
    }
    if (array->long_name != NULL) {
        TRY(netcdf_put_text(file, group, id, "long_name", array->long_name, why));
    }
done:
    return status;
}

static lscm_status put_attribute(const netcdf_file *file, const netcdf_attribute *attribute,
                                 lscm_error *why)
{
    lscm_status status = LSCM_OK;
    int group = 0;
    TRY(group_of(file, attribute->group, &group, why));
    if (attribute->text != NULL) {
        TRY(netcdf_put_text(file, group, NC_GLOBAL, attribute->name, attribute->text, why));
    } else {
        NC(file, "an attribute cannot be written",
           nc_put_att(group, NC_GLOBAL, attribute->name, netcdf_type(attribute->type),
                      attribute->count, attribute->numbers));
    }
done:
    return status;
}

static lscm_status put_array(const netcdf_file *file, const netcdf_array *array, lscm_error *why)
{
    static const char what[] = "an array could not be written; is the disk full?";
    lscm_status status = LSCM_OK;
    int group = 0;
    int id = 0;
    TRY(group_of(file, array->group, &group, why));
    NC(file, what, nc_inq_varid(group, array->name, &id));
    if (array->texts != NULL) {
        NC(file, what, nc_put_var_string(group, id, (const char **)(uintptr_t)array->texts));
    } else {
        NC(file, what, nc_put_var(group, id, array->raw));
    }
done:
    return status;
}

/* At least what the file will need. */
static uint64_t size_of(const netcdf_content *content)
{
    enum { HEADER = 1 << 16, PER_ENTRY = 1 << 12, PER_TEXT = 64 };
    uint64_t bytes = HEADER + PER_ENTRY * (content->array_count + content->attribute_count);
    for (size_t k = 0; k < content->array_count; k++) {
        const netcdf_array *array = &content->arrays[k];
        uint64_t count = 1;
        for (int i = 0; i < array->ndim; i++) {
            count *= array->axes[i].length;
        }
        bytes += array->texts != NULL ? count * PER_TEXT : count * dtype_size(array->type);
        for (uint64_t i = 0; array->texts != NULL && i < count; i++) {
            bytes += strlen(array->texts[i]);
        }
    }
    return bytes;
}

lscm_status netcdf_arrays_write(const netcdf_content *content, const char *to, const char *what,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    netcdf_file file = {.id = -1, .path = what, .failure = LSCM_WRITE};
    TRY(netcdf_create(&file, to, size_of(content), why));
    for (size_t k = 0; k < content->attribute_count; k++) {
        TRY(put_attribute(&file, &content->attributes[k], why));
    }
    for (size_t k = 0; k < content->array_count; k++) {
        TRY(define(&file, &content->arrays[k], why));
    }
    NC(&file, "the header cannot be written", nc_enddef(file.id));
    for (size_t k = 0; k < content->array_count; k++) {
        TRY(put_array(&file, &content->arrays[k], why));
    }
    TRY(netcdf_finish(&file, to, why));
done:
    netcdf_close(&file);
    return status;
}
