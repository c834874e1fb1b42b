/* lscm evaluate RUN, lscm evaluate ESTIMATE --truth FILE */
#include "common/files.h"
#include "common/fitted.h"

#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { OPTION_THRESHOLD = 0x100, OPTION_WEIGHTS };

typedef struct arguments {
    common_options common;
    const char *estimate, *truth;
    double threshold; /* below 0: not given */
    bool weights;     /* the truth has weights, be they all 0 or 1 */
} arguments;

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static double parse_threshold(struct argp_state *state, const char *text)
{
    char *end = NULL;
    double threshold = strtod(text, &end);
    if (end == text || *end != '\0' || !(threshold >= 0)) {
        argp_error(state, "--threshold takes a number not below 0, not '%s'", text);
    }
    return threshold;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    if (key == OPTION_TRUTH) {
        a->truth = argument;
    } else if (key == OPTION_THRESHOLD) {
        a->threshold = parse_threshold(state, argument);
    } else if (key == OPTION_WEIGHTS) {
        a->weights = true;
    } else if (!common_parse(key, argument, &a->common, state)) {
        return ARGP_ERR_UNKNOWN;
    } else if (key == ARGP_KEY_END && a->threshold >= 0 && is_folder(a->estimate)) {
        argp_error(state,
                   "a run says itself what an edge is; --threshold is for estimates in .npz");
    } else if (key == ARGP_KEY_END && a->truth == NULL && !is_folder(a->estimate)) {
        argp_error(state, "say what to compare with: --truth data.nc");
    }
    return 0;
}

const struct argp *evaluate_argp(void)
{
    static const struct argp_option options[] = {
        {"truth", OPTION_TRUTH, "FILE", 0,
         "Data file with the truth (.nc, .npz, BIOLS folder), or a CSV matrix of the graph; of a "
         "run: if not the data that were fitted",
         1},
        {"threshold", OPTION_THRESHOLD, "T", 0,
         "A draw of ESTIMATE.npz has an edge where |w| exceeds T (0.3)", 1},
        {"weights", OPTION_WEIGHTS, NULL, 0,
         "A truth of zeros and ones has weights, not edges alone: score them, too", 1},
        COMMON_LAST};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "RUN|ESTIMATE.npz [--truth FILE]",
        .doc =
            "Score a run, or the estimate of another program, against the truth. ESTIMATE.npz "
            "holds w (draws x d x d, or d x d; row = parent) and, where there are, sigma (draws x "
            "d), edge_prob (d x d), z (N x d) and the reconstructed x (N x D). A score that needs "
            "what is not there is left empty; so are scores of weights where every edge of the "
            "truth "
            "is 1, for that is a graph alone (--weights).\v"
            "Examples:\n"
            "  lscm evaluate data.run\n"
            "  lscm evaluate estimate.npz --truth data.nc\n"
            "  lscm evaluate estimate.npz --truth dag.csv --threshold 0 --json",
    };
    return &argp;
}

typedef struct score {
    const char *name, *help;
    double value;
} score;

enum {
#define COUNT(name, help) COUNT_##name,
    LSCM_SCORES_TABLE(COUNT)
#undef COUNT
        SCORE_COUNT
};

static const char GRAPH_ALONE[] =
    "every edge of the truth is 1: it is taken for a graph alone, and w_mse, kl_z, coverage_90 and "
    "coverage_90_edges are left out; if these are weights, say --weights";

static void print_json(const score *scores, size_t draws, bool alone)
{
    (void)printf("{\"draws\": %zu", draws);
    for (size_t i = 0; i < SCORE_COUNT; i++) {
        if (isfinite(scores[i].value)) {
            (void)printf(", \"%s\": %.17g", scores[i].name, scores[i].value);
        } else {
            (void)printf(", \"%s\": null", scores[i].name);
        }
    }
    (void)printf(", \"warnings\": [");
    if (alone) {
        (void)printf("\"%s\"", GRAPH_ALONE);
    }
    (void)printf("]}\n");
}

static void print_table(const score *scores, size_t draws, bool alone)
{
    struct libscols_table *table = scols_new_table();
    if (table == NULL) {
        return;
    }
    (void)scols_table_new_column(table, "score", 0, 0);
    (void)scols_table_new_column(table, "value", 0, SCOLS_FL_RIGHT);
    (void)scols_table_new_column(table, "meaning", 0, 0);
    for (size_t i = 0; i < SCORE_COUNT; i++) {
        char value[32] = "-";
        struct libscols_line *line = scols_table_new_line(table, NULL);
        if (isfinite(scores[i].value)) {
            (void)snprintf(value, sizeof value, "%.4g", scores[i].value);
        }
        if (line != NULL) {
            (void)scols_line_set_data(line, 0, scores[i].name);
            (void)scols_line_set_data(line, 1, value);
            (void)scols_line_set_data(line, 2, scores[i].help);
        }
    }
    (void)printf("%zu draw%s\n\n", draws, draws == 1 ? "" : "s");
    (void)scols_print_table(table);
    scols_unref_table(table);
    if (alone) {
        (void)printf("warning: %s\n", GRAPH_ALONE);
    }
}

static void print_scores(const common_options *how, const lscm_scores *scores, size_t draws,
                         bool alone)
{
    const score rows[] = {
#define SCORE(name, help) {#name, help, scores->name},
        LSCM_SCORES_TABLE(SCORE)
#undef SCORE
    };
    if (how->json) {
        print_json(rows, draws, alone);
    } else if (!how->quiet) {
        print_table(rows, draws, alone);
    }
}

static lscm_status score_run(const arguments *a, lscm_scores *scores, size_t *draws, bool *alone,
                             lscm_error *why)
{
    lscm_posterior *run = NULL;
    lscm_dataset *truth = NULL;
    lscm_status status = lscm_posterior_open(&run, a->estimate, why);
    if (status == LSCM_OK) {
        *draws = lscm_posterior_draws(run);
        status = open_truth(&truth, run, a->estimate, a->truth, why);
    }
    if (status == LSCM_OK) {
        lscm_dataset_set_weights(truth, a->weights);
        *alone = lscm_dataset_graph_alone(truth);
        status = lscm_posterior_evaluate(scores, run, truth, why);
    }
    lscm_dataset_free(truth);
    lscm_posterior_free(run);
    return status;
}

static lscm_status score_file(const arguments *a, lscm_scores *scores, size_t *draws, bool *alone,
                              lscm_error *why)
{
    const double threshold = a->threshold >= 0 ? a->threshold : 0.3;
    lscm_dataset *truth = NULL;
    lscm_status status =
        lscm_dataset_open(&truth, a->truth, &(lscm_open_options){.truth_only = true}, why);
    if (status == LSCM_OK) {
        lscm_dataset_set_weights(truth, a->weights);
        *alone = lscm_dataset_graph_alone(truth);
        status = lscm_evaluate_file(scores, draws, a->estimate, truth, threshold, why);
    }
    lscm_dataset_free(truth);
    return status;
}

int evaluate_run(int argc, char **argv)
{
    arguments a = {
        .common = {.word = {&a.estimate}, .missing = "name the run or the estimate to score"},
        .threshold = -1};
    lscm_error why = {0};
    lscm_status status = LSCM_MEMORY;
    size_t draws = 0;
    bool alone = false;
    cli_parse("evaluate", evaluate_argp(), argc, argv, &a);
    lscm_scores *scores = lscm_scores_new();
    if (scores == NULL) {
        (void)cli_explain(&why, status, "out of memory");
    } else if (is_folder(a.estimate)) {
        status = score_run(&a, scores, &draws, &alone, &why);
    } else {
        status = score_file(&a, scores, &draws, &alone, &why);
    }
    if (status == LSCM_OK) {
        print_scores(&a.common, scores, draws, alone);
    }
    lscm_scores_free(scores);
    return status == LSCM_OK ? EXIT_DONE : cli_fail(&why);
}
