#include "data/csv/csv_question.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool csv_is_text(const csv_lines *in, const char *cell)
{
    static const char *const infinite[] = {"inf", "-inf", "+inf", "infinity", "-infinity"};
    bool text = !csv_is_number(in, cell) && !csv_is_missing(cell);
    for (size_t i = 0; i < sizeof infinite / sizeof infinite[0]; i++) {
        text = text && strcasecmp(cell, infinite[i]) != 0;
    }
    return text;
}

lscm_status csv_question_header(const csv_columns *columns, const char *path, lscm_error *why)
{
    static const char *const words[] = {"target", "targets", "intervention", "interventions"};
    for (size_t i = 0; i < columns->variables; i++) {
        const char *name = columns->names[columns->column[i]];
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
            if (strcasecmp(name, words[k]) == 0) {
                return fail(why, LSCM_VALUE,
                            "%s: is '%s' the intervention column? --target-column %s; if it is a "
                            "variable like the others: --target-column none",
                            path, name, name);
            }
        }
    }
    return LSCM_OK;
}

static bool sounds_like_it(const char *name)
{
    static const char *const words[] = {"target", "condition", "interv", "treat", "perturb",
                                        "guide",  "grna",      "knock",  "crispr"};
    bool found = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0] && !found; i++) {
        for (const char *at = name; *at != '\0' && !found; at++) {
            found = strncasecmp(at, words[i], strlen(words[i])) == 0;
        }
    }
    return found;
}

/* Of the variables that hold text, whose names are these? */
typedef enum which { THAT_ACT, OTHERS } which;

static bool is_asked(const csv_columns *columns, const csv_lines *in, size_t column, which wanted)
{
    if (columns->role[column] != CSV_VARIABLE || !csv_is_text(in, in->cells[column])) {
        return false;
    }
    size_t named = csv_names_find(&columns->by_name, in->cells[column]);
    bool acts = columns->target == columns->count && columns->nodes == 0 &&
                (sounds_like_it(columns->names[column]) ||
                 (named < columns->count && columns->role[named] == CSV_VARIABLE));
    return acts == (wanted == THAT_ACT);
}

/* "batch,cell" as --ignore takes it; the first, or count, is returned. */
static size_t list(const csv_columns *columns, const csv_lines *in, which wanted, char *out,
                   size_t size)
{
    size_t first = columns->count;
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < columns->count; i++) {
        if (is_asked(columns, in, i, wanted) && used + 64 < size) {
            const char *name = columns->names[i];
            used += (size_t)snprintf(out + used, size - used, "%s%.*s", used > 0 ? "," : "",
                                     csv_shown(name), name);
            first = first < columns->count ? first : i;
        }
    }
    return first;
}

lscm_status csv_question_text(const csv_columns *columns, const csv_lines *in, lscm_error *why)
{
    char others[256];
    char acts[256];
    size_t other = list(columns, in, OTHERS, others, sizeof others);
    size_t column = list(columns, in, THAT_ACT, acts, sizeof acts);
    bool asked = column < columns->count;
    column = asked ? column : other;
    const char *name = columns->names[column];
    const char *cell = in->cells[column];
    if (columns->count == 1) {
        return fail(
            why, LSCM_FORMAT,
            "%s: line 1 names one column only, '%.*s'; separate cells by commas, semicolons "
            "or tabs",
            in->path, csv_shown(name), name);
    }
    if (!asked) {
        return fail(
            why, LSCM_VALUE,
            "%s: line %zu, column '%.*s' holds '%.*s', not a number; leave the column%s out "
            "with --ignore %s",
            in->path, in->line, csv_shown(name), name, csv_shown(cell), cell,
            strchr(others, ',') != NULL ? "s of text" : "", others);
    }
    return fail(
        why, LSCM_VALUE,
        "%s: line %zu, column '%.*s' holds '%.*s', not a number; is '%.*s' the intervention "
        "column? --target-column %.*s%s%s",
        in->path, in->line, csv_shown(name), name, csv_shown(cell), cell, csv_shown(name), name,
        csv_shown(name), name,
        other < columns->count ? "; other columns of text are left out with --ignore " : "",
        others);
}
