/* Data sets made by hand for tests: any dtype and shape, rows from arrays in memory. Include it
 * before testing.h: cmocka has a macro `fail`. */
#ifndef LSCM_TESTS_MADE_H
#define LSCM_TESTS_MADE_H

#include "data/dataset/dataset.h"

#include <stdlib.h>
#include <string.h>

typedef struct made_source {
    row_source base;
    void *raw[LSCM_FIELDS]; /* owned */
    size_t row_bytes[LSCM_FIELDS];
    size_t reads; /* calls so far */
} made_source;

static inline lscm_status made_read(row_source *self, lscm_field field, size_t first, size_t count,
                                    void *raw, lscm_error *why)
{
    made_source *source = (made_source *)(void *)self;
    size_t row = source->row_bytes[field];
    (void)why;
    source->reads++;
    memcpy(raw, (const char *)source->raw[field] + first * row, count * row);
    return LSCM_OK;
}

static inline void made_close(row_source *self)
{
    made_source *source = (made_source *)(void *)self;
    for (int field = 0; field < LSCM_FIELDS; field++) {
        free(source->raw[field]);
    }
    free(source);
}

static inline lscm_dataset *made_new(void)
{
    lscm_dataset *data = NULL;
    made_source *source = calloc(1, sizeof *source);
    if (source == NULL || dataset_new(&data, "made", "memory", NULL) != LSCM_OK) {
        abort();
    }
    source->base = (row_source){made_read, made_close};
    data->source = &source->base;
    return data;
}

/* A field with zeroed elements, which are returned; 0 ends the dimensions. */
static inline void *made_field(lscm_dataset *data, lscm_field field, dtype type, size_t a, size_t b,
                               size_t c, size_t e)
{
    made_source *source = (made_source *)(void *)data->source;
    array_shape shape = {true, type, 0, {a, b, c, e}};
    while (shape.ndim < LSCM_MAX_DIMS && shape.dims[shape.ndim] > 0) {
        shape.ndim++;
    }
    void *raw = calloc(shape_count(&shape) + 1, dtype_size(type));
    if (raw == NULL) {
        abort();
    }
    data->shape[field] = shape;
    source->row_bytes[field] = shape_row_bytes(&shape);
    if (FIELD_IS_ROWS(field)) {
        free(source->raw[field]);
        source->raw[field] = raw;
    } else {
        free(data->whole[field]);
        data->whole[field] = raw;
    }
    dataset_settle(data);
    return raw;
}

/* "a,b,c" as names. */
static inline char **made_names(const char *text, size_t count)
{
    char **names = calloc(count, sizeof *names);
    for (size_t i = 0; names != NULL && i < count; i++) {
        size_t length = strcspn(text, ",");
        names[i] = strndup(text, length);
        text += length + (text[length] == ',' ? 1 : 0);
    }
    return names;
}

#endif
