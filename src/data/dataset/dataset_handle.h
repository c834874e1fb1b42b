/* A data set from the inside: what it has, and a source of rows that may be a file, memory or the
 * simulator. Everything that reads or writes a format meets here; data flows
 *
 *     row_source -> lscm_dataset -> (checks) -> writer | moments | batches
 *
 * in blocks of rows, so memory does not grow with N.
 */
#ifndef LSCM_DATA_DATASET_DATASET_HANDLE_H
#define LSCM_DATA_DATASET_DATASET_HANDLE_H

#include "base/status.h"
#include "data/dataset/dtype.h"

#include <pthread.h>

typedef struct array_shape {
    bool present;
    dtype type;
    int ndim;
    size_t dims[LSCM_MAX_DIMS];
} array_shape;

/* Fields with N rows come before LSCM_W and are streamed; the rest is small and kept whole. */
#define FIELD_IS_ROWS(field) ((field) < LSCM_W)

typedef struct row_source row_source;
struct row_source {
    /* Rows [first, first + count) of a streamed field, C order, native endianness, in the field's
     * own dtype. Callers go forward block by block; going back may be slow but works. */
    lscm_status (*read)(row_source *self, lscm_field field, size_t first, size_t count, void *raw,
                        lscm_error *why);
    void (*close)(row_source *self);
};

struct lscm_dataset {
    char *path;         /* where it came from, for messages; "simulation", "memory" */
    char *opened;       /* .. before it was said to be a copy: sources may point to it; or NULL */
    const char *format; /* "netCDF-4", "NPZ", "BIOLS folder", "CSV", "AnnData", ... */
    size_t rows, nodes;
    array_shape shape[LSCM_FIELDS];
    void *whole[LSCM_FIELDS]; /* w, sigma, order: native bytes in their own dtype; else NULL */
    char **node_names;        /* (nodes), or NULL */
    char **feature_names;     /* (features), or NULL */
    char *recipe;             /* JSON object, or NULL */
    char *note;               /* what was understood when it was opened, or NULL */
    bool banded;              /* rows are draws of one law: an NPZ says how far they spread */
    bool decoded;             /* x is pictures of a decoder, a little beyond black and white */
    bool weights;             /* w holds weights, though all are 0 or 1 */
    row_source *source;       /* owned */
    pthread_mutex_t *reading; /* owned: sources keep a place, so one thread at a time asks them */
    struct team *team;        /* processes that share passes over its rows (split.h), or NULL */
    const struct column_units *units; /* x is another's in these (in_units.h); NULL: its own */
};

/* By how much pictures of a decoder may leave [0, 1] and are shown as if they did not. */
#define DECODED_BEYOND 0.1

extern const char *const FIELD_NAMES[LSCM_FIELDS]; /* "x", "targets", ... as in NPZ */

/* An empty data set that owns nothing yet but its path; freed by lscm_dataset_free at any stage. */
lscm_status dataset_new(lscm_dataset **out, const char *path, const char *format, lscm_error *why);
/* Elements, bytes and bytes of one row; SIZE_MAX when that does not fit. */
size_t shape_count(const array_shape *shape);
size_t shape_bytes(const array_shape *shape);
size_t shape_row_bytes(const array_shape *shape);

/* Sets rows and nodes, where they are still 0, from the shapes. */
void dataset_settle(lscm_dataset *data);

/* Native bytes of rows of any field. */
lscm_status dataset_read_raw(const lscm_dataset *data, lscm_field field, size_t first, size_t count,
                             void *raw, lscm_error *why);
/* Shapes agree, D >= d, at least two rows, w acyclic and finite, order fits w, sigma positive,
 * names as many as there are nodes. lscm_dataset_open ends with it. truth_only: x and targets may
 * lack.
 */
lscm_status dataset_check_shapes(const lscm_dataset *data, bool truth_only, lscm_error *why);
/* The same where x alone is wanted: targets may lack, and one row will do. */
lscm_status dataset_check_x(const lscm_dataset *data, lscm_error *why);
/* What stands in a block: masks 0/1, values finite where its targets are 1, x finite or, with
 * `holes`, NaN where entries are missing; the sentence names row and column. */
lscm_status dataset_check_rows(const lscm_dataset *data, lscm_field field, size_t first,
                               size_t count, const void *raw, bool holes, lscm_error *why);
/* Rows per block so that a block of the field has about `bytes`. */
size_t dataset_block_rows(const lscm_dataset *data, lscm_field field, size_t bytes);

#endif
