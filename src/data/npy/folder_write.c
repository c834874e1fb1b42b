/* Writes a data set as a folder of the public BIOLS layout (see folder_read.c), with the derived
 * files that the public code loads. Element types are kept.
 */
#include "data/npy/folder.h"

#include "data/npy/npy.h"
#include "data/npy/permutation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_MOST = 4200 };

lscm_status folder_file_open(folder_file *file, const char *folder, const char *name,
                             const char *what, lscm_error *why)
{
    char path[PATH_MOST];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    file->what = what;
    file->fd = -1;
    if (length < 0 || (size_t)length >= sizeof path) {
        return fail(why, LSCM_WRITE, "%s: the path is too long", what);
    }
    file->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return file->fd >= 0 ? LSCM_OK : fail(why, LSCM_WRITE, "%s: %s", what, strerror(errno));
}

lscm_status folder_file_write(const folder_file *file, const void *from, size_t bytes,
                              lscm_error *why)
{
    const char *at = from;
    while (bytes > 0) {
        ssize_t n = write(file->fd, at, bytes);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return fail(why, LSCM_WRITE, "%s: %s", file->what, strerror(errno));
        }
        at += n;
        bytes -= (size_t)n;
    }
    return LSCM_OK;
}

lscm_status folder_file_close(folder_file *file, lscm_error *why)
{
    int fd = file->fd;
    file->fd = -1;
    if (fd >= 0 && close(fd) != 0) {
        return fail(why, LSCM_WRITE, "%s: %s", file->what, strerror(errno));
    }
    return LSCM_OK;
}

static lscm_status write_stream(npy_stream *stream, const char *to, const char *name, meter *m,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    folder_file file = {-1, m->what};
    const void *piece = NULL;
    size_t bytes = 0;
    char npy[64];
    (void)snprintf(npy, sizeof npy, "%s.npy", name);
    TRY(folder_file_open(&file, to, npy, m->what, why));
    do {
        TRY(npy_stream_next(stream, &piece, &bytes, why));
        TRY(folder_file_write(&file, piece, bytes, why));
    } while (bytes > 0);
    TRY(folder_file_close(&file, why));
done:
    npy_stream_end(stream);
    (void)folder_file_close(&file, NULL);
    return status;
}

/* The order as a matrix P (d, d), in the order's own element type. */
static lscm_status write_order(const lscm_dataset *data, const char *to, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    dtype type = data->shape[LSCM_ORDER].type;
    array_shape shape = {true, type, 2, {d, d}};
    double *order = calloc(d, sizeof *order);
    void *p = calloc(d * d, dtype_size(type));
    if (order == NULL || p == NULL) {
        status = fail_memory(why, d * d * dtype_size(type));
        goto done;
    }
    TRY(lscm_dataset_read(data, LSCM_ORDER, 0, d, order, why));
    for (size_t k = 0; k < d; k++) {
        if (!(order[k] >= 0 && order[k] < (double)d)) {
            TRY(fail(why, LSCM_VALUE, "%s: 'order' is not an order of the nodes", data->path));
        }
        type_store(type, p, (size_t)order[k] * d + k, 1);
    }
    npy_stream stream = npy_stream_of_memory(npy_header_of(&shape), p);
    TRY(write_stream(&stream, to, "perm", m, why));
done:
    free(order);
    free(p);
    return status;
}

static lscm_status write_texts(char *const *texts, size_t count, const char *to, const char *name,
                               meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    npy_header header;
    uint32_t *cells = NULL;
    if (texts == NULL) {
        return LSCM_OK;
    }
    TRY(npy_texts_pack(texts, 1, count, name, &header, &cells, why));
    npy_stream stream = npy_stream_of_memory(header, cells);
    TRY(write_stream(&stream, to, name, m, why));
done:
    free(cells);
    return status;
}

static lscm_status write_recipe(const lscm_dataset *data, const char *to, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    folder_file file = {-1, m->what};
    if (data->recipe != NULL) {
        TRY(folder_file_open(&file, to, "recipe.json", m->what, why));
        TRY(folder_file_write(&file, data->recipe, strlen(data->recipe), why));
        TRY(folder_file_write(&file, "\n", 1, why));
        TRY(folder_file_close(&file, why));
    }
done:
    (void)folder_file_close(&file, NULL);
    return status;
}

lscm_status folder_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (int field = 0; field < LSCM_FIELDS; field++) {
        if (data->shape[field].present && FOLDER_NAMES.field[field] != NULL) {
            npy_stream stream = npy_stream_of_field(data, (lscm_field)field, m);
            TRY(write_stream(&stream, to, FOLDER_NAMES.field[field], m, why));
        }
    }
    if (data->shape[LSCM_ORDER].present) {
        TRY(write_order(data, to, m, why));
    }
    TRY(folder_derive(data, to, m, why));
    TRY(write_texts(data->node_names, data->nodes, to, FOLDER_NAMES.nodes, m, why));
    TRY(write_texts(data->feature_names, lscm_dataset_features(data), to, FOLDER_NAMES.features, m,
                    why));
    TRY(write_recipe(data, to, m, why));
done:
    return status;
}
