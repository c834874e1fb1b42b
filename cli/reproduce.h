/* lscm reproduce: what its experiments share. An experiment is a row of the table in reproduce.c
 * and a function that leaves DIR/NAME.csv, and DIR/NAME.png where there is something to see. */
#ifndef LSCM_CLI_REPRODUCE_H
#define LSCM_CLI_REPRODUCE_H

#include "cli.h"

typedef struct reproduce_options {
    common_options common;
    const char *name, *out, *preset;
    const char *nodes, *degree, *seed; /* texts of settings of the simulation; NULL: not given */
    size_t count, samples;
} reproduce_options;

/* Where results go: a folder, made when it is not there, and two names in it. */
typedef struct results {
    char *folder, *csv, *png;
    bool force, made;
} results;

/* The simulation that the options ask for: the preset, then what else was given. */
lscm_status reproduce_settings(const reproduce_options *o, lscm_simulation *out, lscm_error *why);
/* Puts both in place, or neither: `write` writes the CSV, `figure` (NULL: none) is saved as PNG. */
lscm_status results_put(const results *r, void (*write)(FILE *out, const void *self),
                        const void *self, const lscm_dataset *figure, lscm_error *why);

/* The experiments. */
lscm_status unseen_interventions(const reproduce_options *o, const results *r, lscm_error *why);

#endif
