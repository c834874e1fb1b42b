#include "scm/recipe/recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *recipe_value(const lscm_setting *row, const void *settings)
{
    char text[64];
    lscm_settings_get(row, settings, text, sizeof text);
    switch (row->kind) {
    case LSCM_INTEGER:
        return json_integer(strtoll(text, NULL, 10));
    case LSCM_REAL:
        return json_real(strtod(text, NULL));
    case LSCM_FLAG:
        return json_boolean(strcmp(text, "true") == 0);
    case LSCM_CHOICE:
        break;
    }
    return json_string(text);
}

lscm_status recipe_write(char **out, const lscm_settings_table *table, const void *settings,
                         const char *preset, lscm_error *why)
{
    json_t *recipe = json_object();
    int failed =
        json_object_set_new(recipe, "preset", json_string(preset != NULL ? preset : "custom"));
    failed |= json_object_set_new(recipe, "lscm", json_string(lscm_version()));
    const lscm_setting *row = NULL;
    for (size_t i = 0; (row = lscm_settings_row(table, i)) != NULL; i++) {
        failed |= json_object_set_new(recipe, row->name, recipe_value(row, settings));
    }
    *out = failed != 0 ? NULL : json_dumps(recipe, JSON_COMPACT);
    json_decref(recipe);
    return *out != NULL ? LSCM_OK : fail_memory(why, 4096);
}

/* Numbers as the settings read them, in whatever way the locale writes them. */
static bool read_value(const json_t *value, const lscm_settings_table *table, const char *name,
                       void *settings)
{
    char number[64];
    const char *text = json_is_string(value) ? json_string_value(value)
                       : json_is_true(value) ? "true"
                                             : "false";
    if (json_is_number(value)) {
        (void)snprintf(number, sizeof number, "%.17g", json_number_value(value));
        text = number;
    }
    return lscm_settings_set(table, settings, name, text, NULL) == LSCM_OK;
}

bool recipe_read(const char *recipe, const lscm_settings_table *table, void *settings)
{
    json_t *object = recipe != NULL ? json_loads(recipe, 0, NULL) : NULL;
    bool good = json_is_string(json_object_get(object, "preset"));
    const lscm_setting *row = NULL;
    lscm_settings_defaults(table, settings);
    for (size_t i = 0; good && (row = lscm_settings_row(table, i)) != NULL; i++) {
        const json_t *value = json_object_get(object, row->name);
        good = value == NULL || read_value(value, table, row->name, settings);
    }
    json_decref(object);
    return good;
}
