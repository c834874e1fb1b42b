/* A data set over the caller's arrays: the simplest row source, a copy of the pointers.
 *
 * x (rows, features), targets, values and z (rows, nodes) are not copied; names and the small w
 * (nodes, nodes) and sigma (nodes) are. The causal order (nodes) is derived from w. Without nodes
 * there is x alone.
 */
#include "base/order.h"
#include "data/dataset/dataset_handle.h"
#include "data/text/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct memory_source {
    row_source base;
    const void *fields[LSCM_W]; /* the caller's x, targets, values, z */
    size_t row_bytes[LSCM_W];
} memory_source;

static lscm_status memory_read(row_source *self, lscm_field field, size_t first, size_t count,
                               void *raw, lscm_error *why)
{
    const memory_source *source = (const memory_source *)(const void *)self;
    size_t row = source->row_bytes[field];
    (void)why;
    memcpy(raw, (const char *)source->fields[field] + first * row, count * row);
    return LSCM_OK;
}

static void memory_close(row_source *self)
{
    free(self);
}

/* A copy of a small array, (rows, cols) or (cols) when rows is 0. */
static lscm_status keep(lscm_dataset *data, lscm_field field, const double *from, size_t rows,
                        size_t cols, lscm_error *why)
{
    array_shape shape = {true, DTYPE_FLOAT64, 1, {cols}};
    if (rows > 0) {
        shape = (array_shape){true, DTYPE_FLOAT64, 2, {rows, cols}};
    }
    size_t bytes = shape_bytes(&shape);
    void *copy = bytes < SIZE_MAX ? malloc(bytes > 0 ? bytes : 1) : NULL;
    if (copy == NULL) {
        return fail_memory(why, bytes);
    }
    memcpy(copy, from, bytes);
    data->shape[field] = shape;
    data->whole[field] = copy;
    return LSCM_OK;
}

/* Leaves the order out when w has a cycle: dataset_check_shapes says which. */
static lscm_status derive_order(lscm_dataset *data, const double *w, lscm_error *why)
{
    size_t d = data->nodes;
    size_t *scratch = calloc(2 * d, sizeof *scratch); /* order, waiting */
    int64_t *order = calloc(d, sizeof *order);
    if (scratch == NULL || order == NULL) {
        free(scratch);
        free(order);
        return fail_memory(why, 3 * d * sizeof *order);
    }
    if (order_of_graph(w, d, scratch, scratch + d)) {
        for (size_t k = 0; k < d; k++) {
            order[k] = (int64_t)scratch[k];
        }
        data->shape[LSCM_ORDER] = (array_shape){true, DTYPE_INT64, 1, {d}};
        data->whole[LSCM_ORDER] = order;
        order = NULL;
    }
    free(scratch);
    free(order);
    return LSCM_OK;
}

/* Rows of x may be pictures. */
static lscm_status shape_pictures(lscm_dataset *data, const lscm_arrays *arrays, lscm_error *why)
{
    size_t channels = arrays->channels > 0 ? arrays->channels : 1;
    array_shape shape = {true,
                         data->shape[LSCM_X].type,
                         arrays->channels > 0 ? 4 : 3,
                         {arrays->rows, arrays->height, arrays->width, channels}};
    if (!data->shape[LSCM_X].present ||
        (arrays->height == 0 && arrays->width == 0 && arrays->channels == 0)) {
        return LSCM_OK;
    }
    if (shape_row_bytes(&shape) != shape_row_bytes(&data->shape[LSCM_X])) {
        return fail(why, LSCM_SHAPE,
                    "memory: a row of x has %zu numbers, but a picture of %zu x %zu x %zu has "
                    "another number",
                    arrays->features, arrays->height, arrays->width, channels);
    }
    data->shape[LSCM_X] = shape;
    return LSCM_OK;
}

static void wrap_rows(lscm_dataset *data, memory_source *source, lscm_field field,
                      const void *array, dtype type, size_t cols)
{
    if (array != NULL) {
        data->shape[field] = (array_shape){true, type, 2, {data->rows, cols}};
        source->fields[field] = array;
        source->row_bytes[field] = shape_row_bytes(&data->shape[field]);
    }
}

static lscm_status wrap_x(lscm_dataset *data, memory_source *source, const lscm_arrays *arrays,
                          lscm_error *why)
{
    if (arrays->x != NULL && arrays->x_single != NULL) {
        return fail(why, LSCM_USAGE, "memory: x is there in both precisions; give one");
    }
    wrap_rows(data, source, LSCM_X, arrays->x, DTYPE_FLOAT64, arrays->features);
    wrap_rows(data, source, LSCM_X, arrays->x_single, DTYPE_FLOAT32, arrays->features);
    return shape_pictures(data, arrays, why);
}

static lscm_status keep_names(char ***names, const char *const *from, size_t count, lscm_error *why)
{
    if (from == NULL || count == 0) {
        return LSCM_OK;
    }
    *names = names_copy((char *const *)from, count);
    return *names != NULL ? LSCM_OK : fail_memory(why, count * sizeof **names);
}

static lscm_status wrap_all(lscm_dataset *data, memory_source *source, const lscm_arrays *arrays,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = arrays->nodes;
    TRY(wrap_x(data, source, arrays, why));
    wrap_rows(data, source, LSCM_TARGETS, arrays->targets, DTYPE_UINT8, d);
    wrap_rows(data, source, LSCM_VALUES, arrays->values, DTYPE_FLOAT64, d);
    wrap_rows(data, source, LSCM_Z, arrays->z, DTYPE_FLOAT64, d);
    if (arrays->w != NULL && d > 0) {
        TRY(keep(data, LSCM_W, arrays->w, d, d, why));
        TRY(derive_order(data, arrays->w, why));
    }
    if (arrays->sigma != NULL) {
        TRY(keep(data, LSCM_SIGMA, arrays->sigma, 0, d, why));
    }
    TRY(keep_names(&data->node_names, arrays->node_names, d, why));
    TRY(keep_names(&data->feature_names, arrays->feature_names, lscm_dataset_features(data), why));
done:
    return status;
}

lscm_status lscm_dataset_wrap(lscm_dataset **out, const lscm_arrays *arrays, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_dataset *data = NULL;
    *out = NULL;
    TRY(dataset_new(&data, "memory", "memory", why));
    memory_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        status = fail_memory(why, sizeof *source);
        goto done;
    }
    source->base = (row_source){memory_read, memory_close};
    data->source = &source->base;
    data->rows = arrays->rows;
    data->nodes = arrays->nodes;
    TRY(wrap_all(data, source, arrays, why));
    /* one row is enough to be shown or transformed; a fit asks again */
    bool one = arrays->rows == 1 && arrays->targets != NULL;
    TRY(arrays->nodes == 0 || one ? dataset_check_x(data, why)
                                  : dataset_check_shapes(data, !data->shape[LSCM_X].present, why));
    *out = data;
    data = NULL;
done:
    lscm_dataset_free(data);
    return status;
}
