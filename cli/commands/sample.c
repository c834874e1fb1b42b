/* lscm sample RUN --do NODE=VALUE,...: what would be seen under an intervention. */
#include "common/files.h"

#include <inttypes.h>
#include <jansson.h>
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_DO = 'd', OPTION_DRAWS = 'n' + 0x100, OPTION_SIZE = 'z' + 0x100, OPTION_SEED = 's' };

typedef struct arguments {
    common_options common;
    const char *run;
    const char **interventions; /* (count): every --do */
    size_t count;
    int64_t draws, seed;
    size_t height, width; /* of pictures; 0: as they were fitted */
} arguments;

static void keep_do(arguments *a, const char *text, struct argp_state *state)
{
    const char **longer = realloc((void *)a->interventions, (a->count + 1) * sizeof *longer);
    if (longer == NULL) {
        argp_failure(state, EXIT_FAILED, 0, "out of memory");
        return;
    }
    longer[a->count++] = text;
    a->interventions = longer;
}

/* A side of a picture; 0 where it is none. */
static size_t side(const char *text, char **end)
{
    bool digit = *text >= '0' && *text <= '9';
    unsigned long pixels = digit ? strtoul(text, end, 10) : 0;
    return pixels >= LSCM_LEAST_SIDE && pixels <= LSCM_MOST_SIDE ? pixels : 0;
}

/* "96", or "64x96". */
static void keep_size(arguments *a, const char *text, struct argp_state *state)
{
    char *end = NULL;
    a->height = a->width = side(text, &end);
    if (a->height > 0 && *end == 'x') {
        a->width = side(end + 1, &end);
    }
    if (a->height == 0 || a->width == 0 || *end != '\0') {
        argp_error(state, "--size takes pixels from %d to %d, one number or HEIGHTxWIDTH, not '%s'",
                   LSCM_LEAST_SIDE, LSCM_MOST_SIDE, text);
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    if (key == OPTION_DO) {
        keep_do(a, argument, state);
    } else if (key == OPTION_DRAWS) {
        a->draws = whole_number(state, "draws", argument, 1, WHOLE_MOST);
    } else if (key == OPTION_SIZE) {
        keep_size(a, argument, state);
    } else if (key == OPTION_SEED) {
        a->seed = whole_number(state, "seed", argument, 0, WHOLE_MOST);
    } else if (!common_parse(key, argument, &a->common, state)) {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp *sample_argp(void)
{
    static const struct argp_option options[] = {
        {"do", OPTION_DO, "NODE=VALUE,...", 0,
         "Set these nodes, by name or number (0-based), to these values; may be given several "
         "times; "
         "without it nothing is set",
         1},
        {"draws", OPTION_DRAWS, "N", 0, "Rows to sample, each from another posterior draw (100)",
         1},
        {"size", OPTION_SIZE, "PIXELS", 0,
         "Pictures of so many pixels a side, or HEIGHTxWIDTH, 8 to 1024, whatever size they were "
         "fitted at; for runs with the decoder positions",
         1},
        {"seed", OPTION_SEED, "SEED", 0, "Seed of every random number (0)", 1},
        {"out", OPTION_OUT, "FILE", 0,
         "Where x, z, targets and values go: .npz, .nc, .csv, .png, .pngs", 1},
        COMMON_FORCE,
        COMMON_LAST};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "RUN",
        .doc = "Ask a run what would be seen under an intervention, also one that the data do not "
               "have. Each row takes one draw of the posterior, samples the causal variables with "
               "the nodes set as told, and turns them into x by the decoder (its mean: the noise "
               "of x is not added). So the rows differ by the noise of the nodes and by what the "
               "data left open. Prints mean, standard deviation and the 5%, 50% and 95% quantiles "
               "of every causal variable, and under 'do' what was set; a .npz also holds the mean "
               "and these bands of x and z (x_mean, x_lower, x_upper, z_mean, ...). Warns where a "
               "value lies beyond what was seen of its node when the run was fitted.\v"
               "Examples:\n"
               "  lscm sample data.run --do 2=1.5,3=0 --out seen.npz\n"
               "  lscm sample pictures.run --do 0=8 --draws 64 --out seen.png\n"
               "  lscm sample scenes.run --do 0=8 --draws 8 --size 256 --out large.png\n"
               "  lscm sample cells.run --do raf=0 --do mek=1\n"
               "  lscm sample data.run --draws 1000 --seed 7 --out observational.nc",
    };
    return &argp;
}

/* One "NODE=VALUE"; a name may have '=' in it. Cuts the text. */
static lscm_status take_pair(const lscm_posterior *run, char *pair, uint8_t *targets,
                             double *values, lscm_error *why)
{
    char *equals = strrchr(pair, '=');
    char *end = NULL;
    size_t node = 0;
    if (equals == NULL) {
        return cli_explain(why, LSCM_USAGE, "--do takes NODE=VALUE,..., not '%s'", pair);
    }
    *equals = '\0';
    lscm_status status = find_node(nodes_of_run(run), pair, &node, why);
    if (status != LSCM_OK) {
        return status;
    }
    if (targets[node] != 0) {
        return cli_explain(why, LSCM_USAGE, "--do sets node '%s' twice", pair);
    }
    targets[node] = 1;
    values[node] = strtod(equals + 1, &end);
    if (end == equals + 1 || *end != '\0' || !isfinite(values[node])) {
        return cli_explain(why, LSCM_USAGE, "--do sets node '%s' to '%s', which is not a number",
                           pair, equals + 1);
    }
    return LSCM_OK;
}

/* targets, values (d), zeroed. */
static lscm_status parse_do(const lscm_posterior *run, const char *text, uint8_t *targets,
                            double *values, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char *copy = strdup(text);
    if (copy == NULL) {
        return cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    for (char *next = copy; next != NULL && *text != '\0' && status == LSCM_OK;) {
        char *pair = next;
        next = strchr(pair, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        status = take_pair(run, pair, targets, values, why);
    }
    free(copy);
    return status;
}

/* Over the rows of z, by node. */
enum { BAND_MEAN, BAND_SD, BAND_LOWER, BAND_MEDIAN, BAND_UPPER, BANDS };
static const char *const BAND_KEYS[BANDS] = {"mean", "sd", "q05", "q50", "q95"};
static const char *const BAND_TITLES[BANDS] = {"mean", "sd", "5%", "50%", "95%"};

/* What was asked: arrays of the program, d nodes. */
typedef struct question {
    uint8_t *targets;     /* (d) */
    double *values;       /* (d) */
    double *bands[BANDS]; /* (d) each */
    char *beyond;         /* a sentence a line, of values that were never seen */
} question;

/* What `tell` does with each sentence of q->beyond. */
static void each_warning(const question *q, void (*tell)(void *self, const char *text), void *self)
{
    for (char *line = q->beyond; line != NULL && *line != '\0';) {
        char *end = strchr(line, '\n');
        *end = '\0';
        tell(self, line);
        *end = '\n';
        line = end + 1;
    }
}

static void print_warning(void *self, const char *text)
{
    (void)self;
    (void)printf("warning: %s\n", text);
}

static void append_warning(void *self, const char *text)
{
    (void)json_array_append_new(self, json_string(text));
}

static json_t *node_json(const lscm_dataset *rows, const question *q, size_t node)
{
    json_t *all = json_pack("{s:I, s:s*, s:o*}", "node", (json_int_t)node, "name",
                            lscm_dataset_node_name(rows, node), "do",
                            q->targets[node] != 0 ? json_real(q->values[node]) : NULL);
    for (size_t k = 0; k < BANDS; k++) {
        (void)json_object_set_new(all, BAND_KEYS[k], json_real(q->bands[k][node]));
    }
    return all;
}

static void print_json(const arguments *a, const lscm_dataset *rows, const question *q)
{
    json_t *list = json_array();
    json_t *warnings = json_array();
    for (size_t i = 0; i < lscm_dataset_nodes(rows); i++) {
        (void)json_array_append_new(list, node_json(rows, q, i));
    }
    each_warning(q, append_warning, warnings);
    json_t *all = json_pack("{s:I, s:I, s:s*, s:o, s:o}", "draws",
                            (json_int_t)lscm_dataset_rows(rows), "seed", (json_int_t)a->seed, "out",
                            a->common.out, "nodes", list, "warnings", warnings);
    (void)json_dumpf(all, stdout, 0);
    (void)putchar('\n');
    json_decref(all);
}

static void add_line(struct libscols_table *table, const lscm_dataset *rows, const question *q,
                     size_t node)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    const char *name = lscm_dataset_node_name(rows, node);
    char cell[64];
    if (line == NULL) {
        return;
    }
    (void)snprintf(cell, sizeof cell, "%zu", node);
    (void)scols_line_set_data(line, 0, name != NULL ? name : cell);
    if (q->targets[node] != 0) {
        (void)snprintf(cell, sizeof cell, "%.4g", q->values[node]);
        (void)scols_line_set_data(line, 1, cell);
    }
    for (size_t k = 0; k < BANDS; k++) {
        (void)snprintf(cell, sizeof cell, "%.4g", q->bands[k][node]);
        (void)scols_line_set_data(line, 2 + k, cell);
    }
}

static void print_table(const arguments *a, const lscm_dataset *rows, const question *q)
{
    struct libscols_table *table = scols_new_table();
    if (table != NULL) {
        (void)scols_table_new_column(table, "node", 0, 0);
        (void)scols_table_new_column(table, "do", 0, SCOLS_FL_RIGHT);
        for (size_t k = 0; k < BANDS; k++) {
            (void)scols_table_new_column(table, BAND_TITLES[k], 0, SCOLS_FL_RIGHT);
        }
        for (size_t i = 0; i < lscm_dataset_nodes(rows); i++) {
            add_line(table, rows, q, i);
        }
        (void)scols_print_table(table);
        scols_unref_table(table);
    }
    (void)printf("\n%s%s%zu row%s of x and z, seed %" PRId64 "\n",
                 a->common.out != NULL ? a->common.out : "", a->common.out != NULL ? ": " : "",
                 lscm_dataset_rows(rows), PLURAL(lscm_dataset_rows(rows)), a->seed);
    each_warning(q, print_warning, NULL);
}

/* Everything between opening the run and freeing it. */
static lscm_status sample(const arguments *a, const lscm_posterior *run, question *q,
                          lscm_error *why)
{
    lscm_dataset *rows = NULL;
    progress_bar bar;
    lscm_status status = LSCM_OK;
    for (size_t k = 0; k < a->count && status == LSCM_OK; k++) {
        status = parse_do(run, a->interventions[k], q->targets, q->values, why);
    }
    if (status == LSCM_OK) {
        status = lscm_posterior_beyond(&q->beyond, run, q->targets, q->values, why);
    }
    if (status == LSCM_OK && a->height > 0) {
        status = lscm_posterior_sample_sized(&rows, run, q->targets, q->values, (size_t)a->draws,
                                             a->height, a->width, a->seed, why);
    } else if (status == LSCM_OK) {
        status = lscm_posterior_sample(&rows, run, q->targets, q->values, (size_t)a->draws, a->seed,
                                       why);
    }
    lscm_progress progress = progress_begin(&bar, a->common.quiet);
    if (status == LSCM_OK && a->common.out != NULL) {
        status = lscm_dataset_save(rows, a->common.out, a->common.force, &progress, why);
    }
    progress_end(&bar);
    bool shown = a->common.json || !a->common.quiet;
    if (status == LSCM_OK && shown) {
        const lscm_bands bands = {q->bands[BAND_MEAN], q->bands[BAND_SD], q->bands[BAND_LOWER],
                                  q->bands[BAND_MEDIAN], q->bands[BAND_UPPER]};
        status = lscm_dataset_bands(rows, LSCM_Z, &bands, why);
    }
    if (status == LSCM_OK && shown) {
        (a->common.json ? print_json : print_table)(a, rows, q);
    }
    lscm_dataset_free(rows);
    return status;
}

int sample_run(int argc, char **argv)
{
    arguments a = {.common = {.word = {&a.run}, .missing = "name the run to sample from"},
                   .draws = 100};
    lscm_error why = {0};
    lscm_posterior *run = NULL;
    cli_parse("sample", sample_argp(), argc, argv, &a);
    lscm_status status = lscm_posterior_open(&run, a.run, &why);
    if (status == LSCM_OK) {
        size_t d = lscm_posterior_nodes(run);
        question q = {.targets = calloc(d, sizeof *q.targets),
                      .values = calloc(d, (1 + BANDS) * sizeof *q.values)};
        for (size_t k = 0; k < BANDS && q.values != NULL; k++) {
            q.bands[k] = q.values + (k + 1) * d;
        }
        status = q.targets != NULL && q.values != NULL
                     ? sample(&a, run, &q, &why)
                     : cli_explain(&why, LSCM_MEMORY, "out of memory");
        free(q.targets);
        free(q.values);
        lscm_text_free(q.beyond);
    }
    free((void *)a.interventions);
    lscm_posterior_free(run);
    return status == LSCM_OK ? EXIT_DONE : cli_fail(&why);
}
