#include "data/npy/npy_array.h"

#include <stdlib.h>
#include <string.h>

enum { CONVERT_BYTES = 1 << 20 };

static lscm_status read_header(npy_array *array, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    unsigned char prefix[NPY_PREFIX] = {0};
    unsigned char *text = NULL;
    size_t size = 0;
    const char *where = byte_source_where(array->source);
    uint64_t there = byte_source_size(array->source);
    size_t begin = there < (uint64_t)NPY_PREFIX ? (size_t)there : (size_t)NPY_PREFIX;
    TRY(byte_source_read(array->source, 0, prefix, begin, why));
    TRY(npy_header_size(prefix, there, where, &size, why));
    text = malloc(size + sizeof prefix);
    if (text == NULL) {
        status = fail_memory(why, size + sizeof prefix);
        goto done;
    }
    memcpy(text, prefix, sizeof prefix);
    if (size > sizeof prefix) { /* going on where the prefix ended: nothing is inflated twice */
        TRY(byte_source_read(array->source, sizeof prefix, text + sizeof prefix,
                             size - sizeof prefix, why));
    }
    TRY(npy_header_parse(&array->header, text, size, where, why));
    TRY(npy_header_fits(&array->header, there, where, why));
done:
    free(text);
    return status;
}

lscm_status npy_array_open(npy_array **out, byte_source *source, lscm_error *why)
{
    npy_array *array = calloc(1, sizeof *array);
    *out = NULL;
    if (array == NULL) {
        byte_source_close(source);
        return fail_memory(why, sizeof *array);
    }
    array->source = source;
    lscm_status status = read_header(array, why);
    if (status != LSCM_OK) {
        npy_array_close(array);
        return status;
    }
    *out = array;
    return LSCM_OK;
}

void npy_array_close(npy_array *array)
{
    if (array != NULL) {
        byte_source_close(array->source);
        free(array->tile);
        free(array->window);
        free(array);
    }
}

lscm_status npy_array_is_numbers(const npy_array *array, lscm_error *why)
{
    const char *where = byte_source_where(array->source);
    if (array->header.kind != NPY_NUMBERS) {
        return fail(why, LSCM_FORMAT, "%s holds text where numbers are needed", where);
    }
    if (array->header.bytes == 0) {
        return fail(why, LSCM_SHAPE,
                    "%s is an array without elements; store one row for each sample", where);
    }
    return LSCM_OK;
}

static size_t rows_of(const npy_header *header)
{
    return header->shape.ndim > 0 ? header->shape.dims[0] : 1;
}

lscm_status npy_array_rows_double(npy_array *array, size_t first, size_t count, double *out,
                                  lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const npy_header *header = &array->header;
    size_t rows = rows_of(header);
    void *raw = NULL;
    TRY(npy_array_is_numbers(array, why));
    if (header->shape.type == DTYPE_FLOAT64) {
        return npy_array_rows(array, first, count, out, why);
    }
    size_t row_bytes = (size_t)header->bytes / rows; /* at least one element */
    size_t row = row_bytes / header->item;
    size_t step = (size_t)CONVERT_BYTES / (row_bytes + 1) + 1;
    step = step < count ? step : count;
    raw = malloc(step * row_bytes + 1);
    if (raw == NULL) {
        status = fail_memory(why, step * row_bytes);
        goto done;
    }
    for (size_t at = 0; at < count; at += step) {
        size_t now = count - at < step ? count - at : step;
        TRY(npy_array_rows(array, first + at, now, raw, why));
        dtype_to_double(header->shape.type, raw, now * row, out + at * row);
    }
done:
    free(raw);
    return status;
}

lscm_status npy_array_whole(npy_array *array, size_t most, void **raw, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const npy_header *header = &array->header;
    *raw = NULL;
    if (header->bytes > most) {
        return fail(why, LSCM_SHAPE, "%s has %.1f MB, but at most %.1f MB make sense there",
                    byte_source_where(array->source), (double)header->bytes / 1e6,
                    (double)most / 1e6);
    }
    *raw = malloc(header->bytes > 0 ? (size_t)header->bytes : 1);
    if (*raw == NULL) {
        return fail_memory(why, (size_t)header->bytes);
    }
    TRY(npy_array_rows(array, 0, rows_of(header), *raw, why));
done:
    if (status != LSCM_OK) {
        free(*raw);
        *raw = NULL;
    }
    return status;
}
