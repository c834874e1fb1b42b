/* Data sets out of, and into, named NPY arrays: what NPZ files and BIOLS folders have in common.
 *
 * Reading: a store of arrays and a table of names become the fields, node and feature names and the
 * recipe of a data set whose rows come from the store. Writing: a stream gives the bytes of one NPY
 * file piece by piece, its header first, so that a zip can pull them and a file be pushed.
 */
#ifndef LSCM_DATA_NPY_NPY_DATASET_H
#define LSCM_DATA_NPY_NPY_DATASET_H

#include "data/dataset/dataset.h"
#include "data/npy/npy_array.h"

typedef struct npy_names {
    const char *field[LSCM_FIELDS]; /* NULL for what the store does not keep as such */
    const char *nodes, *features;   /* their names */
    const char *recipe;             /* NULL when it is not an array */
} npy_names;

/* Takes the store over, also when it fails. Shapes are those of the files: dataset_check_shapes
 * judges them. */
lscm_status npy_dataset_fill(lscm_dataset *data, npy_store *store, const npy_names *names,
                             lscm_error *why);

typedef struct npy_stream {
    const lscm_dataset *data; /* rows of a field of it */
    lscm_field field;
    meter *progress;
    const void *bytes; /* or all elements, when they are in memory */
    npy_header header;
    char head[NPY_HEADER_OURS];
    enum { NPY_AT_HEAD, NPY_AT_BODY, NPY_IN_ROWS, NPY_AT_END } state;
    row_blocks walk;
} npy_stream;

/* A field of a data set, which is present: its rows as they come, or the whole of a small one. */
npy_stream npy_stream_of_field(const lscm_dataset *data, lscm_field field, meter *progress);
/* An array in memory that stays the caller's. */
npy_stream npy_stream_of_memory(npy_header header, const void *bytes);
uint64_t npy_stream_size(const npy_stream *stream);
/* The next piece, which lasts until the next call; 0 bytes after the last. */
lscm_status npy_stream_next(npy_stream *stream, const void **piece, size_t *bytes, lscm_error *why);
void npy_stream_end(npy_stream *stream);

/* count texts as an array in memory: its header and its cells, which the caller frees. `what` they
 * are ("node name") is for the sentence when one is not Unicode. */
lscm_status npy_texts_pack(char *const *texts, int ndim, size_t count, const char *what,
                           npy_header *header, uint32_t **cells, lscm_error *why);

#endif
