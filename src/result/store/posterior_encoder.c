/* The encoder in posterior.nc: an array of each name in the group `encoder`, whatever they are, and
 * the attribute kind. Dimensions are named after the array, alpha(alpha_0, alpha_1), so that none
 * occurs twice. What the numbers mean is for src/infer/encoder/encoder.c; here they are finite. */
#include "result/store/run_folder.h"

#include "data/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char GROUP[] = "encoder";

lscm_status posterior_add_encoder(lscm_posterior *posterior, const char *name,
                                  const array_shape *shape, void **raw, lscm_error *why)
{
    encoder_store *e = &posterior->encoder;
    size_t bytes = shape_bytes(shape);
    if (e->count == ENCODER_ARRAYS || strlen(name) >= ENCODER_NAME) {
        return fail(why, LSCM_FORMAT, "an encoder has at most %d arrays with names of %d letters",
                    ENCODER_ARRAYS, ENCODER_NAME - 1);
    }
    *raw = bytes <= PTRDIFF_MAX ? malloc(bytes) : NULL;
    if (*raw == NULL) {
        return fail_memory(why, bytes);
    }
    encoder_array *array = &e->array[e->count++];
    (void)snprintf(array->name, sizeof array->name, "%s", name);
    array->shape = *shape;
    array->raw = *raw;
    return LSCM_OK;
}

netcdf_array posterior_encoder_array(const encoder_array *array, char names[][ENCODER_AXIS])
{
    netcdf_array out = {.group = GROUP,
                        .name = array->name,
                        .ndim = array->shape.ndim,
                        .type = array->shape.type,
                        .raw = array->raw};
    for (int i = 0; i < out.ndim; i++) {
        (void)snprintf(names[i], ENCODER_AXIS, "%s_%c", array->name, '0' + i);
        out.axes[i] = (netcdf_axis){names[i], array->shape.dims[i]};
    }
    return out;
}

netcdf_attribute posterior_encoder_kind(const encoder_store *store)
{
    return (netcdf_attribute){.group = GROUP, .name = "kind", .text = store->kind};
}

static lscm_status read_one(const netcdf_file *file, const char *name, lscm_posterior *p,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    array_shape shape;
    void *raw = NULL;
    TRY(netcdf_arrays_shape(file, GROUP, name, &shape, why));
    size_t count = shape_count(&shape);
    if (shape.ndim == 0 || count == 0 || count == SIZE_MAX) {
        TRY(fail(why, LSCM_SHAPE, "%s: '%s' of the encoder is empty", file->path, name));
    }
    TRY(posterior_add_encoder(p, name, &shape, &raw, why));
    TRY(netcdf_arrays_read_raw(file, GROUP, name, raw, why));
    if (dtype_first_nonfinite(shape.type, raw, count) < count) {
        TRY(fail(why, LSCM_VALUE, "%s: '%s' of the encoder is not finite", file->path, name));
    }
done:
    return status;
}

lscm_status posterior_read_encoder(const netcdf_file *file, lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char *kind = NULL;
    char **names = NULL;
    size_t count = 0;
    TRY(netcdf_arrays_note(file, GROUP, "kind", &kind, why));
    if (kind == NULL) { /* no encoder, as in old files */
        goto done;
    }
    if (strlen(kind) >= ENCODER_NAME) {
        TRY(fail(why, LSCM_FORMAT, "%s: the kind of the encoder is unknown", file->path));
    }
    (void)snprintf(p->encoder.kind, sizeof p->encoder.kind, "%s", kind);
    TRY(netcdf_arrays_list(file, GROUP, &names, &count, why));
    for (size_t k = 0; k < count; k++) {
        TRY(read_one(file, names[k], p, why));
    }
done:
    names_free(names, count);
    free(kind);
    return status;
}
