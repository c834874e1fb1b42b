#include "files.h"

static bool parse_open(int key, const char *argument, lscm_open_options *options)
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
    default:
        return false;
    }
}

error_t files_parse(int key, char *argument, struct argp_state *state)
{
    file_arguments *a = state->input;
    if (common_parse(key, argument, &a->common, state) || parse_open(key, argument, &a->open)) {
        return 0;
    }
    if (key == ARGP_KEY_ARG && state->arg_num < a->wanted) {
        *(state->arg_num == 0 ? &a->in : &a->out) = argument;
    } else if (key == ARGP_KEY_ARG) {
        argp_error(state, "'%s' is one argument too many", argument);
    } else if (key == ARGP_KEY_END && state->arg_num < a->wanted) {
        argp_error(state, "%s", a->missing);
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}
