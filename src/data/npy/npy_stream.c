#include "data/npy/npy_dataset.h"
#include "data/text/text.h"

#include <stdlib.h>
#include <string.h>

npy_stream npy_stream_of_memory(npy_header header, const void *bytes)
{
    npy_stream stream = {.bytes = bytes, .header = header};
    (void)npy_header_format(&stream.header, stream.head);
    return stream;
}

npy_stream npy_stream_of_field(const lscm_dataset *data, lscm_field field, meter *progress)
{
    npy_stream stream =
        npy_stream_of_memory(npy_header_of(&data->shape[field]), data->whole[field]);
    stream.data = data;
    stream.field = field;
    stream.progress = progress;
    return stream;
}

uint64_t npy_stream_size(const npy_stream *stream)
{
    return stream->header.start + stream->header.bytes;
}

static lscm_status next_rows(npy_stream *stream, const void **piece, size_t *bytes, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(blocks_next(&stream->walk, why));
    *piece = stream->walk.raw;
    *bytes = stream->walk.count * shape_row_bytes(&stream->header.shape);
done:
    return status;
}

/* Blocks are begun with the first row, so that only one stream at a time has memory. */
lscm_status npy_stream_next(npy_stream *stream, const void **piece, size_t *bytes, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    *piece = NULL;
    *bytes = 0;
    switch (stream->state) {
    case NPY_AT_HEAD:
        *piece = stream->head;
        *bytes = (size_t)stream->header.start;
        stream->state = NPY_AT_BODY;
        break;
    case NPY_AT_BODY:
        if (stream->bytes != NULL) {
            *piece = stream->bytes;
            *bytes = (size_t)stream->header.bytes;
            stream->state = NPY_AT_END;
            break;
        }
        TRY(blocks_begin(&stream->walk, stream->data, stream->field, stream->progress, why));
        stream->walk.holes = true;
        stream->state = NPY_IN_ROWS;
        TRY(next_rows(stream, piece, bytes, why));
        break;
    case NPY_IN_ROWS:
        TRY(next_rows(stream, piece, bytes, why));
        break;
    case NPY_AT_END:
        break;
    }
done:
    return status;
}

void npy_stream_end(npy_stream *stream)
{
    if (stream->state == NPY_IN_ROWS) {
        blocks_end(&stream->walk);
    }
    stream->state = NPY_AT_END;
}

lscm_status npy_texts_pack(char *const *texts, int ndim, size_t count, const char *what,
                           npy_header *header, uint32_t **cells, lscm_error *why)
{
    size_t width = 1;
    *cells = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t length = utf8_length(texts[i], strlen(texts[i]));
        if (length == SIZE_MAX) {
            return fail(why, LSCM_VALUE,
                        "%s %zu (from 0) is not UTF-8 and cannot be written; rename it", what, i);
        }
        width = length > width ? length : width;
    }
    *cells = calloc(count > 0 ? count : 1, width * sizeof **cells);
    if (*cells == NULL) {
        return fail_memory(why, sizeof **cells * count * width);
    }
    for (size_t i = 0; i < count; i++) {
        utf8_decode(texts[i], strlen(texts[i]), *cells + i * width);
    }
    *header = npy_header_of_texts(ndim, count, width);
    return LSCM_OK;
}
