/* An HDF5 file as far as AnnData uses it: groups, arrays of numbers or texts in one or two
 * dimensions, attributes that hold a text or a shape.
 *
 * HDF5 is not thread-safe, and netCDF stands on it: every function locks netCDF's lock for as long
 * as it calls the library. Nothing in a file is believed: links out of it lead nowhere, and what is
 * asked for is compared with what is there. What HDF5 1.10 itself does not notice remains: bytes
 * spoilt within its heap of texts of any length can make it crash. Names are paths within the file:
 * "obs/guide/codes".
 */
#ifndef LSCM_DATA_H5AD_H5AD_FILE_H
#define LSCM_DATA_H5AD_H5AD_FILE_H

#include "base/status.h"
#include "data/dataset/dataset.h"

typedef struct h5ad_file {
    int64_t id; /* 0 when not open */
    const char *path;
} h5ad_file;

typedef enum h5ad_kind { H5AD_NOTHING, H5AD_GROUP, H5AD_ARRAY } h5ad_kind;
typedef enum h5ad_type { H5AD_REAL, H5AD_INTEGER, H5AD_TRUTH, H5AD_TEXT, H5AD_OTHER } h5ad_type;

enum { H5AD_NAME = 512, H5AD_WORD = 256 };

typedef struct h5ad_array {
    int64_t id; /* 0 when not open */
    const h5ad_file *file;
    char name[H5AD_NAME];
    h5ad_type type;
    size_t bytes; /* of an element in the file */
    int ndim;
    size_t dims[2]; /* dims[1] is 1 where there is one dimension */
} h5ad_array;

lscm_status h5ad_file_open(h5ad_file *file, const char *path, lscm_error *why);
/* Safe on zeroed ones, here and below. */
void h5ad_file_close(h5ad_file *file);

h5ad_kind h5ad_kind_of(const h5ad_file *file, const char *name);
/* The names in a group, in the order of the alphabet; names_free frees them. */
lscm_status h5ad_members(const h5ad_file *file, const char *group, char ***names, size_t *count,
                         lscm_error *why);
/* Attributes of a group or array; false when there is none of that kind. */
bool h5ad_text_attribute(const h5ad_file *file, const char *name, const char *attribute,
                         char out[H5AD_WORD]);
bool h5ad_shape_attribute(const h5ad_file *file, const char *name, const char *attribute,
                          size_t out[2]);

/* One or two dimensions, and not empty of data where it has entries. */
lscm_status h5ad_array_open(h5ad_array *array, const h5ad_file *file, const char *name,
                            lscm_error *why);
void h5ad_array_close(h5ad_array *array);
/* Rows [first, first + count) as FLOAT32, FLOAT64 or INT64; the array holds numbers. */
lscm_status h5ad_array_read(const h5ad_array *array, size_t first, size_t count, dtype as,
                            void *out, lscm_error *why);
/* Entries [first, first + count) of texts in one dimension, UTF-8; each is the caller's to free,
 * also after a failure (NULL where it was not read). */
lscm_status h5ad_array_texts(const h5ad_array *array, size_t first, size_t count, char **out,
                             lscm_error *why);

#endif
