/* lscm evaluate ESTIMATE --truth FILE */
#include "cli.h"

#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>

enum { OPTION_TRUTH = 'T', OPTION_THRESHOLD = 0x100 };

typedef struct arguments {
    common_options common;
    const char *estimate, *truth;
    double threshold;
} arguments;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    char *end = NULL;
    if (common_parse(key, argument, &a->common, state)) {
        return 0;
    }
    if (key == OPTION_TRUTH) {
        a->truth = argument;
    } else if (key == OPTION_THRESHOLD) {
        a->threshold = strtod(argument, &end);
        if (end == argument || *end != '\0' || !(a->threshold >= 0)) {
            argp_error(state, "--threshold takes a number not below 0, not '%s'", argument);
        }
    } else if (key == ARGP_KEY_ARG && state->arg_num == 0) {
        a->estimate = argument;
    } else if (key == ARGP_KEY_ARG) {
        argp_error(state, "'%s' is one argument too many", argument);
    } else if (key == ARGP_KEY_END && a->estimate == NULL) {
        argp_error(state, "name the estimate to score");
    } else if (key == ARGP_KEY_END && a->truth == NULL) {
        argp_error(state, "say what to compare with: --truth data.nc");
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp *evaluate_argp(void)
{
    static const struct argp_option options[] = {
        {"truth", OPTION_TRUTH, "FILE", 0,
         "Data file with the truth (.nc, .npz, BIOLS folder), or a CSV matrix of the graph", 1},
        {"threshold", OPTION_THRESHOLD, "T", 0, "A draw has an edge where |w| exceeds T (0.3)", 1},
        COMMON_QUIET,
        COMMON_JSON,
        COMMON_THREADS,
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "ESTIMATE.npz --truth FILE",
        .doc =
            "Score an estimate against the truth. ESTIMATE.npz holds w (draws x d x d, or d x d; "
            "row = "
            "parent) and, where there are, sigma (draws x d), edge_prob (d x d), z (N x d) and the "
            "reconstructed x (N x D). A score that needs what is not there is left empty.\v"
            "Examples:\n"
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

static void print_json(const score *scores, size_t draws)
{
    (void)printf("{\"draws\": %zu", draws);
    for (size_t i = 0; i < SCORE_COUNT; i++) {
        if (isfinite(scores[i].value)) {
            (void)printf(", \"%s\": %.17g", scores[i].name, scores[i].value);
        } else {
            (void)printf(", \"%s\": null", scores[i].name);
        }
    }
    (void)printf("}\n");
}

static void print_table(const score *scores, size_t draws)
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
}

int evaluate_run(int argc, char **argv)
{
    arguments a = {.threshold = 0.3};
    lscm_error why = {0};
    lscm_dataset *truth = NULL;
    lscm_scores scores;
    size_t draws = 0;
    cli_parse("evaluate", evaluate_argp(), argc, argv, &a);
    lscm_status status =
        lscm_dataset_open(&truth, a.truth, &(lscm_open_options){.truth_only = true}, &why);
    if (status == LSCM_OK) {
        status = lscm_evaluate_file(&scores, &draws, a.estimate, truth, a.threshold, &why);
    }
    lscm_dataset_free(truth);
    if (status != LSCM_OK) {
        return cli_fail(&why);
    }
    const score rows[] = {
#define SCORE(name, help) {#name, help, scores.name},
        LSCM_SCORES_TABLE(SCORE)
#undef SCORE
    };
    if (a.common.json) {
        print_json(rows, draws);
    } else if (!a.common.quiet) {
        print_table(rows, draws);
    }
    return EXIT_DONE;
}
