/* Options made from a table of settings: lscm simulate and lscm fit. */
#ifndef LSCM_CLI_SETTINGS_H
#define LSCM_CLI_SETTINGS_H

#include "common/groups.h"

enum { FIRST_SETTING = 0x1000, MOST_SETTINGS = 64 };

typedef struct settings_texts {
    char name[MOST_SETTINGS][32];
    char doc[MOST_SETTINGS][256];
} settings_texts;

/* The text of each setting on the command line, by its row in the table; NULL: not given. */
typedef struct settings_given {
    const char *text[MOST_SETTINGS];
} settings_given;

/* One option per row, in the group that is its; returns how many. */
size_t settings_options(const lscm_settings_table *table, const option_group *groups,
                        settings_texts *texts, struct argp_option *out);
/* True when `key` was one of them. */
bool settings_parse(const lscm_settings_table *table, int key, const char *argument,
                    settings_given *given);
/* Where the text of a setting stands. */
const char **settings_text(const lscm_settings_table *table, const char *name,
                           settings_given *given);
/* Sets what was given. */
lscm_status settings_apply(const lscm_settings_table *table, const settings_given *given,
                           void *settings, lscm_error *why);

#endif
