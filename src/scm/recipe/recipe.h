/* How a data set was made, as a JSON object: preset, version and every setting. */
#ifndef LSCM_SCM_RECIPE_RECIPE_H
#define LSCM_SCM_RECIPE_RECIPE_H

#include "base/status.h"

#include <jansson.h>

/* A setting as JSON: a number, true or false, or the word of a choice. */
json_t *recipe_value(const lscm_setting *row, const void *settings);
/* `preset` may be NULL; *out is malloc'ed. */
lscm_status recipe_write(char **out, const lscm_settings_table *table, const void *settings,
                         const char *preset, lscm_error *why);

/* The settings of such an object in place of the defaults, which stand for those that it lacks;
 * false where it is none, or says what the table does not take. `recipe` may be NULL. */
bool recipe_read(const char *recipe, const lscm_settings_table *table, void *settings);

#endif
