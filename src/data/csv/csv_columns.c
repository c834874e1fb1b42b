#include "data/csv/csv_columns.h"

#include "data/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void csv_columns_close(csv_columns *columns)
{
    csv_names_close(&columns->by_name);
    names_free(columns->names, columns->count);
    free(columns->variable);
    free(columns->column);
    *columns = (csv_columns){0};
}

static lscm_status read_names(csv_columns *columns, const csv_lines *header, lscm_error *why)
{
    char where[512];
    if (header->count == 0) {
        return fail(why, LSCM_FORMAT, "%s: is empty; line 1 should name the columns", header->path);
    }
    if (csv_all_numbers(header)) {
        return fail(why, LSCM_FORMAT,
                    "%s: line 1 should name the columns, but holds only numbers; add a header",
                    header->path);
    }
    if (header->count == 1 && strpbrk(header->cells[0], ";\t") != NULL) {
        return fail(why, LSCM_FORMAT,
                    "%s: line 1 separates columns by semicolons or tabs; save the file with commas",
                    header->path);
    }
    columns->names = names_copy(header->cells, header->count);
    columns->count = columns->names != NULL ? header->count : 0;
    columns->variable = calloc(header->count, sizeof *columns->variable);
    columns->column = calloc(header->count, sizeof *columns->column);
    if (columns->names == NULL || columns->variable == NULL || columns->column == NULL) {
        return fail_memory(why, header->count * sizeof *columns->variable);
    }
    (void)snprintf(where, sizeof where, "%s: line 1", header->path);
    return csv_names_open(&columns->by_name, columns->names, columns->count, where, why);
}

/* The next word that is not empty, without the blanks around it; `rest` moves on. */
static char *next_word(char **rest, const char *separator)
{
    while (**rest != '\0') {
        char *word = *rest + strspn(*rest, " \t");
        size_t length = strcspn(word, separator);
        *rest = word + length + (word[length] != '\0' ? 1 : 0);
        while (length > 0 && (word[length - 1] == ' ' || word[length - 1] == '\t')) {
            length--;
        }
        word[length] = '\0';
        if (length > 0) {
            return word;
        }
    }
    return NULL;
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
    for (char *word = next_word(&rest, ","); word != NULL; word = next_word(&rest, ",")) {
        size_t column = csv_names_find(&columns->by_name, word);
        if (column == columns->count) {
            status = fail(why, LSCM_USAGE, "%s: there is no column '%.*s' to ignore%s", path,
                          csv_shown(word), word,
                          csv_names_hint(&columns->by_name, word, hint, sizeof hint));
            goto done;
        }
        columns->variable[column] = CSV_IGNORED;
    }
done:
    free(words);
    return status;
}

lscm_status csv_columns_open(csv_columns *columns, const csv_lines *header, const char *ignore,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    *columns = (csv_columns){0};
    TRY(read_names(columns, header, why));
    TRY(leave_out(columns, header->path, ignore != NULL ? ignore : "", why));
    columns->target = csv_names_find(&columns->by_name, "target");
    if (columns->target < columns->count && columns->variable[columns->target] == CSV_IGNORED) {
        columns->target = columns->count;
    } else if (columns->target < columns->count) {
        columns->variable[columns->target] = CSV_IGNORED;
    }
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->variable[i] != CSV_IGNORED) {
            columns->column[columns->variables] = i;
            columns->variable[i] = columns->variables++;
        }
    }
    if (columns->variables == 0) {
        status =
            fail(why, LSCM_SHAPE,
                 "%s: no column is left to be a variable; name fewer after --ignore", header->path);
    }
done:
    return status;
}

lscm_status csv_columns_check(const csv_columns *columns, const csv_lines *in, lscm_error *why)
{
    if (in->count != columns->count) {
        return fail(why, LSCM_SHAPE, "%s: line %zu has %zu cells but line 1 names %zu columns",
                    in->path, in->line, in->count, columns->count);
    }
    return LSCM_OK;
}

lscm_status csv_columns_x(const csv_columns *columns, const csv_lines *in, double *x,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t i = 0; i < columns->variables; i++) {
        size_t column = columns->column[i];
        TRY(csv_number(in, column, columns->names[column], true, &x[i], why));
    }
done:
    return status;
}

/* The column that a word names; `count` when none. */
static size_t column_of(const csv_columns *columns, const csv_lines *in, const char *word)
{
    double number = 0;
    size_t column = csv_names_find(&columns->by_name, word);
    if (column == columns->count && number_parse(word, in->c, &number) && number >= 0 &&
        number < (double)(columns->count - 1) && number == floor(number)) {
        column = (size_t)number;
        column += column >= columns->target ? 1 : 0;
    }
    return column != columns->target ? column : columns->count;
}

static lscm_status mark_target(const csv_columns *columns, const csv_lines *in, const char *word,
                               uint8_t *targets, lscm_error *why)
{
    char hint[64];
    size_t column = column_of(columns, in, word);
    if (column == columns->count) {
        return fail(why, LSCM_VALUE,
                    "%s: line %zu: target '%.*s' is neither the name of a column nor a number from "
                    "0 to %zu%s",
                    in->path, in->line, csv_shown(word), word, columns->count - 2,
                    csv_names_hint(&columns->by_name, word, hint, sizeof hint));
    }
    if (columns->variable[column] == CSV_IGNORED) {
        const char *name = columns->names[column];
        return fail(why, LSCM_VALUE,
                    "%s: line %zu: target '%.*s' is column '%.*s', which is ignored; keep the "
                    "column, or remove the lines that act on it",
                    in->path, in->line, csv_shown(word), word, csv_shown(name), name);
    }
    targets[columns->variable[column]] = 1;
    return LSCM_OK;
}

lscm_status csv_columns_targets(const csv_columns *columns, const csv_lines *in, uint8_t *targets,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double number = 0;
    memset(targets, 0, columns->variables);
    if (columns->target == columns->count) {
        return LSCM_OK;
    }
    char *cell = in->cells[columns->target];
    if (column_of(columns, in, cell) < columns->count) {
        return mark_target(columns, in, cell, targets, why); /* whole: a name may have a ';' */
    }
    if (number_parse(cell, in->c, &number) && number == -1) {
        return LSCM_OK;
    }
    for (char *word = next_word(&cell, ";"); word != NULL; word = next_word(&cell, ";")) {
        TRY(mark_target(columns, in, word, targets, why));
    }
done:
    return status;
}
