/* Options made from a table of settings: lscm simulate and lscm fit. */
#ifndef LSCM_CLI_SETTINGS_H
#define LSCM_CLI_SETTINGS_H

#include "common/cli.h"

enum { FIRST_SETTING = 0x1000, MOST_SETTINGS = 64 };

typedef struct settings_texts {
    char name[MOST_SETTINGS][32];
    char doc[MOST_SETTINGS][256];
} settings_texts;

/* The text of each setting on the command line, by its row in the table; NULL: not given. */
typedef struct settings_given {
    const char *text[MOST_SETTINGS];
} settings_given;

/* One option per row; returns how many. `defaults` holds the values that --help shows. */
size_t settings_options(lscm_settings_table table, const void *defaults, settings_texts *texts,
                        struct argp_option *out);
/* True when `key` was one of them. */
bool settings_parse(lscm_settings_table table, int key, const char *argument,
                    settings_given *given);
/* Sets what was given. */
lscm_status settings_apply(lscm_settings_table table, const settings_given *given, void *settings,
                           lscm_error *why);

#endif
