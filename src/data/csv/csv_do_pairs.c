/* A column of targets and one of values: latent nodes. */
#include "data/csv/csv_do_parts.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static lscm_status fail_observed(const csv_do *did, const csv_lines *in, const char *word,
                                 lscm_error *why)
{
    const csv_columns *columns = did->columns;
    char word_of[FLAG_WORD];
    return columns->value_said
               ? fail(why, LSCM_VALUE,
                      "%s: line %zu: target '%.*s' is a column, so the variables are observed and "
                      "what do() set stands there; do without --value-column",
                      in->path, in->line, csv_shown(word), word)
               : fail(why, LSCM_VALUE,
                      "%s: line %zu: target '%.*s' is a column, so the variables are observed and "
                      "what do() set stands there; leave the column of values out: --ignore %s; "
                      "if it is a variable like the others: --value-column none",
                      in->path, in->line, csv_shown(word), word,
                      flag_word(columns->names[columns->value], word_of));
}

/* What separates values where `cell` has the targets: ';', or else what separates these. */
static void find_joints(const char *cell, const char *values, char joints[sizeof TARGET_JOINTS])
{
    size_t count = 0;
    joints[count++] = ';';
    for (const char *joint = TARGET_JOINTS; *joint != '\0' && strchr(values, ';') == NULL;
         joint++) {
        if (*joint != ';' && strchr(cell, *joint) != NULL) {
            joints[count++] = *joint;
        }
    }
    joints[count] = '\0';
}

/* The next of the values beside the target `word`. */
static lscm_status next_value(const csv_do *did, csv_lines *in, const char *word, const char *text,
                              double *value, lscm_error *why)
{
    const char *name = did->columns->names[did->columns->value];
    if (text == NULL || csv_is_missing(text)) {
        return fail(why, LSCM_VALUE,
                    "%s: line %zu: do() acted on '%.*s', but column '%.*s' does not say what it "
                    "set; fill it in, one value for each target, joined by ';'",
                    in->path, in->line, csv_shown(word), word, csv_shown(name), name);
    }
    if (!csv_parse(in, text, value) || !isfinite(*value)) {
        return fail(why, LSCM_VALUE, "%s: line %zu, column '%.*s' holds '%.*s', not a number",
                    in->path, in->line, csv_shown(name), name, csv_shown(text), text);
    }
    return LSCM_OK;
}

/* A node that is met for the first time: no column may be meant, be it in another case. */
static lscm_status learn_node(const csv_do *did, csv_nodes *learn, const csv_lines *in,
                              const char *word, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const csv_columns *columns = did->columns;
    bool added = false;
    TRY(csv_nodes_add(learn, in, word, &added, why));
    for (size_t i = 0; added && i < columns->count; i++) {
        const char *name = columns->names[i];
        if (columns->role[i] == CSV_VARIABLE && strcasecmp(name, word) == 0) {
            return fail(why, LSCM_VALUE,
                        "%s: line %zu: is target '%.*s' the column '%.*s'? Then write it alike; if "
                        "it is a variable behind the columns, give it another name",
                        in->path, in->line, csv_shown(word), word, csv_shown(name), name);
        }
    }
done:
    return status;
}

/* One target of latent nodes, `text` its value; `learn` is NULL, or where it is added. */
static lscm_status read_pair(const csv_do *did, csv_nodes *learn, csv_lines *in, const char *word,
                             const char *text, uint8_t *targets, double *values, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const csv_columns *columns = did->columns;
    double value = 0;
    size_t named = csv_names_find(&columns->by_name, word);
    if (named < columns->count && columns->role[named] == CSV_VARIABLE) {
        return fail_observed(did, in, word, why);
    }
    TRY(next_value(did, in, word, text, &value, why));
    if (learn != NULL) {
        TRY(learn_node(did, learn, in, word, why));
    }
    size_t node = csv_nodes_find(&did->nodes, word, in->c);
    if (learn == NULL && node == csv_nodes_count(&did->nodes)) {
        return fail(why, LSCM_READ, "%s: line %zu: was it changed while open?", in->path, in->line);
    }
    if (targets != NULL) {
        targets[node] = 1;
    }
    if (values != NULL) {
        values[node] = value;
    }
done:
    return status;
}

/* A value beside an empty cell of targets: something was set, and nobody says what. */
static lscm_status check_none(const csv_do *did, csv_lines *in, lscm_error *why)
{
    const csv_columns *columns = did->columns;
    const char *target = columns->names[columns->target];
    const char *text = in->cells[columns->value];
    double value = 0;
    if (in->cells[columns->target][0] != '\0' || !csv_parse(in, text, &value) || value == 0) {
        return LSCM_OK;
    }
    return fail(why, LSCM_VALUE,
                "%s: line %zu: a value is set (%.*s), but column '%.*s' is empty; name the target, "
                "or write 'control' there",
                in->path, in->line, csv_shown(text), text, csv_shown(target), target);
}

lscm_status csv_do_pairs(const csv_do *did, csv_nodes *learn, csv_lines *in, uint8_t *targets,
                         double *values, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const csv_columns *columns = did->columns;
    char joints[sizeof TARGET_JOINTS];
    char *cell = in->cells[columns->target];
    char *rest = in->cells[columns->value];
    if (csv_do_none(did, in, cell)) {
        return check_none(did, in, why);
    }
    find_joints(cell, rest, joints);
    for (char *word = next_target(&cell); word != NULL; word = next_target(&cell)) {
        if (!lscm_is_control(word, did->control)) {
            const char *text = csv_next_word(&rest, joints);
            TRY(read_pair(did, learn, in, word, text, targets, values, why));
        }
    }
    if (csv_next_word(&rest, joints) != NULL) {
        const char *name = columns->names[columns->value];
        return fail(why, LSCM_VALUE, "%s: line %zu: column '%.*s' has more values than targets",
                    in->path, in->line, csv_shown(name), name);
    }
done:
    return status;
}
