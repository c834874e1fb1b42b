/* An .h5ad file as a data set: see h5ad.h.
 *
 * Opening reads names and what was done to each cell, 8 bytes per cell; rows of x are read when
 * they are asked for. Of observed variables every gene is a node where there are at most
 * WHOLE_MOST; of more, those that are a target of some cell.
 */
#include "data/h5ad/h5ad.h"
#include "data/h5ad/h5ad_choose.h"
#include "data/h5ad/h5ad_matrix.h"
#include "data/h5ad/h5ad_targets.h"
#include "data/text/text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WHOLE_MOST = 100, LISTED = 300 };

typedef struct h5ad_source {
    row_source base;
    h5ad_file file;
    h5ad_matrix x;
    h5ad_obs obs;
    const char *target_column, *value_column; /* of obs; NULL: none */
    char **var;                               /* (vars) */
    h5ad_words genes;                         /* the names of var, each once */
    size_t *gene_var;                         /* (genes): where it stands; vars: in two places */
    uint8_t *kept;                            /* (vars): not to be ignored */
    h5ad_targets targets;
    h5ad_values values;
    uint32_t *node; /* (names of targets): the node of each */
    size_t nodes;
} h5ad_source;

/* ---- Rows */

static lscm_status read_rows(row_source *self, lscm_field field, size_t first, size_t count,
                             void *raw, lscm_error *why)
{
    const h5ad_source *s = (const h5ad_source *)(const void *)self;
    const h5ad_targets *t = &s->targets;
    size_t d = s->nodes;
    if (field == LSCM_X) {
        return h5ad_matrix_read(&s->x, first, count, raw, why);
    }
    memset(raw, 0, count * d * (field == LSCM_TARGETS ? 1 : sizeof(double)));
    for (size_t i = 0; i < count; i++) {
        size_t word = t->column.word[first + i];
        for (size_t k = t->begin[word]; k < t->begin[word + 1]; k++) {
            if (t->part[k] != H5AD_NO_TARGET && field == LSCM_TARGETS) {
                ((uint8_t *)raw)[i * d + s->node[t->part[k]]] = 1;
            } else if (t->part[k] != H5AD_NO_TARGET) {
                ((double *)raw)[i * d + s->node[t->part[k]]] =
                    h5ad_value(&s->values, first + i, k - t->begin[word]);
            }
        }
    }
    return LSCM_OK;
}

static void close_source(row_source *self)
{
    h5ad_source *s = (h5ad_source *)(void *)self;
    names_free(s->var, s->var != NULL ? s->x.vars : 0);
    h5ad_words_close(&s->genes);
    h5ad_targets_close(&s->targets);
    h5ad_values_close(&s->values);
    h5ad_obs_close(&s->obs);
    h5ad_matrix_close(&s->x);
    h5ad_file_close(&s->file);
    free(s->gene_var);
    free(s->kept);
    free(s->node);
    free(s);
}

/* ---- Names of genes */

static lscm_status read_genes(h5ad_source *s, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t vars = s->x.vars;
    TRY(h5ad_index_read(&s->file, "var", vars, &s->var, why));
    s->gene_var = calloc(vars + 1, sizeof *s->gene_var);
    s->kept = malloc(vars + 1);
    if (s->gene_var == NULL || s->kept == NULL) {
        status = fail_memory(why, vars * sizeof *s->gene_var);
        goto done;
    }
    memset(s->kept, 1, vars);
    for (size_t i = 0; i < vars; i++) {
        size_t before = s->genes.count;
        size_t id = 0;
        TRY(h5ad_words_add(&s->genes, s->var[i], &id, why));
        s->gene_var[id] = id == before ? i : vars;
    }
done:
    return status;
}

/* Genes of var and columns of obs named in "MT-CO1,batch". */
static lscm_status leave_out(h5ad_source *s, const char *ignore, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char text[LISTED];
    char *words = strdup(ignore);
    char *rest = words;
    if (words == NULL) {
        return fail_memory(why, strlen(ignore));
    }
    for (char *word = csv_next_word(&rest, ","); word != NULL; word = csv_next_word(&rest, ",")) {
        bool found = h5ad_obs_ignore(&s->obs, word);
        for (size_t i = 0; i < s->x.vars; i++) {
            bool same = strcmp(s->var[i], word) == 0;
            s->kept[i] = same ? 0 : s->kept[i];
            found = found || same;
        }
        if (!found) {
            status = fail(why, LSCM_USAGE,
                          "%s: neither a gene of var nor a column of obs is named '%.60s', to be "
                          "ignored; the columns are: %s",
                          s->file.path, word, h5ad_obs_text(&s->obs, text, sizeof text));
            goto done;
        }
    }
    if (memchr(s->kept, 1, s->x.vars) == NULL) {
        status =
            fail(why, LSCM_USAGE, "%s: no gene is left; name fewer after --ignore", s->file.path);
    }
done:
    free(words);
    return status;
}

/* ---- What is observed and what is latent */

/* Targets that are genes. */
static size_t count_genes(const h5ad_source *s)
{
    size_t found = 0;
    for (size_t i = 0; i < s->targets.names.count; i++) {
        found += h5ad_words_find(&s->genes, s->targets.names.list[i]->text) < s->genes.count;
    }
    return found;
}

/* Some targets are no genes, and nothing says their values. */
static lscm_status fail_unclear(const h5ad_source *s, size_t genes, lscm_error *why)
{
    char text[LISTED];
    const h5ad_words *names = &s->targets.names;
    size_t odd = 0;
    while (odd + 1 < names->count &&
           h5ad_words_find(&s->genes, names->list[odd]->text) < s->genes.count) {
        odd++;
    }
    (void)h5ad_obs_text(&s->obs, text, sizeof text);
    char dose[FLAG_WORD];
    const char *name = names->list[odd]->text;
    (void)flag_word(h5ad_obs_dose(&s->obs), dose);
    return genes == 0
               ? fail(why, LSCM_USAGE,
                      "%s: the targets in obs column '%.60s', '%.60s' for one, are no genes of "
                      "var, so they are latent variables: name the column with their values "
                      "(doses): --value-column %s; the columns are: %s",
                      s->file.path, s->target_column, name, dose, text)
               : fail(why, LSCM_USAGE,
                      "%s: of %zu targets in obs column '%.60s', %zu are genes of var and '%.60s', "
                      "for one, is not; if it says that nothing was set: --control '%.60s'; if all "
                      "are latent, name the column of their values: --value-column %s; else take "
                      "its cells out",
                      s->file.path, names->count, s->target_column, genes, name, name, dose);
}

/* A target that is a gene in another case, or another target: nobody could have meant both. */
static lscm_status check_case(const h5ad_source *s, lscm_error *why)
{
    const h5ad_words *lists[] = {&s->genes, &s->targets.names};
    for (size_t i = 0; i < s->targets.names.count; i++) {
        const char *name = s->targets.names.list[i]->text;
        for (size_t k = 0; k < lists[0]->count + lists[1]->count; k++) {
            bool gene = k < lists[0]->count;
            const char *other =
                gene ? lists[0]->list[k]->text : lists[1]->list[k - lists[0]->count]->text;
            if (strcasecmp(name, other) == 0 && strcmp(name, other) != 0) {
                return fail(why, LSCM_VALUE,
                            "%s: the target '%.60s' in obs column '%.60s' is written '%.60s' %s; "
                            "write it alike",
                            s->file.path, name, s->target_column, other,
                            gene ? "in var" : "in other rows");
            }
        }
    }
    return LSCM_OK;
}

/* Genes that are targets are marked in keep (vars). */
static lscm_status mark_genes(const h5ad_source *s, uint8_t *keep, lscm_error *why)
{
    for (size_t i = 0; i < s->targets.names.count; i++) {
        const char *name = s->targets.names.list[i]->text;
        size_t var = s->gene_var[h5ad_words_find(&s->genes, name)];
        if (var >= s->x.vars) {
            return fail(why, LSCM_VALUE,
                        "%s: the target '%.60s' is the name of two genes of var; make names differ "
                        "(in Python, a.var_names_make_unique())",
                        s->file.path, name);
        }
        if (s->kept[var] == 0) {
            return fail(why, LSCM_USAGE,
                        "%s: '%.60s' is to be ignored, but is a target of some cells; take these "
                        "cells out, or leave it out of --ignore",
                        s->file.path, name);
        }
        keep[var] = 1;
    }
    return LSCM_OK;
}

/* Genes are the variables. */
static lscm_status settle_observed(h5ad_source *s, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t names = s->targets.names.count;
    uint8_t *keep = calloc(s->x.vars, 1);
    s->node = calloc(names + 1, sizeof *s->node);
    if (keep == NULL || s->node == NULL) {
        status = fail_memory(why, s->x.vars);
        goto done;
    }
    TRY(mark_genes(s, keep, why));
    if (s->x.vars <= WHOLE_MOST || names == 0) {
        memcpy(keep, s->kept, s->x.vars);
    }
    TRY(h5ad_matrix_keep(&s->x, keep, why));
    for (size_t i = 0; i < names; i++) {
        const char *name = s->targets.names.list[i]->text;
        s->node[i] = s->x.place[s->gene_var[h5ad_words_find(&s->genes, name)]];
    }
    s->nodes = s->x.kept;
done:
    free(keep);
    return status;
}

/* Targets are the variables, genes features. */
static lscm_status settle_latent(h5ad_source *s, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t names = s->targets.names.count;
    if (names == 0) {
        return fail(why, LSCM_VALUE,
                    "%s: obs column '%.60s' names no target in any row, only control", s->file.path,
                    s->target_column);
    }
    TRY(h5ad_values_read(&s->values, &s->file, s->value_column, &s->targets, why));
    TRY(h5ad_matrix_keep(&s->x, s->kept, why));
    s->node = calloc(names, sizeof *s->node);
    if (s->node == NULL) {
        status = fail_memory(why, names * sizeof *s->node);
        goto done;
    }
    for (size_t i = 0; i < names; i++) {
        s->node[i] = (uint32_t)i;
    }
    s->nodes = names;
done:
    return status;
}

static lscm_status settle(h5ad_source *s, const lscm_open_options *options, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(h5ad_obs_open(&s->obs, &s->file, why));
    TRY(leave_out(s, options->ignore != NULL ? options->ignore : "", why));
    status = h5ad_obs_target(&s->obs, options->target_column, &s->genes, s->x.rows,
                             &s->target_column, why);
    if (status != LSCM_OK && options->x_only && options->target_column == NULL) {
        return h5ad_matrix_keep(&s->x, s->kept, why); /* cells to which nothing was done */
    }
    TRY(status);
    TRY(h5ad_targets_read(&s->targets, &s->file, s->target_column, s->x.rows, &s->genes,
                          options->control, why));
    size_t genes = count_genes(s);
    if (options->value_column == NULL && genes == s->targets.names.count) {
        return settle_observed(s, why);
    }
    TRY(check_case(s, why));
    TRY(h5ad_obs_value(&s->obs, options->value_column, &s->value_column, why));
    if (s->value_column == NULL || (options->value_column == NULL && genes > 0)) {
        return fail_unclear(s, genes, why);
    }
    TRY(settle_latent(s, why));
done:
    return status;
}

/* ---- The data set */

static lscm_status copy_names(lscm_dataset *data, const h5ad_source *s, lscm_error *why)
{
    bool latent = s->value_column != NULL;
    data->feature_names = calloc(s->x.kept + 1, sizeof *data->feature_names);
    data->node_names = s->nodes > 0 ? calloc(s->nodes, sizeof *data->node_names) : NULL;
    bool done = data->feature_names != NULL && (s->nodes == 0 || data->node_names != NULL);
    for (size_t i = 0; i < s->x.vars && done; i++) {
        if (s->x.place[i] != H5AD_DROPPED) {
            data->feature_names[s->x.place[i]] = strdup(s->var[i]);
            done = data->feature_names[s->x.place[i]] != NULL;
        }
    }
    for (size_t i = 0; i < s->nodes && done; i++) {
        const char *name = latent ? s->targets.names.list[i]->text : data->feature_names[i];
        data->node_names[i] = name != NULL ? strdup(name) : NULL;
        done = data->node_names[i] != NULL;
    }
    return done ? LSCM_OK : fail_memory(why, s->x.kept * sizeof *data->feature_names);
}

/* What was taken for x, targets and values, and how many genes of how many. */
static lscm_status write_recipe(lscm_dataset *data, const h5ad_source *s, lscm_error *why)
{
    json_t *recipe = json_pack("{s:s, s:s*, s:s*, s:I, s:I}", "x_from", s->x.name, "target_column",
                               s->target_column, "value_column", s->value_column, "genes_in_file",
                               (json_int_t)s->x.vars, "genes_used", (json_int_t)s->x.kept);
    data->recipe = recipe != NULL ? json_dumps(recipe, 0) : NULL;
    json_decref(recipe);
    return data->recipe != NULL ? LSCM_OK : fail_memory(why, 0);
}

static lscm_status describe(lscm_dataset *data, const h5ad_source *s, lscm_error *why)
{
    size_t n = data->rows = s->x.rows;
    size_t d = data->nodes = s->nodes;
    data->shape[LSCM_X] = (array_shape){true, s->x.type, 2, {n, s->x.kept}};
    if (d > 0) {
        data->shape[LSCM_TARGETS] = (array_shape){true, DTYPE_UINT8, 2, {n, d}};
    }
    if (d > 0 && s->value_column != NULL) {
        data->shape[LSCM_VALUES] = (array_shape){true, DTYPE_FLOAT64, 2, {n, d}};
    }
    lscm_status status = copy_names(data, s, why);
    return status == LSCM_OK ? write_recipe(data, s, why) : status;
}

lscm_status h5ad_open(lscm_dataset *data, const lscm_open_options *options, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    h5ad_source *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return fail_memory(why, sizeof *s);
    }
    s->base = (row_source){read_rows, close_source};
    data->source = &s->base;
    TRY(h5ad_file_open(&s->file, data->path, why));
    TRY(h5ad_matrix_open(&s->x, &s->file, options->layer, why));
    TRY(read_genes(s, why));
    TRY(settle(s, options, why));
    TRY(describe(data, s, why));
done:
    return status;
}
