/* Arrays of an HDF5 file: see h5ad_file.h.
 *
 * Where an array is in chunks, the cache holds a row of them, so that going forward unpacks each
 * once.
 */
#include "data/h5ad/h5ad_file.h"
#include "data/netcdf/netcdf.h"
#include "data/text/text.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

enum {
    CACHE_LEAST = 1 << 20,
    CACHE_MOST = 1 << 26,
    CACHE_SLOTS = 1009,
    LONGEST_TEXT = 1 << 16 /* of texts that all have the same length in the file */
};

static h5ad_type type_of(hid_t type)
{
    switch (H5Tget_class(type)) {
    case H5T_FLOAT:
        return H5AD_REAL;
    case H5T_INTEGER:
        return H5AD_INTEGER;
    case H5T_ENUM:
        return H5AD_TRUTH;
    case H5T_STRING:
        return H5AD_TEXT;
    default:
        return H5AD_OTHER;
    }
}

/* The lock is held. What the array is; false when HDF5 does not say. */
static bool describe(h5ad_array *array, int *ndim, bool *filled)
{
    hsize_t dims[H5S_MAX_RANK] = {0};
    hid_t space = H5Dget_space(array->id);
    hid_t type = H5Dget_type(array->id);
    bool done = space >= 0 && type >= 0;
    *ndim = done ? H5Sget_simple_extent_dims(space, dims, NULL) : -1;
    if (done) {
        array->type = type_of(type);
        array->bytes = H5Tget_size(type);
        array->ndim = *ndim;
        array->dims[0] = *ndim > 0 ? (size_t)dims[0] : 0;
        array->dims[1] = *ndim > 1 ? (size_t)dims[1] : 1;
        *filled = H5Dget_storage_size(array->id) > 0 || array->dims[0] == 0 || array->dims[1] == 0;
    }
    if (space >= 0) {
        (void)H5Sclose(space);
    }
    if (type >= 0) {
        (void)H5Tclose(type);
    }
    return done && *ndim >= 0;
}

/* The lock is held. The access list for an array, by its chunks. */
static hid_t access_for(hid_t array)
{
    hsize_t chunk[H5S_MAX_RANK] = {0};
    hsize_t dims[H5S_MAX_RANK] = {0};
    hid_t list = H5Pcreate(H5P_DATASET_ACCESS);
    hid_t made = H5Dget_create_plist(array);
    hid_t space = H5Dget_space(array);
    hid_t type = H5Dget_type(array);
    if (list >= 0 && made >= 0 && space >= 0 && type >= 0 && H5Pget_layout(made) == H5D_CHUNKED &&
        H5Pget_chunk(made, H5S_MAX_RANK, chunk) > 0 &&
        H5Sget_simple_extent_dims(space, dims, NULL) > 0) {
        double row = (double)(dims[1] > chunk[1] ? dims[1] + chunk[1] : chunk[1]);
        double bytes = (double)H5Tget_size(type) * 2 * (double)chunk[0] * (row > 0 ? row : 1);
        bytes = bytes > CACHE_MOST ? CACHE_MOST : bytes < CACHE_LEAST ? CACHE_LEAST : bytes;
        (void)H5Pset_chunk_cache(list, CACHE_SLOTS, (size_t)bytes, 0.75);
    }
    if (type >= 0) {
        (void)H5Tclose(type);
    }
    if (space >= 0) {
        (void)H5Sclose(space);
    }
    if (made >= 0) {
        (void)H5Pclose(made);
    }
    return list;
}

/* The lock is held. Negative when it cannot be opened. */
static hid_t open_cached(hid_t file, const char *name)
{
    hid_t first = H5Dopen2(file, name, H5P_DEFAULT);
    hid_t list = first >= 0 ? access_for(first) : -1;
    if (first >= 0) {
        (void)H5Dclose(first); /* the cache is made with the first that opens it */
    }
    hid_t id = first >= 0 && list >= 0 ? H5Dopen2(file, name, list) : -1;
    if (list >= 0) {
        (void)H5Pclose(list);
    }
    return id;
}

lscm_status h5ad_array_open(h5ad_array *array, const h5ad_file *file, const char *name,
                            lscm_error *why)
{
    int ndim = -1;
    bool filled = false;
    bool known = false;
    *array = (h5ad_array){.file = file};
    (void)snprintf(array->name, sizeof array->name, "%s", name);
    if (h5ad_kind_of(file, name) != H5AD_ARRAY) {
        return fail(why, LSCM_FORMAT, "%s: the array '%s' is missing; the file may be damaged",
                    file->path, name);
    }
    netcdf_begin();
    hid_t id = open_cached(file->id, name);
    if (id >= 0) {
        array->id = id;
        known = describe(array, &ndim, &filled);
    }
    netcdf_unlock();
    if (!known) {
        return fail(why, LSCM_READ, "%s: '%s' cannot be read; the file may be damaged", file->path,
                    name);
    }
    if (ndim < 1 || ndim > 2) {
        return fail(why, LSCM_SHAPE, "%s: '%s' has %d dimensions; it must have one or two",
                    file->path, name, ndim);
    }
    if (!filled) {
        return fail(why, LSCM_FORMAT, "%s: '%s' says %zu entries, but the file holds none of them",
                    file->path, name, array->dims[0]);
    }
    return LSCM_OK;
}

void h5ad_array_close(h5ad_array *array)
{
    if (array->id > 0) {
        netcdf_begin();
        (void)H5Dclose(array->id);
        netcdf_unlock();
        array->id = 0;
    }
}

/* The lock is held. */
static bool read_rows(const h5ad_array *array, size_t first, size_t count, hid_t as, void *out)
{
    hsize_t start[2] = {first, 0};
    hsize_t counts[2] = {count, array->dims[1]};
    hid_t space = H5Dget_space(array->id);
    hid_t memory = H5Screate_simple(array->ndim, counts, NULL);
    bool done = space >= 0 && memory >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, counts, NULL) >= 0 &&
                H5Dread(array->id, as, memory, space, H5P_DEFAULT, out) >= 0;
    if (space >= 0) {
        (void)H5Sclose(space);
    }
    if (memory >= 0) {
        (void)H5Sclose(memory);
    }
    return done;
}

static lscm_status check_range(const h5ad_array *array, size_t first, size_t count, lscm_error *why)
{
    if (first > array->dims[0] || count > array->dims[0] - first) {
        return fail(why, LSCM_SHAPE,
                    "%s: '%s' has %zu entries, but %zu are needed; the file may be damaged",
                    array->file->path, array->name, array->dims[0], first + count);
    }
    return LSCM_OK;
}

static lscm_status fail_read(const h5ad_array *array, lscm_error *why)
{
    return fail(why, LSCM_READ,
                "%s: '%s' cannot be read; the file may be damaged, or packed with a filter that "
                "HDF5 does not have here (write it with compression='gzip')",
                array->file->path, array->name);
}

lscm_status h5ad_array_read(const h5ad_array *array, size_t first, size_t count, dtype as,
                            void *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(check_range(array, first, count, why));
    if (array->type == H5AD_TEXT || array->type == H5AD_OTHER) {
        return fail(why, LSCM_FORMAT, "%s: '%s' does not hold numbers", array->file->path,
                    array->name);
    }
    netcdf_begin();
    bool done = count == 0 || array->dims[1] == 0 ||
                read_rows(array, first, count,
                          as == DTYPE_FLOAT32   ? H5T_NATIVE_FLOAT
                          : as == DTYPE_FLOAT64 ? H5T_NATIVE_DOUBLE
                                                : H5T_NATIVE_INT64,
                          out);
    netcdf_unlock();
    status = done ? LSCM_OK : fail_read(array, why);
done:
    return status;
}

/* ---- Texts */

/* The lock is held. Texts of one length, each closed by NULs or blanks. */
static bool read_fixed(const h5ad_array *array, hid_t type, size_t first, size_t count, char **out)
{
    size_t size = array->bytes;
    bool blanks = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
    char *bytes = malloc(count * size);
    bool done = bytes != NULL && read_rows(array, first, count, type, bytes);
    for (size_t i = 0; i < count && done; i++) {
        const char *text = bytes + i * size;
        size_t length = strnlen(text, size);
        while (blanks && length > 0 && text[length - 1] == ' ') {
            length--;
        }
        out[i] = strndup(text, length);
        done = out[i] != NULL;
    }
    free(bytes);
    return done;
}

/* The lock is held. Texts of any length, which HDF5 allocates. */
static bool read_variable(const h5ad_array *array, hid_t type, size_t first, size_t count,
                          char **out)
{
    char **texts = calloc(count, sizeof *texts);
    bool done = texts != NULL && read_rows(array, first, count, type, texts);
    for (size_t i = 0; i < count && done; i++) {
        out[i] = strdup(texts[i] != NULL ? texts[i] : "");
        done = out[i] != NULL;
    }
    for (size_t i = 0; i < count && texts != NULL; i++) {
        if (texts[i] != NULL) {
            (void)H5free_memory(texts[i]);
        }
    }
    free(texts);
    return done;
}

lscm_status h5ad_array_texts(const h5ad_array *array, size_t first, size_t count, char **out,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    memset(out, 0, count * sizeof *out);
    TRY(check_range(array, first, count, why));
    if (array->type != H5AD_TEXT || array->ndim != 1) {
        return fail(why, LSCM_FORMAT, "%s: '%s' does not hold a list of texts", array->file->path,
                    array->name);
    }
    netcdf_begin();
    hid_t type = H5Dget_type(array->id);
    bool any = type >= 0 && H5Tis_variable_str(type) > 0;
    bool done =
        count == 0 || (any && read_variable(array, type, first, count, out)) ||
        (!any && array->bytes <= LONGEST_TEXT && read_fixed(array, type, first, count, out));
    if (type >= 0) {
        (void)H5Tclose(type);
    }
    netcdf_unlock();
    if (!done) {
        return fail_read(array, why);
    }
    for (size_t i = 0; i < count; i++) {
        if (utf8_length(out[i], strlen(out[i])) == SIZE_MAX) {
            return fail(why, LSCM_FORMAT, "%s: entry %zu (0-based) of '%s' is not UTF-8",
                        array->file->path, first + i, array->name);
        }
    }
done:
    return status;
}
