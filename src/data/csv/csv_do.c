#include "data/csv/csv_do.h"

#include "data/csv/csv_do_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

lscm_status csv_do_open(csv_do *did, const csv_columns *columns, const char *control,
                        lscm_error *why)
{
    *did = (csv_do){.columns = columns, .control = control != NULL ? strdup(control) : NULL};
    return control == NULL || did->control != NULL ? LSCM_OK : fail_memory(why, strlen(control));
}

void csv_do_close(csv_do *did)
{
    free(did->control);
    csv_nodes_close(&did->nodes);
    *did = (csv_do){0};
}

/* ---- Columns do:NAME ---- */

static lscm_status read_acts(const csv_do *did, csv_lines *in, uint8_t *targets, double *values,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const csv_columns *columns = did->columns;
    for (size_t k = 0; k < columns->nodes; k++) {
        size_t column = columns->acts[k];
        const char *cell = in->cells[column];
        if (csv_is_missing(cell)) {
            continue;
        }
        double value = 0;
        if (strcmp(cell, CSV_UNRECORDED) != 0) {
            TRY(csv_number(in, column, columns->names[column], false, &value, why));
        }
        if (targets != NULL) {
            targets[k] = 1;
        }
        if (values != NULL) {
            values[k] = value;
        }
    }
done:
    return status;
}

static void count_acts(csv_do *did, const csv_lines *in)
{
    for (size_t k = 0; k < did->columns->nodes; k++) {
        const char *cell = in->cells[did->columns->acts[k]];
        size_t *seen = strcmp(cell, CSV_UNRECORDED) == 0 ? &did->unvalued
                       : !csv_is_missing(cell)           ? &did->valued
                                                         : NULL;
        if (seen != NULL && *seen == 0) {
            *seen = in->line;
        }
    }
}

/* ---- A column of targets ---- */

bool csv_do_none(const csv_do *did, const csv_lines *in, const char *cell)
{
    double number = 0;
    return *cell == '\0' || lscm_is_control(cell, did->control) ||
           (number_parse(cell, in->c, &number) && number == -1);
}

/* The column that a word names; `count` when none. */
static size_t column_of(const csv_columns *columns, const csv_lines *in, const char *word)
{
    double number = 0;
    size_t column = csv_names_find(&columns->by_name, word);
    if (column < columns->count) {
        bool could = columns->role[column] == CSV_VARIABLE || columns->role[column] == CSV_IGNORED;
        return could ? column : columns->count;
    }
    if (!number_parse(word, in->c, &number) || !(number >= 0) || number != floor(number)) {
        return columns->count;
    }
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->role[i] == CSV_VARIABLE || columns->role[i] == CSV_IGNORED) {
            if (number == 0) {
                return i;
            }
            number--;
        }
    }
    return columns->count;
}

static size_t last_number(const csv_columns *columns)
{
    size_t count = 0;
    for (size_t i = 0; i < columns->count; i++) {
        count += columns->role[i] == CSV_VARIABLE || columns->role[i] == CSV_IGNORED ? 1 : 0;
    }
    return count - 1;
}

static lscm_status mark_column(const csv_do *did, const csv_lines *in, const char *word,
                               uint8_t *targets, lscm_error *why)
{
    const csv_columns *columns = did->columns;
    char hint[64];
    size_t column = column_of(columns, in, word);
    if (column == columns->count) {
        (void)csv_names_hint(&columns->by_name, word, hint, sizeof hint);
        return hint[0] != '\0' || strcmp(word, "-1") == 0
                   ? fail(
                         why, LSCM_VALUE,
                         "%s: line %zu: target '%.*s' is neither the name of a column nor a number "
                         "from 0 to %zu%s",
                         in->path, in->line, csv_shown(word), word, last_number(columns), hint)
                   : fail(
                         why, LSCM_VALUE,
                         "%s: line %zu: target '%.*s' is neither the name of a column nor a number "
                         "from 0 to %zu; if it says that nothing was set: --control '%.*s'; if it "
                         "is a variable behind the columns, name the column of values that do() "
                         "set: --value-column NAME",
                         in->path, in->line, csv_shown(word), word, last_number(columns),
                         csv_shown(word), word);
    }
    if (columns->role[column] == CSV_IGNORED) {
        const char *name = columns->names[column];
        return fail(why, LSCM_VALUE,
                    "%s: line %zu: target '%.*s' is column '%.*s', which is ignored; keep the "
                    "column, or remove the lines that act on it",
                    in->path, in->line, csv_shown(word), word, csv_shown(name), name);
    }
    if (targets != NULL) {
        targets[columns->number[column]] = 1;
    }
    return LSCM_OK;
}

/* A word between ';': the name of a column, be there a '+' in it, or several. */
static lscm_status mark_columns(const csv_do *did, const csv_lines *in, char *words,
                                uint8_t *targets, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const csv_columns *columns = did->columns;
    bool whole = column_of(columns, in, words) < columns->count;
    for (char *word = whole ? words : next_target(&words); word != NULL;
         word = whole ? NULL : next_target(&words)) {
        if (whole || column_of(columns, in, word) < columns->count ||
            !lscm_is_control(word, did->control)) {
            TRY(mark_column(did, in, word, targets, why));
        }
    }
done:
    return status;
}

/* Of observed variables. */
static lscm_status read_columns(const csv_do *did, const csv_lines *in, uint8_t *targets,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char *cell = in->cells[did->columns->target];
    if (did->control != NULL && csv_do_none(did, in, cell)) {
        return LSCM_OK;
    }
    if (column_of(did->columns, in, cell) < did->columns->count) {
        return mark_column(did, in, cell, targets, why); /* whole: a name may have a ';' */
    }
    if (csv_do_none(did, in, cell)) {
        return LSCM_OK;
    }
    for (char *word = csv_next_word(&cell, ";"); word != NULL; word = csv_next_word(&cell, ";")) {
        TRY(mark_columns(did, in, word, targets, why));
    }
done:
    return status;
}

/* ---- All of them ---- */

bool csv_do_latent(const csv_do *did)
{
    return did->columns->nodes > 0 || did->columns->value < did->columns->count;
}

bool csv_do_valued(const csv_do *did)
{
    return csv_do_latent(did) && did->unvalued == 0;
}

size_t csv_do_nodes(const csv_do *did)
{
    const csv_columns *columns = did->columns;
    return columns->nodes > 0                ? columns->nodes
           : columns->value < columns->count ? csv_nodes_count(&did->nodes)
                                             : columns->variables;
}

/* do:0, do:1, ... name nothing. */
static bool acts_are_named(const csv_columns *columns)
{
    bool named = false;
    for (size_t k = 0; k < columns->nodes && !named; k++) {
        char number[NUMBER_TEXT];
        (void)snprintf(number, sizeof number, "%zu", k);
        named = strcmp(csv_columns_node(columns, k), number) != 0;
    }
    return named;
}

const char *csv_do_node_name(const csv_do *did, size_t node)
{
    const csv_columns *columns = did->columns;
    if (columns->nodes > 0) {
        return acts_are_named(columns) ? csv_columns_node(columns, node) : NULL;
    }
    if (columns->value < columns->count) {
        return did->nodes.words ? did->nodes.names[node] : NULL;
    }
    return columns->names[columns->column[node]];
}

const char *csv_do_first(const csv_do *did)
{
    const csv_columns *columns = did->columns;
    size_t column = 0;
    while (columns->role[column] != CSV_VARIABLE && columns->role[column] != CSV_IGNORED) {
        column++; /* there is a variable */
    }
    return columns->names[column];
}

lscm_status csv_do_read(const csv_do *did, csv_lines *in, uint8_t *targets, double *values,
                        lscm_error *why)
{
    const csv_columns *columns = did->columns;
    size_t nodes = csv_do_nodes(did);
    if (targets != NULL) {
        memset(targets, 0, nodes * sizeof *targets);
    }
    for (size_t k = 0; values != NULL && k < nodes; k++) {
        values[k] = 0;
    }
    return columns->nodes > 0                 ? read_acts(did, in, targets, values, why)
           : columns->value < columns->count  ? csv_do_pairs(did, NULL, in, targets, values, why)
           : columns->target < columns->count ? read_columns(did, in, targets, why)
                                              : LSCM_OK;
}

/* A column of targets holds a number alone that names no column. */
static bool is_column_number(const csv_do *did, const csv_lines *in)
{
    const csv_columns *columns = did->columns;
    double number = 0;
    const char *cell = columns->target < columns->count ? in->cells[columns->target] : "";
    return columns->value == columns->count && number_parse(cell, in->c, &number) && number >= 0 &&
           csv_names_find(&columns->by_name, cell) == columns->count;
}

lscm_status csv_do_learn(csv_do *did, csv_lines *in, lscm_error *why)
{
    const csv_columns *columns = did->columns;
    count_acts(did, in);
    did->numbered = did->numbered || is_column_number(did, in);
    return columns->nodes == 0 && columns->value < columns->count
               ? csv_do_pairs(did, &did->nodes, in, NULL, NULL, why)
               : csv_do_read(did, in, NULL, NULL, why);
}

lscm_status csv_do_learnt(const csv_do *did, const char *path, lscm_error *why)
{
    if (did->valued > 0 && did->unvalued > 0) {
        return fail(why, LSCM_VALUE,
                    "%s: line %zu has a value that do() set, but line %zu only says '%s'; give all "
                    "values or none",
                    path, did->valued, did->unvalued, CSV_UNRECORDED);
    }
    if (csv_do_latent(did) && csv_do_nodes(did) == 0) {
        char word[FLAG_WORD];
        const char *name = did->columns->names[did->columns->target];
        return fail(why, LSCM_VALUE,
                    "%s: column '%.*s' names no target in any line, so the nodes are not known; "
                    "give each a column of its own, do:NAME, or leave the values out for observed "
                    "variables: --ignore %s",
                    path, csv_shown(name), name,
                    flag_word(did->columns->names[did->columns->value], word));
    }
    return LSCM_OK;
}
