/* Reading netCDF-4: our own files (see netcdf_write.c) and those that others write, with xarray for
 * example. What counts is the names of the variables: x, targets and values in the root group; z,
 * w, sigma and order in the group `truth` or else in the root. Dimensions may have any name and
 * numbers any type; node and feature names are the string coordinates of those dimensions.
 *
 * Rows are read by hyperslabs; where a file is chunked, the cache holds one row of chunks, so that
 * each is unpacked once.
 */
#include "data/netcdf/netcdf.h"
#include "data/netcdf/netcdf_file.h"

#include <netcdf.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_LEAST = 1 << 20, CACHE_MOST = 1 << 26, CACHE_SLOTS = 1009 };

typedef struct netcdf_source {
    row_source base;
    netcdf_file file; /* its path is the data set's */
    int group[LSCM_FIELDS], variable[LSCM_FIELDS];
    array_shape shape[LSCM_FIELDS];
} netcdf_source;

/* Halves are floats in the file. */
static lscm_status get_rows(netcdf_source *from, lscm_field field, size_t first, size_t count,
                            void *raw, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const array_shape *shape = &from->shape[field];
    size_t starts[LSCM_MAX_DIMS] = {first};
    size_t counts[LSCM_MAX_DIMS];
    float *wide = NULL;
    void *to = raw;
    size_t n = count * (shape_row_bytes(shape) / dtype_size(shape->type));
    memcpy(counts, shape->dims, sizeof counts);
    counts[0] = count;
    if (shape->type == DTYPE_FLOAT16) {
        wide = malloc(n * sizeof *wide);
        if (wide == NULL) {
            return fail_memory(why, n * sizeof *wide);
        }
        to = wide;
    }
    NC(&from->file, "its rows cannot be read; the file may be damaged",
       nc_get_vara(from->group[field], from->variable[field], starts, counts, to));
    if (wide != NULL) {
        half_from_float(wide, n, raw);
    }
done:
    free(wide);
    return status;
}

static lscm_status source_read(row_source *self, lscm_field field, size_t first, size_t count,
                               void *raw, lscm_error *why)
{
    return get_rows((netcdf_source *)(void *)self, field, first, count, raw, why);
}

static void source_close(row_source *self)
{
    netcdf_source *source = (netcdf_source *)(void *)self;
    netcdf_close(&source->file);
    free(source);
}

static bool has(const netcdf_file *file, int code)
{
    return netcdf_end(code, file, "", NULL) == LSCM_OK;
}

/* Where a field is; false when it is nowhere. */
static bool find_field(netcdf_source *from, lscm_field field)
{
    const netcdf_file *file = &from->file;
    int *group = &from->group[field];
    int *variable = &from->variable[field];
    int truth = 0;
    if (field >= LSCM_Z) {
        netcdf_begin();
        if (has(file, nc_inq_grp_ncid(file->id, "truth", &truth))) {
            *group = truth;
            netcdf_begin();
            if (has(file, nc_inq_varid(truth, FIELD_NAMES[field], variable))) {
                return true;
            }
        }
    }
    *group = file->id;
    netcdf_begin();
    return has(file, nc_inq_varid(file->id, FIELD_NAMES[field], variable));
}

/* The dtype as it was before it became a netCDF type. */
static lscm_status restore_type(const netcdf_source *from, lscm_field field, array_shape *shape,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char *name = NULL;
    TRY(netcdf_get_text(&from->file, from->group[field], from->variable[field], "dtype", &name,
                        why));
    if (name != NULL && strcmp(name, "bool") == 0 && dtype_size(shape->type) == 1) {
        shape->type = DTYPE_BOOL;
    } else if (name != NULL && strcmp(name, "float16") == 0 && shape->type == DTYPE_FLOAT32) {
        shape->type = DTYPE_FLOAT16;
    }
done:
    free(name);
    return status;
}

static lscm_status refuse_packed(const netcdf_source *from, lscm_field field, lscm_error *why)
{
    static const char *const packing[] = {"scale_factor", "add_offset"};
    for (int i = 0; i < 2; i++) {
        netcdf_begin();
        if (has(&from->file,
                nc_inq_attid(from->group[field], from->variable[field], packing[i], NULL))) {
            return fail(why, LSCM_FORMAT,
                        "%s: '%s' is packed (attribute %s); store its numbers as they are",
                        from->file.path, FIELD_NAMES[field], packing[i]);
        }
    }
    return LSCM_OK;
}

static lscm_status describe(netcdf_source *from, lscm_field field, lscm_error *why)
{
    static const char what[] = "its variables cannot be read";
    lscm_status status = LSCM_OK;
    const netcdf_file *file = &from->file;
    int group = from->group[field];
    int variable = from->variable[field];
    array_shape shape = {.present = true};
    int dims[LSCM_MAX_DIMS];
    nc_type type = NC_NAT;
    NC(file, what, nc_inq_varndims(group, variable, &shape.ndim));
    NC(file, what, nc_inq_vartype(group, variable, &type));
    if (shape.ndim < 1 || shape.ndim > LSCM_MAX_DIMS) {
        TRY(fail(why, LSCM_SHAPE, "%s: '%s' has %d dimensions; 1 to %d are possible", file->path,
                 FIELD_NAMES[field], shape.ndim, LSCM_MAX_DIMS));
    }
    shape.type = netcdf_dtype(type);
    if (shape.type == DTYPE_COUNT) {
        TRY(fail(why, LSCM_FORMAT, "%s: '%s' does not hold numbers", file->path,
                 FIELD_NAMES[field]));
    }
    NC(file, what, nc_inq_vardimid(group, variable, dims));
    for (int i = 0; i < shape.ndim; i++) {
        NC(file, what, nc_inq_dimlen(group, dims[i], &shape.dims[i]));
    }
    TRY(refuse_packed(from, field, why));
    TRY(restore_type(from, field, &shape, why));
    from->shape[field] = shape;
done:
    return status;
}

static lscm_status set_cache(netcdf_source *from, lscm_field field, lscm_error *why)
{
    static const char what[] = "its layout cannot be read";
    lscm_status status = LSCM_OK;
    int storage = 0;
    size_t chunk[LSCM_MAX_DIMS] = {0};
    NC(&from->file, what,
       nc_inq_var_chunking(from->group[field], from->variable[field], &storage, chunk));
    if (storage == NC_CHUNKED) {
        size_t row = shape_row_bytes(&from->shape[field]);
        size_t bytes = CACHE_MOST;
        if (row < CACHE_MOST && chunk[0] < CACHE_MOST / (2 * row + 1)) {
            bytes = 2 * row * chunk[0]; /* chunks overhang, and halves are floats */
        }
        bytes = bytes < CACHE_LEAST ? CACHE_LEAST : bytes;
        NC(&from->file, what,
           nc_set_var_chunk_cache(from->group[field], from->variable[field], bytes, CACHE_SLOTS,
                                  0.75F));
    }
done:
    return status;
}

/* Only what fits the number of nodes gets memory; dataset_check_shapes refuses the rest. */
static lscm_status read_whole(lscm_dataset *data, netcdf_source *from, lscm_field field,
                              lscm_error *why)
{
    size_t bytes = shape_bytes(&from->shape[field]);
    for (int i = 0; i < from->shape[field].ndim; i++) {
        if (from->shape[field].dims[i] != data->nodes) {
            return LSCM_OK;
        }
    }
    data->whole[field] = bytes <= PTRDIFF_MAX ? malloc(bytes > 0 ? bytes : 1) : NULL;
    if (data->whole[field] == NULL) {
        return fail_memory(why, bytes);
    }
    return bytes > 0 ? get_rows(from, field, 0, from->shape[field].dims[0], data->whole[field], why)
                     : LSCM_OK;
}

/* Names along the last dimension of a field: the string variable that is called like it. */
static lscm_status read_names(const netcdf_source *from, lscm_field field, char ***names,
                              lscm_error *why)
{
    static const char what[] = "its dimensions cannot be read";
    lscm_status status = LSCM_OK;
    const netcdf_file *file = &from->file;
    const array_shape *shape = &from->shape[field];
    int dims[LSCM_MAX_DIMS];
    int own = -1;
    int variable = 0;
    int ndim = 0;
    nc_type type = NC_NAT;
    char name[NC_MAX_NAME + 1] = "";
    NC(file, what, nc_inq_vardimid(from->group[field], from->variable[field], dims));
    NC(file, what, nc_inq_dimname(from->group[field], dims[shape->ndim - 1], name));
    netcdf_begin();
    if (!has(file, nc_inq_varid(file->id, name, &variable))) {
        return LSCM_OK;
    }
    NC(file, what, nc_inq_varndims(file->id, variable, &ndim));
    NC(file, what, nc_inq_vartype(file->id, variable, &type));
    if (ndim == 1) {
        NC(file, what, nc_inq_vardimid(file->id, variable, &own));
    }
    size_t count = shape->dims[shape->ndim - 1];
    if (own == dims[shape->ndim - 1] && type == NC_STRING && count > 0) {
        TRY(netcdf_get_names(file, file->id, variable, count, names, why));
    }
done:
    return status;
}

static lscm_status read_all_names(lscm_dataset *data, const netcdf_source *from, lscm_error *why)
{
    static const lscm_field with_nodes[] = {LSCM_TARGETS, LSCM_VALUES, LSCM_Z, LSCM_SIGMA};
    lscm_status status = LSCM_OK;
    for (int i = 0; i < 4 && data->node_names == NULL; i++) {
        const array_shape *shape = &from->shape[with_nodes[i]];
        if (shape->present && shape->dims[shape->ndim - 1] == data->nodes) {
            TRY(read_names(from, with_nodes[i], &data->node_names, why));
        }
    }
    if (from->shape[LSCM_X].present && from->shape[LSCM_X].ndim == 2) {
        TRY(read_names(from, LSCM_X, &data->feature_names, why));
    }
done:
    return status;
}

lscm_status netcdf_open(lscm_dataset *data, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    int recipe = 0;
    netcdf_source *from = calloc(1, sizeof *from);
    if (from == NULL) {
        return fail_memory(why, sizeof *from);
    }
    from->base = (row_source){source_read, source_close};
    from->file = (netcdf_file){.id = -1, .path = data->path, .failure = LSCM_READ};
    data->source = &from->base;
    TRY(netcdf_open_file(&from->file, why));
    for (int field = 0; field < LSCM_FIELDS; field++) {
        if (find_field(from, (lscm_field)field)) {
            TRY(describe(from, (lscm_field)field, why));
            TRY(set_cache(from, (lscm_field)field, why));
            data->shape[field] = from->shape[field];
        }
    }
    dataset_settle(data);
    for (int field = LSCM_W; field < LSCM_FIELDS; field++) {
        if (data->shape[field].present) {
            TRY(read_whole(data, from, (lscm_field)field, why));
        }
    }
    TRY(read_all_names(data, from, why));
    netcdf_begin();
    if (has(&from->file, nc_inq_grp_ncid(from->file.id, "recipe", &recipe))) {
        TRY(netcdf_get_recipe(&from->file, recipe, &data->recipe, why));
    }
done:
    return status;
}
