/* lscm reproduce NAME --out DIR: figures and tables of the paper, from simulating to the picture.
 */
#include "reproduce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One row per experiment; its help is one paragraph. */
static const struct {
    const char *name;
    lscm_status (*run)(const reproduce_options *o, const results *r, lscm_error *why);
    const char *help;
} EXPERIMENTS[] = {
    {"unseen-interventions", unseen_interventions,
     "What would be seen under interventions that the data do not have. Simulates data, fits them "
     "as lscm fit does without options, and draws interventions as the preset does, but on sets of "
     "targets that are not among the data's. DIR/unseen-interventions.png has the mean of the true "
     "pictures in its upper row and the mean of the predicted ones in its lower row, a column for "
     "each do(). The table and DIR/unseen-interventions.csv have the mean squared difference of "
     "the two over pixels (over features where x is no picture; there is no PNG then), beside two "
     "others: of the empty graph, with the same encoder and decoder but with nodes that are not "
     "set left as they are without intervention; and of the true model with another sample, below "
     "which nothing can be expected."},
};
enum { EXPERIMENT_COUNT = sizeof EXPERIMENTS / sizeof EXPERIMENTS[0] };

enum {
    OPTION_OUT = 'o',
    OPTION_NODES = 'n',
    OPTION_DEGREE = 'd',
    OPTION_SEED = 's',
    OPTION_PRESET = 'p',
    OPTION_COUNT = 'c',
    OPTION_SAMPLES = 0x100,
    MOST_COUNT = 100,
    MOST_SAMPLES = 100000,
};

static size_t whole_number(struct argp_state *state, const char *option, const char *text,
                           size_t most)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < 1 || number > (long long)most) {
        argp_error(state, "--%s takes a whole number from 1 to %zu, not '%s'", option, most, text);
    }
    return (size_t)number;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    reproduce_options *o = state->input;
    if (common_parse(key, argument, &o->common, state)) {
        return 0;
    }
    if (key == OPTION_OUT) {
        o->out = argument;
    } else if (key == OPTION_PRESET) {
        o->preset = argument;
    } else if (key == OPTION_NODES) {
        o->nodes = argument;
    } else if (key == OPTION_DEGREE) {
        o->degree = argument;
    } else if (key == OPTION_SEED) {
        o->seed = argument;
    } else if (key == OPTION_COUNT) {
        o->count = whole_number(state, "count", argument, MOST_COUNT);
    } else if (key == OPTION_SAMPLES) {
        o->samples = whole_number(state, "samples", argument, MOST_SAMPLES);
    } else if (key == ARGP_KEY_ARG && state->arg_num == 0) {
        o->name = argument;
    } else if (key == ARGP_KEY_ARG) {
        argp_error(state, "'%s' is one argument too many; the folder goes behind --out", argument);
    } else if (key == ARGP_KEY_END && o->name == NULL) {
        argp_error(state, "name what to reproduce: %s", EXPERIMENTS[0].name);
    } else if (key == ARGP_KEY_END && (o->out == NULL || *o->out == '\0')) {
        argp_error(state, "say which folder the results go to: --out DIR");
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp *reproduce_argp(void)
{
    static const struct argp_option options[] = {
        {"out", OPTION_OUT, "DIR", 0, "Folder of the results; made when it is not there", 1},
        {"preset", OPTION_PRESET, "NAME", 0,
         "Data to simulate (paper-image); lscm simulate --help lists them", 2},
        {"nodes", OPTION_NODES, "d", 0, "Causal variables (5)", 2},
        {"degree", OPTION_DEGREE, "E", 0, "Expected edges per node, the e of ER-e (1)", 2},
        {"seed", OPTION_SEED, "SEED", 0, "Seed of every random number (1)", 2},
        {"count", OPTION_COUNT, "N", 0, "Interventions to predict, to 100 (10)", 2},
        {"samples", OPTION_SAMPLES, "N", 0, "Rows that each mean is taken over (100)", 2},
        COMMON_FORCE,
        COMMON_QUIET,
        COMMON_JSON,
        COMMON_THREADS,
        {0}};
    static char doc[4096];
    static const struct argp argp = {
        .options = options, .parser = parse, .args_doc = "NAME --out DIR", .doc = doc};
    size_t used = (size_t)snprintf(doc, sizeof doc,
                                   "Repeat an experiment of the paper, from simulating to the "
                                   "figure. NAME is one of:");
    for (size_t i = 0; i < EXPERIMENT_COUNT && used < sizeof doc; i++) {
        used += (size_t)snprintf(doc + used, sizeof doc - used, "\n\n%s: %s", EXPERIMENTS[i].name,
                                 EXPERIMENTS[i].help);
    }
    if (used < sizeof doc) {
        (void)snprintf(doc + used, sizeof doc - used, "%s",
                       "\v"
                       "Examples:\n"
                       "  lscm reproduce unseen-interventions --out figures\n"
                       "  lscm reproduce unseen-interventions --nodes 10 --degree 2 --out er2\n"
                       "  lscm reproduce unseen-interventions --preset blobs --out blobs");
    }
    return &argp;
}

lscm_status reproduce_settings(const reproduce_options *o, lscm_simulation *out, lscm_error *why)
{
    lscm_settings_table table = lscm_simulation_table();
    const char *const given[][2] = {{"degree", o->degree}, {"seed", o->seed}};
    lscm_status status = LSCM_OK;
    lscm_settings_defaults(table, out);
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

/* ---- results */

/* "DIR/NAMEending", malloc'ed. */
static char *join(const char *folder, const char *name, const char *ending)
{
    size_t size = strlen(folder) + strlen(name) + strlen(ending) + 2;
    char *path = malloc(size);
    if (path != NULL) {
        (void)snprintf(path, size, "%s/%s%s", folder, name, ending);
    }
    return path;
}

/* Refuses what exists before any work is done. */
static lscm_status results_begin(results *r, const reproduce_options *o, lscm_error *why)
{
    struct stat info;
    *r = (results){.folder = strdup(o->out),
                   .csv = join(o->out, o->name, ".csv"),
                   .png = join(o->out, o->name, ".png"),
                   .force = o->common.force};
    if (r->folder == NULL || r->csv == NULL || r->png == NULL) {
        return cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    for (int k = 0; k < 2; k++) {
        const char *path = k == 0 ? r->csv : r->png;
        if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
            return cli_explain(why, LSCM_EXISTS,
                               "%s: this is not a regular file and is not replaced; choose another "
                               "folder",
                               path);
        }
        if (!r->force && access(path, F_OK) == 0) {
            return cli_explain(why, LSCM_EXISTS,
                               "%s: this file exists already; choose another folder or replace it "
                               "with --force",
                               path);
        }
    }
    r->made = mkdir(r->folder, 0777) == 0;
    if (!r->made && (errno != EEXIST || stat(r->folder, &info) != 0 || !S_ISDIR(info.st_mode))) {
        return cli_explain(why, LSCM_WRITE, "%s: this folder cannot be made (%s)", r->folder,
                           strerror(errno));
    }
    if (access(r->folder, W_OK | X_OK) != 0) {
        return cli_explain(why, LSCM_WRITE,
                           "%s: cannot be written in (%s); choose a folder you may write in",
                           r->folder, strerror(errno));
    }
    return LSCM_OK;
}

static void results_end(results *r, lscm_status status)
{
    if (status != LSCM_OK && r->made) {
        (void)rmdir(r->folder);
    }
    free(r->folder);
    free(r->csv);
    free(r->png);
}

static lscm_status put_csv(const char *path, void (*write)(FILE *out, const void *self),
                           const void *self, lscm_error *why)
{
    FILE *file = fopen(path, "wx");
    bool fine = file != NULL;
    if (fine) {
        write(file, self);
        fine = ferror(file) == 0;
        fine = fclose(file) == 0 && fine;
    }
    return fine ? LSCM_OK : cli_explain(why, LSCM_WRITE, "%s: %s", path, strerror(errno));
}

lscm_status results_put(const results *r, void (*write)(FILE *out, const void *self),
                        const void *self, const lscm_dataset *figure, lscm_error *why)
{
    char temporary[64];
    (void)snprintf(temporary, sizeof temporary, ".%ld.tmp", (long)getpid());
    char *aside = join(r->folder, temporary, "");
    if (aside == NULL) {
        return cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    lscm_status status = put_csv(aside, write, self, why);
    if (status == LSCM_OK && figure != NULL) {
        status = lscm_dataset_save(figure, r->png, r->force, NULL, why);
    }
    if (status == LSCM_OK && rename(aside, r->csv) != 0) {
        status = cli_explain(why, LSCM_WRITE, "%s: %s", r->csv, strerror(errno));
        if (figure != NULL) {
            (void)unlink(r->png);
        }
    }
    if (status != LSCM_OK) {
        (void)unlink(aside);
    } else if (figure == NULL && r->force) {
        (void)unlink(r->png); /* of what stood there before */
    }
    free(aside);
    return status;
}

/* ---- the command */

static lscm_status find(const char *name, size_t *index, lscm_error *why)
{
    const char *names[EXPERIMENT_COUNT];
    char list[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < EXPERIMENT_COUNT; i++) {
        names[i] = EXPERIMENTS[i].name;
        if (strcmp(names[i], name) == 0) {
            *index = i;
            return LSCM_OK;
        }
        if (used < sizeof list) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                                     names[i]);
        }
    }
    const char *best = lscm_suggest(name, names, EXPERIMENT_COUNT);
    return cli_explain(why, LSCM_USAGE,
                       "there is nothing named '%s' to reproduce; %s%s%sthere is: %s", name,
                       best != NULL ? "did you mean '" : "", best != NULL ? best : "",
                       best != NULL ? "'? " : "", list);
}

int reproduce_run(int argc, char **argv)
{
    reproduce_options o = {.preset = "paper-image",
                           .nodes = "5",
                           .degree = "1",
                           .seed = "1",
                           .count = 10,
                           .samples = 100};
    lscm_error why = {0};
    results r = {0};
    size_t index = 0;
    cli_parse("reproduce", reproduce_argp(), argc, argv, &o);
    lscm_status status = find(o.name, &index, &why);
    if (status == LSCM_OK) {
        status = results_begin(&r, &o, &why);
    }
    if (status == LSCM_OK) {
        status = EXPERIMENTS[index].run(&o, &r, &why);
    }
    results_end(&r, status);
    return status == LSCM_OK ? EXIT_DONE : cli_fail(&why);
}
