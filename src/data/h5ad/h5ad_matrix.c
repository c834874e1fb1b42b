#include "data/h5ad/h5ad_matrix.h"

#include "data/text/text.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 16 };       /* entries of a sparse matrix at a time */
enum { DENSE_BYTES = 1 << 22 }; /* of whole rows at a time, where not all columns are kept */

static const char *below(const h5ad_matrix *m, const char *part, char out[H5AD_NAME])
{
    (void)snprintf(out, H5AD_NAME, "%.400s/%s", m->name, part);
    return out;
}

/* "a, b, c": the names of a group, as far as they fit. */
static void list_names(const h5ad_file *file, const char *group, char *out, size_t size)
{
    char **names = NULL;
    size_t count = 0;
    size_t used = 0;
    out[0] = '\0';
    if (h5ad_kind_of(file, group) == H5AD_GROUP &&
        h5ad_members(file, group, &names, &count, NULL) == LSCM_OK) {
        for (size_t i = 0; i < count && used < size; i++) {
            used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", names[i]);
        }
    }
    names_free(names, count);
}

static lscm_status fail_missing(const h5ad_file *file, const char *layer, lscm_error *why)
{
    char layers[400];
    list_names(file, "layers", layers, sizeof layers);
    if (layers[0] == '\0') {
        return layer != NULL
                   ? fail(why, LSCM_USAGE,
                          "%s: there is no layer '%.100s', nor any other; without --layer, X is "
                          "read",
                          file->path, layer)
                   : fail(why, LSCM_MISSING, "%s: there is no X, and no layers are there instead",
                          file->path);
    }
    return layer != NULL
               ? fail(why, LSCM_USAGE, "%s: there is no layer '%.100s'; its layers are: %s",
                      file->path, layer, layers)
               : fail(why, LSCM_MISSING,
                      "%s: there is no X; say which layer is x with --layer; its layers are: %s",
                      file->path, layers);
}

/* float32 where that holds every number of the file. */
static dtype type_of(const h5ad_array *array)
{
    bool small = (array->type == H5AD_REAL && array->bytes <= 4) ||
                 (array->type == H5AD_INTEGER && array->bytes <= 2);
    return small ? DTYPE_FLOAT32 : DTYPE_FLOAT64;
}

static lscm_status check_numbers(const h5ad_matrix *m, lscm_error *why)
{
    if (m->data.type != H5AD_REAL && m->data.type != H5AD_INTEGER) {
        return fail(why, LSCM_FORMAT, "%s: '%s' does not hold numbers", m->file->path,
                    m->data.name);
    }
    if (m->rows == 0 || m->vars == 0 || m->vars >= H5AD_DROPPED || m->rows >= H5AD_DROPPED) {
        return fail(why, LSCM_SHAPE,
                    "%s: '%s' is %zu x %zu; it must have rows and columns, fewer "
                    "than 2^32 of each",
                    m->file->path, m->name, m->rows, m->vars);
    }
    return LSCM_OK;
}

/* "csr" or "csc"; the older words too. */
static lscm_status find_layout(h5ad_matrix *m, lscm_error *why)
{
    char word[H5AD_WORD] = "";
    size_t shape[2] = {0};
    if (!h5ad_text_attribute(m->file, m->name, "encoding-type", word)) {
        (void)h5ad_text_attribute(m->file, m->name, "h5sparse_format", word);
    }
    if (strncmp(word, "csr", 3) != 0 && strncmp(word, "csc", 3) != 0) {
        return fail(why, LSCM_FORMAT,
                    "%s: '%s' is a group, but says neither csr_matrix nor csc_matrix",
                    m->file->path, m->name);
    }
    if (!h5ad_shape_attribute(m->file, m->name, "shape", shape) &&
        !h5ad_shape_attribute(m->file, m->name, "h5sparse_shape", shape)) {
        return fail(why, LSCM_FORMAT, "%s: '%s' does not say its shape; the file may be damaged",
                    m->file->path, m->name);
    }
    m->layout = word[2] == 'r' ? H5AD_CSR : H5AD_CSC;
    m->rows = shape[0];
    m->vars = shape[1];
    return LSCM_OK;
}

/* Begins at 0, never falls, ends with the entries. */
static lscm_status check_indptr(const h5ad_matrix *m, size_t lines, lscm_error *why)
{
    size_t bad = 0;
    if (m->data.ndim != 1 || m->indices.ndim != 1 || m->data.dims[0] != m->indices.dims[0]) {
        return fail(why, LSCM_SHAPE,
                    "%s: 'data' and 'indices' of '%s' have %zu and %zu entries; they must match",
                    m->file->path, m->name, m->data.dims[0], m->indices.dims[0]);
    }
    while (bad < lines && m->indptr[bad] <= m->indptr[bad + 1]) {
        bad++;
    }
    if (bad < lines || m->indptr[0] != 0 || m->indptr[lines] != (int64_t)m->data.dims[0]) {
        return fail(why, LSCM_FORMAT,
                    "%s: 'indptr' of '%s' must begin with 0, never fall and end with the %zu "
                    "entries; the file may be damaged",
                    m->file->path, m->name, m->data.dims[0]);
    }
    return LSCM_OK;
}

static lscm_status open_sparse(h5ad_matrix *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char name[H5AD_NAME];
    h5ad_array indptr = {0};
    TRY(find_layout(m, why));
    TRY(h5ad_array_open(&m->data, m->file, below(m, "data", name), why));
    TRY(check_numbers(m, why));
    TRY(h5ad_array_open(&m->indices, m->file, below(m, "indices", name), why));
    TRY(h5ad_array_open(&indptr, m->file, below(m, "indptr", name), why));
    size_t lines = m->layout == H5AD_CSR ? m->rows : m->vars;
    if (indptr.ndim != 1 || indptr.dims[0] != lines + 1 || indptr.type != H5AD_INTEGER ||
        m->indices.type != H5AD_INTEGER) {
        TRY(fail(why, LSCM_SHAPE,
                 "%s: '%s' is %zu x %zu, so 'indptr' needs %zu whole numbers; it has %zu entries",
                 m->file->path, m->name, m->rows, m->vars, lines + 1, indptr.dims[0]));
    }
    m->indptr = calloc(lines + 1, sizeof *m->indptr);
    if (m->indptr == NULL) {
        status = fail_memory(why, lines * sizeof *m->indptr);
        goto done;
    }
    TRY(h5ad_array_read(&indptr, 0, lines + 1, DTYPE_INT64, m->indptr, why));
    TRY(check_indptr(m, lines, why));
done:
    h5ad_array_close(&indptr);
    return status;
}

lscm_status h5ad_matrix_open(h5ad_matrix *m, const h5ad_file *file, const char *layer,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    *m = (h5ad_matrix){.file = file};
    (void)snprintf(m->name, sizeof m->name, "%s%.400s", layer != NULL ? "layers/" : "X",
                   layer != NULL ? layer : "");
    h5ad_kind kind = h5ad_kind_of(file, m->name);
    if (kind == H5AD_NOTHING || (layer != NULL && layer[0] == '\0')) {
        return fail_missing(file, layer, why);
    }
    if (kind == H5AD_GROUP) {
        TRY(open_sparse(m, why));
    } else {
        TRY(h5ad_array_open(&m->data, file, m->name, why));
        if (m->data.ndim != 2) {
            TRY(fail(why, LSCM_SHAPE, "%s: '%s' has one dimension; it must have rows and columns",
                     file->path, m->name));
        }
        m->rows = m->data.dims[0];
        m->vars = m->data.dims[1];
        TRY(check_numbers(m, why));
    }
    m->type = type_of(&m->data);
done:
    return status;
}

lscm_status h5ad_matrix_keep(h5ad_matrix *m, const uint8_t *keep, lscm_error *why)
{
    m->place = calloc(m->vars, sizeof *m->place);
    if (m->place == NULL) {
        return fail_memory(why, m->vars * sizeof *m->place);
    }
    for (size_t i = 0; i < m->vars; i++) {
        m->place[i] = keep[i] != 0 ? (uint32_t)m->kept++ : H5AD_DROPPED;
    }
    return m->layout == H5AD_CSC ? h5ad_matrix_turn(m, why) : LSCM_OK;
}

void h5ad_matrix_close(h5ad_matrix *m)
{
    h5ad_array_close(&m->data);
    h5ad_array_close(&m->indices);
    free(m->place);
    free(m->indptr);
    free(m->turned_at);
    free(m->turned);
    *m = (h5ad_matrix){0};
}

lscm_status h5ad_matrix_check(const h5ad_matrix *m, size_t entry, int64_t index, size_t limit,
                              lscm_error *why)
{
    if (index < 0 || (uint64_t)index >= limit) {
        return fail(why, LSCM_VALUE,
                    "%s: entry %zu (0-based) of the 'indices' of '%s' is %lld; it must be from 0 "
                    "to %zu",
                    m->file->path, entry, m->name, (long long)index, limit - 1);
    }
    return LSCM_OK;
}

/* ---- Rows */

/* Adds value i of `from` to place `at` of `to`: entries that stand twice count twice. */
static void add_entry(dtype type, const void *from, size_t i, void *to, size_t at)
{
    if (type == DTYPE_FLOAT32) {
        ((float *)to)[at] += ((const float *)from)[i];
    } else {
        ((double *)to)[at] += ((const double *)from)[i];
    }
}

static lscm_status read_dense(const h5ad_matrix *m, size_t first, size_t count, void *out,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t size = dtype_size(m->type);
    if (m->kept == m->vars) {
        return h5ad_array_read(&m->data, first, count, m->type, out, why);
    }
    size_t step = DENSE_BYTES / (m->vars * size) + 1;
    step = step < count ? step : count;
    char *whole = malloc(step * m->vars * size); /* (step, vars) */
    if (whole == NULL) {
        return fail_memory(why, step * m->vars * size);
    }
    for (size_t row = 0; row < count; row += step) {
        size_t rows = count - row < step ? count - row : step;
        TRY(h5ad_array_read(&m->data, first + row, rows, m->type, whole, why));
        for (size_t i = 0; i < rows * m->vars; i++) {
            uint32_t place = m->place[i % m->vars];
            if (place != H5AD_DROPPED) {
                memcpy((char *)out + ((row + i / m->vars) * m->kept + place) * size,
                       whole + i * size, size);
            }
        }
    }
done:
    free(whole);
    return status;
}

typedef struct entries {
    int64_t indices[PIECE];
    double values[PIECE]; /* or floats */
} entries;

/* Entries [from, past) of the rows from `first` on; *row goes along. */
static lscm_status scatter(const h5ad_matrix *m, entries *e, size_t from, size_t past, size_t first,
                           size_t *row, void *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(h5ad_array_read(&m->indices, from, past - from, DTYPE_INT64, e->indices, why));
    TRY(h5ad_array_read(&m->data, from, past - from, m->type, e->values, why));
    for (size_t i = 0; i < past - from; i++) {
        while ((size_t)m->indptr[*row + 1] <= from + i) {
            (*row)++;
        }
        TRY(h5ad_matrix_check(m, from + i, e->indices[i], m->vars, why));
        uint32_t place = m->place[e->indices[i]];
        if (place != H5AD_DROPPED) {
            add_entry(m->type, e->values, i, out, (*row - first) * m->kept + place);
        }
    }
done:
    return status;
}

static lscm_status read_sparse(const h5ad_matrix *m, size_t first, size_t count, void *out,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t past = (size_t)m->indptr[first + count];
    size_t row = first;
    entries *e = malloc(sizeof *e);
    if (e == NULL) {
        return fail_memory(why, sizeof *e);
    }
    memset(out, 0, count * m->kept * dtype_size(m->type));
    for (size_t from = (size_t)m->indptr[first]; from < past; from += PIECE) {
        size_t to = past - from < PIECE ? past : from + PIECE;
        TRY(scatter(m, e, from, to, first, &row, out, why));
    }
done:
    free(e);
    return status;
}

static void read_turned(const h5ad_matrix *m, size_t first, size_t count, void *out)
{
    memset(out, 0, count * m->kept * dtype_size(m->type));
    for (size_t i = 0; i < count; i++) {
        for (int64_t e = m->indptr[first + i]; e < m->indptr[first + i + 1]; e++) {
            add_entry(m->type, m->turned, (size_t)e, out, i * m->kept + m->turned_at[e]);
        }
    }
}

lscm_status h5ad_matrix_read(const h5ad_matrix *m, size_t first, size_t count, void *out,
                             lscm_error *why)
{
    switch (m->layout) {
    case H5AD_DENSE:
        return read_dense(m, first, count, out, why);
    case H5AD_CSR:
        return read_sparse(m, first, count, out, why);
    default:
        read_turned(m, first, count, out);
        return LSCM_OK;
    }
}
