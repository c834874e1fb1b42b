/* A column of obs as words: what stands in each row, by number. A column may be texts, numbers
 * (then in their shortest text), true or false, categories with codes (a group, or as anndata
 * before 0.7 wrote it, with categories in obs/__categories), or values with a mask. What is missing
 * is the empty word.
 *
 * The table of obs or var has as many rows as its index.
 */
#ifndef LSCM_DATA_H5AD_H5AD_COLUMN_H
#define LSCM_DATA_H5AD_H5AD_COLUMN_H

#include "data/h5ad/h5ad_file.h"
#include "data/h5ad/h5ad_words.h"

typedef struct h5ad_column {
    size_t rows;
    uint32_t *word; /* (rows) */
    h5ad_words words;
} h5ad_column;

/* `name` is a path: "obs/guide". */
lscm_status h5ad_column_read(h5ad_column *column, const h5ad_file *file, const char *name,
                             size_t rows, lscm_error *why);
/* Safe on a zeroed column. */
void h5ad_column_close(h5ad_column *column);

/* The columns of obs without its index; names_free frees them. */
lscm_status h5ad_columns_list(const h5ad_file *file, char ***names, size_t *count, lscm_error *why);
/* The index of a table: names (rows), which names_free frees. */
lscm_status h5ad_index_read(const h5ad_file *file, const char *table, size_t rows, char ***names,
                            lscm_error *why);

#endif
