/* lscm export DATA GRAPH: the true graph as DOT, or drawn by Graphviz's `dot`. */
#include "files.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

const struct argp *export_argp(void)
{
    static const struct argp_option options[] = {OPEN_IGNORE,  OPEN_TRUTH,   OPEN_NAMES,
                                                 COMMON_FORCE, COMMON_QUIET, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = files_parse,
        .args_doc = "DATA GRAPH",
        .doc = "Draw the true graph stored with a data file. GRAPH ends in .dot (the text that "
               "Graphviz "
               "reads), .svg, .pdf or .png (drawn by Graphviz).\v"
               "Examples:\n"
               "  lscm export data.nc graph.svg\n"
               "  lscm export chamber.csv graph.dot --ignore soft,env --truth dag.csv",
    };
    return &argp;
}

extern char **environ;

/* dot -Tsvg -o `to` `from` */
static lscm_status run_dot(const char *format, const char *from, const char *to, lscm_error *why)
{
    pid_t child = 0;
    int state = 0;
    char option[16];
    char dot[] = "dot";
    char dash_o[] = "-o";
    (void)snprintf(option, sizeof option, "-T%s", format);
    char *const argv[] = {dot, option, dash_o, (char *)(uintptr_t)to, (char *)(uintptr_t)from,
                          NULL};
    int failed = posix_spawnp(&child, "dot", NULL, NULL, argv, environ);
    if (failed == 0) {
        while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
        }
    }
    if (failed != 0 || (WIFEXITED(state) && WEXITSTATUS(state) == 127)) {
        why->status = LSCM_TOOL;
        (void)snprintf(
            why->text, sizeof why->text,
            "drawing needs Graphviz, which is not installed; install it (Debian: graphviz) or "
            "write a .dot file");
        return LSCM_TOOL;
    }
    if (!WIFEXITED(state) || WEXITSTATUS(state) != 0) {
        why->status = LSCM_WRITE;
        (void)snprintf(why->text, sizeof why->text, "Graphviz could not draw the graph");
        return LSCM_WRITE;
    }
    return LSCM_OK;
}

static lscm_status fail_exists(const char *path, lscm_error *why)
{
    why->status = LSCM_EXISTS;
    (void)snprintf(why->text, sizeof why->text, "%s exists already; --force replaces it", path);
    return LSCM_EXISTS;
}

/* The DOT text and the drawing are made beside the output and renamed when whole. */
static lscm_status draw(const lscm_dataset *data, const file_arguments *a, const char *format,
                        lscm_error *why)
{
    char text[4096];
    char drawing[4096];
    if ((size_t)snprintf(text, sizeof text, "%s.%ld.dot", a->out, (long)getpid()) >= sizeof text ||
        (size_t)snprintf(drawing, sizeof drawing, "%s.%ld.tmp", a->out, (long)getpid()) >=
            sizeof drawing) {
        why->status = LSCM_USAGE;
        (void)snprintf(why->text, sizeof why->text, "the name of the output is too long");
        return LSCM_USAGE;
    }
    if (!a->common.force && access(a->out, F_OK) == 0) {
        return fail_exists(a->out, why);
    }
    lscm_status status = lscm_dataset_save_dot(data, text, true, why);
    if (status == LSCM_OK) {
        status = run_dot(format, text, drawing, why);
    }
    if (status == LSCM_OK && rename(drawing, a->out) != 0) {
        why->status = status = LSCM_WRITE;
        (void)snprintf(why->text, sizeof why->text, "%s: %s", a->out, strerror(errno));
    }
    (void)unlink(text);
    (void)unlink(drawing);
    return status;
}

int export_run(int argc, char **argv)
{
    static const char *const formats[] = {"dot", "svg", "pdf", "png"};
    file_arguments a = {.wanted = 2, .missing = "name the data file and the drawing to write"};
    lscm_error why = {0};
    lscm_dataset *data = NULL;
    cli_parse("export", export_argp(), argc, argv, &a);
    const char *ending = strrchr(a.out, '.');
    size_t format = 0;
    while (format < 4 && (ending == NULL || strcasecmp(ending + 1, formats[format]) != 0)) {
        format++;
    }
    if (format == 4) {
        (void)fprintf(stderr, "lscm: %s: a graph goes to .dot, .svg, .pdf or .png\n", a.out);
        return EXIT_USAGE;
    }
    lscm_status status = lscm_dataset_open(&data, a.in, &a.open, &why);
    if (status == LSCM_OK) {
        status = format == 0 ? lscm_dataset_save_dot(data, a.out, a.common.force, &why)
                             : draw(data, &a, formats[format], &why);
    }
    if (status == LSCM_OK && !a.common.quiet) {
        (void)printf("%s: graph of %zu nodes\n", a.out, lscm_dataset_nodes(data));
    }
    lscm_dataset_free(data);
    return status == LSCM_OK ? EXIT_DONE : cli_fail(&why);
}
