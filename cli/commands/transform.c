/* lscm transform RUN NEW --out z.npz: causal variables of new data. */
#include "common/files.h"

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct arguments {
    common_options common;
    lscm_open_options open;
    const char *run, *data;
    const char *device; /* a word of the setting */
} arguments;

enum { OPTION_DEVICE = 'd' };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    if (key == OPTION_DEVICE) {
        a->device = argument;
        return 0;
    }
    return common_parse(key, argument, &a->common, state) || open_parse(key, argument, &a->open)
               ? 0
               : ARGP_ERR_UNKNOWN;
}

const struct argp *transform_argp(void)
{
    static const struct argp_option options[] = {
        {"out", OPTION_OUT, "FILE", 0, "Where z and z_sd go: .npz, .nc, .csv", 1},
        {"device", OPTION_DEVICE, "NAME", 0,
         "auto|cpu|cuda|cuda:0|..: what networks run on; auto: the first CUDA device, or the CPU "
         "without",
         2},
        OPEN_IGNORE,
        OPEN_TARGETS,
        OPEN_LAYER,
        COMMON_FORCE,
        COMMON_LAST};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "RUN NEW",
        .doc = "Read the causal variables off new data with the encoder of a run. NEW has an x of "
               "the same shape as what was fitted, in any format, be it one row; targets and "
               "values may be there or not. Writes z and its standard deviation z_sd, a row for "
               "each row and a column for each node. Where targets and values say that a node was "
               "set, z is that value. Rows are read in blocks: files larger than memory are "
               "fine.\n\n"
               "Says how many rows lie outside the values that the run was anchored with: there a "
               "node that was not set has a z beyond any that do() set it to when the run was "
               "fitted, and the encoder extrapolates. Runs of the methods biols, which never "
               "infers z from x, vae and graphvae, which do not keep theirs, have no encoder.\v"
               "Examples:\n"
               "  lscm transform data.run new.npz --out z.npz\n"
               "  lscm transform pictures.run photographs --out z.csv\n"
               "  lscm transform data.run new.nc --out z.nc --json",
    };
    return &argp;
}

static void report(const arguments *a, size_t rows, size_t nodes, const lscm_encoding *done,
                   double seconds)
{
    bool known = done->outside != SIZE_MAX;
    size_t outside = done->outside;
    if (a->common.json) {
        json_t *all = json_pack("{s:I, s:I, s:o, s:s, s:s}", "rows", (json_int_t)rows, "nodes",
                                (json_int_t)nodes, "outside",
                                known ? json_integer((json_int_t)outside) : json_null(), "out",
                                a->common.out, "device", done->device);
        (void)json_dumpf(all, stdout, 0);
        (void)putchar('\n');
        json_decref(all);
        return;
    }
    if (a->common.quiet) {
        return;
    }
    (void)printf("%s: z and z_sd of %zu row%s, %zu node%s (%.2f s on %s)\n", a->common.out, rows,
                 PLURAL(rows), nodes, PLURAL(nodes), seconds, done->device);
    if (known && outside > 0) {
        (void)printf("%zu of the rows lie%s outside the values that the run was anchored with\n",
                     outside, outside == 1 ? "s" : "");
    }
}

/* As a fit reads it. */
static lscm_status read_device(const arguments *a, lscm_device *out, lscm_error *why)
{
    lscm_fit_settings *settings = lscm_fit_settings_new();
    lscm_status status =
        settings != NULL ? LSCM_OK : cli_explain(why, LSCM_MEMORY, "out of memory");
    if (status == LSCM_OK && a->device != NULL) {
        status = lscm_settings_set(lscm_fit_table(), settings, "device", a->device, why);
    }
    *out = settings != NULL ? settings->device : LSCM_DEVICE_AUTO;
    lscm_fit_settings_free(settings);
    return status;
}

/* Everything between opening the data and freeing them. */
static lscm_status transform(const arguments *a, const lscm_posterior *run,
                             const lscm_dataset *data, lscm_device on, lscm_error *why)
{
    double begun = seconds_now();
    size_t rows = lscm_dataset_rows(data);
    size_t nodes = lscm_posterior_nodes(run);
    if (!a->common.force && access(a->common.out, F_OK) == 0) { /* before the work, not after */
        return cli_explain(why, LSCM_EXISTS, "%s exists already; --force replaces it",
                           a->common.out);
    }
    double *z = calloc(rows * nodes, 2 * sizeof *z); /* z, sd: (rows, nodes) each */
    if (z == NULL) {
        return cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    lscm_encoding done = {.z = z, .sd = z + rows * nodes};
    progress_bar bar;
    lscm_progress progress = progress_begin(&bar, a->common.quiet);
    lscm_status status = lscm_posterior_transform_on(run, data, on, &done, &progress, why);
    progress_end(&bar);
    if (status == LSCM_OK) {
        status = lscm_posterior_save_latents(run, rows, done.z, done.sd, a->common.out,
                                             a->common.force, why);
    }
    if (status == LSCM_OK) {
        report(a, rows, nodes, &done, seconds_now() - begun);
    }
    free(z);
    return status;
}

int transform_run(int argc, char **argv)
{
    arguments a = {.common = {.word = {&a.run, &a.data},
                              .missing = "name the run and the new data",
                              .unwritten = "say where the causal variables go: --out z.npz"},
                   .open = {.x_only = true}};
    lscm_error why = {0};
    lscm_posterior *run = NULL;
    lscm_dataset *data = NULL;
    cli_parse("transform", transform_argp(), argc, argv, &a);
    lscm_device on = LSCM_DEVICE_AUTO;
    lscm_status status = read_device(&a, &on, &why);
    if (status == LSCM_OK) {
        status = lscm_posterior_open(&run, a.run, &why);
    }
    if (status == LSCM_OK) {
        status = lscm_dataset_open(&data, a.data, &a.open, &why);
    }
    if (status == LSCM_OK) {
        status = transform(&a, run, data, on, &why);
    }
    lscm_dataset_free(data);
    lscm_posterior_free(run);
    return status == LSCM_OK ? EXIT_DONE : cli_fail(&why);
}
