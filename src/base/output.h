/* Output appears whole or not at all: written beside its place under a temporary name, then
 * renamed. An existing file or folder is refused unless forced. */
#ifndef LSCM_BASE_OUTPUT_H
#define LSCM_BASE_OUTPUT_H

#include "base/status.h"

typedef struct output {
    char *path;      /* where it will be */
    char *temporary; /* where it is until then; NULL when not begun */
    bool folder, force;
} output;

/* Refuses what exists (unless force) and what cannot be written; makes the temporary file (empty)
 * or folder. Even force replaces only a regular file, or a folder that holds nothing but .npy files
 * and recipe.json, or interventions.csv with nothing but numbered pictures and truth.npz; a
 * symbolic link is never replaced or followed. */
lscm_status output_begin(output *out, const char *path, bool folder, bool force, lscm_error *why);
/* Puts it in its place. */
lscm_status output_commit(output *out, lscm_error *why);
/* Removes what was begun and not committed; safe on a zeroed or finished output. */
void output_end(output *out);

#endif
