#include "data/netcdf/netcdf_file.h"

#include <hdf5.h>
#include <netcdf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t the_lock = PTHREAD_MUTEX_INITIALIZER;

void netcdf_begin(void)
{
    (void)pthread_mutex_lock(&the_lock);
    /* each thread has an HDF5 that prints; netCDF silences that of its first only */
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void netcdf_unlock(void)
{
    (void)pthread_mutex_unlock(&the_lock);
}

lscm_status netcdf_end(int code, const netcdf_file *file, const char *what, lscm_error *why)
{
    netcdf_unlock();
    if (code == NC_NOERR) {
        return LSCM_OK;
    }
    return fail(why, code == NC_ENOMEM ? LSCM_MEMORY : file->failure, "%s: %s (%s)", file->path,
                what, nc_strerror(code));
}

void netcdf_close(netcdf_file *file)
{
    if (file->id >= 0) {
        netcdf_begin();
        (void)netcdf_end(nc_close(file->id), file, "", NULL);
        file->id = -1;
    }
}

/* The library turns '\\' into '/' and opens URLs: such paths would be others to it. */
static lscm_status check_path(const netcdf_file *file, const char *path, lscm_error *why)
{
    if (strchr(path, '\\') == NULL && strstr(path, "://") == NULL) {
        return LSCM_OK;
    }
    return fail(why, file->failure,
                "%s: netCDF cannot use a path with '\\' or '://'; choose another name", file->path);
}

/* The first bytes decide before the library is asked, which would try many other formats. */
static lscm_status check_magic(const char *path, lscm_error *why)
{
    static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char magic[8] = {0};
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return fail(why, LSCM_READ, "%s: cannot be opened; may you read it?", path);
    }
    size_t got = fread(magic, 1, sizeof magic, file);
    (void)fclose(file);
    if (got >= 3 && memcmp(magic, "CDF", 3) == 0) {
        return fail(why, LSCM_FORMAT,
                    "%s: this is netCDF of the classic kind; convert it with 'nccopy -k nc4'",
                    path);
    }
    if (got < sizeof magic || memcmp(magic, hdf5, sizeof magic) != 0) {
        return fail(why, LSCM_FORMAT, "%s: this is not a netCDF-4 file, whatever its name says",
                    path);
    }
    return LSCM_OK;
}

static lscm_status check_version(const netcdf_file *file, lscm_error *why)
{
    int version = 0;
    netcdf_begin();
    int code = nc_get_att_int(file->id, NC_GLOBAL, "format_version", &version);
    if (netcdf_end(code, file, "", NULL) == LSCM_OK && version > NETCDF_FORMAT_VERSION) {
        return fail(why, LSCM_FORMAT,
                    "%s: written by a newer lscm (format %d, known here is %d); update lscm",
                    file->path, version, NETCDF_FORMAT_VERSION);
    }
    return LSCM_OK;
}

lscm_status netcdf_open_file(netcdf_file *file, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(check_path(file, file->path, why));
    TRY(check_magic(file->path, why));
    NC(file, "cannot be opened; it may be cut short or damaged",
       nc_open(file->path, NC_NOWRITE, &file->id));
    TRY(check_version(file, why));
done:
    return status;
}

/* Room is reserved twice: before the library starts, which can then still be left alone, and again
 * because it empties the file first. */
lscm_status netcdf_create(netcdf_file *file, const char *to, uint64_t bytes, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    int old = 0;
    TRY(check_path(file, to, why));
    TRY(netcdf_reserve(file, to, bytes, false, why));
    NC(file, "the file cannot be made", nc_create(to, NC_NETCDF4 | NC_CLOBBER, &file->id));
    TRY(netcdf_reserve(file, to, bytes, true, why));
    NC(file, "the file cannot be prepared", nc_set_fill(file->id, NC_NOFILL, &old));
done:
    return status;
}

lscm_status netcdf_finish(netcdf_file *file, const char *to, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    int id = file->id;
    file->id = -1; /* closed once, whatever comes of it */
    NC(file, "the file could not be finished; is the disk full?", nc_close(id));
    netcdf_release(to);
done:
    return status;
}

lscm_status netcdf_put_text(const netcdf_file *file, int group, int variable, const char *name,
                            const char *text, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    NC(file, "an attribute cannot be written",
       nc_put_att_text(group, variable, name, strlen(text), text));
done:
    return status;
}

lscm_status netcdf_get_names(const netcdf_file *file, int group, int variable, size_t count,
                             char ***names, lscm_error *why)
{
    static const char what[] = "names cannot be read";
    lscm_status status = LSCM_OK;
    char **strings = calloc(count, sizeof *strings); /* the library's */
    char **copies = calloc(count, sizeof *copies);
    if (strings == NULL || copies == NULL) {
        status = fail_memory(why, 2 * count * sizeof *strings);
        goto done;
    }
    NC(file, what, nc_get_var_string(group, variable, strings));
    for (size_t i = 0; i < count; i++) {
        copies[i] = strdup(strings[i] != NULL ? strings[i] : "");
        if (copies[i] == NULL) {
            status = fail_memory(why, count * sizeof *copies);
            goto done;
        }
    }
    *names = copies;
    copies = NULL;
done:
    if (strings != NULL) {
        netcdf_begin();
        (void)netcdf_end(nc_free_string(count, strings), file, what, NULL);
    }
    for (size_t i = 0; copies != NULL && i < count; i++) {
        free(copies[i]);
    }
    free(copies);
    free(strings);
    return status;
}

static const int TYPES[DTYPE_COUNT] = {
    [DTYPE_BOOL] = NC_UBYTE,    [DTYPE_INT8] = NC_BYTE,     [DTYPE_INT16] = NC_SHORT,
    [DTYPE_INT32] = NC_INT,     [DTYPE_INT64] = NC_INT64,   [DTYPE_UINT8] = NC_UBYTE,
    [DTYPE_UINT16] = NC_USHORT, [DTYPE_UINT32] = NC_UINT,   [DTYPE_UINT64] = NC_UINT64,
    [DTYPE_FLOAT16] = NC_FLOAT, [DTYPE_FLOAT32] = NC_FLOAT, [DTYPE_FLOAT64] = NC_DOUBLE,
};

int netcdf_type(dtype type)
{
    return TYPES[type];
}

dtype netcdf_dtype(int type)
{
    for (int i = 0; i < DTYPE_COUNT; i++) {
        if (TYPES[i] == type && i != DTYPE_BOOL && i != DTYPE_FLOAT16) {
            return (dtype)i;
        }
    }
    return DTYPE_COUNT;
}
