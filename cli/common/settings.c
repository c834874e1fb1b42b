#include "common/settings.h"

#include <string.h>

/* "--per-set" and "er|ba|full: what it means" from a row of the table. */
static void describe(const lscm_setting *row, struct argp_option *option, char *name,
                     size_t name_size, char *doc, size_t doc_size)
{
    char standard[64];
    (void)snprintf(name, name_size, "%s", row->name);
    for (char *c = name; *c != '\0'; c++) {
        *c = *c == '_' ? '-' : *c;
    }
    lscm_settings_get(row, NULL, standard, sizeof standard);
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
}

size_t settings_options(const lscm_settings_table *table, const option_group *groups,
                        settings_texts *texts, struct argp_option *out)
{
    const lscm_setting *row = NULL;
    size_t count = 0;
    for (; count < MOST_SETTINGS && (row = lscm_settings_row(table, count)) != NULL; count++) {
        out[count].key = FIRST_SETTING + (int)count;
        describe(row, &out[count], texts->name[count], sizeof texts->name[count], texts->doc[count],
                 sizeof texts->doc[count]);
        out[count].group = group_of(groups, out[count].name, row->help);
    }
    return count;
}

const char **settings_text(const lscm_settings_table *table, const char *name,
                           settings_given *given)
{
    size_t row = 0;
    while (row + 1 < MOST_SETTINGS &&
           lscm_settings_row(table, row) != lscm_settings_find(table, name)) {
        row++;
    }
    return &given->text[row];
}

bool settings_parse(const lscm_settings_table *table, int key, const char *argument,
                    settings_given *given)
{
    size_t row = (size_t)(key - FIRST_SETTING);
    if (key < FIRST_SETTING || row >= MOST_SETTINGS || lscm_settings_row(table, row) == NULL) {
        return false;
    }
    given->text[row] = argument != NULL ? argument : "true";
    return true;
}

lscm_status settings_apply(const lscm_settings_table *table, const settings_given *given,
                           void *settings, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t i = 0; i < MOST_SETTINGS && status == LSCM_OK; i++) {
        if (given->text[i] != NULL) {
            const char *name = lscm_settings_row(table, i)->name;
            status = lscm_settings_set(table, settings, name, given->text[i], why);
        }
    }
    return status;
}
