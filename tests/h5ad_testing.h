/* .h5ad files written through HDF5 itself, piece by piece, so that each can be spoilt. */
#ifndef LSCM_TESTS_H5AD_TESTING_H
#define LSCM_TESTS_H5AD_TESTING_H

#include "testing.h"

#include "home.h"

#include <hdf5.h>

enum { CELLS = 6, GENES = 4, ENTRIES = 9 };

static const double X[CELLS][GENES] = {{1, 0, 0, 2}, {0, 0, 0, 0}, {0, 3, 0, 0},
                                       {4, 5, 0, 0}, {0, 0, 6, 7}, {0, -8, 0, 9}};
static const double ROW_DATA[ENTRIES] = {1, 2, 3, 4, 5, 6, 7, -8, 9};
static const int64_t ROW_INDICES[ENTRIES] = {0, 3, 1, 0, 1, 2, 3, 1, 3};
static const int64_t ROW_INDPTR[CELLS + 1] = {0, 2, 2, 3, 5, 7, 9};
static const double COLUMN_DATA[ENTRIES] = {1, 4, 3, 5, -8, 6, 2, 7, 9};
static const int64_t COLUMN_INDICES[ENTRIES] = {0, 3, 2, 3, 5, 4, 0, 4, 5};
static const int64_t COLUMN_INDPTR[GENES + 1] = {0, 2, 5, 6, 9};
static const char *const GENE_NAMES[GENES] = {"CEBPE", "KLF1", "A+B", "GATA1"};
static const char *const WORDS[CELLS] = {"Control",    "CEBPE", "CEBPE+ctrl",
                                         "KLF1;CEBPE", "A+B",   "GATA1_ctrl"};

static inline hid_t made_group(hid_t in, const char *name)
{
    hid_t group = H5Gcreate2(in, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(group >= 0);
    return group;
}

/* Numbers of the file's type `type`; `from` as memory type `memory`; cols 0: one dimension. */
static inline void put_numbers(hid_t in, const char *name, hid_t type, hid_t memory,
                               const void *from, hsize_t rows, hsize_t cols)
{
    hsize_t dims[2] = {rows, cols};
    hid_t space = H5Screate_simple(cols > 0 ? 2 : 1, dims, NULL);
    hid_t id = H5Dcreate2(in, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(id >= 0 && H5Dwrite(id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, from) >= 0);
    assert_true(H5Dclose(id) >= 0 && H5Sclose(space) >= 0);
}

static inline void put_integers(hid_t in, const char *name, const int64_t *from, hsize_t count)
{
    put_numbers(in, name, H5T_STD_I32LE, H5T_NATIVE_INT64, from, count, 0);
}

/* Texts of any length. */
static inline void put_texts(hid_t in, const char *name, const char *const *texts, hsize_t count)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    assert_true(H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0);
    put_numbers(in, name, type, type, texts, count, 0);
    assert_true(H5Tclose(type) >= 0);
}

static inline void put_word(hid_t on, const char *name, const char *word)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    assert_true(H5Tset_size(type, H5T_VARIABLE) >= 0);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t id = H5Acreate2(on, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(id >= 0 && H5Awrite(id, type, &word) >= 0);
    assert_true(H5Aclose(id) >= 0 && H5Sclose(space) >= 0 && H5Tclose(type) >= 0);
}

static inline void put_shape(hid_t on, int64_t rows, int64_t cols)
{
    const int64_t dims[2] = {rows, cols};
    hsize_t two = 2;
    hid_t space = H5Screate_simple(1, &two, NULL);
    hid_t id = H5Acreate2(on, "shape", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(id >= 0 && H5Awrite(id, H5T_NATIVE_INT64, dims) >= 0);
    assert_true(H5Aclose(id) >= 0 && H5Sclose(space) >= 0);
}

typedef struct sparse {
    const char *encoding;
    int64_t rows, cols;
    const double *data;
    const int64_t *indices, *indptr;
    hsize_t entries, lines;
} sparse;

static const sparse BY_ROWS = {"csr_matrix", CELLS,      GENES,   ROW_DATA,
                               ROW_INDICES,  ROW_INDPTR, ENTRIES, CELLS};
static const sparse BY_COLUMNS = {"csc_matrix",   CELLS,         GENES,   COLUMN_DATA,
                                  COLUMN_INDICES, COLUMN_INDPTR, ENTRIES, GENES};

static inline void put_sparse(hid_t in, const char *name, const sparse *s)
{
    hid_t group = made_group(in, name);
    put_word(group, "encoding-type", s->encoding);
    put_shape(group, s->rows, s->cols);
    put_numbers(group, "data", H5T_IEEE_F32LE, H5T_NATIVE_DOUBLE, s->data, s->entries, 0);
    put_integers(group, "indices", s->indices, s->entries);
    put_integers(group, "indptr", s->indptr, s->lines + 1);
    assert_true(H5Gclose(group) >= 0);
}

/* A file with obs (`column` of WORDS) and var; X is the caller's to add. */
static inline hid_t begin_file(const char *path, const char *column)
{
    static const char *const cells[CELLS] = {"c0", "c1", "c2", "c3", "c4", "c5"};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    hid_t obs = made_group(file, "obs");
    put_word(obs, "_index", "barcode");
    put_texts(obs, "barcode", cells, CELLS);
    if (column != NULL) {
        put_texts(obs, column, WORDS, CELLS);
    }
    hid_t var = made_group(file, "var");
    put_word(var, "_index", "_index");
    put_texts(var, "_index", GENE_NAMES, GENES);
    assert_true(H5Gclose(obs) >= 0 && H5Gclose(var) >= 0);
    return file;
}

/* Adds to a group of the file. */
static inline hid_t into(hid_t file, const char *group)
{
    hid_t id = H5Gopen2(file, group, H5P_DEFAULT);
    assert_true(id >= 0);
    return id;
}

#endif
