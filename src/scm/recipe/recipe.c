#include "scm/recipe/recipe.h"

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
