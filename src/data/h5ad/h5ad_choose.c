#include "data/h5ad/h5ad_choose.h"

#include "data/h5ad/h5ad_column.h"
#include "data/text/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LISTED = 300 }; /* bytes of names in a sentence */

static const char *const TARGET_NAMES[] = {
    "target",    "targets",   "target_gene", "gene_target",  "perturbation", "perturbations",
    "perturbed", "condition", "guide",       "guide_target", "intervention", "interventions",
    "treatment", "gene",      "knockout",    "drug",         "compound",     NULL};
static const char *const VALUE_NAMES[] = {"value",      "values",        "dose", "dosage",
                                          "dose_value", "concentration", NULL};

lscm_status h5ad_obs_open(h5ad_obs *obs, const h5ad_file *file, lscm_error *why)
{
    *obs = (h5ad_obs){.file = file};
    return h5ad_columns_list(file, &obs->columns, &obs->count, why);
}

bool h5ad_obs_ignore(h5ad_obs *obs, const char *column)
{
    size_t at = 0;
    while (at < obs->count && strcmp(obs->columns[at], column) != 0) {
        at++;
    }
    if (at == obs->count) {
        return false;
    }
    free(obs->columns[at]);
    obs->count--;
    memmove(obs->columns + at, obs->columns + at + 1, (obs->count - at) * sizeof *obs->columns);
    return true;
}

void h5ad_obs_close(h5ad_obs *obs)
{
    names_free(obs->columns, obs->count);
    *obs = (h5ad_obs){0};
}

const char *h5ad_obs_text(const h5ad_obs *obs, char *out, size_t size)
{
    size_t used = 0;
    (void)snprintf(out, size, "none");
    for (size_t i = 0; i < obs->count && used < size; i++) {
        used +=
            (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", obs->columns[i]);
    }
    return out;
}

/* The columns with one of these names, and the last of them. */
static size_t find_usual(const h5ad_obs *obs, const char *const *names, const char **column)
{
    size_t found = 0;
    for (size_t i = 0; i < obs->count; i++) {
        for (size_t k = 0; names[k] != NULL; k++) {
            if (strcasecmp(obs->columns[i], names[k]) == 0) {
                *column = obs->columns[i];
                found++;
            }
        }
    }
    return found;
}

static lscm_status find_given(const h5ad_obs *obs, const char *given, const char **column,
                              lscm_error *why)
{
    char text[LISTED];
    for (size_t i = 0; i < obs->count; i++) {
        if (strcmp(obs->columns[i], given) == 0) {
            *column = obs->columns[i];
            return LSCM_OK;
        }
    }
    return fail(why, LSCM_USAGE, "%s: obs has no column '%.60s'; its columns are: %s",
                obs->file->path, given, h5ad_obs_text(obs, text, sizeof text));
}

/* How much speaks for a column to be the one of targets: it names genes, sounds like it, or has a
 * word for control. */
static int speaks_for(const h5ad_obs *obs, const char *name, const h5ad_words *genes, size_t rows)
{
    char path[H5AD_NAME];
    h5ad_column column = {0};
    int most = sounds_like_targets(name) ? 2 : 0;
    (void)snprintf(path, sizeof path, "obs/%.400s", name);
    if (h5ad_column_read(&column, obs->file, path, rows, NULL) == LSCM_OK) {
        for (size_t i = 0; i < column.words.count; i++) {
            const char *word = column.words.list[i]->text;
            int one = word[0] == '\0'                               ? 0
                      : h5ad_words_find(genes, word) < genes->count ? 3
                      : lscm_is_control(word, NULL)                 ? 1
                                                                    : 0;
            most = one > most ? one : most;
        }
    }
    h5ad_column_close(&column);
    return most;
}

/* The column that seems to be the one of targets, or NULL. */
static const char *find_likely(const h5ad_obs *obs, const h5ad_words *genes, size_t rows)
{
    const char *likely = NULL;
    int most = 0;
    for (size_t i = 0; i < obs->count; i++) {
        int reason = speaks_for(obs, obs->columns[i], genes, rows);
        likely = reason > most ? obs->columns[i] : likely;
        most = reason > most ? reason : most;
    }
    return likely;
}

lscm_status h5ad_obs_target(const h5ad_obs *obs, const char *given, const h5ad_words *genes,
                            size_t rows, const char **column, lscm_error *why)
{
    char text[LISTED];
    if (given != NULL) {
        return find_given(obs, given, column, why);
    }
    size_t found = find_usual(obs, TARGET_NAMES, column);
    if (found == 1) {
        return LSCM_OK;
    }
    char word[FLAG_WORD];
    const char *likely = find_likely(obs, genes, rows);
    return fail(why, LSCM_USAGE,
                "%s: %s of obs %s what was done to each cell; %s --target-column %s; its columns "
                "are: %s",
                obs->file->path, found == 0 ? "no column" : "more than one column",
                found == 0 ? "has a usual name for" : "could say",
                likely != NULL ? "is it this?" : "name it:",
                likely != NULL ? flag_word(likely, word) : "NAME",
                h5ad_obs_text(obs, text, sizeof text));
}

const char *h5ad_obs_dose(const h5ad_obs *obs)
{
    const char *found = NULL;
    for (size_t i = 0; i < obs->count; i++) {
        if (sounds_like_values(obs->columns[i])) {
            if (found != NULL) {
                return "NAME";
            }
            found = obs->columns[i];
        }
    }
    return found != NULL ? found : "NAME";
}

lscm_status h5ad_obs_value(const h5ad_obs *obs, const char *given, const char **column,
                           lscm_error *why)
{
    *column = NULL;
    if (given != NULL) {
        return find_given(obs, given, column, why);
    }
    if (find_usual(obs, VALUE_NAMES, column) != 1) {
        *column = NULL;
    }
    return LSCM_OK;
}
