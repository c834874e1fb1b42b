/* Subcommands that take one or two files: lscm info FILE, lscm convert IN OUT. */
#ifndef LSCM_CLI_FILES_H
#define LSCM_CLI_FILES_H

#include "cli.h"

enum { OPTION_IGNORE = 'i', OPTION_TRUTH = 'T', OPTION_NAMES = 'n' };
#define OPEN_IGNORE                                                                                \
    {                                                                                              \
        "ignore", OPTION_IGNORE, "COL,COL", 0, "Columns of a CSV to leave out", 3                  \
    }
#define OPEN_TRUTH                                                                                 \
    {                                                                                              \
        "truth", OPTION_TRUTH, "FILE.csv", 0, "Matrix of the true graph, row = parent", 3          \
    }
#define OPEN_NAMES                                                                                 \
    {                                                                                              \
        "names", OPTION_NAMES, "A,B,...", 0, "Names of the nodes", 3                               \
    }

typedef struct file_arguments {
    common_options common;
    lscm_open_options open;
    unsigned wanted;     /* files: 1 or 2 */
    const char *missing; /* what to say when there are fewer */
    const char *in, *out;
} file_arguments;

/* argp's parser; its input is a file_arguments. */
error_t files_parse(int key, char *argument, struct argp_state *state);

#endif
