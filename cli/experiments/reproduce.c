/* lscm reproduce NAME --out DIR: figures and tables of the paper, from simulating to the picture.
 */
#include "experiments/reproduce.h"

#include <stdlib.h>
#include <string.h>

static const char UNSEEN[] = "unseen-interventions";

enum {
    OPTION_NODES = 'n',
    OPTION_DEGREE = 'd',
    OPTION_SEED = 's',
    OPTION_PRESET = 'p',
    OPTION_COUNT = 'c',
    OPTION_METHODS = 'm',
    OPTION_TASKS = 'T',
    OPTION_SAMPLES = 0x100,
    OPTION_SEEDS,
    OPTION_QUICK,
    OPTION_RETRY,
    MOST_COUNT = 100,
    MOST_SAMPLES = 100000,
    MOST_SEED = 1000000,
};

/* ---- options ---- */

/* "20" or "101-120" */
static void parse_seeds(struct argp_state *state, const char *text, grid_options *out)
{
    const char *dash = strchr(text, '-');
    char *end = NULL;
    out->first_seed = 1;
    if (dash == NULL) {
        out->last_seed = whole_number(state, "seeds", text, 1, MOST_SEED);
        return;
    }
    out->first_seed = strtoll(text, &end, 10);
    if (end != dash || dash == text || out->first_seed < 0 || out->first_seed > MOST_SEED) {
        argp_error(state, "--seeds takes a number of seeds, or the first and the last: 101-120");
    }
    out->last_seed = whole_number(state, "seeds", dash + 1, 1, MOST_SEED);
    if (out->last_seed < out->first_seed) {
        argp_error(state, "--seeds takes a number of seeds, or the first and the last: 101-120");
    }
}

static bool parse_grid(int key, const char *argument, grid_options *out, struct argp_state *state)
{
    if (key == OPTION_METHODS) {
        out->methods = argument;
    } else if (key == OPTION_TASKS) {
        out->tasks = argument;
    } else if (key == OPTION_SEEDS) {
        parse_seeds(state, argument, out);
    } else if (key == OPTION_QUICK) {
        out->quick = true;
    } else if (key == OPTION_RETRY) {
        out->retry = true;
    } else {
        return false;
    }
    return true;
}

static bool parse_unseen(int key, const char *argument, reproduce_options *o,
                         struct argp_state *state)
{
    if (key == OPTION_PRESET) {
        o->preset = argument;
    } else if (key == OPTION_NODES) {
        o->nodes = argument;
    } else if (key == OPTION_DEGREE) {
        o->degree = argument;
    } else if (key == OPTION_SEED) {
        o->seed = argument;
    } else if (key == OPTION_COUNT) {
        o->count = (size_t)whole_number(state, "count", argument, 1, MOST_COUNT);
    } else if (key == OPTION_SAMPLES) {
        o->samples = (size_t)whole_number(state, "samples", argument, 1, MOST_SAMPLES);
    } else {
        return false;
    }
    return true;
}

/* Options of the one kind of experiment mean nothing to the other. */
static void check_kind(const reproduce_options *o, struct argp_state *state)
{
    const grid_options *g = &o->grid;
    bool of_unseen = o->preset != NULL || o->nodes != NULL || o->degree != NULL ||
                     o->seed != NULL || o->count > 0 || o->samples > 0;
    bool of_grid = g->methods != NULL || g->tasks != NULL || g->last_seed > 0 || g->retry;
    if (strcmp(o->name, UNSEEN) != 0 && of_unseen) {
        argp_error(state,
                   "--preset, --nodes, --degree, --seed, --count and --samples are for %s; choose "
                   "from a grid with --tasks, --methods and --seeds",
                   UNSEEN);
    }
    if (strcmp(o->name, UNSEEN) == 0 && of_grid) {
        argp_error(state, "--methods, --tasks, --seeds and --retry are for grids; %s is one fit",
                   UNSEEN);
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    reproduce_options *o = state->input;
    if (parse_grid(key, argument, &o->grid, state) || parse_unseen(key, argument, o, state)) {
        return 0;
    }
    if (!common_parse(key, argument, &o->common, state)) {
        return ARGP_ERR_UNKNOWN;
    }
    if (key == ARGP_KEY_END) {
        check_kind(o, state);
    }
    return 0;
}

/* ---- help ---- */

static const char ABOUT[] =
    "Repeat the paper's experiments, from simulating to the figure: ours, the paper's algorithm as "
    "implemented here, VAE and GraphVAE, beside the published medians. Each fit (task, method, "
    "seed) is a cell with a file of its own in DIR/cells; what is there already is not run again, "
    "so the same command continues after Ctrl-C or a crash, and more seeds can be added later. "
    "Leaves DIR/NAME.csv with every cell, DIR/NAME.md with medians beside the published ones, and "
    "figures (SVG and PDF, where gnuplot is installed). Under mpirun the processes share the "
    "cells. "
    "NAME is all, or one of:";

static const char UNSEEN_HELP[] =
    "What would be seen under interventions that the data do not have. Simulates data, fits them "
    "as lscm fit does without options, and draws interventions as the preset does, but on sets of "
    "targets that are not among the data's. DIR/unseen-interventions.png has, for each do(), the "
    "mean of the true pictures, of the predicted ones and their difference (grey: none) one below "
    "the other, and under them what was set. The table and DIR/unseen-interventions.csv have the "
    "mean squared difference of "
    "the two over pixels (over features where x is no picture; there is no PNG then), beside two "
    "others: of the empty graph, with the same encoder and decoder but with nodes that are not "
    "set left as they are without intervention; and of the true model with another sample, below "
    "which nothing can be expected.";

static const char EXAMPLES[] =
    "\v"
    "Examples:\n"
    "  lscm reproduce all --quick --out quick\n"
    "  lscm reproduce d5-linear --out figures\n"
    "  lscm reproduce d10-linear --methods auto,biols-given --tasks ER-1,ER-2 --out figures\n"
    "  lscm reproduce d20-linear --methods auto --seeds 101-110 --out fresh\n"
    "  mpirun -n 8 lscm reproduce all --out figures\n"
    "  lscm reproduce unseen-interventions --nodes 10 --degree 2 --out er2\n"
    "  lscm reproduce unseen-interventions --preset blobs --out blobs\n\n"
    "Methods: auto (lscm fit without options), biols-given and biols-learned (the paper's, order "
    "given and learned), vae, graphvae.";

const struct argp *reproduce_argp(void)
{
    static const struct argp_option options[] = {
        {"out", OPTION_OUT, "DIR", 0, "Folder of the results; made when it is not there", 1},
        {"seeds", OPTION_SEEDS, "N|A-B", 0, "Seeds 1 to N, or A to B (20; runtimes 3; --quick 3)",
         2},
        {"quick", OPTION_QUICK, NULL, 0,
         "Minutes instead of hours: 3 seeds, the smallest problems, BIOLS and baselines cut short; "
         "marked as such",
         2},
        {"methods", OPTION_METHODS, "A,B", 0, "Run only these methods", 2},
        {"tasks", OPTION_TASKS, "A,B", 0, "Run only tasks with one of these in their name: ER-1",
         2},
        {"retry", OPTION_RETRY, NULL, 0, "Run cells again that failed", 2},
        {"preset", OPTION_PRESET, "NAME", 0,
         "unseen-interventions: data to simulate (paper-image); lscm simulate --help lists them",
         3},
        {"nodes", OPTION_NODES, "d", 0, "unseen-interventions: causal variables (5)", 3},
        {"degree", OPTION_DEGREE, "E", 0,
         "unseen-interventions: expected edges per node, the e of ER-e (1)", 3},
        {"seed", OPTION_SEED, "SEED", 0, "unseen-interventions: seed of every random number (1)",
         3},
        {"count", OPTION_COUNT, "N", 0,
         "unseen-interventions: interventions to predict, to 100 (10)", 3},
        {"samples", OPTION_SAMPLES, "N", 0,
         "unseen-interventions: rows that each mean is taken over (100)", 3},
        {"force", OPTION_FORCE, NULL, 0, "Replace results that exist; run cells again", 8},
        COMMON_LAST};
    static char doc[8192];
    static const struct argp argp = {
        .options = options, .parser = parse, .args_doc = "NAME|all --out DIR", .doc = doc};
    size_t used = (size_t)snprintf(doc, sizeof doc, "%s", ABOUT);
    for (size_t i = 0; i < EXPERIMENT_COUNT && used < sizeof doc; i++) {
        used += (size_t)snprintf(doc + used, sizeof doc - used, "\n\n%s: %s.", EXPERIMENTS[i].name,
                                 EXPERIMENTS[i].help);
    }
    if (used < sizeof doc) {
        (void)snprintf(doc + used, sizeof doc - used, "\n\n%s: %s%s", UNSEEN, UNSEEN_HELP,
                       EXAMPLES);
    }
    return &argp;
}

/* ---- the command ---- */

lscm_status reproduce_settings(const reproduce_options *o, lscm_simulation *out, lscm_error *why)
{
    const lscm_settings_table *table = lscm_simulation_table();
    const char *const given[][2] = {{"degree", o->degree}, {"seed", o->seed}};
    lscm_status status = LSCM_OK;
    if (o->nodes != NULL) {
        status = lscm_settings_set(table, out, "nodes", o->nodes, why);
    }
    if (status == LSCM_OK) {
        status = lscm_simulation_preset(out, o->preset, out->nodes, why);
    }
    for (size_t i = 0; i < 2 && status == LSCM_OK; i++) {
        if (given[i][1] != NULL) {
            status = lscm_settings_set(table, out, given[i][0], given[i][1], why);
        }
    }
    return status;
}

static const char *text_or(const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

lscm_status reproduce_unseen(reproduce_options o, lscm_error *why)
{
    results r = {0};
    o.preset = text_or(o.preset, "paper-image");
    o.nodes = text_or(o.nodes, "5");
    o.degree = text_or(o.degree, "1");
    o.seed = text_or(o.seed, "1");
    o.count = o.count > 0 ? o.count : 10;
    o.samples = o.samples > 0 ? o.samples : 100;
    lscm_status status = results_begin(&r, o.common.out, o.name, o.common.force, why);
    if (status == LSCM_OK) {
        status = unseen_interventions(&o, &r, why);
    }
    results_end(&r, status);
    return status;
}

const char *reproduce_word(size_t i)
{
    return i == 0                     ? "all"
           : i == 1                   ? UNSEEN
           : i < EXPERIMENT_COUNT + 2 ? EXPERIMENTS[i - 2].name
                                      : NULL;
}

static lscm_status check_name(const char *name, lscm_error *why)
{
    const char *names[EXPERIMENT_COUNT + 2];
    char list[512] = "";
    size_t used = 0;
    bool found = false;
    for (size_t i = 0; i < EXPERIMENT_COUNT + 2; i++) {
        names[i] = reproduce_word(i);
        found = found || strcmp(names[i], name) == 0;
        if (used < sizeof list) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                                     names[i]);
        }
    }
    const char *best = found ? NULL : lscm_suggest(name, names, EXPERIMENT_COUNT + 2);
    return found ? LSCM_OK
                 : cli_explain(why, LSCM_USAGE,
                               "there is nothing named '%s' to reproduce; %s%s%sthere is: %s", name,
                               best != NULL ? "did you mean '" : "", best != NULL ? best : "",
                               best != NULL ? "'? " : "", list);
}

int reproduce_run(int argc, char **argv)
{
    reproduce_options o = {
        .common = {.word = {&o.name},
                   .missing = "name what to reproduce: d5-linear, ... or all; --help lists them",
                   .surplus = "; the folder goes behind --out",
                   .unwritten = "say which folder the results go to: --out DIR"},
        .grid = {.first_seed = 1}};
    lscm_error why = {0};
    lscm_comm *comm = NULL;
    only_first_speaks();
    cli_parse("reproduce", reproduce_argp(), argc, argv, &o);
    o.grid.folder = o.common.out;
    o.grid.name = o.name;
    o.grid.quiet = o.common.quiet;
    o.grid.json = o.common.json;
    o.grid.force = o.common.force;
    lscm_status status = processes_open(&comm, &o.common, &why);
    bool first = lscm_comm_rank(comm) == 0;
    if (status == LSCM_OK) {
        status = check_name(o.name, &why);
    }
    if (status == LSCM_OK && strcmp(o.name, UNSEEN) != 0) {
        status = reproduce_grid(&o, comm, &why);
    } else if (status == LSCM_OK && first) {
        status = reproduce_unseen(o, &why);
    }
    status = lscm_comm_agree(comm, status, &why);
    int code = status == LSCM_OK ? EXIT_DONE : cli_fail(&why);
    lscm_comm_close(comm); /* only now: mpirun ends the others when one has failed */
    return code;
}
