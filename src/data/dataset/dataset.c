/* A data set: what it has, and reading rows of it from its source.
 *
 * Streamed fields (x, targets, values, z) come from the source; the small ones (w, sigma, order)
 * lie in memory. Every read is range-checked here, and made by one thread at a time, so sources
 * need not care.
 */
#include "data/dataset/dataset_handle.h"

#include <stdlib.h>
#include <string.h>

const char *const FIELD_NAMES[LSCM_FIELDS] = {"x", "targets", "values", "z", "w", "sigma", "order"};

enum { CONVERT_BYTES = 1 << 18 }; /* raw rows converted at a time; stays in cache */

lscm_status dataset_new(lscm_dataset **out, const char *path, const char *format, lscm_error *why)
{
    lscm_dataset *data = calloc(1, sizeof *data);
    *out = NULL;
    if (data == NULL) {
        return fail_memory(why, sizeof *data);
    }
    data->path = strdup(path);
    data->format = format;
    data->reading = malloc(sizeof(pthread_mutex_t));
    if (data->path == NULL || data->reading == NULL) {
        free(data->path);
        free(data->reading);
        free(data);
        return fail_memory(why, strlen(path) + sizeof(pthread_mutex_t));
    }
    (void)pthread_mutex_init(data->reading, NULL);
    *out = data;
    return LSCM_OK;
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; names != NULL && i < count; i++) {
        free(names[i]);
    }
    free(names);
}

void lscm_dataset_free(lscm_dataset *data)
{
    if (data == NULL) {
        return;
    }
    if (data->source != NULL) {
        data->source->close(data->source);
    }
    for (int field = 0; field < LSCM_FIELDS; field++) {
        free(data->whole[field]);
    }
    free_names(data->node_names, data->nodes);
    free_names(data->feature_names, lscm_dataset_features(data));
    (void)pthread_mutex_destroy(data->reading);
    free(data->reading);
    free(data->recipe);
    free(data->note);
    free(data->path);
    free(data->opened);
    free(data);
}

size_t shape_count(const array_shape *shape)
{
    size_t count = 1;
    for (int i = 0; i < shape->ndim; i++) {
        if (__builtin_mul_overflow(count, shape->dims[i], &count)) {
            return SIZE_MAX;
        }
    }
    return count;
}

static size_t bytes_of(size_t count, dtype type)
{
    size_t bytes = 0;
    return __builtin_mul_overflow(count, dtype_size(type), &bytes) ? SIZE_MAX : bytes;
}

size_t shape_bytes(const array_shape *shape)
{
    return bytes_of(shape_count(shape), shape->type);
}

/* The shape of one row: (1, dims[1], ...). */
static array_shape row_of(array_shape shape)
{
    shape.dims[0] = 1;
    return shape;
}

size_t shape_row_bytes(const array_shape *shape)
{
    array_shape row = row_of(*shape);
    return shape_bytes(&row);
}

size_t dataset_block_rows(const lscm_dataset *data, lscm_field field, size_t bytes)
{
    const array_shape *shape = &data->shape[field];
    size_t row = shape_row_bytes(shape);
    size_t rows = row > 0 ? bytes / row : bytes;
    if (rows > shape->dims[0]) {
        rows = shape->dims[0];
    }
    return rows > 0 ? rows : 1;
}

void dataset_settle(lscm_dataset *data)
{
    static const lscm_field with_nodes[] = {LSCM_TARGETS, LSCM_VALUES, LSCM_Z,
                                            LSCM_W,       LSCM_SIGMA,  LSCM_ORDER};
    for (int field = LSCM_X; FIELD_IS_ROWS(field) && data->rows == 0; field++) {
        data->rows = data->shape[field].present ? data->shape[field].dims[0] : 0;
    }
    for (size_t i = 0; i < sizeof with_nodes / sizeof with_nodes[0] && data->nodes == 0; i++) {
        const array_shape *shape = &data->shape[with_nodes[i]];
        if (shape->present && shape->ndim > 0) {
            data->nodes = shape->dims[shape->ndim - 1];
        }
    }
}

size_t lscm_dataset_rows(const lscm_dataset *data)
{
    return data->rows;
}

size_t lscm_dataset_nodes(const lscm_dataset *data)
{
    return data->nodes;
}

size_t lscm_dataset_features(const lscm_dataset *data)
{
    array_shape row = row_of(data->shape[LSCM_X]);
    return row.present ? shape_count(&row) : 0;
}

lscm_shape lscm_dataset_shape(const lscm_dataset *data, lscm_field field)
{
    const array_shape *shape = &data->shape[field];
    lscm_shape out = {.present = shape->present};
    if (shape->present) {
        out.ndim = shape->ndim;
        memcpy(out.dims, shape->dims, sizeof out.dims);
        out.dtype = dtype_name(shape->type);
    }
    return out;
}

const char *lscm_dataset_format(const lscm_dataset *data)
{
    return data->format;
}

lscm_status lscm_dataset_set_path(lscm_dataset *data, const char *path, lscm_error *why)
{
    char *copy = strdup(path);
    if (copy == NULL) {
        return fail_memory(why, strlen(path));
    }
    if (data->opened == NULL) {
        data->opened = data->path;
    } else {
        free(data->path);
    }
    data->path = copy;
    return LSCM_OK;
}

const char *lscm_dataset_note(const lscm_dataset *data)
{
    return data->note;
}

const char *lscm_dataset_recipe(const lscm_dataset *data)
{
    return data->recipe;
}

const char *lscm_dataset_node_name(const lscm_dataset *data, size_t node)
{
    return data->node_names != NULL && node < data->nodes ? data->node_names[node] : NULL;
}

const char *lscm_dataset_feature_name(const lscm_dataset *data, size_t feature)
{
    bool known = data->feature_names != NULL && feature < lscm_dataset_features(data);
    return known ? data->feature_names[feature] : NULL;
}

lscm_status dataset_read_raw(const lscm_dataset *data, lscm_field field, size_t first, size_t count,
                             void *raw, lscm_error *why)
{
    const array_shape *shape = &data->shape[field];
    if (!shape->present) {
        return fail(why, LSCM_MISSING, "%s: there is no '%s'", data->path, FIELD_NAMES[field]);
    }
    if (first > shape->dims[0] || count > shape->dims[0] - first) {
        return fail(why, LSCM_USAGE, "%s: rows %zu to %zu of '%s' were asked for; it has %zu",
                    data->path, first, first + count, FIELD_NAMES[field], shape->dims[0]);
    }
    if (count == 0) {
        return LSCM_OK;
    }
    if (FIELD_IS_ROWS(field)) {
        (void)pthread_mutex_lock(data->reading);
        lscm_status status = data->source->read(data->source, field, first, count, raw, why);
        (void)pthread_mutex_unlock(data->reading);
        return status;
    }
    size_t row = shape_row_bytes(shape);
    memcpy(raw, (const char *)data->whole[field] + first * row, count * row);
    return LSCM_OK;
}

lscm_status lscm_dataset_read(const lscm_dataset *data, lscm_field field, size_t first,
                              size_t count, double *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const array_shape *shape = &data->shape[field];
    void *raw = NULL;
    if (!shape->present || shape->type == DTYPE_FLOAT64) {
        return dataset_read_raw(data, field, first, count, out, why);
    }
    size_t row_bytes = shape_row_bytes(shape);
    size_t row = row_bytes / dtype_size(shape->type);
    size_t step = dataset_block_rows(data, field, CONVERT_BYTES);
    raw = malloc(step * row_bytes);
    if (raw == NULL) {
        return fail_memory(why, step * row_bytes);
    }
    for (size_t done_rows = 0; done_rows < count; done_rows += step) {
        size_t rows = count - done_rows < step ? count - done_rows : step;
        TRY(dataset_read_raw(data, field, first + done_rows, rows, raw, why));
        dtype_to_double(shape->type, raw, rows * row, out + done_rows * row);
    }
done:
    free(raw);
    return status;
}
