#include "data/csv/csv_columns.h"

#include "data/csv/csv_question.h"
#include "data/csv/csv_survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void csv_columns_close(csv_columns *columns)
{
    csv_names_close(&columns->by_name);
    names_free(columns->names, columns->count);
    free(columns->role);
    free(columns->number);
    free(columns->column);
    free(columns->acts);
    free(columns->seen);
    *columns = (csv_columns){0};
}

/* R and pandas leave the name of the first column empty when it holds the names of rows; pandas
 * calls it so when it reads and writes that again, and again ("Unnamed: 0.1"). */
static bool names_rows(const csv_lines *header, size_t column)
{
    static const char again[] = "Unnamed: 0";
    const char *name = header->cells[column];
    bool unnamed = strncmp(name, again, strlen(again)) == 0 &&
                   strspn(name + strlen(again), ".0123456789") == strlen(name) - strlen(again);
    return header->count > 1 && (unnamed || (column == 0 && name[0] == '\0'));
}

/* A name in sentences for the one that is not there, and no role. */
static bool mark_row_names(csv_columns *columns, const csv_lines *header)
{
    bool done = true;
    for (size_t i = 0; i < columns->count && done; i++) {
        if (names_rows(header, i)) {
            columns->role[i] = CSV_ROW_NAMES;
        }
        if (columns->names[i][0] == '\0' && columns->role[i] == CSV_ROW_NAMES) {
            free(columns->names[i]);
            columns->names[i] = strdup("(row names)");
            done = columns->names[i] != NULL;
        }
    }
    return done;
}

static lscm_status read_names(csv_columns *columns, const csv_lines *header, lscm_error *why)
{
    char where[512];
    size_t n = header->count;
    if (n == 0) {
        return fail(why, LSCM_FORMAT, "%s: is empty; line 1 should name the columns", header->path);
    }
    if (csv_all_numbers(header)) {
        return fail(why, LSCM_FORMAT,
                    "%s: line 1 should name the columns, but holds only numbers; add a header",
                    header->path);
    }
    columns->names = names_copy(header->cells, n);
    columns->count = columns->names != NULL ? n : 0;
    columns->role = calloc(n, sizeof *columns->role);
    columns->number = calloc(n, sizeof *columns->number);
    columns->column = calloc(n, sizeof *columns->column);
    columns->acts = calloc(n, sizeof *columns->acts);
    columns->seen = calloc(n, sizeof *columns->seen);
    if (columns->names == NULL || columns->role == NULL || columns->number == NULL ||
        columns->column == NULL || columns->acts == NULL || columns->seen == NULL) {
        return fail_memory(why, n * sizeof *columns->number);
    }
    if (!mark_row_names(columns, header)) {
        return fail_memory(why, n);
    }
    (void)snprintf(where, sizeof where, "%s: line 1", header->path);
    return csv_names_open(&columns->by_name, columns->names, columns->count, where, why);
}

/* Marks the columns named in "soft,env". */
static lscm_status leave_out(csv_columns *columns, const char *path, const char *ignore,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char *words = strdup(ignore);
    char *rest = words;
    char hint[64];
    if (words == NULL) {
        return fail_memory(why, strlen(ignore));
    }
    for (char *word = csv_next_word(&rest, ","); word != NULL; word = csv_next_word(&rest, ",")) {
        size_t column = csv_names_find(&columns->by_name, word);
        if (column == columns->count) {
            status = fail(why, LSCM_USAGE, "%s: there is no column '%.*s' to ignore%s", path,
                          csv_shown(word), word,
                          csv_names_hint(&columns->by_name, word, hint, sizeof hint));
            goto done;
        }
        columns->role[column] = CSV_IGNORED;
    }
done:
    free(words);
    return status;
}

/* The column that the option names, or else the one of the usual name, if it is there; "none" says
 * that no column is it. */
static lscm_status find_special(csv_columns *columns, const char *path, const char *asked,
                                const char *option, csv_role role, size_t *column, lscm_error *why)
{
    const char *usual = role == CSV_TARGET ? CSV_TARGET_NAME : CSV_VALUE_NAME;
    const char *name = asked != NULL ? asked : usual;
    char hint[64];
    *column = csv_names_find(&columns->by_name, name);
    if (asked != NULL && *column == columns->count && strcasecmp(asked, "none") == 0) {
        return LSCM_OK;
    }
    if (asked != NULL && *column == columns->count) {
        return fail(why, LSCM_USAGE, "%s: there is no column '%.*s' for %s%s", path,
                    csv_shown(name), name, option,
                    csv_names_hint(&columns->by_name, name, hint, sizeof hint));
    }
    if (*column < columns->count && columns->role[*column] == CSV_IGNORED) {
        *column = columns->count;
    }
    if (*column < columns->count) {
        columns->role[*column] = role;
    }
    return LSCM_OK;
}

/* Where no column is called `value`: the only one that sounds like it and holds no words. */
static size_t find_dose(const csv_columns *columns)
{
    size_t found = columns->count;
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->role[i] == CSV_VARIABLE && !csv_is_words(columns, i) &&
            sounds_like_values(columns->names[i])) {
            if (found < columns->count) {
                return columns->count;
            }
            found = i;
        }
    }
    return found;
}

static lscm_status find_values(csv_columns *columns, const char *path, const char *asked,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    columns->value = columns->count;
    columns->value_said = asked != NULL;
    if (columns->target == columns->count && asked == NULL) {
        return LSCM_OK;
    }
    TRY(find_special(columns, path, asked, "--value-column", CSV_VALUE, &columns->value, why));
    if (asked == NULL && columns->value == columns->count) {
        columns->value = find_dose(columns);
    }
    if (columns->value < columns->count) {
        columns->role[columns->value] = CSV_VALUE;
    }
    if (columns->target == columns->count && columns->value < columns->count) {
        status =
            fail(why, LSCM_USAGE,
                 "%s: column '%.*s' has the values that do() set, but no column says of which "
                 "variable; name it: --target-column NAME",
                 path, csv_shown(columns->names[columns->value]), columns->names[columns->value]);
    }
done:
    return status;
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0 && text[strlen(prefix)] != '\0';
}

const char *csv_columns_node(const csv_columns *columns, size_t node)
{
    return columns->names[columns->acts[node]] + strlen(CSV_DO_PREFIX);
}

/* Which node z:NAME is of. */
static lscm_status match_truth(csv_columns *columns, const char *path, size_t column,
                               lscm_error *why)
{
    const char *node = columns->names[column] + strlen(CSV_Z_PREFIX);
    size_t k = 0;
    while (k < columns->nodes && strcmp(csv_columns_node(columns, k), node) != 0) {
        k++;
    }
    if (k == columns->nodes) {
        return fail(why, LSCM_FORMAT,
                    "%s: column 'z:%.*s' is the truth of a node that has no column 'do:%.*s'; add "
                    "it, or leave the other out with --ignore",
                    path, csv_shown(node), node, csv_shown(node), node);
    }
    columns->number[column] = k;
    return LSCM_OK;
}

/* Columns do:NAME and z:NAME: all nodes have the first, and all or none the second. */
static lscm_status find_nodes(csv_columns *columns, const char *path, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t truths = 0;
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->role[i] == CSV_VARIABLE && begins(columns->names[i], CSV_DO_PREFIX)) {
            columns->role[i] = CSV_DO;
            columns->number[i] = columns->nodes;
            columns->acts[columns->nodes++] = i;
        }
    }
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->role[i] == CSV_VARIABLE && begins(columns->names[i], CSV_Z_PREFIX)) {
            columns->role[i] = CSV_Z;
            truths++;
            TRY(match_truth(columns, path, i, why));
        }
    }
    columns->truth = truths > 0;
    if (columns->truth && truths < columns->nodes) {
        return fail(why, LSCM_FORMAT,
                    "%s: %zu columns 'do:NAME' name nodes, but only %zu columns 'z:NAME' hold "
                    "their truth; give all, or leave these out with --ignore",
                    path, columns->nodes, truths);
    }
    if (columns->nodes > 0 && columns->target < columns->count) {
        const char *name = columns->names[columns->target];
        char word[FLAG_WORD];
        return fail(why, LSCM_FORMAT,
                    "%s: columns 'do:NAME' and column '%.*s' both say what do() acted on; leave "
                    "one out: --ignore %s",
                    path, csv_shown(name), name, flag_word(name, word));
    }
done:
    return status;
}

/* Looks at what stands in columns of text, and goes back behind the header. */
static lscm_status survey(csv_columns *columns, csv_lines *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(csv_lines_next(in, why));
    TRY(csv_survey(columns, in, why));
    TRY(csv_lines_restart(in, why));
    TRY(csv_lines_next(in, why));
done:
    return status;
}

/* Columns of words cannot be variables. */
static void leave_out_words(csv_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->role[i] == CSV_VARIABLE && csv_is_words(columns, i)) {
            columns->role[i] = CSV_IGNORED;
        }
    }
}

static void number_variables(csv_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->role[i] == CSV_VARIABLE) {
            columns->column[columns->variables] = i;
            columns->number[i] = columns->variables++;
        }
    }
}

lscm_status csv_columns_open(csv_columns *columns, csv_lines *in, const lscm_open_options *options,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const char *path = in->path;
    *columns = (csv_columns){0};
    TRY(read_names(columns, in, why));
    TRY(leave_out(columns, path, options->ignore != NULL ? options->ignore : "", why));
    TRY(find_special(columns, path, options->target_column, "--target-column", CSV_TARGET,
                     &columns->target, why));
    TRY(find_nodes(columns, path, why));
    TRY(survey(columns, in, why));
    TRY(find_values(columns, path, options->value_column, why));
    columns->said =
        columns->target < columns->count || columns->nodes > 0 || options->target_column != NULL;
    columns->told = options->target_column != NULL;
    if (columns->said) {
        TRY(csv_question_second(columns, path, why));
        leave_out_words(columns);
    } else {
        TRY(csv_question_text(columns, path, why));
    }
    number_variables(columns);
    if (!columns->said) {
        TRY(csv_question_header(columns, path, why));
    }
done:
    return status;
}

lscm_status csv_columns_check(const csv_columns *columns, const csv_lines *in, lscm_error *why)
{
    if (in->count != columns->count) {
        return fail(why, LSCM_SHAPE, "%s: line %zu has %zu cell%s but line 1 names %zu columns%s",
                    in->path, in->line, in->count, in->count == 1 ? "" : "s", columns->count,
                    in->count == columns->count + 1
                        ? "; if the first cell is the name of the row, name that column, too"
                    : in->count < columns->count && !in->ended
                        ? "; the file ends in this line: was it cut short? Fetch it again"
                        : "");
    }
    if (in->dangling &&
        !in->ended) { /* whole, or cut where a target begins: that cannot be known */
        return fail(why, LSCM_FORMAT,
                    "%s: line %zu, the last, has nothing in its last cell and no line end: was the "
                    "file cut short? Fetch it again, or add a line end if it is whole",
                    in->path, in->line);
    }
    return LSCM_OK;
}

lscm_status csv_columns_x(const csv_columns *columns, csv_lines *in, double *x, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t i = 0; i < columns->variables; i++) {
        size_t column = columns->column[i];
        const char *cell = in->cells[column];
        if (csv_is_missing(cell)) {
            x[i] = NAN;
        } else if (csv_number(in, column, columns->names[column], true, &x[i], why) != LSCM_OK) {
            status = LSCM_VALUE;
            if (!columns->said && csv_is_text(in, cell)) { /* numbers stood there before */
                TRY(csv_survey(columns, in, why));
                TRY(csv_question_text(columns, in->path, why));
            }
            goto done;
        }
    }
done:
    return status;
}

lscm_status csv_columns_z(const csv_columns *columns, csv_lines *in, double *z, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->role[i] == CSV_Z) {
            TRY(csv_number(in, i, columns->names[i], true, &z[columns->number[i]], why));
        }
    }
done:
    return status;
}
