#include "data/npy/npy_dataset.h"

#include <stdlib.h>

#define WHOLE_MOST ((size_t)1 << 30) /* bytes of w, sigma or order */

typedef struct npy_source {
    row_source base;
    npy_store *store;
    npy_array *array[LSCM_FIELDS]; /* the store's */
} npy_source;

static lscm_status read_rows(row_source *self, lscm_field field, size_t first, size_t count,
                             void *raw, lscm_error *why)
{
    const npy_source *source = (const npy_source *)(const void *)self;
    return npy_array_rows(source->array[field], first, count, raw, why);
}

static void close_source(row_source *self)
{
    npy_source *source = (npy_source *)(void *)self;
    source->store->close(source->store);
    free(source);
}

static lscm_status find_fields(lscm_dataset *data, npy_source *source, const npy_names *names,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (int field = 0; field < LSCM_FIELDS; field++) {
        npy_array **array = &source->array[field];
        if (names->field[field] == NULL) {
            continue;
        }
        TRY(source->store->find(source->store, names->field[field], array, why));
        if (*array == NULL) {
            continue;
        }
        TRY(npy_array_is_numbers(*array, why));
        if ((*array)->header.shape.ndim == 0) {
            return fail(why, LSCM_SHAPE, "%s is a single number; an array is needed",
                        byte_source_where((*array)->source));
        }
        data->shape[field] = (*array)->header.shape;
    }
done:
    return status;
}

/* Before w (d, d) and the like are given memory, their shapes must fit the d of the rest. */
static lscm_status read_whole(lscm_dataset *data, npy_source *source, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (int field = LSCM_W; field < LSCM_FIELDS; field++) {
        npy_array *array = source->array[field];
        for (int k = 0; array != NULL && k < array->header.shape.ndim; k++) {
            if (array->header.shape.dims[k] != data->nodes) {
                return fail(why, LSCM_SHAPE, "%s has a dimension of %zu but there are %zu nodes",
                            byte_source_where(array->source), array->header.shape.dims[k],
                            data->nodes);
            }
        }
        if (array != NULL) {
            TRY(npy_array_whole(array, WHOLE_MOST, &data->whole[field], why));
        }
    }
done:
    return status;
}

/* Leaves *out alone when there is no such array. */
static lscm_status read_texts(npy_store *store, const char *name, size_t expected, char ***out,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    npy_array *array = NULL;
    char **texts = NULL;
    size_t count = 0;
    TRY(store->find(store, name, &array, why));
    if (array != NULL) {
        TRY(npy_array_texts(array, &texts, &count, why));
        if (count != expected) {
            TRY(fail(why, LSCM_SHAPE, "%s holds %zu texts but there should be %zu",
                     byte_source_where(array->source), count, expected));
        }
        *out = texts;
        texts = NULL;
    }
done:
    texts_free(texts, count);
    return status;
}

lscm_status npy_dataset_fill(lscm_dataset *data, npy_store *store, const npy_names *names,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char **recipe = NULL;
    npy_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        store->close(store);
        return fail_memory(why, sizeof *source);
    }
    source->base = (row_source){read_rows, close_source};
    source->store = store;
    data->source = &source->base;
    TRY(find_fields(data, source, names, why));
    dataset_settle(data);
    TRY(read_whole(data, source, why));
    if (data->nodes > 0) {
        TRY(read_texts(store, names->nodes, data->nodes, &data->node_names, why));
    }
    if (data->shape[LSCM_X].present) { /* the truth alone has no features to name */
        TRY(read_texts(store, names->features, lscm_dataset_features(data), &data->feature_names,
                       why));
    }
    if (names->recipe != NULL) {
        TRY(read_texts(store, names->recipe, 1, &recipe, why));
        data->recipe = recipe != NULL ? recipe[0] : NULL;
        free(recipe);
    }
done:
    return status;
}
