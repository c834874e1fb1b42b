/* An NPY array that is open for reading: its header, and its rows from wherever its bytes are, as C
 * order native elements whatever the file has. An NPZ file and a BIOLS folder are both stores of
 * named arrays.
 */
#ifndef LSCM_DATA_NPY_NPY_ARRAY_H
#define LSCM_DATA_NPY_NPY_ARRAY_H

#include "data/npy/byte_source.h"
#include "data/npy/npy_header.h"

typedef struct npy_array {
    npy_header header;
    byte_source *source; /* owned */
    /* Fortran order only, NULL until needed: */
    char *tile;   /* scratch */
    char *window; /* rows [window_first, window_first + window_rows) as C order */
    size_t window_first, window_rows;
} npy_array;

/* Reads the header. Takes the source over, also when it fails. */
lscm_status npy_array_open(npy_array **out, byte_source *source, lscm_error *why);
void npy_array_close(npy_array *array); /* NULL is fine */

/* Fails unless the array holds numbers and has at least one element. */
lscm_status npy_array_is_numbers(const npy_array *array, lscm_error *why);
/* Rows [first, first + count); an array without dimensions is one row. */
lscm_status npy_array_rows(npy_array *array, size_t first, size_t count, void *raw,
                           lscm_error *why);
/* The same as double. */
lscm_status npy_array_rows_double(npy_array *array, size_t first, size_t count, double *out,
                                  lscm_error *why);
/* All of it in new memory, refused when larger than `most` bytes. */
lscm_status npy_array_whole(npy_array *array, size_t most, void **raw, lscm_error *why);
/* Texts as UTF-8, each in its own memory, of an array with one dimension or none. */
lscm_status npy_array_texts(npy_array *array, char ***texts, size_t *count, lscm_error *why);
void texts_free(char **texts, size_t count);

typedef struct npy_store npy_store;
struct npy_store {
    /* The array of that name, opened when first asked for and kept; NULL when there is none. */
    lscm_status (*find)(npy_store *self, const char *name, npy_array **out, lscm_error *why);
    void (*close)(npy_store *self);
};

#endif
