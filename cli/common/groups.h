/* Options under headings in --help and the man page: what most need first, knobs of a single method
 * last. */
#ifndef LSCM_CLI_GROUPS_H
#define LSCM_CLI_GROUPS_H

#include "common/cli.h"

enum { MOST_GROUPS = 8 };

typedef struct option_group {
    const char *title; /* "Data:"; NULL ends the list */
    const char *names; /* of its options: "out seed" */
    const char *opens; /* settings that no group names go where their help opens so: "biols"; "":
                          the rest; NULL: none */
} option_group;

/* The number, from 1, of the group that names the option; else of the one that its help opens with,
 * where it has one; else 0. */
int group_of(const option_group *groups, const char *name, const char *help);
/* Moves options that the groups name there, and puts the headings behind them; `options` has room.
 * Returns how many there are then. */
size_t group_options(const option_group *groups, struct argp_option *options, size_t count);

#endif
