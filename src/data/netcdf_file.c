#include "data/netcdf_file.h"

#include <netcdf.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t the_lock = PTHREAD_MUTEX_INITIALIZER;

void netcdf_begin(void)
{
    (void)pthread_mutex_lock(&the_lock);
}

lscm_status netcdf_end(int code, const netcdf_file *file, const char *what, lscm_error *why)
{
    (void)pthread_mutex_unlock(&the_lock);
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

lscm_status netcdf_check_path(const netcdf_file *file, const char *path, lscm_error *why)
{
    if (strchr(path, '\\') == NULL && strstr(path, "://") == NULL) {
        return LSCM_OK;
    }
    return fail(why, file->failure,
                "%s: netCDF cannot use a path with '\\' or '://'; choose another name", file->path);
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
