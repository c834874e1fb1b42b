/* How a data set was made, as a JSON object: preset, version and every setting. */
#ifndef LSCM_SCM_RECIPE_H
#define LSCM_SCM_RECIPE_H

#include "base/status.h"

/* `preset` may be NULL; *out is malloc'ed. */
lscm_status recipe_write(char **out, lscm_settings_table table, const void *settings,
                         const char *preset, lscm_error *why);

#endif
