/* lscm: one program, a table of subcommands. */
#include "common/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const command COMMANDS[] = {
    {"simulate", "make data with a known causal model: every data set of the paper", simulate_run,
     simulate_argp, NULL},
    {"info", "show what a data file holds and check all of it, or what a run holds", info_run,
     info_argp, NULL},
    {"check", "say which assumptions data or a run break, and which edges the design decides",
     check_run, check_argp, NULL},
    {"convert", "turn a data file into another format", convert_run, convert_argp, NULL},
    {"fit", "find the causal variables, their graph and weights", fit_run, fit_argp, NULL},
    {"evaluate", "score a run or another estimate against the truth", evaluate_run, evaluate_argp,
     NULL},
    {"compare", "show runs side by side: graphs, scores, where they disagree", compare_run,
     compare_argp, NULL},
    {"sample", "ask a run what would be seen under do(...)", sample_run, sample_argp, NULL},
    {"transform", "read the causal variables off new data", transform_run, transform_argp, NULL},
    {"export", "graphs, edges and draws for other programs; drawings", export_run, export_argp,
     NULL},
    {"report", "write a page about a run that people can read", report_run, report_argp, NULL},
    {"reproduce", "repeat an experiment of the paper and draw its figure", reproduce_run,
     reproduce_argp, reproduce_word},
    {NULL, NULL, NULL, NULL, NULL},
};

static void print_overview(FILE *out)
{
    (void)fprintf(out,
                  "lscm %s - latent structural causal models from data with known interventions\n\n"
                  "Usage: lscm COMMAND ...\n\n",
                  lscm_version());
    for (const command *c = COMMANDS; c->name != NULL; c++) {
        (void)fprintf(out, "  %-10s %s\n", c->name, c->summary);
    }
    (void)fprintf(
        out, "\nlscm COMMAND --help explains a command. A first try:\n"
             "  lscm simulate --preset paper-linear --nodes 5 --degree 2 --seed 1 --out data.nc\n"
             "  lscm fit data.nc\n"
             "  lscm evaluate data.run\n");
}

static const command *find(const char *name)
{
    for (const command *c = COMMANDS; c->name != NULL; c++) {
        if (strcmp(c->name, name) == 0) {
            return c;
        }
    }
    return NULL;
}

static int fail_unknown(const char *name)
{
    const char *names[16];
    size_t count = 0;
    for (const command *c = COMMANDS; c->name != NULL && count < 16; c++) {
        names[count++] = c->name;
    }
    const char *best = lscm_suggest(name, names, count);
    (void)fprintf(stderr, "lscm: there is no command '%s'; ", name);
    if (best != NULL) {
        (void)fprintf(stderr, "did you mean '%s'?\n", best);
    } else {
        (void)fprintf(stderr, "lscm --help lists them\n");
    }
    return EXIT_USAGE;
}

/* lscm help [COMMAND]; the build also asks for man pages and the completion this way. */
static int help_run(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "") == 0) {
        print_overview(stdout);
    } else if (strcmp(what, "--completion") == 0) {
        print_completion(stdout);
    } else if (strcmp(what, "--man") == 0 && argc == 2) {
        print_man_overview(stdout);
    } else if (strcmp(what, "--man") == 0 && find(argv[2]) != NULL) {
        print_man_page(find(argv[2]), stdout);
    } else if (find(what) != NULL) {
        char flag[] = "--help";
        char *arguments[] = {argv[1], flag, NULL};
        return find(what)->run(2, arguments);
    } else {
        return fail_unknown(what);
    }
    return EXIT_DONE;
}

/* Threads that wait by spinning slow the one that works: on two cores the short passes of a fit
 * take twice as long. OpenMP takes that setting only from the environment and only when it is
 * loaded, so the program starts once more with it; where that cannot be, it goes on as it is. */
static void wait_quietly(char **argv)
{
    if (getenv("OMP_WAIT_POLICY") == NULL && setenv("OMP_WAIT_POLICY", "passive", 0) == 0) {
        (void)execv("/proc/self/exe", argv);
    }
}

int main(int argc, char **argv)
{
    argp_err_exit_status = EXIT_USAGE;
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        (void)printf("lscm %s\n", lscm_version());
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_overview(stdout);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "help") == 0) {
        return help_run(argc - 1, argv + 1);
    }
    const command *cmd = find(argv[1]);
    if (cmd == NULL) {
        return fail_unknown(argv[1]);
    }
    wait_quietly(argv);
    return cmd->run(argc - 1, argv + 1);
}
