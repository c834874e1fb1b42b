/* lscm reproduce: what its experiments share. Most are grids of cells (grid.h);
 * unseen-interventions is one fit, and leaves DIR/NAME.csv, and DIR/NAME.png where there is
 * something to see. */
#ifndef LSCM_CLI_REPRODUCE_H
#define LSCM_CLI_REPRODUCE_H

#include "experiments/grid.h"

typedef struct reproduce_options {
    common_options common;
    grid_options grid;
    const char *name;
    const char *preset;                /* of unseen-interventions, as what follows */
    const char *nodes, *degree, *seed; /* texts of settings of the simulation; NULL: not given */
    size_t count, samples;             /* 0: not given */
} reproduce_options;

/* Where results go: a folder, made when it is not there, and two names in it. */
typedef struct results {
    char *folder, *csv, *png;
    bool force, made;
} results;

/* Refuses what exists before any work is done. */
lscm_status results_begin(results *r, const char *folder, const char *name, bool force,
                          lscm_error *why);
void results_end(results *r, lscm_status status);
/* Puts both in place, or neither: `write` writes the CSV, `figure` (NULL: none) is saved as PNG. */
lscm_status results_put(const results *r, void (*write)(FILE *out, const void *self),
                        const void *self, const lscm_dataset *figure, lscm_error *why);
/* *made: it was not there before. */
lscm_status make_folder(const char *path, bool *made, lscm_error *why);

/* The simulation that the options ask for: the preset, then what else was given. */
lscm_status reproduce_settings(const reproduce_options *o, lscm_simulation *out, lscm_error *why);

/* The experiments. */
lscm_status unseen_interventions(const reproduce_options *o, const results *r, lscm_error *why);
lscm_status reproduce_unseen(reproduce_options o, lscm_error *why);
lscm_status reproduce_grid(const reproduce_options *o, lscm_comm *comm, lscm_error *why);

#endif
