/* A data set in a folder of the public BIOLS layout:
 *
 *     x_samples (N, D) or (N, H, W, C), z_samples, interv_targets, interv_values (N, d),
 *     weighted_adjacency (d, d; W[j][i] is the edge j -> i), gt_sigmas (d),
 *     perm (d, d; P[node][position] = 1, becomes the order), all .npy
 *
 * and, ours: names.npy, features.npy, recipe.json. Whatever else is there is left alone, above all
 * artifact_metadata.npy, a pickle.
 */
#include "data/npy/folder.h"

#include "data/npy/npy.h"
#include "data/npy/permutation.h"
#include "data/text/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ARRAYS_MOST = LSCM_FIELDS + 2, PATH_MOST = 4200, RECIPE_MOST = 1 << 26 };

const npy_names FOLDER_NAMES = {
    .field = {[LSCM_X] = "x_samples",
              [LSCM_TARGETS] = "interv_targets",
              [LSCM_VALUES] = "interv_values",
              [LSCM_Z] = "z_samples",
              [LSCM_W] = "weighted_adjacency",
              [LSCM_SIGMA] = "gt_sigmas"},
    .nodes = "names",
    .features = "features",
};

typedef struct folder_store {
    npy_store base;
    const char *path;               /* the data set's */
    npy_array *arrays[ARRAYS_MOST]; /* those opened so far */
    size_t count;
} folder_store;

/* The bytes of a file in the folder; NULL when it is not there. */
static lscm_status open_bytes(const folder_store *store, const char *file, byte_source **out,
                              lscm_error *why)
{
    char path[PATH_MOST];
    char where[PATH_MOST];
    struct stat about;
    *out = NULL;
    int length = snprintf(path, sizeof path, "%s/%s", store->path, file);
    if (length < 0 || (size_t)length >= sizeof path) {
        return fail(why, LSCM_READ, "%.100s...: the path is too long", store->path);
    }
    (void)snprintf(where, sizeof where, "%s: '%s'", store->path, file);
    if (stat(path, &about) != 0 && errno == ENOENT) {
        return LSCM_OK;
    }
    return byte_source_file(out, path, where, why);
}

/* Each name is asked for once, so that nothing has to be looked up. */
static lscm_status find(npy_store *self, const char *name, npy_array **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    folder_store *store = (folder_store *)(void *)self;
    byte_source *source = NULL;
    char file[64];
    *out = NULL;
    (void)snprintf(file, sizeof file, "%s.npy", name);
    TRY(open_bytes(store, file, &source, why));
    if (source != NULL) {
        TRY(npy_array_open(out, source, why));
        store->arrays[store->count++] = *out;
    }
done:
    return status;
}

static void close_store(npy_store *self)
{
    folder_store *store = (folder_store *)(void *)self;
    for (size_t i = 0; i < store->count; i++) {
        npy_array_close(store->arrays[i]);
    }
    free(store);
}

/* perm.npy to the order, in the same element type if that can count the nodes. */
static lscm_status read_order(lscm_dataset *data, folder_store *store, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    npy_array *array = NULL;
    double *p = NULL;     /* (d, d) */
    size_t *order = NULL; /* (d) */
    TRY(find(&store->base, "perm", &array, why));
    if (array == NULL) {
        return LSCM_OK;
    }
    const array_shape *shape = &array->header.shape;
    TRY(npy_array_is_numbers(array, why));
    if (shape->ndim != 2 || shape->dims[0] != d || shape->dims[1] != d) {
        TRY(fail(why, LSCM_SHAPE, "%s: 'perm.npy' must have shape (%zu, %zu), a row for each node",
                 data->path, d, d));
    }
    dtype type = type_counts_to(shape->type) >= d ? shape->type : DTYPE_INT64;
    p = calloc(d * d, sizeof *p);
    order = calloc(d, sizeof *order);
    data->whole[LSCM_ORDER] = calloc(d, dtype_size(type));
    if (p == NULL || order == NULL || data->whole[LSCM_ORDER] == NULL) {
        status = fail_memory(why, (d + 2) * d * sizeof *p);
        goto done;
    }
    TRY(npy_array_rows_double(array, 0, d, p, why));
    if (!permutation_order(p, d, order)) {
        TRY(fail(why, LSCM_VALUE,
                 "%s: 'perm.npy' is not a permutation: it needs a single 1 in each row and column",
                 data->path));
    }
    for (size_t k = 0; k < d; k++) {
        type_store(type, data->whole[LSCM_ORDER], k, order[k]);
    }
    data->shape[LSCM_ORDER] = (array_shape){true, type, 1, {d}};
done:
    free(p);
    free(order);
    return status;
}

static lscm_status read_recipe(lscm_dataset *data, const folder_store *store, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    byte_source *source = NULL;
    char *text = NULL;
    TRY(open_bytes(store, "recipe.json", &source, why));
    if (source == NULL) {
        return LSCM_OK;
    }
    size_t size = (size_t)byte_source_size(source);
    if (size > (size_t)RECIPE_MOST) {
        TRY(fail(why, LSCM_FORMAT, "%s: 'recipe.json' is larger than any recipe", data->path));
    }
    text = calloc(size + 1, 1);
    if (text == NULL) {
        status = fail_memory(why, size + 1);
        goto done;
    }
    TRY(byte_source_read(source, 0, text, size, why));
    if (size > 0 && text[size - 1] == '\n') { /* the line end that folder_write adds */
        text[--size] = '\0';
    }
    if (utf8_length(text, size) == SIZE_MAX) {
        TRY(fail(why, LSCM_FORMAT, "%s: 'recipe.json' is not UTF-8 text", data->path));
    }
    data->recipe = text;
    text = NULL;
done:
    free(text);
    byte_source_close(source);
    return status;
}

lscm_status folder_open(lscm_dataset *data, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    folder_store *store = calloc(1, sizeof *store);
    if (store == NULL) {
        return fail_memory(why, sizeof *store);
    }
    store->base = (npy_store){find, close_store};
    store->path = data->path;
    TRY(npy_dataset_fill(data, &store->base, &FOLDER_NAMES, why));
    if (data->nodes == 0 && data->rows == 0) {
        TRY(fail(why, LSCM_MISSING,
                 "%s: there is no x_samples.npy nor any other file of the BIOLS layout in it",
                 data->path));
    }
    if (data->nodes > 0) {
        TRY(read_order(data, store, why));
    }
    TRY(read_recipe(data, store, why));
done:
    return status;
}
