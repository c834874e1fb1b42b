/* Parsing with argp: numbers, and "did you mean" for options that do not exist. */
#include "common/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 128, MOST_THREADS = 4096 };

int64_t whole_number(struct argp_state *state, const char *option, const char *text, int64_t least,
                     int64_t most)
{
    char *end = NULL;
    char upper[32] = "on";
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < least || number > most) {
        if (most < WHOLE_MOST) {
            (void)snprintf(upper, sizeof upper, "to %" PRId64, most);
        }
        argp_error(state, "--%s takes a whole number from %" PRId64 " %s, not '%s'", option, least,
                   upper, text);
    }
    return number;
}

static void take_word(const char *argument, const common_options *options, struct argp_state *state)
{
    if (state->arg_num < 2 && options->word[state->arg_num] != NULL) {
        *options->word[state->arg_num] = argument;
    } else {
        argp_error(state, "'%s' is one argument too many%s", argument,
                   options->surplus != NULL ? options->surplus : "");
    }
}

static void miss(const common_options *options, struct argp_state *state)
{
    for (size_t k = 0; k < 2 && options->word[k] != NULL; k++) {
        if (*options->word[k] == NULL) {
            argp_error(state, "%s", options->missing);
        }
    }
    if (options->unwritten != NULL && (options->out == NULL || *options->out == '\0')) {
        argp_error(state, "%s", options->unwritten);
    }
}

bool common_parse(int key, const char *argument, common_options *options, struct argp_state *state)
{
    if (key == ARGP_KEY_ARG) {
        take_word(argument, options, state);
    } else if (key == ARGP_KEY_END) {
        miss(options, state);
    } else if (key == OPTION_OUT) {
        options->out = argument;
    } else if (key == OPTION_FORCE) {
        options->force = true;
    } else if (key == OPTION_QUIET) {
        options->quiet = true;
    } else if (key == OPTION_JSON) {
        options->json = true;
    } else if (key == OPTION_THREADS) {
        lscm_set_threads((int)whole_number(state, "threads", argument, 1, MOST_THREADS));
        options->threads = true;
    } else {
        return false;
    }
    return true;
}

/* An unknown long option is named with the nearest known one; argp itself would only repeat it. */
static void check_options(const char *command_name, const struct argp *argp, int argc, char **argv)
{
    const char *names[MOST_OPTIONS] = {"help", "usage"};
    size_t count = 2;
    for (const struct argp_option *o = argp->options; o->name != NULL || o->doc != NULL; o++) {
        if (o->name != NULL && count < MOST_OPTIONS) {
            names[count++] = o->name;
        }
    }
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        size_t length = strcspn(argv[i], "=");
        if (strncmp(argv[i], "--", 2) != 0 || length < 3) {
            continue;
        }
        char word[64];
        bool known = false;
        (void)snprintf(word, sizeof word, "%.*s", (int)(length - 2), argv[i] + 2);
        for (size_t k = 0; k < count; k++) {
            known =
                known || strncmp(names[k], word, strlen(word)) == 0; /* getopt takes beginnings */
        }
        if (!known) {
            const char *best = lscm_suggest(word, names, count);
            (void)fprintf(stderr, "lscm %s: there is no option --%s; ", command_name, word);
            if (best != NULL) {
                (void)fprintf(stderr, "did you mean --%s?\n", best);
            } else {
                (void)fprintf(stderr, "lscm %s --help lists them\n", command_name);
            }
            exit(EXIT_USAGE);
        }
    }
}

void cli_parse(const char *name, const struct argp *argp, int argc, char **argv, void *input)
{
    char title[64];
    char *first = argv[0];
    check_options(name, argp, argc, argv);
    (void)snprintf(title, sizeof title, "lscm %s", name);
    argv[0] = title; /* so that messages and usage begin with it */
    (void)argp_parse(argp, argc, argv, 0, NULL, input);
    argv[0] = first;
}

/* Outputs are whole or not there, so what was stopped left nothing, unless its sentence goes on to
 * say what was kept. */
static int fail_stopped(const lscm_error *why)
{
    bool kept = strstr(why->text, "; ") != NULL;
    (void)fprintf(stderr, "lscm: %s%s\n", why->text, kept ? "" : "; nothing was written");
    return stopped_code();
}

int cli_fail(const lscm_error *why)
{
    if (why->status == LSCM_STOPPED) {
        return fail_stopped(why);
    }
    (void)fprintf(stderr, "lscm: %s\n", why->text);
    return why->status == LSCM_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

lscm_status cli_explain(lscm_error *why, lscm_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    why->status = status;
    (void)vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    return status;
}
