#include "data/h5ad/h5ad_column.h"

#include "data/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AT_A_TIME = 4096 }; /* entries */
#define ANY_NUMBER SIZE_MAX

/* ---- Values one after the other, as text */

typedef struct reading {
    const h5ad_array *array;
    char *texts[AT_A_TIME];
    double numbers[AT_A_TIME];
} reading;

static lscm_status read_piece(reading *r, size_t first, size_t count, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (r->array->type == H5AD_TEXT) {
        return h5ad_array_texts(r->array, first, count, r->texts, why);
    }
    memset(r->texts, 0, sizeof r->texts);
    TRY(h5ad_array_read(r->array, first, count, DTYPE_FLOAT64, r->numbers, why));
    for (size_t i = 0; i < count; i++) {
        char text[NUMBER_TEXT] = "";
        if (r->array->type == H5AD_TRUTH) {
            (void)snprintf(text, sizeof text, "%s", r->numbers[i] != 0 ? "true" : "false");
        } else if (isfinite(r->numbers[i])) {
            (void)number_text(r->numbers[i], text);
        }
        r->texts[i] = strdup(text);
        if (r->texts[i] == NULL) {
            return fail_memory(why, sizeof text);
        }
    }
done:
    return status;
}

static void drop_piece(reading *r)
{
    for (size_t i = 0; i < AT_A_TIME; i++) {
        free(r->texts[i]);
        r->texts[i] = NULL;
    }
}

/* All entries of an array to words, in of_entry (entries). */
static lscm_status read_words(const h5ad_array *array, uint32_t *of_entry, h5ad_words *words,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    reading *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return fail_memory(why, sizeof *r);
    }
    r->array = array;
    for (size_t first = 0; first < array->dims[0]; first += AT_A_TIME) {
        size_t left = array->dims[0] - first;
        size_t count = left < AT_A_TIME ? left : AT_A_TIME;
        TRY(read_piece(r, first, count, why));
        for (size_t i = 0; i < count; i++) {
            size_t id = 0;
            TRY(h5ad_words_add(words, r->texts[i], &id, why));
            of_entry[first + i] = (uint32_t)id;
        }
        drop_piece(r);
    }
done:
    drop_piece(r);
    free(r);
    return status;
}

/* ---- Kinds of columns */

/* With as many entries as rows; ANY_NUMBER will do. */
static lscm_status open_list(h5ad_array *array, const h5ad_file *file, const char *name,
                             size_t rows, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(h5ad_array_open(array, file, name, why));
    if (array->type == H5AD_OTHER || array->ndim != 1) {
        status = fail(why, LSCM_FORMAT, "%s: '%s' is neither text nor numbers nor categories",
                      file->path, name);
    } else if ((rows != ANY_NUMBER && array->dims[0] != rows) || array->dims[0] >= UINT32_MAX) {
        status = fail(why, LSCM_SHAPE, "%s: '%s' has %zu entries, but there are %zu rows",
                      file->path, name, array->dims[0], rows);
    }
done:
    return status;
}

/* Codes number the categories; -1 is nothing. */
static lscm_status read_codes(h5ad_column *column, const h5ad_file *file, const char *codes,
                              const char *categories, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    h5ad_array words = {0};
    h5ad_array of_row = {0};
    uint32_t *word_of = NULL; /* (categories) */
    size_t nothing = 0;
    int64_t code[AT_A_TIME];
    TRY(open_list(&words, file, categories, ANY_NUMBER, why));
    TRY(open_list(&of_row, file, codes, column->rows, why));
    word_of = calloc(words.dims[0] + 1, sizeof *word_of);
    if (word_of == NULL) {
        status = fail_memory(why, words.dims[0] * sizeof *word_of);
        goto done;
    }
    TRY(read_words(&words, word_of, &column->words, why));
    TRY(h5ad_words_add(&column->words, "", &nothing, why));
    for (size_t first = 0; first < column->rows; first += AT_A_TIME) {
        size_t left = column->rows - first;
        size_t count = left < AT_A_TIME ? left : AT_A_TIME;
        TRY(h5ad_array_read(&of_row, first, count, DTYPE_INT64, code, why));
        for (size_t i = 0; i < count; i++) {
            if (code[i] < -1 || code[i] >= (int64_t)words.dims[0]) {
                TRY(fail(why, LSCM_VALUE,
                         "%s: entry %zu (0-based) of '%s' is %lld, but there are %zu categories",
                         file->path, first + i, codes, (long long)code[i], words.dims[0]));
            }
            column->word[first + i] = code[i] < 0 ? (uint32_t)nothing : word_of[code[i]];
        }
    }
done:
    free(word_of);
    h5ad_array_close(&words);
    h5ad_array_close(&of_row);
    return status;
}

/* `mask` is NULL, or says where nothing is. */
static lscm_status read_values(h5ad_column *column, const h5ad_file *file, const char *values,
                               const char *mask, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    h5ad_array array = {0};
    h5ad_array hidden = {0};
    size_t nothing = 0;
    int64_t hide[AT_A_TIME];
    TRY(open_list(&array, file, values, column->rows, why));
    TRY(read_words(&array, column->word, &column->words, why));
    if (mask == NULL) {
        goto done;
    }
    TRY(open_list(&hidden, file, mask, column->rows, why));
    TRY(h5ad_words_add(&column->words, "", &nothing, why));
    for (size_t first = 0; first < column->rows; first += AT_A_TIME) {
        size_t left = column->rows - first;
        size_t count = left < AT_A_TIME ? left : AT_A_TIME;
        TRY(h5ad_array_read(&hidden, first, count, DTYPE_INT64, hide, why));
        for (size_t i = 0; i < count; i++) {
            column->word[first + i] = hide[i] != 0 ? (uint32_t)nothing : column->word[first + i];
        }
    }
done:
    h5ad_array_close(&array);
    h5ad_array_close(&hidden);
    return status;
}

/* "obs/guide" and "codes" */
static const char *below(char out[H5AD_NAME], const char *name, const char *part)
{
    (void)snprintf(out, H5AD_NAME, "%.240s/%.255s", name, part);
    return out;
}

lscm_status h5ad_column_read(h5ad_column *column, const h5ad_file *file, const char *name,
                             size_t rows, lscm_error *why)
{
    char first[H5AD_NAME];
    char second[H5AD_NAME];
    const char *slash = strrchr(name, '/');
    h5ad_kind kind = h5ad_kind_of(file, name);
    *column = (h5ad_column){.rows = rows, .word = calloc(rows + 1, sizeof *column->word)};
    if (column->word == NULL) {
        return fail_memory(why, rows * sizeof *column->word);
    }
    if (kind == H5AD_GROUP && h5ad_kind_of(file, below(first, name, "codes")) == H5AD_ARRAY) {
        return read_codes(column, file, first, below(second, name, "categories"), why);
    }
    if (kind == H5AD_GROUP && h5ad_kind_of(file, below(first, name, "values")) == H5AD_ARRAY) {
        return read_values(column, file, first, below(second, name, "mask"), why);
    }
    if (kind != H5AD_ARRAY) {
        return fail(why, LSCM_FORMAT, "%s: '%s' is neither text nor numbers nor categories",
                    file->path, name);
    }
    if (slash != NULL) {
        (void)snprintf(first, sizeof first, "%.*s/__categories%s", (int)(slash - name), name,
                       slash);
        if (h5ad_kind_of(file, first) == H5AD_ARRAY) {
            return read_codes(column, file, name, first, why);
        }
    }
    return read_values(column, file, name, NULL, why);
}

void h5ad_column_close(h5ad_column *column)
{
    free(column->word);
    h5ad_words_close(&column->words);
    *column = (h5ad_column){0};
}

/* ---- Tables */

/* Where the index of a table is. */
static lscm_status index_of(const h5ad_file *file, const char *table, char out[H5AD_WORD],
                            lscm_error *why)
{
    h5ad_kind kind = h5ad_kind_of(file, table);
    if (kind == H5AD_ARRAY) {
        return fail(why, LSCM_FORMAT,
                    "%s: '%s' is a table as anndata before 0.7 wrote it; read the file with "
                    "anndata and write it again",
                    file->path, table);
    }
    if (kind != H5AD_GROUP) {
        return fail(why, LSCM_FORMAT,
                    "%s: '%s' is missing; an .h5ad file has X, obs and var, as anndata writes them",
                    file->path, table);
    }
    if (!h5ad_text_attribute(file, table, "_index", out)) {
        (void)snprintf(out, H5AD_WORD, "_index");
    }
    return LSCM_OK;
}

lscm_status h5ad_columns_list(const h5ad_file *file, char ***names, size_t *count, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char index[H5AD_WORD];
    size_t kept = 0;
    *names = NULL;
    *count = 0;
    TRY(index_of(file, "obs", index, why));
    TRY(h5ad_members(file, "obs", names, count, why));
    for (size_t i = 0; i < *count; i++) {
        char *name = (*names)[i];
        if (strcmp(name, index) == 0 || strcmp(name, "__categories") == 0) {
            free(name);
        } else {
            (*names)[kept++] = name;
        }
    }
    *count = kept;
done:
    return status;
}

lscm_status h5ad_index_read(const h5ad_file *file, const char *table, size_t rows, char ***names,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char index[H5AD_WORD];
    char path[H5AD_NAME];
    h5ad_column column = {0};
    *names = NULL;
    TRY(index_of(file, table, index, why));
    TRY(h5ad_column_read(&column, file, below(path, table, index), rows, why));
    *names = calloc(rows + 1, sizeof **names);
    for (size_t i = 0; i < rows && *names != NULL; i++) {
        (*names)[i] = strdup(column.words.list[column.word[i]]->text);
        if ((*names)[i] == NULL) {
            names_free(*names, i);
            *names = NULL;
        }
    }
    status = *names != NULL ? LSCM_OK : fail_memory(why, rows * sizeof **names);
done:
    h5ad_column_close(&column);
    return status;
}
