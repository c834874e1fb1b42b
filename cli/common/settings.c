#include "common/settings.h"

#include <string.h>

/* "--per-set" and "er|ba|full: what it means" from a row of the table. */
static void describe(const lscm_setting *row, const void *defaults, struct argp_option *option,
                     char *name, size_t name_size, char *doc, size_t doc_size)
{
    char standard[64];
    (void)snprintf(name, name_size, "%s", row->name);
    for (char *c = name; *c != '\0'; c++) {
        *c = *c == '_' ? '-' : *c;
    }
    lscm_settings_get(row, defaults, standard, sizeof standard);
    if (row->kind == LSCM_CHOICE) {
        (void)snprintf(doc, doc_size, "%s: %s", row->choices, row->help);
    } else if (row->kind == LSCM_FLAG) {
        (void)snprintf(doc, doc_size, "%s", row->help);
    } else {
        (void)snprintf(doc, doc_size, "%s (%s)", row->help, standard);
    }
    option->name = name;
    option->arg = row->meta;
    option->doc = doc;
    option->group = 2;
}

size_t settings_options(lscm_settings_table table, const void *defaults, settings_texts *texts,
                        struct argp_option *out)
{
    size_t count = table.count < MOST_SETTINGS ? table.count : MOST_SETTINGS;
    for (size_t i = 0; i < count; i++) {
        out[i].key = FIRST_SETTING + (int)i;
        describe(&table.rows[i], defaults, &out[i], texts->name[i], sizeof texts->name[i],
                 texts->doc[i], sizeof texts->doc[i]);
    }
    return count;
}

bool settings_parse(lscm_settings_table table, int key, const char *argument, settings_given *given)
{
    size_t row = (size_t)(key - FIRST_SETTING);
    if (key < FIRST_SETTING || row >= table.count || row >= MOST_SETTINGS) {
        return false;
    }
    given->text[row] = argument != NULL ? argument : "true";
    return true;
}

lscm_status settings_apply(lscm_settings_table table, const settings_given *given, void *settings,
                           lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t i = 0; i < table.count && i < MOST_SETTINGS && status == LSCM_OK; i++) {
        if (given->text[i] != NULL) {
            status = lscm_settings_set(table, settings, table.rows[i].name, given->text[i], why);
        }
    }
    return status;
}
