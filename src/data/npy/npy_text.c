/* Texts in NPY arrays: cells of a fixed number of characters, filled up with NUL; UCS-4 ('U') or
 * bytes that must be UTF-8 ('S'). Ours are UTF-8 in memory of their own.
 */
#include "data/npy/npy_array.h"
#include "data/text/text.h"

#include <stdlib.h>
#include <string.h>

enum { TEXTS_MOST = 1 << 30 };

void texts_free(char **texts, size_t count)
{
    for (size_t i = 0; texts != NULL && i < count; i++) {
        free(texts[i]);
    }
    free(texts);
}

/* The cell without the NULs at its end, as numbers of this machine's endianness. */
static size_t trim(const npy_header *header, char *cell)
{
    size_t each = header->kind == NPY_UNICODE ? 4 : 1;
    size_t length = header->item / each;
    if (header->swapped) {
        dtype_swap(DTYPE_UINT32, cell, length);
    }
    while (length > 0 && memcmp(cell + (length - 1) * each, "\0\0\0", each) == 0) {
        length--;
    }
    return length;
}

static lscm_status decode(const npy_array *array, char *cell, size_t i, char **out, lscm_error *why)
{
    bool unicode = array->header.kind == NPY_UNICODE;
    size_t length = trim(&array->header, cell);
    size_t bytes = 0;
    char *text = malloc((unicode ? 4 * length : length) + 1);
    *out = text;
    if (text == NULL) {
        return fail_memory(why, 4 * length + 1);
    }
    if (unicode) {
        bytes = utf8_encode((const uint32_t *)(const void *)cell, length, text);
    } else {
        memcpy(text, cell, length);
        bytes = utf8_length(text, length) < SIZE_MAX ? length : SIZE_MAX;
    }
    text[bytes == SIZE_MAX ? 0 : bytes] = '\0';
    if (bytes == SIZE_MAX) {
        return fail(why, LSCM_VALUE, "%s: text %zu (from 0) has a character that is not Unicode",
                    byte_source_where(array->source), i);
    }
    return LSCM_OK;
}

lscm_status npy_array_texts(npy_array *array, char ***texts, size_t *count, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const npy_header *header = &array->header;
    void *cells = NULL;
    char **out = NULL;
    size_t n = shape_count(&header->shape);
    if (header->kind == NPY_NUMBERS || header->shape.ndim > 1) {
        return fail(why, LSCM_FORMAT, "%s must be a list of texts (a 1-dimensional str array)",
                    byte_source_where(array->source));
    }
    if (n > (size_t)TEXTS_MOST / sizeof *out) { /* cells of no width have no bytes to count */
        return fail(why, LSCM_SHAPE, "%s holds %zu texts, more than make sense there",
                    byte_source_where(array->source), n);
    }
    TRY(npy_array_whole(array, TEXTS_MOST, &cells, why));
    out = calloc(n > 0 ? n : 1, sizeof *out);
    if (out == NULL) {
        status = fail_memory(why, n * sizeof *out);
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        TRY(decode(array, (char *)cells + i * header->item, i, &out[i], why));
    }
    *texts = out;
    *count = n;
    out = NULL;
done:
    texts_free(out, n);
    free(cells);
    return status;
}
