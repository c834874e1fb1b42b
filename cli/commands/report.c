/* lscm report RUN: the page that lscm fit leaves, again, or with a truth that it did not know. */
#include "common/files.h"
#include "common/fitted.h"

typedef struct arguments {
    common_options common;
    const char *run, *truth;
} arguments;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    if (key == OPTION_TRUTH) {
        a->truth = argument;
        return 0;
    }
    return common_parse(key, argument, &a->common, state) ? 0 : ARGP_ERR_UNKNOWN;
}

const struct argp *report_argp(void)
{
    static const struct argp_option options[] = {
        {"out", OPTION_OUT, "FILE", 0, "The page (RUN/report.html, which is replaced)", 1},
        {"truth", OPTION_TRUTH, "DATA", 0,
         "Compare with the truth in this data file (.nc, .npz, BIOLS folder), or with this CSV "
         "matrix of the graph; without it, with the data that were fitted, where they are still "
         "there and hold the truth",
         1},
        COMMON_FORCE,
        COMMON_QUIET,
        COMMON_THREADS,
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "RUN",
        .doc =
            "Write a page of HTML about a run, for people: what was found and how sure that is, "
            "the "
            "graph, the weights and their uncertainty, the order, how well each variable is found, "
            "training curves, pictures under do(), scores against the truth where it is known, and "
            "the command that repeats the run. The page is one file that needs nothing else; it "
            "reads well on a phone and in print. lscm fit writes it, too.\v"
            "Examples:\n"
            "  lscm report data.run\n"
            "  lscm report data.run --out report.html\n"
            "  lscm report cells.run --truth dag.csv --out against-the-textbook.html",
    };
    return &argp;
}

/* --truth, or the data that were fitted; where those have gone since, that is no failure. */
static lscm_status find_truth(const arguments *a, const lscm_posterior *run, lscm_dataset **truth,
                              lscm_error *why)
{
    lscm_status status = open_truth(truth, run, a->run, a->truth, why);
    if (a->truth == NULL) {
        return LSCM_OK;
    }
    if (status == LSCM_OK && !lscm_dataset_shape(*truth, LSCM_W).present) {
        status = cli_explain(why, LSCM_MISSING,
                             "%s: there is no true graph 'w' to compare with; give a file that has "
                             "one",
                             a->truth);
    }
    return status;
}

/* Data that were fitted may have changed since: then the report is without them, and says so. */
static lscm_status write_report(const arguments *a, const lscm_posterior *run, const char *path,
                                const lscm_dataset *truth, lscm_error *why)
{
    lscm_report_options options = {
        .folder = a->run, .truth = truth, .force = a->common.force || a->common.out == NULL};
    lscm_status status = lscm_report(run, path, &options, why);
    if (a->truth == NULL && truth != NULL &&
        (status == LSCM_SHAPE || status == LSCM_VALUE || status == LSCM_READ)) {
        (void)fprintf(stderr,
                      "lscm: the data are not those that were fitted (%s); the report is "
                      "without the truth\n",
                      why->text);
        options.truth = NULL;
        status = lscm_report(run, path, &options, why);
    }
    return status;
}

int report_run(int argc, char **argv)
{
    arguments a = {.common = {.word = {&a.run},
                              .missing = "name the run to report on",
                              .surplus = "; the page goes behind --out"}};
    lscm_error why = {0};
    lscm_posterior *run = NULL;
    lscm_dataset *truth = NULL;
    char usual[4096];
    cli_parse("report", report_argp(), argc, argv, &a);
    (void)snprintf(usual, sizeof usual, "%s/report.html", a.run);
    const char *path = a.common.out != NULL ? a.common.out : usual;
    lscm_status status = lscm_posterior_open(&run, a.run, &why);
    if (status == LSCM_OK) {
        status = find_truth(&a, run, &truth, &why);
    }
    if (status == LSCM_OK) {
        status = write_report(&a, run, path, truth, &why);
    }
    if (status == LSCM_OK && !a.common.quiet) {
        (void)printf("%s: open it in a browser\n", path);
    }
    lscm_dataset_free(truth);
    lscm_posterior_free(run);
    return status == LSCM_OK ? EXIT_DONE : cli_fail(&why);
}
