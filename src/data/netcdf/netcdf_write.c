/* Writing the native format, netCDF-4:
 *
 *     /        x(sample, feature) or x(sample, height, width[, channel]), targets(sample, node),
 *              values(sample, node); names as node(node) and feature(feature)
 *     /truth   z(sample, node), w(parent, child), sigma(node), order(position)
 *     /recipe  attributes: how the data were made
 *
 * Arrays lie contiguous and uncompressed, so rows go straight from a block to the disk and memory
 * does not grow. No variable has a dimension twice, which xarray would refuse.
 */
#include "data/netcdf/netcdf.h"
#include "data/netcdf/netcdf_file.h"

#include <netcdf.h>
#include <stdlib.h>
#include <string.h>

static const char *const LONG_NAMES[LSCM_FIELDS] = {
    [LSCM_X] = "observed features",
    [LSCM_TARGETS] = "1 where an intervention acted",
    [LSCM_VALUES] = "value set by the intervention, where targets is 1",
    [LSCM_Z] = "true causal variables",
    [LSCM_W] = "true edge weights, parent to child",
    [LSCM_SIGMA] = "true standard deviation of the noise",
    [LSCM_ORDER] = "true causal order, causes first",
};

typedef struct writer {
    netcdf_file file;
    const lscm_dataset *data;
    int truth;                                     /* group */
    int sample, node;                              /* dimensions */
    int group[LSCM_FIELDS], variable[LSCM_FIELDS]; /* where each field is */
} writer;

static lscm_status define_dim(const netcdf_file *file, int group, const char *name, size_t length,
                              int *id, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    NC(file, "a dimension cannot be written", nc_def_dim(group, name, length, id));
done:
    return status;
}

static lscm_status define_variable(writer *to, lscm_field field, const int *dims, lscm_error *why)
{
    static const char what[] = "a variable cannot be written";
    lscm_status status = LSCM_OK;
    const array_shape *shape = &to->data->shape[field];
    int group = field < LSCM_Z ? to->file.id : to->truth;
    int *id = &to->variable[field];
    to->group[field] = group;
    NC(&to->file, what,
       nc_def_var(group, FIELD_NAMES[field], netcdf_type(shape->type), shape->ndim, dims, id));
    NC(&to->file, what, nc_def_var_chunking(group, *id, NC_CONTIGUOUS, NULL));
    TRY(netcdf_put_text(&to->file, group, *id, "long_name", LONG_NAMES[field], why));
    if (netcdf_dtype(netcdf_type(shape->type)) != shape->type) {
        TRY(netcdf_put_text(&to->file, group, *id, "dtype", dtype_name(shape->type), why));
    }
done:
    return status;
}

/* x: its dimensions after the sample are features, or those of a picture. */
static lscm_status define_x(writer *to, int *feature, lscm_error *why)
{
    static const char *const picture[] = {"height", "width", "channel"};
    lscm_status status = LSCM_OK;
    const array_shape *shape = &to->data->shape[LSCM_X];
    int dims[LSCM_MAX_DIMS] = {to->sample};
    for (int i = 1; i < shape->ndim && i < LSCM_MAX_DIMS; i++) {
        const char *name = shape->ndim == 2 ? "feature" : picture[i - 1];
        TRY(define_dim(&to->file, to->file.id, name, shape->dims[i], &dims[i], why));
    }
    *feature = dims[1];
    TRY(define_variable(to, LSCM_X, dims, why));
done:
    return status;
}

/* A coordinate variable: the names along a dimension. Writing them ends define mode, so they come
 * last. */
static lscm_status put_names(const netcdf_file *file, const char *name, int dim, char **names,
                             const char *long_name, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    int id = 0;
    NC(file, "names cannot be written", nc_def_var(file->id, name, NC_STRING, 1, &dim, &id));
    TRY(netcdf_put_text(file, file->id, id, "long_name", long_name, why));
    NC(file, "names cannot be written",
       nc_put_var_string(file->id, id, (const char **)(void *)names));
done:
    return status;
}

static lscm_status define_truth(writer *to, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const lscm_dataset *data = to->data;
    const netcdf_file *file = &to->file;
    int dims[2] = {to->sample, to->node};
    bool any = false;
    for (int field = LSCM_Z; field < LSCM_FIELDS; field++) {
        any = any || data->shape[field].present;
    }
    if (!any) {
        return LSCM_OK;
    }
    NC(file, "the group 'truth' cannot be written", nc_def_grp(file->id, "truth", &to->truth));
    if (data->shape[LSCM_Z].present) {
        TRY(define_variable(to, LSCM_Z, dims, why));
    }
    if (data->shape[LSCM_W].present) {
        TRY(define_dim(file, to->truth, "parent", data->nodes, &dims[0], why));
        TRY(define_dim(file, to->truth, "child", data->nodes, &dims[1], why));
        TRY(define_variable(to, LSCM_W, dims, why));
    }
    if (data->shape[LSCM_SIGMA].present) {
        TRY(define_variable(to, LSCM_SIGMA, &to->node, why));
    }
    if (data->shape[LSCM_ORDER].present) {
        TRY(define_dim(file, to->truth, "position", data->nodes, &dims[0], why));
        TRY(define_variable(to, LSCM_ORDER, dims, why));
    }
done:
    return status;
}

static lscm_status define_all(writer *to, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const lscm_dataset *data = to->data;
    const netcdf_file *file = &to->file;
    const int version = NETCDF_FORMAT_VERSION;
    int feature = 0;
    int group = 0;
    TRY(netcdf_put_text(file, file->id, NC_GLOBAL, "title", "lscm data set", why));
    TRY(netcdf_put_text(file, file->id, NC_GLOBAL, "lscm_version", lscm_version(), why));
    NC(file, "an attribute cannot be written",
       nc_put_att_int(file->id, NC_GLOBAL, "format_version", NC_INT, 1, &version));
    if (data->rows > 0) {
        TRY(define_dim(file, file->id, "sample", data->rows, &to->sample, why));
    }
    TRY(define_dim(file, file->id, "node", data->nodes, &to->node, why));
    if (data->shape[LSCM_X].present) {
        TRY(define_x(to, &feature, why));
    }
    const int dims[2] = {to->sample, to->node};
    for (int field = LSCM_TARGETS; field <= LSCM_VALUES; field++) {
        if (data->shape[field].present) {
            TRY(define_variable(to, (lscm_field)field, dims, why));
        }
    }
    TRY(define_truth(to, why));
    if (data->recipe != NULL) {
        NC(file, "the group 'recipe' cannot be written", nc_def_grp(file->id, "recipe", &group));
        TRY(netcdf_put_recipe(file, group, data->recipe, why));
    }
    NC(file, "the header cannot be written", nc_enddef(file->id));
    if (data->node_names != NULL) {
        TRY(put_names(file, "node", to->node, data->node_names, "node names", why));
    }
    if (data->feature_names != NULL && data->shape[LSCM_X].ndim == 2) {
        TRY(put_names(file, "feature", feature, data->feature_names, "feature names", why));
    }
done:
    return status;
}

/* Rows of a field in its own dtype; `wide` (count, row) is room for halves as floats. */
static lscm_status put_rows(writer *to, lscm_field field, size_t first, size_t count,
                            const void *raw, float *wide, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const array_shape *shape = &to->data->shape[field];
    size_t from[LSCM_MAX_DIMS] = {first};
    size_t counts[LSCM_MAX_DIMS];
    memcpy(counts, shape->dims, sizeof counts);
    counts[0] = count;
    if (shape->type == DTYPE_FLOAT16) {
        half_to_float(raw, count * (shape_row_bytes(shape) / sizeof(uint16_t)), wide);
        raw = wide;
    }
    NC(&to->file, "an array could not be written; is the disk full?",
       nc_put_vara(to->group[field], to->variable[field], from, counts, raw));
done:
    return status;
}

static lscm_status put_field(writer *to, lscm_field field, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const array_shape *shape = &to->data->shape[field];
    float *wide = NULL;
    row_blocks walk;
    TRY(blocks_begin(&walk, to->data, field, FIELD_IS_ROWS(field) ? m : NULL, why));
    walk.holes = true;
    if (shape->type == DTYPE_FLOAT16) {
        size_t bytes = walk.block_rows * shape_row_bytes(shape) / sizeof(uint16_t) * sizeof *wide;
        wide = malloc(bytes);
        if (wide == NULL) {
            status = fail_memory(why, bytes);
            goto done;
        }
    }
    for (;;) {
        TRY(blocks_next(&walk, why));
        if (walk.count == 0) {
            break;
        }
        TRY(put_rows(to, field, walk.first, walk.count, walk.raw, wide, why));
    }
done:
    free(wide);
    blocks_end(&walk);
    return status;
}

/* At least what the file will need. */
static uint64_t size_of(const lscm_dataset *data)
{
    enum { HEADER = 1 << 16, PER_NAME = 64, PER_RECIPE = 16 };
    uint64_t bytes = HEADER + (data->recipe != NULL ? PER_RECIPE * strlen(data->recipe) : 0);
    size_t features = data->feature_names != NULL ? lscm_dataset_features(data) : 0;
    for (int field = 0; field < LSCM_FIELDS; field++) {
        const array_shape *shape = &data->shape[field];
        size_t size = shape->type == DTYPE_FLOAT16 ? sizeof(float) : dtype_size(shape->type);
        bytes += shape->present ? (uint64_t)shape_count(shape) * size : 0;
    }
    for (size_t i = 0; data->node_names != NULL && i < data->nodes; i++) {
        bytes += PER_NAME + strlen(data->node_names[i]);
    }
    for (size_t i = 0; i < features; i++) {
        bytes += PER_NAME + strlen(data->feature_names[i]);
    }
    return bytes;
}

lscm_status netcdf_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    writer out = {.file = {.id = -1, .path = m->what, .failure = LSCM_WRITE}, .data = data};
    TRY(netcdf_create(&out.file, to, size_of(data), why));
    TRY(define_all(&out, why));
    for (int field = 0; field < LSCM_FIELDS; field++) {
        if (data->shape[field].present) {
            TRY(put_field(&out, (lscm_field)field, m, why));
        }
    }
    TRY(netcdf_finish(&out.file, to, why));
done:
    netcdf_close(&out.file);
    return status;
}
