/* What stands in the rows: x finite, or NaN where entries may be missing; targets 0 or 1, values
 * finite wherever targets is 1. The
 * first offender is named by row and column, both 0-based, and by its name when it has one. z may
 * hold anything: it is truth, and unknown truth is NaN. */
#include "data/dataset/dataset_handle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLACE_SIZE = 256, PIECE = 512 }; /* PIECE: elements converted to double at a time */

/* "row 17, column 3 'raf' (0-based)", or "row 17, pixel (4, 5) (0-based)" in a picture. */
static const char *place(const lscm_dataset *data, lscm_field field, size_t row, size_t column,
                         char *out)
{
    const array_shape *shape = &data->shape[field];
    const char *name = field == LSCM_X ? lscm_dataset_feature_name(data, column)
                                       : lscm_dataset_node_name(data, column);
    if (shape->ndim == 4) {
        size_t pixel = column / shape->dims[3];
        (void)snprintf(out, PLACE_SIZE, "row %zu, pixel (%zu, %zu), channel %zu (0-based)", row,
                       pixel / shape->dims[2], pixel % shape->dims[2], column % shape->dims[3]);
    } else if (shape->ndim == 3) {
        (void)snprintf(out, PLACE_SIZE, "row %zu, pixel (%zu, %zu) (0-based)", row,
                       column / shape->dims[2], column % shape->dims[2]);
    } else if (name != NULL) {
        (void)snprintf(out, PLACE_SIZE, "row %zu, column %zu '%.99s' (0-based)", row, column, name);
    } else {
        (void)snprintf(out, PLACE_SIZE, "row %zu, column %zu (0-based)", row, column);
    }
    return out;
}

static double element(const array_shape *shape, const void *raw, size_t index)
{
    double value = 0;
    dtype_to_double(shape->type, (const char *)raw + index * dtype_size(shape->type), 1, &value);
    return value;
}

static const char *kind_of(double value)
{
    return isnan(value) ? "NaN" : "infinite";
}

/* From element `from` on, those that are NaN passed over. */
static size_t first_infinite(const array_shape *shape, const void *raw, size_t from, size_t n)
{
    while (from < n && !isinf(element(shape, raw, from))) {
        size_t size = dtype_size(shape->type);
        from++;
        from += dtype_first_nonfinite(shape->type, (const char *)raw + from * size, n - from);
    }
    return from;
}

/* n is the number of elements of the block, cols that of a row. */
static lscm_status check_x(const lscm_dataset *data, size_t first, const void *raw, size_t n,
                           size_t cols, bool holes, lscm_error *why)
{
    const array_shape *shape = &data->shape[LSCM_X];
    char where[PLACE_SIZE];
    size_t bad = dtype_first_nonfinite(shape->type, raw, n);
    if (holes) {
        bad = first_infinite(shape, raw, bad, n);
    }
    if (bad == n) {
        return LSCM_OK;
    }
    bool missing = isnan(element(shape, raw, bad));
    (void)place(data, LSCM_X, first + bad / cols, bad % cols, where);
    if (missing) {
        return fail(
            why, LSCM_VALUE,
            "%s: 'x' is NaN at %s; only a fit of x that is linear in the causal "
            "variables (--method anchored, --decoder linear) or of observed variables fills "
            "that in; elsewhere remove the rows that lack something, or impute them",
            data->path, where);
    }
    return fail(why, LSCM_VALUE, "%s: 'x' is infinite at %s; remove or impute that row", data->path,
                where);
}

static size_t first_not_binary(dtype type, const void *raw, size_t n)
{
    double values[PIECE];
    size_t size = dtype_size(type);
    for (size_t start = 0; start < n; start += PIECE) {
        size_t count = n - start < PIECE ? n - start : PIECE;
        dtype_to_double(type, (const char *)raw + start * size, count, values);
        for (size_t i = 0; i < count; i++) {
            if (!(values[i] == 0 || values[i] == 1)) {
                return start + i;
            }
        }
    }
    return n;
}

static lscm_status check_targets(const lscm_dataset *data, size_t first, const void *raw, size_t n,
                                 size_t cols, lscm_error *why)
{
    const array_shape *shape = &data->shape[LSCM_TARGETS];
    char where[PLACE_SIZE];
    size_t bad = first_not_binary(shape->type, raw, n);
    if (bad == n) {
        return LSCM_OK;
    }
    return fail(why, LSCM_VALUE,
                "%s: 'targets' is %g at %s; it must be 1 where do() acted and 0 elsewhere",
                data->path, element(shape, raw, bad),
                place(data, LSCM_TARGETS, first + bad / cols, bad % cols, where));
}

static size_t first_missing(const array_shape *shape, const void *raw, const array_shape *mask,
                            const void *targets, size_t n)
{
    double values[PIECE];
    double marks[PIECE];
    for (size_t start = 0; start < n; start += PIECE) {
        size_t count = n - start < PIECE ? n - start : PIECE;
        dtype_to_double(shape->type, (const char *)raw + start * dtype_size(shape->type), count,
                        values);
        dtype_to_double(mask->type, (const char *)targets + start * dtype_size(mask->type), count,
                        marks);
        for (size_t i = 0; i < count; i++) {
            if (marks[i] != 0 && !isfinite(values[i])) {
                return start + i;
            }
        }
    }
    return n;
}

/* The targets of these rows are read only when some value is not finite at all. */
static lscm_status check_values(const lscm_dataset *data, size_t first, const void *raw, size_t n,
                                size_t cols, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const array_shape *shape = &data->shape[LSCM_VALUES];
    const array_shape *mask = &data->shape[LSCM_TARGETS];
    char where[PLACE_SIZE];
    void *targets = NULL;
    if (!mask->present || dtype_first_nonfinite(shape->type, raw, n) == n) {
        return LSCM_OK;
    }
    targets = malloc(n * dtype_size(mask->type));
    if (targets == NULL) {
        return fail_memory(why, n * dtype_size(mask->type));
    }
    TRY(dataset_read_raw(data, LSCM_TARGETS, first, n / cols, targets, why));
    size_t bad = first_missing(shape, raw, mask, targets, n);
    if (bad < n) {
        TRY(fail(why, LSCM_VALUE,
                 "%s: 'values' is %s at %s, where 'targets' is 1; give the value that do() set",
                 data->path, kind_of(element(shape, raw, bad)),
                 place(data, LSCM_VALUES, first + bad / cols, bad % cols, where)));
    }
done:
    free(targets);
    return status;
}

lscm_status dataset_check_rows(const lscm_dataset *data, lscm_field field, size_t first,
                               size_t count, const void *raw, bool holes, lscm_error *why)
{
    const array_shape *shape = &data->shape[field];
    size_t cols = shape_row_bytes(shape) / dtype_size(shape->type);
    size_t n = count * cols;
    switch (field) {
    case LSCM_X:
        return check_x(data, first, raw, n, cols, holes, why);
    case LSCM_TARGETS:
        return check_targets(data, first, raw, n, cols, why);
    case LSCM_VALUES:
        return check_values(data, first, raw, n, cols, why);
    default:
        return LSCM_OK;
    }
}
