/* The matrix that is x, cells x genes (rows, vars): X or a layer, dense or sparse, row by row.
 *
 *     dense   an array (rows, vars)
 *     CSR     row i has entries indptr[i] .. indptr[i+1]-1 of `data`, in the columns `indices`
 *     CSC     the same column by column; it is turned into CSR in memory when it is opened, as far
 *             as that takes no more than a GiB
 *
 * Only some columns may be kept, in their order. Memory: 8 bytes per row for indptr and some MB;
 * for CSC the entries kept. Rows are float32 where that loses nothing, else float64.
 */
#ifndef LSCM_DATA_H5AD_H5AD_MATRIX_H
#define LSCM_DATA_H5AD_H5AD_MATRIX_H

#include "data/h5ad/h5ad_file.h"

#define H5AD_DROPPED UINT32_MAX

typedef enum h5ad_layout { H5AD_DENSE, H5AD_CSR, H5AD_CSC } h5ad_layout;

typedef struct h5ad_matrix {
    const h5ad_file *file;
    char name[H5AD_NAME]; /* "X", "layers/counts" */
    h5ad_layout layout;
    size_t rows, vars, kept;
    uint32_t *place; /* (vars): among the kept, or H5AD_DROPPED */
    dtype type;      /* DTYPE_FLOAT32 or DTYPE_FLOAT64 */
    h5ad_array data; /* dense (rows, vars), or the entries */
    h5ad_array indices;
    int64_t *indptr; /* (lines + 1): lines are rows, or the columns of CSC until they are turned */
    uint32_t *turned_at; /* CSC, turned: (entries) the column among the kept */
    void *turned;        /* .. (entries) of `type` */
} h5ad_matrix;

/* `layer` NULL: X. */
lscm_status h5ad_matrix_open(h5ad_matrix *m, const h5ad_file *file, const char *layer,
                             lscm_error *why);
/* Once, before reading: the vars with keep[i] != 0. */
lscm_status h5ad_matrix_keep(h5ad_matrix *m, const uint8_t *keep, lscm_error *why);
/* Rows [first, first + count), (count, kept) of m->type. */
lscm_status h5ad_matrix_read(const h5ad_matrix *m, size_t first, size_t count, void *out,
                             lscm_error *why);
/* Safe on a zeroed matrix. */
void h5ad_matrix_close(h5ad_matrix *m);

/* CSC to rows: fills turned and turned_at, and indptr by rows. */
lscm_status h5ad_matrix_turn(h5ad_matrix *m, lscm_error *why);
/* Entry `entry` has index `index`; it must be below `limit`. */
lscm_status h5ad_matrix_check(const h5ad_matrix *m, size_t entry, int64_t index, size_t limit,
                              lscm_error *why);

#endif
