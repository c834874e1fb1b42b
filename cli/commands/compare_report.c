/* The tables of lscm compare, and the same as JSON. */
#include "commands/compare.h"

#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- What a run says of itself ---- */

static double number_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double seconds_of(const compared *run)
{
    return number_of(json_object_get(json_object_get(run->summary, "seconds"), "total"));
}

static double held_out(const compared *run, const char *key)
{
    return number_of(json_object_get(json_object_get(run->summary, "held_out"), key));
}

/* The mean over the nodes that have such a number. */
static double held_out_mean(const compared *run, const char *key)
{
    const json_t *nodes = json_object_get(json_object_get(run->summary, "held_out"), key);
    const char *name = NULL;
    json_t *value = NULL;
    double sum = 0;
    double count = 0;
    json_object_foreach((json_t *)(uintptr_t)nodes, name, value)
    {
        sum += json_is_number(value) ? json_number_value(value) : 0;
        count += json_is_number(value) ? 1 : 0;
    }
    return count > 0 ? sum / count : NAN;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "-";
}

/* The name of a node, or its number. */
static void label(const comparison *all, size_t node, char *out, size_t size)
{
    const char *name = NULL;
    for (size_t k = 0; k < all->count && name == NULL; k++) {
        name = lscm_posterior_node_name(all->runs[k].run, node);
    }
    if (name != NULL) {
        (void)snprintf(out, size, "%s", name);
    } else {
        (void)snprintf(out, size, "%zu", node);
    }
}

static double mean_weight(const lscm_posterior *run, size_t edge)
{
    size_t square = lscm_posterior_nodes(run) * lscm_posterior_nodes(run);
    size_t draws = lscm_posterior_draws(run);
    double sum = 0;
    for (size_t s = 0; s < draws; s++) {
        sum += lscm_posterior_weights(run)[s * square + edge];
    }
    return sum / (double)draws;
}

/* ---- Tables ---- */

static struct libscols_table *table_of_runs(const comparison *all, const char *first)
{
    struct libscols_table *table = scols_new_table();
    if (table != NULL) {
        (void)scols_table_new_column(table, first, 0, 0);
        for (size_t k = 0; k < all->count; k++) {
            (void)scols_table_new_column(table, all->runs[k].path, 0, SCOLS_FL_RIGHT);
        }
    }
    return table;
}

static struct libscols_line *new_line(struct libscols_table *table, const char *first)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    if (line != NULL) {
        (void)scols_line_set_data(line, 0, first);
    }
    return line;
}

static void set_text(struct libscols_line *line, size_t column, const char *text)
{
    if (line != NULL) {
        (void)scols_line_set_data(line, column, text);
    }
}

static void set_number(struct libscols_line *line, size_t column, const char *format, double value)
{
    char cell[32] = "-";
    if (isfinite(value)) {
        (void)snprintf(cell, sizeof cell, format, value);
    }
    set_text(line, column, cell);
}

/* A row of numbers (count), unless no run has one. */
static void add_numbers(struct libscols_table *table, const char *first, const char *format,
                        const double *values, size_t count)
{
    bool any = false;
    for (size_t k = 0; k < count; k++) {
        any = any || isfinite(values[k]);
    }
    struct libscols_line *line = any ? new_line(table, first) : NULL;
    for (size_t k = 0; any && k < count; k++) {
        set_number(line, k + 1, format, values[k]);
    }
}

static void add_facts(struct libscols_table *table, const comparison *all, double *values)
{
    struct libscols_line *method = new_line(table, "method");
    struct libscols_line *decoder = new_line(table, "decoder");
    for (size_t k = 0; k < all->count; k++) {
        set_text(method, k + 1, text_of(all->runs[k].summary, "method"));
        set_text(decoder, k + 1, text_of(all->runs[k].summary, "decoder"));
    }
#define ROW(first, format, value)                                                                  \
    do {                                                                                           \
        for (size_t k = 0; k < all->count; k++) {                                                  \
            const compared *run = &all->runs[k];                                                   \
            values[k] = (value);                                                                   \
        }                                                                                          \
        add_numbers(table, first, format, values, all->count);                                     \
    } while (0)
    ROW("seconds", "%.2f", seconds_of(run));
    ROW("draws", "%.0f", (double)lscm_posterior_draws(run->run));
    ROW("edges over 1/2", "%.0f", run->likely);
    ROW("expected edges", "%.2f", run->expected);
    ROW("own spread: expected SHD of two draws", "%.2f", run->spread.e_shd);
    ROW("held out: sets", "%.0f", held_out(run, "sets"));
    ROW("held out: log likelihood a row", "%.2f", held_out(run, "log_likelihood"));
    ROW("  the same without edges", "%.2f", held_out(run, "log_likelihood_without_edges"));
    ROW("held out: R2 under do, mean of nodes", "%.2f", held_out_mean(run, "r2"));
    ROW("held out: in 90% interval, mean", "%.2f", held_out_mean(run, "coverage_90"));
#define SCORE(name, help) ROW(#name, "%.4g", run->scores->name);
    LSCM_SCORES_TABLE(SCORE)
#undef SCORE
#undef ROW
}

static void print_facts(const comparison *all)
{
    struct libscols_table *table = table_of_runs(all, "of the run");
    double *values = calloc(all->count, sizeof *values);
    if (table != NULL && values != NULL) {
        add_facts(table, all, values);
        (void)scols_print_table(table);
    }
    free(values);
    scols_unref_table(table);
}

static void print_pairs(const comparison *all)
{
    struct libscols_table *table = scols_new_table();
    if (table == NULL) {
        return;
    }
    (void)scols_table_new_column(table, "between", 0, 0);
    (void)scols_table_new_column(table, "and", 0, 0);
    (void)scols_table_new_column(table, "expected SHD", 0, SCOLS_FL_RIGHT);
    (void)scols_table_new_column(table, "of entries", 0, SCOLS_FL_RIGHT);
    (void)scols_table_new_column(table, "largest difference", 0, SCOLS_FL_RIGHT);
    (void)scols_table_new_column(table, "correlation of mean weights", 0, SCOLS_FL_RIGHT);
    for (size_t k = 0; k < all->count; k++) {
        for (size_t l = k + 1; l < all->count; l++) {
            const lscm_distance *apart = &all->apart[k * all->count + l];
            struct libscols_line *line = new_line(table, all->runs[k].path);
            set_text(line, 1, all->runs[l].path);
            set_number(line, 2, "%.2f", apart->e_shd);
            set_number(line, 3, "%.2f", apart->e_shd_entries);
            set_number(line, 4, "%.2f", apart->largest);
            set_number(line, 5, "%.3f", apart->correlation);
        }
    }
    (void)printf("\n");
    (void)scols_print_table(table);
    scols_unref_table(table);
}

static void print_edges(const comparison *all)
{
    size_t d = lscm_posterior_nodes(all->runs[0].run);
    if (all->shown == 0) {
        (void)printf("\nNo edge to show whose probabilities differ by 0.005 or more.\n");
        return;
    }
    struct libscols_table *table = table_of_runs(all, "edge");
    if (table == NULL) {
        return;
    }
    if (all->truth != NULL) {
        (void)scols_table_new_column(table, "true weight", 0, SCOLS_FL_RIGHT);
    }
    for (size_t k = 0; k < all->shown; k++) {
        char from[256];
        char to[256];
        char edge[520];
        label(all, all->edges[k] / d, from, sizeof from);
        label(all, all->edges[k] % d, to, sizeof to);
        (void)snprintf(edge, sizeof edge, "%s->%s", from, to);
        struct libscols_line *line = new_line(table, edge);
        for (size_t r = 0; r < all->count; r++) {
            const double *p = lscm_posterior_edge_prob(all->runs[r].run);
            set_number(line, r + 1, "%.2f", p[all->edges[k]]);
        }
        if (all->truth != NULL) {
            double w = all->truth[all->edges[k]];
            set_number(line, all->count + 1, "%.2f", w != 0 ? w : NAN);
        }
    }
    (void)printf("\nProbability of the edges on which they disagree most:\n");
    (void)scols_print_table(table);
    scols_unref_table(table);
}

/* Runs of different data are not wrong to compare, but it should be known. */
static void note_data(const comparison *all)
{
    const char *first = text_of(all->runs[0].config, "data");
    for (size_t k = 1; k < all->count; k++) {
        const char *other = text_of(all->runs[k].config, "data");
        if (strcmp(first, other) != 0) {
            (void)printf("\nnote: %s was fitted to %s, %s to %s\n", all->runs[0].path, first,
                         all->runs[k].path, other);
        }
    }
}

void compare_print(const comparison *all)
{
    print_facts(all);
    print_pairs(all);
    print_edges(all);
    note_data(all);
}

/* ---- JSON ---- */

static json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *json_run(const compared *run, bool scored)
{
    const json_t *held = json_object_get(run->summary, "held_out");
    json_t *scores = json_object();
#define SCORE(name, help) (void)json_object_set_new(scores, #name, json_number(run->scores->name));
    LSCM_SCORES_TABLE(SCORE)
#undef SCORE
    json_t *out =
        json_pack("{s:s, s:s, s:s, s:s, s:o, s:I, s:I, s:o, s:{s:o, s:o}, s:O?}", "run", run->path,
                  "data", text_of(run->config, "data"), "method", text_of(run->summary, "method"),
                  "decoder", text_of(run->summary, "decoder"), "seconds",
                  json_number(seconds_of(run)), "draws", (json_int_t)lscm_posterior_draws(run->run),
                  "edges", (json_int_t)run->likely, "expected_edges", json_number(run->expected),
                  "spread", "e_shd", json_number(run->spread.e_shd), "e_shd_entries",
                  json_number(run->spread.e_shd_entries), "held_out", (json_t *)(uintptr_t)held);
    if (scored) {
        (void)json_object_set(out, "scores", scores);
    }
    json_decref(scores);
    return out;
}

static json_t *json_pair(const comparison *all, size_t k, size_t l)
{
    const lscm_distance *apart = &all->apart[k * all->count + l];
    return json_pack("{s:[s, s], s:o, s:o, s:o, s:o}", "runs", all->runs[k].path, all->runs[l].path,
                     "e_shd", json_number(apart->e_shd), "e_shd_entries",
                     json_number(apart->e_shd_entries), "largest_difference",
                     json_number(apart->largest), "weight_correlation",
                     json_number(apart->correlation));
}

static json_t *json_edge(const comparison *all, size_t edge)
{
    size_t d = lscm_posterior_nodes(all->runs[0].run);
    char from[256];
    char to[256];
    json_t *probabilities = json_array();
    json_t *means = json_array();
    label(all, edge / d, from, sizeof from);
    label(all, edge % d, to, sizeof to);
    for (size_t r = 0; r < all->count; r++) {
        const lscm_posterior *run = all->runs[r].run;
        (void)json_array_append_new(probabilities,
                                    json_number(lscm_posterior_edge_prob(run)[edge]));
        (void)json_array_append_new(means, json_number(mean_weight(run, edge)));
    }
    json_t *out = json_pack("{s:s, s:s, s:o, s:o}", "from", from, "to", to, "probability",
                            probabilities, "mean", means);
    if (all->truth != NULL) {
        (void)json_object_set_new(out, "truth", json_number(all->truth[edge]));
    }
    return out;
}

void compare_print_json(const comparison *all)
{
    json_t *runs = json_array();
    json_t *pairs = json_array();
    json_t *edges = json_array();
    for (size_t k = 0; k < all->count; k++) {
        (void)json_array_append_new(runs, json_run(&all->runs[k], all->scored));
        for (size_t l = k + 1; l < all->count; l++) {
            (void)json_array_append_new(pairs, json_pair(all, k, l));
        }
    }
    for (size_t k = 0; k < all->shown; k++) {
        (void)json_array_append_new(edges, json_edge(all, all->edges[k]));
    }
    json_t *out =
        json_pack("{s:o, s:o, s:o}", "runs", runs, "pairs", pairs, "disagreements", edges);
    (void)json_dumpf(out, stdout, JSON_REAL_PRECISION(12));
    (void)printf("\n");
    json_decref(out);
}
