/* Rows of an NPY array: element (n, i, j, k) of shape (N, a, b, c) lies at
 *
 *     C order         k + c (j + b (i + a n))        a block of rows is one piece of the file
 *     Fortran order   n + N (i + a (j + b k))        it is one piece of each of the a b c columns
 *
 * Fortran order is read column by column, 32 columns to a tile; a tile is then written out row by
 * row, so that both sides of the transposition stay in cache. The pieces of columns are kept long
 * by reading a window of many rows and serving blocks from it.
 */
#include "data/npy/npy_array.h"

#include <stdlib.h>
#include <string.h>

enum { TILE_COLUMNS = 32, TILE_BYTES = 1 << 21, WINDOW_BYTES = 24 << 20 };

/* The place in Fortran order of column p in C order. */
static size_t fortran_column(const array_shape *shape, size_t p)
{
    size_t index[LSCM_MAX_DIMS] = {0};
    size_t column = 0;
    for (int k = shape->ndim - 1; k > 0; k--) {
        index[k] = p % shape->dims[k];
        p /= shape->dims[k];
    }
    for (int k = shape->ndim - 1; k > 0; k--) {
        column = column * shape->dims[k] + index[k];
    }
    return column;
}

/* tile (columns, rows) to out (rows, stride), transposed; one loop for each size of element, so
 * that the copy of one is a single instruction. */
static void transpose(const char *tile, size_t columns, size_t rows, size_t item, char *out,
                      size_t stride)
{
#define TRANSPOSE(bytes)                                                                           \
    for (size_t r = 0; r < rows; r++) {                                                            \
        for (size_t c = 0; c < columns; c++) {                                                     \
            memcpy(out + (r * stride + c) * (bytes), tile + (c * rows + r) * (bytes), (bytes));    \
        }                                                                                          \
    }
    switch (item) {
    case 1:
        TRANSPOSE(1)
        break;
    case 2:
        TRANSPOSE(2)
        break;
    case 4:
        TRANSPOSE(4)
        break;
    case 8:
        TRANSPOSE(8)
        break;
    default:
        TRANSPOSE(item)
        break;
    }
#undef TRANSPOSE
}

/* `rows` rows, few enough for a tile. */
static lscm_status read_tiles(npy_array *array, size_t first, size_t rows, size_t columns,
                              char *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const npy_header *header = &array->header;
    size_t item = header->item;
    for (size_t p = 0; p < columns; p += TILE_COLUMNS) {
        size_t wide = columns - p < TILE_COLUMNS ? columns - p : (size_t)TILE_COLUMNS;
        for (size_t c = 0; c < wide; c++) {
            size_t column = fortran_column(&header->shape, p + c);
            uint64_t at = header->start + (column * header->shape.dims[0] + first) * item;
            TRY(byte_source_read(array->source, at, array->tile + c * rows * item, rows * item,
                                 why));
        }
        transpose(array->tile, wide, rows, item, out + p * item, columns);
    }
done:
    return status;
}

/* Fills the window with rows from `first` on. */
static lscm_status fill_window(npy_array *array, size_t first, size_t columns, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t item = array->header.item;
    size_t total = array->header.shape.dims[0];
    size_t room = (size_t)WINDOW_BYTES / (columns * item);  /* rows */
    size_t most = (size_t)TILE_BYTES / TILE_COLUMNS / item; /* rows of a tile */
    room = room > total ? total : room > 0 ? room : 1;
    if (array->window == NULL) {
        TRY(byte_source_scatter(array->source, why));
        array->window = malloc(room * columns * item);
        array->tile = malloc((size_t)TILE_BYTES);
    }
    if (array->window == NULL || array->tile == NULL) {
        status = fail_memory(why, room * columns * item + (size_t)TILE_BYTES);
        goto done;
    }
    array->window_rows = 0;
    room = room < total - first ? room : total - first;
    for (size_t at = 0; at < room; at += most) {
        size_t rows = room - at < most ? room - at : most;
        TRY(read_tiles(array, first + at, rows, columns, array->window + at * columns * item, why));
    }
    array->window_first = first;
    array->window_rows = room;
done:
    return status;
}

static lscm_status read_fortran(npy_array *array, size_t first, size_t count, char *out,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t row_bytes = (size_t)array->header.bytes / array->header.shape.dims[0];
    while (count > 0) {
        if (first < array->window_first || first >= array->window_first + array->window_rows) {
            TRY(fill_window(array, first, row_bytes / array->header.item, why));
        }
        size_t skip = first - array->window_first;
        size_t rows = array->window_rows - skip < count ? array->window_rows - skip : count;
        memcpy(out, array->window + skip * row_bytes, rows * row_bytes);
        out += rows * row_bytes;
        first += rows;
        count -= rows;
    }
done:
    return status;
}

lscm_status npy_array_rows(npy_array *array, size_t first, size_t count, void *raw, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const npy_header *header = &array->header;
    size_t rows = header->shape.ndim > 0 ? header->shape.dims[0] : 1;
    if (first > rows || count > rows - first) {
        return fail(why, LSCM_USAGE, "%s has %zu rows; %zu from row %zu on were asked for",
                    byte_source_where(array->source), rows, count, first);
    }
    if (count == 0 || header->bytes == 0) {
        return LSCM_OK;
    }
    size_t row_bytes = (size_t)header->bytes / rows;
    if (header->fortran && header->shape.ndim > 1) {
        TRY(read_fortran(array, first, count, raw, why));
    } else {
        TRY(byte_source_read(array->source, header->start + (uint64_t)first * row_bytes, raw,
                             count * row_bytes, why));
    }
    if (header->swapped && header->kind == NPY_NUMBERS) {
        dtype_swap(header->shape.type, raw, count * row_bytes / header->item);
    }
done:
    return status;
}
