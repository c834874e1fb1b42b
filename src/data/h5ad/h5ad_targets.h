/* What was done to each cell, by the words of a column of obs.
 *
 * A word is the name of a target, or several joined by '+', ';', ',' or '|' outside of brackets:
 * "CEBPE+KLF1". Words for control (lscm_is_control) are no targets: "ctrl", "CEBPE+ctrl",
 * "CEBPE_ctrl", "NegCtrl0_CEBPE". A word that is the name of a gene is one target, whatever
 * is in it.
 *
 * Values are those of another column: a number for all targets of the cell, or one for each part of
 * the word: "0.5+0".
 */
#ifndef LSCM_DATA_H5AD_H5AD_TARGETS_H
#define LSCM_DATA_H5AD_H5AD_TARGETS_H

#include "data/h5ad/h5ad_column.h"

#define H5AD_NO_TARGET UINT32_MAX

typedef struct h5ad_targets {
    h5ad_column column;
    h5ad_words names; /* of targets, by the words */
    size_t *begin;    /* (words + 1): the parts of word i are begin[i] .. begin[i+1]-1 */
    uint32_t *part;   /* the name, or H5AD_NO_TARGET */
    size_t parts, room;
} h5ad_targets;

typedef struct h5ad_values {
    h5ad_column column;
    size_t *begin; /* (words + 1), as above */
    double *part;  /* the number; NaN where there is none */
    size_t parts, room;
} h5ad_values;

/* `name` is that of the column ("guide"), `genes` the names of var, `control` as the user gave it
 * or NULL. Only words that stand in some row count. */
lscm_status h5ad_targets_read(h5ad_targets *targets, const h5ad_file *file, const char *name,
                              size_t rows, const h5ad_words *genes, const char *control,
                              lscm_error *why);
void h5ad_targets_close(h5ad_targets *targets);

/* Every target has a number, or the sentence names the row. */
lscm_status h5ad_values_read(h5ad_values *values, const h5ad_file *file, const char *name,
                             const h5ad_targets *targets, lscm_error *why);
/* Of part k of the word in a row. */
double h5ad_value(const h5ad_values *values, size_t row, size_t k);
void h5ad_values_close(h5ad_values *values);

#endif
