/* lscm fit DATA: options are the rows of the fit's settings table. */
#include "commands/fit_report.h"
#include "common/knowledge.h"
#include "common/settings.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { OPTION_RESUME = 'r' };

typedef struct arguments {
    common_options common;
    lscm_open_options open;
    settings_given given;
    known_texts known;
    const char *in;
    bool resume;
} arguments;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    if (key == OPTION_RESUME) {
        a->resume = true;
        return 0;
    }
    return common_parse(key, argument, &a->common, state) || open_parse(key, argument, &a->open) ||
                   settings_parse(lscm_fit_table(), key, argument, &a->given) ||
                   known_parse(key, argument, &a->known, state)
               ? 0
               : ARGP_ERR_UNKNOWN;
}

/* Options that open data (common/files.h) are of group 3 by themselves. */
static const option_group GROUPS[] = {
    {"Essentials:", "out seed draws holdout resume", NULL},
    {"What you know beforehand:", "order tiers forbid require degree decoder noise x-noise clip",
     NULL},
    {"Data:", "ignore target-column value-column control layer truth names", NULL},
    {"As for all commands:", "force quiet json threads device", NULL},
    {"The method, and what it chooses by itself:", "method", ""},
    {"The paper's algorithm and the baselines:", "samples", "biols"},
    {NULL, NULL, NULL}};

const struct argp *fit_argp(void)
{
    static struct argp_option options[MOST_SETTINGS + MOST_GROUPS + 24];
    static settings_texts texts;
    static const struct argp_option first[] = {
        {"out", OPTION_OUT, "RUN", 0, "Folder of the run (DATA without its ending, and .run)", 1},
        {"resume", OPTION_RESUME, NULL, 0,
         "continue a run of a network that was stopped, bit for bit", 1}};
    static const struct argp_option last[] = {KNOWN_FORBID, KNOWN_REQUIRE, KNOWN_TIERS,
                                              OPEN_ALL,     COMMON_FORCE,  COMMON_LAST};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "DATA",
        .doc =
            "Find the causal variables behind the data, the graph between them, weights and noise, "
            "with uncertainty, and say how well that predicts interventions that were held out. "
            "Method anchored, the default, reads the causal variables off x with the help of the "
            "values that do() set, through a network where x is not linear in them, and gives a "
            "posterior over graphs: exact to 20 nodes, sampled beyond. Method biols is the "
            "algorithm of the paper \"Learning Latent Structural "
            "Causal "
            "Models\". Methods vae and graphvae are baselines to compare with: autoencoders that "
            "do not know of interventions.\v"
            "Examples:\n"
            "  lscm fit data.nc\n"
            "  lscm fit data.npz --order given --out run\n"
            "  lscm fit cells.csv --tiers 'drug;raf,mek;erk' --forbid 'mek->raf'\n"
            "  lscm fit screen.csv.gz --target-column condition --control DMSO,NT\n"
            "  lscm fit data.npz --method biols --decoder mlp --steps 2000\n"
            "  lscm fit data.npz --decoder mlp --resume\n"
            "  mpirun -n 4 lscm fit big.nc\n\n"
            "Variables that are observed themselves (a table without values) have the decoder "
            "identity. "
            "A run folder holds report.html (open it in a browser), config.json, summary.json and "
            "posterior.nc (opens in ArviZ). "
            "Ctrl-C stops; networks, which take longer, keep a checkpoint for --resume, which "
            "repeats no step of theirs but those of the judgement.",
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        options[n++] = first[i];
    }
    n += settings_options(lscm_fit_table(), GROUPS, &texts, options + n);
    for (size_t i = 0; last[i].name != NULL; i++) {
        options[n++] = last[i];
    }
    (void)group_options(GROUPS, options, n); /* behind them the table is zero: its end */
    return &argp;
}

/* data.nc, data.csv.gz -> data.run */
static void default_run(const char *data, char *out, size_t size)
{
    size_t length = strlen(data);
    while (length > 1 && data[length - 1] == '/') {
        length--;
    }
    for (size_t i = length; i > 0 && data[i - 1] != '/'; i--) {
        if (data[i - 1] == '.' && i > 1 && data[i - 2] != '/') {
            bool packed = length == i + 2 && strncasecmp(data + i, "gz", 2) == 0;
            length = i - 1;
            if (!packed) {
                break;
            }
        }
    }
    (void)snprintf(out, size, "%.*s.run", (int)length, data);
}

/* "2,0,1" or names into order (d); leaves `given` to the table when it is one of its words. */
static lscm_status parse_order(const lscm_dataset *data, const char *text, size_t *order,
                               lscm_error *why)
{
    size_t d = lscm_dataset_nodes(data);
    const char *at = text;
    for (size_t k = 0; k < d; k++) {
        char word[256];
        size_t length = strcspn(at, ",");
        (void)snprintf(word, sizeof word, "%.*s", (int)length, at);
        lscm_status status = find_node(nodes_of_data(data), word, &order[k], why);
        if (status != LSCM_OK) {
            return status;
        }
        at += length;
        if ((*at == ',') != (k + 1 < d)) {
            return cli_explain(why, LSCM_USAGE, "--order %s: list each of the %zu nodes once", text,
                               d);
        }
        at += *at == ',' ? 1 : 0;
    }
    return LSCM_OK;
}

/* report.html beside the rest. A run without it is still a run. */
static void write_report(const lscm_posterior *posterior, const lscm_dataset *data,
                         const char *folder)
{
    char path[4096 + 16];
    lscm_error why = {0};
    const lscm_report_options options = {.folder = folder, .truth = data, .force = true};
    (void)snprintf(path, sizeof path, "%s/report.html", folder);
    if (lscm_report(posterior, path, &options, &why) != LSCM_OK) {
        (void)fprintf(stderr, "lscm: the run is whole, but has no report: %s\n", why.text);
    }
}

/* The data are opened and, to the end of the program, the caller's. */
static lscm_status run(arguments *a, lscm_dataset **opened, const char *folder, lscm_comm *comm,
                       const lscm_progress *progress, lscm_posterior **out, lscm_error *why)
{
    lscm_fit_settings *settings = lscm_fit_settings_new();
    size_t *order = NULL;
    known_edges known = {0};
    settings_given given = a->given;
    const char **text = settings_text(lscm_fit_table(), "order", &given);
    lscm_status status = settings != NULL ? lscm_dataset_open(opened, a->in, &a->open, why)
                                          : cli_explain(why, LSCM_MEMORY, "out of memory");
    const lscm_dataset *data = *opened;
    if (status == LSCM_OK) {
        print_note(data, &a->common);
    }
    if (status == LSCM_OK && *text != NULL && strpbrk(*text, ",0123456789") != NULL) {
        order = calloc(lscm_dataset_nodes(data), sizeof *order);
        status = order != NULL ? parse_order(data, *text, order, why)
                               : cli_explain(why, LSCM_MEMORY, "out of memory");
        *text = "given";
    }
    if (status == LSCM_OK) {
        status = settings_apply(lscm_fit_table(), &given, settings, why);
    }
    if (status == LSCM_OK) {
        status = known_read(&a->known, nodes_of_data(data), &known, why);
    }
    status = lscm_comm_agree(comm, status, why);
    if (status == LSCM_OK) {
        lscm_run_options options = {.folder = folder,
                                    .order = order,
                                    .force = a->common.force,
                                    .resume = a->resume,
                                    .opened = a->open,
                                    .forbidden = known.forbidden,
                                    .required = known.required,
                                    .tiers = known.tiers,
                                    .comm = comm};
        status = lscm_fit(out, data, settings, &options, progress, why);
    }
    if (status == LSCM_OK && *out != NULL) {
        write_report(*out, data, folder);
    }
    known_free(&a->known, &known);
    lscm_fit_settings_free(settings);
    free(order);
    return status;
}

int fit_run(int argc, char **argv)
{
    arguments a = {.common = {.word = {&a.in},
                              .missing = "name the data to fit",
                              .surplus = "; the run goes behind --out"}};
    lscm_error why = {0};
    lscm_posterior *posterior = NULL;
    lscm_dataset *data = NULL;
    progress_bar bar;
    char folder[4096];
    only_first_speaks();
    cli_parse("fit", fit_argp(), argc, argv, &a);
    if (a.common.out != NULL) {
        (void)snprintf(folder, sizeof folder, "%s", a.common.out);
    } else {
        default_run(a.in, folder, sizeof folder);
    }
    lscm_comm *comm = NULL;
    lscm_progress progress = progress_begin(&bar, a.common.quiet);
    lscm_status status = processes_open(&comm, &a.common, &why);
    if (status == LSCM_OK) {
        status = run(&a, &data, folder, comm, &progress, &posterior, &why);
    }
    progress_end(&bar);
    if (status == LSCM_OK && posterior != NULL && (a.common.json || !a.common.quiet)) {
        print_fit(posterior, folder, lscm_dataset_note(data), a.common.json);
    }
    int code = status == LSCM_OK ? EXIT_DONE : cli_fail(&why);
    lscm_posterior_free(posterior);
    lscm_dataset_free(data);
    lscm_comm_close(comm); /* only now: mpirun ends the others when one has failed */
    return code;
}
