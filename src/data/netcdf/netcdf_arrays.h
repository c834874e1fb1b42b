/* netCDF-4 files that are not data sets: named arrays in groups, small enough to be in memory, as a
 * table that says all of the file.
 *
 *     {"posterior", "sigma", 3, {{"chain", 1}, {"draw", n}, {"node", d}}, DTYPE_FLOAT64, sigma}
 *
 * Every group has its own dimensions, made when an array first names them; arrays lie contiguous
 * and uncompressed. The same table gives the same bytes.
 */
#ifndef LSCM_DATA_NETCDF_NETCDF_ARRAYS_H
#define LSCM_DATA_NETCDF_NETCDF_ARRAYS_H

#include "data/dataset/dataset.h"
#include "data/netcdf/netcdf_file.h"

typedef struct netcdf_axis {
    const char *name;
    size_t length; /* above 0 */
} netcdf_axis;

typedef struct netcdf_array {
    const char *group, *name;
    int ndim;
    netcdf_axis axes[LSCM_MAX_DIMS];
    dtype type;
    const void *raw;       /* native elements, or NULL: */
    char *const *texts;    /* strings */
    const char *long_name; /* may be NULL */
} netcdf_array;

typedef struct netcdf_attribute {
    const char *group; /* "" for the file */
    const char *name;
    const char *text; /* or NULL: */
    dtype type;
    size_t count;
    const void *numbers;
} netcdf_attribute;

typedef struct netcdf_content {
    const netcdf_array *arrays;
    size_t array_count;
    const netcdf_attribute *attributes;
    size_t attribute_count;
} netcdf_content;

/* Replaces `to`, which exists; `what` ("writing run/posterior.nc") opens every sentence. */
lscm_status netcdf_arrays_write(const netcdf_content *content, const char *to, const char *what,
                                lscm_error *why);

/* Reading, from a file opened by netcdf_open_file. The shape of an array of numbers; `present` is
 * false when there is none of that name. */
lscm_status netcdf_arrays_shape(const netcdf_file *file, const char *group, const char *name,
                                array_shape *shape, lscm_error *why);
/* All elements, of any type of number, in C order; the array must be there. */
lscm_status netcdf_arrays_read(const netcdf_file *file, const char *group, const char *name,
                               double *out, lscm_error *why);
/* The same in the array's own type, the one that its shape has. */
lscm_status netcdf_arrays_read_raw(const netcdf_file *file, const char *group, const char *name,
                                   void *out, lscm_error *why);
/* The names of all arrays of a group, in the order in which they were written; the caller frees
 * them (names_free). Without such a group there are none. */
lscm_status netcdf_arrays_list(const netcdf_file *file, const char *group, char ***names,
                               size_t *count, lscm_error *why);
/* `count` strings in new memory; *texts is NULL when there is no such array of strings. */
lscm_status netcdf_arrays_texts(const netcdf_file *file, const char *group, const char *name,
                                size_t count, char ***texts, lscm_error *why);
/* An attribute of one text in new memory, NULL when there is none. */
lscm_status netcdf_arrays_note(const netcdf_file *file, const char *group, const char *name,
                               char **text, lscm_error *why);
/* An attribute of at most `most` numbers; *count is 0 when there is none such. */
lscm_status netcdf_arrays_numbers(const netcdf_file *file, const char *group, const char *name,
                                  size_t most, double *out, size_t *count, lscm_error *why);

#endif
