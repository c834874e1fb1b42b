/* What reading and writing netCDF-4 share: the one lock, errors as sentences, element types, and
 * the recipe as attributes.
 *
 * netCDF and HDF5 are not thread-safe: every call runs between netcdf_begin and netcdf_end. The
 * lock is held for single calls only, since a writer may draw its rows from a netCDF reader.
 *
 *     NC(&file, "its dimensions cannot be read", nc_inq_dimlen(file.id, dim, &length));
 */
#ifndef LSCM_DATA_NETCDF_NETCDF_FILE_H
#define LSCM_DATA_NETCDF_NETCDF_FILE_H

#include "base/status.h"
#include "data/dataset/dataset.h"

enum { NETCDF_FORMAT_VERSION = 1 };

typedef struct netcdf_file {
    int id;              /* of the root group; -1 when not open */
    const char *path;    /* begins every sentence */
    lscm_status failure; /* LSCM_READ or LSCM_WRITE */
} netcdf_file;

/* Needs `status`, `why` and `done`, as TRY does. The comma locks before the call is made. */
#define NC(file, what, call) TRY(netcdf_end((netcdf_begin(), (call)), (file), (what), why))

void netcdf_begin(void);
/* Unlocks: for who calls HDF5 itself between the two. */
void netcdf_unlock(void);
/* Unlocks, and turns a netCDF code into a status and "PATH: WHAT (REASON)". */
lscm_status netcdf_end(int code, const netcdf_file *file, const char *what, lscm_error *why);
/* Opens file->path, a netCDF-4 file not newer than this library, for reading. */
lscm_status netcdf_open_file(netcdf_file *file, lscm_error *why);
/* Makes a new file in the place of `to`, which exists, with room on the disk for `bytes`. */
lscm_status netcdf_create(netcdf_file *file, const char *to, uint64_t bytes, lscm_error *why);
/* Closes what was created; the last errors show here. */
lscm_status netcdf_finish(netcdf_file *file, const char *to, lscm_error *why);
/* Closes what is open, after a failure or when nothing was written: errors do not matter. */
void netcdf_close(netcdf_file *file);

/* Disk space for a file that exists; quietly: without changing its size. LSCM_WRITE when there is
 * not enough. */
lscm_status netcdf_reserve(const netcdf_file *file, const char *to, uint64_t bytes, bool quietly,
                           lscm_error *why);
/* Gives back what was reserved and not used. */
void netcdf_release(const char *to);

/* The nc_type that stores a dtype: bool as ubyte and float16 as float, told apart by the attribute
 * `dtype` of the variable. */
int netcdf_type(dtype type);
/* The dtype of an nc_type; DTYPE_COUNT for text and types of users. */
dtype netcdf_dtype(int type);

/* Between a JSON object and the attributes of a group, in the same order. Integers are int64, reals
 * double, strings text; true, false, null, arrays and objects are their JSON as text. */
lscm_status netcdf_put_recipe(const netcdf_file *file, int group, const char *recipe,
                              lscm_error *why);
lscm_status netcdf_get_recipe(const netcdf_file *file, int group, char **recipe, lscm_error *why);
/* An attribute of one text (char or string) in new memory; NULL when there is none such. */
lscm_status netcdf_get_text(const netcdf_file *file, int group, int variable, const char *name,
                            char **text, lscm_error *why);
lscm_status netcdf_put_text(const netcdf_file *file, int group, int variable, const char *name,
                            const char *text, lscm_error *why);
/* The `count` strings of a variable, in new memory. */
lscm_status netcdf_get_names(const netcdf_file *file, int group, int variable, size_t count,
                             char ***names, lscm_error *why);

#endif
