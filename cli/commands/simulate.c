/* lscm simulate: options are the rows of the simulation's settings table. */
#include "common/settings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OPTION_PRESET = 'p' };

typedef struct arguments {
    common_options common;
    const char *preset;
    settings_given given;
} arguments;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    if (key == OPTION_PRESET) {
        a->preset = argument;
        return 0;
    }
    return common_parse(key, argument, &a->common, state) ||
                   settings_parse(lscm_simulation_table(), key, argument, &a->given)
               ? 0
               : ARGP_ERR_UNKNOWN;
}

static void describe_presets(char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "Start from a published data set, one of:");
    for (size_t i = 0; lscm_preset_name(i) != NULL && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s %s (%s)", i > 0 ? ";" : "",
                                 lscm_preset_name(i), lscm_preset_help(i));
    }
}

static const option_group GROUPS[] = {
    {"Essentials:", "out preset nodes degree seed", NULL},
    {"As for all commands:", "force quiet json threads", NULL},
    {"Rows and interventions:",
     "observational sets per-set targets values value-scale untouched actuator-noise paired", NULL},
    {"What is seen:",
     "features projection scene size width grey pixels activation biases projection-low "
     "projection-high x-noise",
     NULL},
    {"Graph, mechanisms and noise:", "graph mechanism", ""},
    {NULL, NULL, NULL}};

const struct argp *simulate_argp(void)
{
    static struct argp_option options[MOST_SETTINGS + MOST_GROUPS + 8];
    static settings_texts texts;
    static char preset_doc[2048];
    static const struct argp_option fixed[] = {COMMON_FORCE, COMMON_LAST};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "--out FILE",
        .doc =
            "Make data with a known causal model. Rows without intervention come first, then the "
            "intervention sets; the same seed gives the same numbers on any machine and any number "
            "of "
            "threads. A preset sets every knob for the number of nodes asked for; flags change it "
            "from "
            "there.\v"
            "Examples:\n"
            "  lscm simulate --preset paper-linear --nodes 20 --degree 2 --seed 1 --out data.nc\n"
            "  lscm simulate --preset paper-image --nodes 10 --out pictures.nc\n"
            "  lscm simulate --preset blobs --nodes 5 --out blobs.pngs\n"
            "  lscm simulate --preset pendulum --size 96 --out pendulum.npz\n"
            "  lscm simulate --preset balls --size 48 --width 64 --grey --pixels uint8 --out "
            "grey.npz\n"
            "  lscm simulate --preset paper-nonlinear --activation tanh --biases --out tanh.nc\n"
            "  lscm simulate --preset revised-linear --targets cycle --sets 40 --out single.npz\n"
            "  lscm simulate --mechanism network --noise-law student --noise-scale 1 --out "
            "bent.nc\n"
            "  lscm simulate --sets 0 --observational 5000 --projection identity --out z.npz\n\n"
            "Formats follow the ending: .nc (netCDF-4), .npz (NumPy), .csv, .pngs for a folder of "
            "PNG pictures and interventions.csv, or none for a folder of .npy files in the layout "
            "of the public BIOLS code.",
    };
    size_t n = 0;
    describe_presets(preset_doc, sizeof preset_doc);
    options[n++] = (struct argp_option){"out", OPTION_OUT, "FILE", 0, "Where to write", 1};
    options[n++] = (struct argp_option){"preset", OPTION_PRESET, "NAME", 0, preset_doc, 1};
    n += settings_options(lscm_simulation_table(), GROUPS, &texts, options + n);
    for (size_t i = 0; fixed[i].name != NULL; i++) {
        options[n++] = fixed[i];
    }
    (void)group_options(GROUPS, options, n); /* behind them the table is zero: its end */
    return &argp;
}

/* The preset for the nodes asked for, then what else was asked for. */
static lscm_status settle(arguments *a, lscm_simulation *s, lscm_error *why)
{
    const lscm_settings_table *table = lscm_simulation_table();
    const char *nodes = *settings_text(table, "nodes", &a->given);
    lscm_status status = LSCM_OK;
    if (s == NULL) {
        return cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    s->nodes = 0; /* the preset's own number */
    if (nodes != NULL) {
        status = lscm_settings_set(table, s, "nodes", nodes, why);
    }
    if (status == LSCM_OK) {
        status = lscm_simulation_preset(s, a->preset, s->nodes, why);
    }
    if (status == LSCM_OK) {
        status = settings_apply(table, &a->given, s, why);
    }
    return status;
}

static size_t count_edges(const lscm_dataset *data)
{
    size_t d = lscm_dataset_nodes(data);
    size_t edges = 0;
    double *w = malloc(d * d * sizeof *w);
    if (w != NULL && lscm_dataset_read(data, LSCM_W, 0, d, w, NULL) == LSCM_OK) {
        for (size_t i = 0; i < d * d; i++) {
            edges += w[i] != 0 ? 1 : 0;
        }
    }
    free(w);
    return edges;
}

static void summarise(const arguments *a, const lscm_dataset *data, int64_t seed, double seconds)
{
    struct stat file;
    char size[32] = "";
    if (stat(a->common.out, &file) == 0 && S_ISREG(file.st_mode)) {
        human_bytes((double)file.st_size, size, sizeof size);
    }
    size_t n = lscm_dataset_rows(data);
    size_t d = lscm_dataset_nodes(data);
    size_t D = lscm_dataset_features(data);
    size_t edges = count_edges(data);
    if (a->common.json) {
        (void)printf("{\"preset\": \"%s\", \"seed\": %lld, \"rows\": %zu, \"nodes\": %zu, "
                     "\"features\": %zu, \"edges\": %zu, \"seconds\": %.3f}\n",
                     a->preset, (long long)seed, n, d, D, edges, seconds);
    } else if (!a->common.quiet) {
        (void)printf(
            "%s: %zu row%s, %zu node%s, %zu edge%s, %zu feature%s; %s, seed %lld (%s%s%.2f s)\n",
            a->common.out, n, PLURAL(n), d, PLURAL(d), edges, PLURAL(edges), D, PLURAL(D),
            a->preset, (long long)seed, size, size[0] != '\0' ? " in " : "", seconds);
    }
}

int simulate_run(int argc, char **argv)
{
    arguments a = {.common = {.surplus = "; the output goes behind --out",
                              .unwritten = "say where to write: --out data.nc"},
                   .preset = "paper-linear"};
    lscm_error why = {0};
    lscm_dataset *data = NULL;
    progress_bar bar;
    cli_parse("simulate", simulate_argp(), argc, argv, &a);
    lscm_simulation *settings = lscm_simulation_new();
    double begun = seconds_now();
    lscm_progress progress = progress_begin(&bar, a.common.quiet);
    lscm_status status = settle(&a, settings, &why);
    if (status == LSCM_OK) {
        status = lscm_simulate(&data, settings, a.preset, &why);
    }
    if (status == LSCM_OK) {
        status = lscm_dataset_save(data, a.common.out, a.common.force, &progress, &why);
    }
    progress_end(&bar);
    if (status == LSCM_OK) {
        summarise(&a, data, settings->seed, seconds_now() - begun);
    }
    lscm_dataset_free(data);
    lscm_simulation_free(settings);
    return status == LSCM_OK ? EXIT_DONE : cli_fail(&why);
}
