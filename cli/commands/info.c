/* lscm info FILE: what a data file holds, after one pass that checks every row. */
#include "commands/info_device.h"
#include "commands/info_folder.h"
#include "common/files.h"

#include <jansson.h>
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const FIELDS[LSCM_FIELDS] = {"x", "targets", "values", "z",
                                                "w", "sigma",   "order"};
static const char *const MEANINGS[LSCM_FIELDS] = {
    "what was seen",     "1 where do() acted",   "what do() set",           "true causal variables",
    "true edge weights", "true sd of the noise", "true order, causes first"};

typedef struct arguments {
    file_arguments file;
    bool device;
} arguments;

enum { OPTION_DEVICE = 'd' };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *a = state->input;
    if (key == OPTION_DEVICE) {
        a->device = true;
        return 0;
    }
    if (a->device && key == ARGP_KEY_END) {
        if (a->file.in != NULL) {
            argp_error(state, "--device is about this machine; leave '%s' out", a->file.in);
        }
        return 0;
    }
    return common_parse(key, argument, &a->file.common, state) ||
                   open_parse(key, argument, &a->file.open)
               ? 0
               : ARGP_ERR_UNKNOWN;
}

const struct argp *info_argp(void)
{
    static const struct argp_option options[] = {
        {"device", OPTION_DEVICE, NULL, 0,
         "What this machine has to compute on: the CPU and CUDA devices, or why there are none", 1},
        OPEN_ALL,
        COMMON_LAST};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "FILE|RUN",
        .doc = "Show what a data file holds: shapes, types, interventions, the true model when it "
               "is known, and how it was made. Every row is checked on the way; a broken file is "
               "named with the place of the first fault. Of a run folder: what was found and how "
               "well, what it was fitted to and with which settings, and its files.\v"
               "Examples:\n"
               "  lscm info data.nc\n"
               "  lscm info data.npz --json\n"
               "  lscm info data.run\n"
               "  lscm info --device\n"
               "  lscm info chamber.csv --ignore soft,env\n"
               "  lscm info screen.tsv --target-column condition --control DMSO",
    };
    return &argp;
}

/* "2500 x 100" */
static void shape_text(const lscm_shape *shape, char *out, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < shape->ndim && used < size; i++) {
        used +=
            (size_t)snprintf(out + used, size - used, "%s%zu", i > 0 ? " x " : "", shape->dims[i]);
    }
}

static void node_label(const lscm_dataset *data, size_t node, char *out, size_t size)
{
    const char *name = lscm_dataset_node_name(data, node);
    if (name != NULL) {
        (void)snprintf(out, size, "%s", name);
    } else {
        (void)snprintf(out, size, "%zu", node);
    }
}

static void add_row(struct libscols_table *table, const char *const *cells, size_t count)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    for (size_t i = 0; i < count && line != NULL; i++) {
        (void)scols_line_set_data(line, i, cells[i]);
    }
}

static void print_fields(const lscm_dataset *data)
{
    struct libscols_table *table = scols_new_table();
    if (table == NULL) {
        return;
    }
    (void)scols_table_new_column(table, "array", 0, 0);
    (void)scols_table_new_column(table, "shape", 0, 0);
    (void)scols_table_new_column(table, "type", 0, 0);
    (void)scols_table_new_column(table, "meaning", 0, 0);
    for (int field = 0; field < LSCM_FIELDS; field++) {
        char text[96];
        lscm_shape shape = lscm_dataset_shape(data, (lscm_field)field);
        if (shape.present) {
            shape_text(&shape, text, sizeof text);
            const char *cells[] = {FIELDS[field], text, shape.dtype, MEANINGS[field]};
            add_row(table, cells, 4);
        }
    }
    (void)scols_print_table(table);
    scols_unref_table(table);
}

static void print_targets(const lscm_dataset *data, const lscm_overview *o)
{
    size_t d = lscm_dataset_nodes(data);
    size_t most = d < 20 ? d : 20;
    (void)printf("\n%zu row%s without intervention; %zu distinct target set%s. Rows per target:\n ",
                 o->observational, PLURAL(o->observational), o->sets, PLURAL(o->sets));
    for (size_t i = 0; i < most; i++) {
        char label[64];
        node_label(data, i, label, sizeof label);
        (void)printf(" %s:%zu", label, o->per_node[i]);
    }
    (void)printf(most < d ? " ... (%zu more)\n" : "\n", d - most);
    for (size_t i = 0, shown = 0; i < d && shown < 5; i++) {
        if (o->per_node[i] == 0) {
            char label[64];
            node_label(data, i, label, sizeof label);
            (void)printf("  node %s is never intervened on\n", label);
            shown++;
        }
    }
}

/* The edges in causal order, as many as are pleasant to read. */
static void print_truth(const lscm_dataset *data)
{
    size_t d = lscm_dataset_nodes(data);
    size_t edges = 0;
    double *w = malloc(d * d * sizeof *w);
    if (w != NULL && lscm_dataset_shape(data, LSCM_W).present &&
        lscm_dataset_read(data, LSCM_W, 0, d, w, NULL) == LSCM_OK) {
        for (size_t i = 0; i < d * d; i++) {
            edges += w[i] != 0 ? 1 : 0;
        }
        (void)printf("\nTrue graph, %zu edge%s:", edges, PLURAL(edges));
        for (size_t i = 0, shown = 0; i < d * d && shown < 30; i++) {
            if (w[i] != 0) {
                char from[64];
                char to[64];
                node_label(data, i / d, from, sizeof from);
                node_label(data, i % d, to, sizeof to);
                (void)printf("%s%s->%s %.2f", shown % 6 == 0 ? "\n  " : "  ", from, to, w[i]);
                shown++;
            }
        }
        (void)printf(edges > 30 ? "  ... (%zu more)\n" : "\n", edges - 30);
    }
    free(w);
}

static void print_recipe(const lscm_dataset *data)
{
    json_t *recipe =
        lscm_dataset_recipe(data) != NULL ? json_loads(lscm_dataset_recipe(data), 0, NULL) : NULL;
    const char *key = NULL;
    json_t *value = NULL;
    size_t column = 0;
    if (recipe == NULL) {
        return;
    }
    (void)printf("\nRecipe:");
    json_object_foreach(recipe, key, value)
    {
        char *text = json_is_string(value)
                         ? NULL
                         : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        int width = (int)(strlen(key) + 1 + strlen(text != NULL ? text : json_string_value(value)));
        column = column == 0 || column + (size_t)width + 2 > 90 ? 0 : column;
        (void)printf("%s%s=%s", column == 0 ? "\n  " : "  ", key,
                     text != NULL ? text : json_string_value(value));
        column += (size_t)width + 2;
        free(text);
    }
    (void)printf("\n");
    json_decref(recipe);
}

static void print_text(const file_arguments *a, const lscm_dataset *data, const lscm_overview *o)
{
    size_t rows = lscm_dataset_rows(data);
    size_t nodes = lscm_dataset_nodes(data);
    size_t features = lscm_dataset_features(data);
    (void)printf("%s: %s, %zu row%s, %zu node%s, %zu feature%s; every row checked\n\n", a->in,
                 lscm_dataset_format(data), rows, PLURAL(rows), nodes, PLURAL(nodes), features,
                 PLURAL(features));
    if (lscm_dataset_note(data) != NULL) {
        (void)printf("note: %s\n\n", lscm_dataset_note(data));
    }
    print_fields(data);
    if (o->missing == rows * features) {
        (void)printf("\nx holds no number: all its %zu entries are missing (NaN)\n", o->missing);
    } else {
        (void)printf("\nx lies in [%.6g, %.6g], mean %.6g, sd %.6g\n", o->x_min, o->x_max,
                     o->x_mean, o->x_sd);
    }
    if (o->missing > 0 && o->missing < rows * features) {
        (void)printf("%zu entr%s of x (%.3g%%) %s missing\n", o->missing,
                     o->missing == 1 ? "y" : "ies",
                     100 * (double)o->missing / ((double)rows * (double)features),
                     o->missing == 1 ? "is" : "are");
    }
    print_targets(data, o);
    print_truth(data);
    print_recipe(data);
}

static json_t *json_names(const lscm_dataset *data)
{
    json_t *names = json_array();
    for (size_t i = 0; i < lscm_dataset_nodes(data); i++) {
        char label[64];
        node_label(data, i, label, sizeof label);
        (void)json_array_append_new(names, json_string(label));
    }
    return names;
}

/* JSON knows no NaN (x without a number) and no infinity (an sd beyond what a double holds). */
static json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void print_json(const file_arguments *a, const lscm_dataset *data, const lscm_overview *o)
{
    json_t *arrays = json_object();
    json_t *per_node = json_array();
    for (int field = 0; field < LSCM_FIELDS; field++) {
        lscm_shape shape = lscm_dataset_shape(data, (lscm_field)field);
        if (shape.present) {
            json_t *dims = json_array();
            for (int i = 0; i < shape.ndim; i++) {
                (void)json_array_append_new(dims, json_integer((json_int_t)shape.dims[i]));
            }
            (void)json_object_set_new(arrays, FIELDS[field],
                                      json_pack("{s:o, s:s}", "shape", dims, "dtype", shape.dtype));
        }
    }
    for (size_t i = 0; i < lscm_dataset_nodes(data); i++) {
        (void)json_array_append_new(per_node, json_integer((json_int_t)o->per_node[i]));
    }
    json_t *recipe = lscm_dataset_recipe(data) != NULL
                         ? json_loads(lscm_dataset_recipe(data), 0, NULL)
                         : json_null();
    json_t *all = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:s*}",
        "file", a->in, "format", lscm_dataset_format(data), "rows",
        (json_int_t)lscm_dataset_rows(data), "nodes", (json_int_t)lscm_dataset_nodes(data),
        "features", (json_int_t)lscm_dataset_features(data), "names", json_names(data), "arrays",
        arrays, "x_min", json_number(o->x_min), "x_max", json_number(o->x_max), "x_mean",
        json_number(o->x_mean), "x_sd", json_number(o->x_sd), "missing", (json_int_t)o->missing,
        "observational", (json_int_t)o->observational, "target_sets", (json_int_t)o->sets,
        "rows_per_target", per_node, "recipe", recipe, "note", lscm_dataset_note(data));
    if (all != NULL) {
        (void)json_dumpf(all, stdout, 0);
        (void)printf("\n");
    }
    json_decref(all);
}

int info_run(int argc, char **argv)
{
    arguments all = {0};
    file_arguments *a = &all.file;
    a->common = (common_options){.word = {&a->in}, .missing = "name the file or run to look at"};
    lscm_error why = {0};
    lscm_dataset *data = NULL;
    lscm_overview overview = {0};
    progress_bar bar;
    cli_parse("info", info_argp(), argc, argv, &all);
    if (all.device) {
        return info_device(&a->common);
    }
    if (is_run(a->in)) {
        return info_folder(a->in, &a->common);
    }
    lscm_progress progress = progress_begin(&bar, a->common.quiet);
    lscm_status status = lscm_dataset_open(&data, a->in, &a->open, &why);
    if (status == LSCM_OK) {
        overview.per_node = calloc(lscm_dataset_nodes(data), sizeof *overview.per_node);
        status = lscm_dataset_check(data, &overview, &progress, &why);
    }
    progress_end(&bar);
    if (status == LSCM_OK && a->common.json) {
        print_json(a, data, &overview);
    } else if (status == LSCM_OK && !a->common.quiet && overview.per_node != NULL) {
        print_text(a, data, &overview);
    }
    free(overview.per_node);
    lscm_dataset_free(data);
    return status == LSCM_OK ? EXIT_DONE : cli_fail(&why);
}
