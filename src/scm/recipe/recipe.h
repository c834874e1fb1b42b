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

#endif
