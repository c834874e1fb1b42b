/* An NPZ file: a zip of NPY arrays, each named by its key. The zip's directory is checked when it
 * is opened (no paths in names, no name twice); an array's header when it is first asked for.
 */
#ifndef LSCM_DATA_NPY_NPZ_H
#define LSCM_DATA_NPY_NPZ_H

#include "data/npy/npy_array.h"

typedef struct npz_file npz_file;

lscm_status npz_file_open(npz_file **out, const char *path, lscm_error *why);
void npz_file_close(npz_file *file); /* NULL is fine */
npy_store *npz_file_store(npz_file *file);

/* The shape of an array of numbers; `present` is false when there is none of that name. */
lscm_status npz_file_shape(npz_file *file, const char *name, array_shape *shape, lscm_error *why);
/* All of it in new memory (the caller frees it); *out is NULL when there is none of that name. */
lscm_status npz_file_read_double(npz_file *file, const char *name, double **out, array_shape *shape,
                                 lscm_error *why);
/* Rows [first, first + count), for what is too large to be read whole. */
lscm_status npz_file_rows_double(npz_file *file, const char *name, size_t first, size_t count,
                                 double *out, lscm_error *why);

#endif
