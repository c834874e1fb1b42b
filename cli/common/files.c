#include "common/files.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool open_parse(int key, const char *argument, lscm_open_options *options)
{
    switch (key) {
    case OPTION_IGNORE:
        options->ignore = argument;
        return true;
    case OPTION_TRUTH:
        options->truth = argument;
        return true;
    case OPTION_NAMES:
        options->names = argument;
        return true;
    case OPTION_TARGET_COLUMN:
        options->target_column = argument;
        return true;
    case OPTION_VALUE_COLUMN:
        options->value_column = argument;
        return true;
    case OPTION_CONTROL:
        options->control = argument;
        return true;
    case OPTION_LAYER:
        options->layer = argument;
        return true;
    default:
        return false;
    }
}

error_t files_parse(int key, char *argument, struct argp_state *state)
{
    file_arguments *a = state->input;
    return common_parse(key, argument, &a->common, state) || open_parse(key, argument, &a->open)
               ? 0
               : ARGP_ERR_UNKNOWN;
}

bool is_run(const char *path)
{
    static const char *const parts[] = {"posterior.nc", "config.json", "checkpoint"};
    struct stat info;
    bool found = false;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && !found; i++) {
        char part[4096];
        int length = snprintf(part, sizeof part, "%s/%s", path, parts[i]);
        found = length > 0 && (size_t)length < sizeof part && stat(part, &info) == 0 &&
                S_ISREG(info.st_mode);
    }
    return found;
}

/* "; did you mean 'x'?" or nothing. */
static void hint_node(node_list nodes, const char *word, char *out, size_t size)
{
    size_t d = nodes.count;
    const char **names = d > 0 ? calloc(d, sizeof *names) : NULL;
    out[0] = '\0';
    for (size_t i = 0; names != NULL && i < d; i++) {
        names[i] = nodes.name(nodes.of, i);
    }
    if (names != NULL && names[0] != NULL) {
        const char *best = lscm_suggest(word, names, d);
        if (best != NULL) {
            (void)snprintf(out, size, "; did you mean '%s'?", best);
        }
    }
    free(names);
}

static const char *name_in_run(const void *of, size_t node)
{
    return lscm_posterior_node_name(of, node);
}

static const char *name_in_data(const void *of, size_t node)
{
    return lscm_dataset_node_name(of, node);
}

node_list nodes_of_run(const lscm_posterior *run)
{
    return (node_list){run, lscm_posterior_nodes(run), name_in_run};
}

void print_note(const lscm_dataset *data, const common_options *common)
{
    if (lscm_dataset_note(data) != NULL && !common->quiet) {
        (void)fprintf(stderr, "note: %s\n", lscm_dataset_note(data));
    }
}

node_list nodes_of_data(const lscm_dataset *data)
{
    return (node_list){data, lscm_dataset_nodes(data), name_in_data};
}

lscm_status find_node(node_list nodes, const char *word, size_t *node, lscm_error *why)
{
    size_t d = nodes.count;
    char *end = NULL;
    char hint[256];
    for (size_t i = 0; i < d; i++) {
        const char *name = nodes.name(nodes.of, i);
        if (name != NULL && strcmp(name, word) == 0) {
            *node = i;
            return LSCM_OK;
        }
    }
    unsigned long long number = strtoull(word, &end, 10);
    if (isdigit((unsigned char)word[0]) && *end == '\0' && number < d) {
        *node = (size_t)number;
        return LSCM_OK;
    }
    hint_node(nodes, word, hint, sizeof hint);
    return cli_explain(why, LSCM_USAGE, "there is no node '%s'; the nodes are 0 to %zu%s%s", word,
                       d - 1, nodes.name(nodes.of, 0) != NULL ? " and have names" : "", hint);
}
