#include "data/csv/csv_question.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

lscm_status csv_question_numbers(const csv_columns *columns, const char *path, size_t column,
                                 lscm_error *why)
{
    const char *name = columns->names[column];
    char word[FLAG_WORD];
    int shown = csv_shown(name);
    (void)flag_word(name, word);
    if (columns->said) {
        char other[FLAG_WORD];
        bool one = columns->target < columns->count; /* or do:NAME */
        const char *target = one ? columns->names[columns->target] : CSV_DO_PREFIX "NAME";
        return fail(why, LSCM_VALUE,
                    "%s: columns '%.*s' and '%.*s' could both say what do() acted on; leave the "
                    "second out: --ignore %s; if it is a variable like the others: "
                    "--target-column %s",
                    path, csv_shown(target), target, shown, name, word,
                    one ? flag_word(target, other) : "none");
    }
    return fail(why, LSCM_VALUE,
                "%s: is '%.*s' the intervention column? --target-column %s; if it is a variable "
                "like the others: --target-column none; if it is neither: --ignore %s",
                path, shown, name, word, word);
}

/* "do(raf)", "do_raf", "DO:raf", to "raf)", ..; NULL where it is nothing like that. */
static const char *almost_do(const char *name)
{
    bool like = strncasecmp(name, "do", 2) == 0 && name[2] != '\0' &&
                strchr("(:_.-= ", name[2]) != NULL && name[3] != '\0';
    return like ? name + 3 : NULL;
}

lscm_status csv_question_header(const csv_columns *columns, const char *path, lscm_error *why)
{
    static const char *const words[] = {"target", "targets", "intervention", "interventions"};
    for (size_t i = 0; i < columns->variables; i++) {
        const char *name = columns->names[columns->column[i]];
        const char *node = almost_do(name);
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
            if (strcasecmp(name, words[k]) == 0) {
                return csv_question_numbers(columns, path, columns->column[i], why);
            }
        }
        if (node != NULL) {
            return fail(why, LSCM_VALUE,
                        "%s: does column '%.*s' hold what do() set? Then call it '" CSV_DO_PREFIX
                        "%.*s'; if it is a variable like the others: --target-column none",
                        path, csv_shown(name), name, (int)strcspn(node, ")"), node);
        }
        if (strcasecmp(name, CSV_VALUE_NAME) == 0) {
            return fail(why, LSCM_VALUE,
                        "%s: does column '%s' hold what do() set? Then name the column that says "
                        "of which variable: --target-column NAME; if it is a variable like the "
                        "others: --target-column none",
                        path, name);
        }
    }
    return LSCM_OK;
}

/* How much speaks for a column of text to be that of the interventions; 0: it holds none. */
static int speaks_for(const csv_columns *columns, size_t column)
{
    unsigned what = columns->seen[column].what;
    return columns->role[column] != CSV_VARIABLE || (what & CSV_SEEN_TEXT) == 0 ? 0
           : (what & CSV_SEEN_NAME) != 0                                        ? 5
           : sounds_like_targets(columns->names[column])                        ? 4
           : (what & CSV_SEEN_CONTROL) != 0                                     ? 3
           : (what & CSV_SEEN_AGAIN) != 0                                       ? 2
                                                                                : 1;
}

/* "batch,cell" as --ignore takes it. */
static void list_text(const csv_columns *columns, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < columns->count && used + 64 < size; i++) {
        if (speaks_for(columns, i) > 0) {
            const char *name = columns->names[i];
            used += (size_t)snprintf(out + used, size - used, "%s%.*s", used > 0 ? "," : "",
                                     csv_shown(name), name);
        }
    }
}

static lscm_status ask(const csv_columns *columns, const char *path, size_t column, int reason,
                       lscm_error *why)
{
    char listed[256];
    char word[FLAG_WORD];
    char words[FLAG_WORD];
    const csv_seen *seen = &columns->seen[column];
    const char *name = columns->names[column];
    list_text(columns, listed, sizeof listed);
    bool several = strchr(listed, ',') != NULL;
    (void)flag_word(name, word);
    (void)flag_word(listed, words);
    return reason > 1
               ? fail(why, LSCM_VALUE,
                      "%s: line %zu, column '%.*s' holds '%s', not a number; is '%.*s' the "
                      "intervention column? --target-column %s; if not, leave %s out: --ignore %s",
                      path, seen->line, csv_shown(name), name, seen->text, csv_shown(name), name,
                      word, several ? "the columns of text" : "it", words)
               : fail(why, LSCM_VALUE,
                      "%s: line %zu, column '%.*s' holds '%s', not a number; leave the column%s "
                      "out with --ignore %s; if %s says what do() acted on: --target-column %s",
                      path, seen->line, csv_shown(name), name, seen->text,
                      several ? "s of text" : "", words, several ? "one" : "it", word);
}

lscm_status csv_question_text(const csv_columns *columns, const char *path, lscm_error *why)
{
    size_t best = columns->count;
    int most = 0;
    for (size_t i = 0; i < columns->count; i++) {
        int reason = speaks_for(columns, i);
        best = reason > most ? i : best;
        most = reason > most ? reason : most;
    }
    if (most > 0 && columns->count == 1) {
        const char *name = columns->names[0];
        return fail(
            why, LSCM_FORMAT,
            "%s: line 1 names one column only, '%.*s'; separate cells by commas, semicolons "
            "or tabs",
            path, csv_shown(name), name);
    }
    return most > 0 ? ask(columns, path, best, most, why) : LSCM_OK;
}

lscm_status csv_question_second(const csv_columns *columns, const char *path, lscm_error *why)
{
    for (size_t i = 0; i < columns->count && columns->target < columns->count; i++) {
        const char *name = columns->names[i];
        const char *target = columns->names[columns->target];
        char word[FLAG_WORD];
        if (columns->role[i] == CSV_VARIABLE && (columns->seen[i].what & CSV_SEEN_NAME) != 0) {
            return fail(why, LSCM_VALUE,
                        "%s: line %zu: columns '%.*s' and '%.*s' both name variables ('%s'); join "
                        "them in one column ('a;b'), or leave the second out: --ignore %s",
                        path, columns->seen[i].line, csv_shown(target), target, csv_shown(name),
                        name, columns->seen[i].text, flag_word(name, word));
        }
    }
    return LSCM_OK;
}
