#include "data/npy/npz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WHOLE_MOST ((uint64_t)4 << 30) /* bytes of an array that is read whole, as double */

enum { WHERE_MOST = 4200 }; /* a path and a name */

struct npz_file {
    npy_store store;
    char *path;
    zip_t *zip;
    size_t entries;
    npy_array **arrays; /* (entries), NULL until asked for */
};

/* A name from outside, fit to stand in a sentence: what could disturb a terminal becomes '?'. */
static void printable(const char *name, char *out, size_t size)
{
    size_t i = 0;
    for (; name[i] != '\0' && i + 1 < size; i++) {
        unsigned char c = (unsigned char)name[i];
        out[i] = c < 0x20 || c >= 0x7f ? '?' : (char)c;
    }
    out[i] = '\0';
}

static lscm_status check_names(const npz_file *file, lscm_error *why)
{
    char shown[64];
    for (size_t i = 0; i < file->entries; i++) {
        const char *name = zip_get_name(file->zip, i, 0);
        if (name == NULL) {
            return fail(why, LSCM_FORMAT, "%s: entry %zu of the zip file has no name", file->path,
                        i);
        }
        printable(name, shown, sizeof shown);
        bool drive = name[0] != '\0' && name[1] == ':';
        if (drive || strpbrk(name, "/\\") != NULL || strstr(name, "..") != NULL) {
            return fail(why, LSCM_FORMAT,
                        "%s: the zip entry '%s' has a path in its name; keys must be plain names",
                        file->path, shown);
        }
        /* a name is found at its first place, so a second place shows */
        if (zip_name_locate(file->zip, name, 0) != (zip_int64_t)i) {
            return fail(why, LSCM_FORMAT, "%s: the zip entry '%s' is there twice", file->path,
                        shown);
        }
    }
    return LSCM_OK;
}

static lscm_status open_zip(npz_file *file, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    int fd = -1;
    FILE *stream = NULL;
    zip_source_t *source = NULL;
    uint64_t size = 0;
    zip_error_t error;
    zip_error_init(&error);
    TRY(open_regular(file->path, file->path, &fd, &size, why));
    if (size == 0) { /* libzip would call it a zip without entries */
        TRY(fail(why, LSCM_FORMAT, "%s is empty; it should be an NPZ file", file->path));
    }
    stream = fdopen(fd, "rb");
    if (stream == NULL) {
        TRY(fail(why, LSCM_READ, "%s: %s", file->path, strerror(errno)));
    }
    fd = -1;
    source = zip_source_filep_create(stream, 0, -1, &error);
    if (source == NULL) {
        TRY(fail(why, LSCM_READ, "%s: %s", file->path, zip_error_strerror(&error)));
    }
    stream = NULL;
    file->zip = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (file->zip == NULL) {
        TRY(fail(why, LSCM_FORMAT,
                 "%s is not an NPZ (zip) file, or is truncated: %s; make it with numpy.savez or "
                 "lscm convert",
                 file->path, zip_error_strerror(&error)));
    }
    source = NULL;
    file->entries = (size_t)zip_get_num_entries(file->zip, 0);
done:
    zip_source_free(source);
    if (stream != NULL) {
        (void)fclose(stream);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    zip_error_fini(&error);
    return status;
}

static lscm_status find(npy_store *self, const char *name, npy_array **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    npz_file *file = (npz_file *)(void *)self;
    byte_source *source = NULL;
    char entry[64];
    char where[WHERE_MOST];
    *out = NULL;
    (void)snprintf(entry, sizeof entry, "%s.npy", name);
    (void)snprintf(where, sizeof where, "%s: '%s'", file->path, name);
    zip_int64_t index = zip_name_locate(file->zip, entry, 0);
    if (index < 0) {
        return LSCM_OK;
    }
    if (file->arrays[index] == NULL) {
        TRY(byte_source_entry(&source, file->zip, (zip_uint64_t)index, where, why));
        TRY(npy_array_open(&file->arrays[index], source, why));
    }
    *out = file->arrays[index];
done:
    return status;
}

static void close_store(npy_store *self)
{
    npz_file_close((npz_file *)(void *)self);
}

lscm_status npz_file_open(npz_file **out, const char *path, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    npz_file *file = calloc(1, sizeof *file);
    *out = NULL;
    if (file == NULL) {
        return fail_memory(why, sizeof *file);
    }
    file->store = (npy_store){find, close_store};
    file->path = strdup(path);
    if (file->path == NULL) {
        status = fail_memory(why, strlen(path) + 1);
        goto done;
    }
    TRY(open_zip(file, why));
    TRY(check_names(file, why));
    file->arrays = calloc(file->entries + 1, sizeof(npy_array *));
    if (file->arrays == NULL) {
        status = fail_memory(why, file->entries * sizeof(npy_array *));
        goto done;
    }
    *out = file;
    file = NULL;
done:
    npz_file_close(file);
    return status;
}

void npz_file_close(npz_file *file)
{
    if (file == NULL) {
        return;
    }
    for (size_t i = 0; file->arrays != NULL && i < file->entries; i++) {
        npy_array_close(file->arrays[i]);
    }
    if (file->zip != NULL) {
        zip_discard(file->zip);
    }
    free(file->arrays);
    free(file->path);
    free(file);
}

npy_store *npz_file_store(npz_file *file)
{
    return &file->store;
}

lscm_status npz_file_shape(npz_file *file, const char *name, array_shape *shape, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    npy_array *array = NULL;
    *shape = (array_shape){0};
    TRY(find(&file->store, name, &array, why));
    if (array != NULL) {
        TRY(npy_array_is_numbers(array, why));
        *shape = array->header.shape;
    }
done:
    return status;
}

lscm_status npz_file_read_double(npz_file *file, const char *name, double **out, array_shape *shape,
                                 lscm_error *why)
{
    lscm_status status = LSCM_OK;
    *out = NULL;
    TRY(npz_file_shape(file, name, shape, why));
    if (!shape->present) {
        return LSCM_OK;
    }
    size_t count = shape_count(shape);
    if (count > WHOLE_MOST / sizeof **out) {
        return fail(why, LSCM_SHAPE, "%s: '%s' has %zu numbers, too many to be read at once",
                    file->path, name, count);
    }
    *out = malloc(count * sizeof **out);
    if (*out == NULL) {
        return fail_memory(why, count * sizeof **out);
    }
    TRY(npz_file_rows_double(file, name, 0, shape->ndim > 0 ? shape->dims[0] : 1, *out, why));
done:
    if (status != LSCM_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

lscm_status npz_file_rows_double(npz_file *file, const char *name, size_t first, size_t count,
                                 double *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    npy_array *array = NULL;
    TRY(find(&file->store, name, &array, why));
    if (array == NULL) {
        return fail(why, LSCM_MISSING, "%s: there is no '%s'", file->path, name);
    }
    TRY(npy_array_rows_double(array, first, count, out, why));
done:
    return status;
}
