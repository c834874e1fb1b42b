/* Subcommands that take one or two files (lscm info FILE, lscm convert IN OUT), and runs. */
#ifndef LSCM_CLI_FILES_H
#define LSCM_CLI_FILES_H

#include "common/cli.h"

enum {
    OPTION_IGNORE = 'i',
    OPTION_TRUTH = 'T',
    OPTION_NAMES = 'n',
    OPTION_TARGET_COLUMN = 0x300,
    OPTION_VALUE_COLUMN,
    OPTION_CONTROL,
    OPTION_LAYER
};
#define OPEN_IGNORE                                                                                \
    {                                                                                              \
        "ignore", OPTION_IGNORE, "COL,COL", 0, "Columns of a table to leave out", 3                \
    }
#define OPEN_TRUTH                                                                                 \
    {                                                                                              \
        "truth", OPTION_TRUTH, "FILE.csv", 0, "Matrix of the true graph, row = parent", 3          \
    }
#define OPEN_NAMES                                                                                 \
    {                                                                                              \
        "names", OPTION_NAMES, "A,B,...", 0, "Names of the nodes", 3                               \
    }
#define OPEN_LAYER                                                                                 \
    {                                                                                              \
        "layer", OPTION_LAYER, "NAME", 0, "Layer of an .h5ad file that is x, instead of X", 3      \
    }

/* Which column of a table says what do() did. */
#define OPEN_TARGETS                                                                               \
    {"target-column",                                                                              \
     OPTION_TARGET_COLUMN,                                                                         \
     "COL",                                                                                        \
     0,                                                                                            \
     "Column of a table that names the targets of do() (target); none: there is no such column",   \
     3},                                                                                           \
        {"value-column",                                                                           \
         OPTION_VALUE_COLUMN,                                                                      \
         "COL",                                                                                    \
         0,                                                                                        \
         "Column of a table with the values that do() set, for latent variables (value)",          \
         3},                                                                                       \
    {                                                                                              \
        "control", OPTION_CONTROL, "WORD,...", 0,                                                  \
            "Words in the target column for no target, in any case (none, control, ctrl, NT, "     \
            "DMSO, ...)",                                                                          \
            3                                                                                      \
    }
/* All that says how to open data: the end of the table of most commands. */
#define OPEN_ALL OPEN_IGNORE, OPEN_TARGETS, OPEN_LAYER, OPEN_TRUTH, OPEN_NAMES

/* True when `key` was one of the above. */
bool open_parse(int key, const char *argument, lscm_open_options *options);

typedef struct file_arguments {
    common_options common;
    lscm_open_options open;
    const char *in, *out; /* words */
} file_arguments;

/* argp's parser; its input is a file_arguments. */
error_t files_parse(int key, char *argument, struct argp_state *state);

/* What was understood of the data that is worth a look, on standard error unless --quiet. */
void print_note(const lscm_dataset *data, const common_options *common);

/* A folder that lscm fit made, whether or not the fit has finished. */
bool is_run(const char *path);
/* Nodes and their names, of a run or of data. */
typedef struct node_list {
    const void *of;
    size_t count;
    const char *(*name)(const void *of, size_t node);
} node_list;
node_list nodes_of_run(const lscm_posterior *run);
node_list nodes_of_data(const lscm_dataset *data);
/* The node of that name, or else of that number (0-based), in *node; otherwise says why not. */
lscm_status find_node(node_list nodes, const char *word, size_t *node, lscm_error *why);

#endif
