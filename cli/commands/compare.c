/* lscm compare RUN RUN ..: runs over the same nodes side by side. */
#include "commands/compare.h"

#include "common/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_EDGES = 0x100, FEWEST_RUNS = 2 };

typedef struct arguments {
    common_options common;
    const char *truth;
    const char **runs; /* (count) */
    size_t count;
    size_t edges; /* to show */
} arguments;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    if (key == OPTION_TRUTH) {
        a->truth = argument;
    } else if (key == OPTION_EDGES) {
        a->edges = (size_t)whole_number(state, "edges", argument, 0, WHOLE_MOST);
    } else if (key == ARGP_KEY_ARG) {
        a->runs[a->count++] = argument;
    } else if (key == ARGP_KEY_END && a->count < FEWEST_RUNS) {
        argp_error(state, "name two runs or more");
    } else if (!common_parse(key, argument, &a->common, state)) {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp *compare_argp(void)
{
    static const struct argp_option options[] = {
        {"truth", OPTION_TRUTH, "FILE", 0,
         "Score every run against the truth in this data file (.nc, .npz, BIOLS folder), or in a "
         "CSV matrix of the graph",
         1},
        {"edges", OPTION_EDGES, "N", 0, "Show the N edges on which the runs disagree most (10)", 1},
        COMMON_LAST};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "RUN RUN [RUN...]",
        .doc =
            "Show runs over the same nodes side by side: method and time, number of edges, how far "
            "their posteriors are apart, the edges on which they disagree most, and what held-out "
            "interventions said about each; with --truth the scores of lscm evaluate too.\v"
            "The expected SHD between two runs is that of two graphs drawn independently, one of "
            "each. It is 0 only where both are certain and agree, so beside it stands the same for "
            "two draws of one run: its own spread.\n\n"
            "Held-out scores are about the causal variables as each run reads them. They compare "
            "runs of the same data with the same decoder, seed and --holdout.\n\n"
            "Examples:\n"
            "  lscm compare data.run paper.run\n"
            "  lscm compare data.run paper.run --truth data.nc\n"
            "  lscm compare seed1.run seed2.run seed3.run --json",
    };
    return &argp;
}

static double count_edges(const lscm_posterior *run, bool likely)
{
    const double *p = lscm_posterior_edge_prob(run);
    size_t d = lscm_posterior_nodes(run);
    double sum = 0;
    for (size_t k = 0; k < d * d; k++) {
        sum += !likely ? p[k] : p[k] > 0.5 ? 1 : 0;
    }
    return sum;
}

static lscm_status open_run(compared *out, const char *path, const lscm_dataset *truth,
                            lscm_error *why)
{
    lscm_error cause = {0};
    out->path = path;
    out->scores = lscm_scores_new();
    lscm_status status = out->scores != NULL ? lscm_posterior_open(&out->run, path, why)
                                             : cli_explain(why, LSCM_MEMORY, "out of memory");
    if (status == LSCM_OK) {
        out->config = json_loads(lscm_posterior_config(out->run), 0, NULL);
        out->summary = json_loads(lscm_posterior_summary(out->run), 0, NULL);
        out->likely = count_edges(out->run, true);
        out->expected = count_edges(out->run, false);
        status = lscm_posterior_distance(&out->spread, out->run, out->run, why);
    }
    if (status == LSCM_OK && truth != NULL) {
        status = lscm_posterior_evaluate(out->scores, out->run, truth, &cause);
        if (status != LSCM_OK) {
            (void)cli_explain(why, status, "%s: %s", path, cause.text);
        }
    }
    return status;
}

static lscm_status measure(const compared *runs, size_t count, lscm_distance *apart,
                           lscm_error *why)
{
    for (size_t k = 0; k < count; k++) {
        for (size_t l = k + 1; l < count; l++) {
            lscm_error cause = {0};
            lscm_status status =
                lscm_posterior_distance(&apart[k * count + l], runs[k].run, runs[l].run, &cause);
            if (status != LSCM_OK) {
                return cli_explain(why, status, "%s and %s: %s", runs[k].path, runs[l].path,
                                   cause.text);
            }
        }
    }
    return LSCM_OK;
}

typedef struct disputed {
    size_t edge;
    double range; /* largest less smallest probability */
} disputed;

static int by_range(const void *left, const void *right)
{
    const disputed *a = left;
    const disputed *b = right;
    if (a->range != b->range) {
        return a->range > b->range ? -1 : 1;
    }
    return a->edge < b->edge ? -1 : 1;
}

/* The edges whose probabilities are furthest apart, as far as two digits show it, to edges (d * d);
 * how many. */
static lscm_status find_disputed(const compared *runs, size_t count, size_t most, size_t *edges,
                                 size_t *shown, lscm_error *why)
{
    size_t d = lscm_posterior_nodes(runs[0].run);
    size_t found = 0;
    disputed *all = calloc(d * d, sizeof *all);
    if (all == NULL) {
        return cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    for (size_t e = 0; e < d * d; e++) {
        double least = 1;
        double largest = 0;
        for (size_t k = 0; k < count; k++) {
            least = fmin(least, lscm_posterior_edge_prob(runs[k].run)[e]);
            largest = fmax(largest, lscm_posterior_edge_prob(runs[k].run)[e]);
        }
        if (largest - least >= 0.005) {
            all[found++] = (disputed){e, largest - least};
        }
    }
    qsort(all, found, sizeof *all, by_range);
    *shown = found < most ? found : most;
    for (size_t k = 0; k < *shown; k++) {
        edges[k] = all[k].edge;
    }
    free(all);
    return LSCM_OK;
}

/* Everything once the runs are open: `apart` (count, count), `truth` or NULL. */
static lscm_status compare(const arguments *a, const compared *runs, lscm_distance *apart,
                           const lscm_dataset *truth, lscm_error *why)
{
    size_t d = lscm_posterior_nodes(runs[0].run);
    size_t *edges = calloc(d * d, sizeof *edges);
    double *w = calloc(d * d, sizeof *w);
    comparison all = {.runs = runs,
                      .count = a->count,
                      .apart = apart,
                      .edges = edges,
                      .scored = truth != NULL,
                      .truth = truth != NULL ? w : NULL};
    lscm_status status = LSCM_OK;
    if (edges == NULL || w == NULL) {
        status = cli_explain(why, LSCM_MEMORY, "out of memory");
        goto done;
    }
    status = measure(runs, a->count, apart, why);
    if (status == LSCM_OK && truth != NULL) {
        status = lscm_dataset_read(truth, LSCM_W, 0, d, w, why);
    }
    if (status == LSCM_OK) {
        status = find_disputed(runs, a->count, a->edges, edges, &all.shown, why);
    }
    if (status == LSCM_OK && a->common.json) {
        compare_print_json(&all);
    } else if (status == LSCM_OK && !a->common.quiet) {
        compare_print(&all);
    }
done:
    free(w);
    free(edges);
    return status;
}

static void close_runs(compared *runs, size_t count)
{
    for (size_t k = 0; runs != NULL && k < count; k++) {
        lscm_posterior_free(runs[k].run);
        json_decref(runs[k].config);
        json_decref(runs[k].summary);
        lscm_scores_free(runs[k].scores);
    }
    free(runs);
}

/* The runs that the arguments name: opened, compared, closed. */
static lscm_status compare_named(const arguments *a, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_dataset *truth = NULL;
    compared *runs = calloc(a->count, sizeof *runs);
    lscm_distance *apart = calloc(a->count * a->count, sizeof *apart);
    if (runs == NULL || apart == NULL) {
        status = cli_explain(why, LSCM_MEMORY, "out of memory");
        goto done;
    }
    if (a->truth != NULL) {
        status = lscm_dataset_open(&truth, a->truth, &(lscm_open_options){.truth_only = true}, why);
    }
    for (size_t k = 0; status == LSCM_OK && k < a->count; k++) {
        status = open_run(&runs[k], a->runs[k], truth, why);
    }
    if (status == LSCM_OK) {
        status = compare(a, runs, apart, truth, why);
    }
done:
    close_runs(runs, a->count);
    lscm_dataset_free(truth);
    free(apart);
    return status;
}

int compare_run(int argc, char **argv)
{
    arguments a = {.runs = calloc((size_t)argc, sizeof *a.runs), .edges = 10};
    lscm_error why = {0};
    lscm_status status = LSCM_OK;
    if (a.runs != NULL) {
        cli_parse("compare", compare_argp(), argc, argv, &a);
        status = compare_named(&a, &why);
    } else {
        status = cli_explain(&why, LSCM_MEMORY, "out of memory");
    }
    free(a.runs);
    return status == LSCM_OK ? EXIT_DONE : cli_fail(&why);
}
