#include "commands/fit_report.h"

#include <jansson.h>
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EDGES = 12, MOST_NODES = 12, WORST_NODES = 8 };

/* ---- Edges ---- */

static bool is_undirected(const lscm_posterior *posterior, size_t place)
{
    return lscm_posterior_undirected(posterior)[place] != 0;
}

/* Of the edge at that place of edge_prob; of one without a direction, both ways, at its first. */
static double shown(const lscm_posterior *posterior, size_t place)
{
    const double *p = lscm_posterior_edge_prob(posterior);
    size_t d = lscm_posterior_nodes(posterior);
    if (!is_undirected(posterior, place)) {
        return p[place];
    }
    return place / d < place % d ? fmin(p[place] + p[place % d * d + place / d], 1) : 0;
}

size_t likely_edges(const lscm_posterior *posterior, size_t *out, size_t most)
{
    size_t d = lscm_posterior_nodes(posterior);
    size_t count = 0;
    for (size_t k = 0; k < d * d; k++) {
        double p = shown(posterior, k);
        if (!(p > 0.5)) {
            continue;
        }
        size_t kept = count < most ? count : most; /* insertion: `most` is small */
        size_t place = kept;
        while (place > 0 && shown(posterior, out[place - 1]) < p) {
            place--;
        }
        size_t end = kept < most ? kept : most - 1;
        for (size_t i = end; most > 0 && i > place; i--) {
            out[i] = out[i - 1];
        }
        if (place < most) {
            out[place] = k;
        }
        count++;
    }
    return count;
}

static size_t likely_causes(const lscm_posterior *posterior, size_t node)
{
    const double *p = lscm_posterior_edge_prob(posterior);
    size_t d = lscm_posterior_nodes(posterior);
    size_t count = 0;
    for (size_t j = 0; j < d; j++) {
        bool cause = p[j * d + node] > 0.5 && !is_undirected(posterior, j * d + node);
        count += cause ? 1 : 0;
    }
    return count;
}

/* The name of a node, or its number: also its key in the summary. */
static const char *label(const lscm_posterior *posterior, size_t node, char *room, size_t size)
{
    const char *name = lscm_posterior_node_name(posterior, node);
    if (name != NULL) {
        return name;
    }
    (void)snprintf(room, size, "%zu", node);
    return room;
}

/* The likeliest, on one line. */
static void print_edges(const lscm_posterior *posterior)
{
    char room[32];
    size_t edges[MOST_EDGES];
    size_t d = lscm_posterior_nodes(posterior);
    size_t count = likely_edges(posterior, edges, MOST_EDGES);
    for (size_t k = 0; k < count && k < MOST_EDGES; k++) {
        (void)printf("%s%s%s", k == 0 ? "likely edges: " : ", ",
                     label(posterior, edges[k] / d, room, sizeof room),
                     is_undirected(posterior, edges[k]) ? " -- " : "->");
        (void)printf("%s %.2f", label(posterior, edges[k] % d, room, sizeof room),
                     shown(posterior, edges[k]));
    }
    if (count > MOST_EDGES) {
        (void)printf(", and %zu more", count - MOST_EDGES);
    }
    (void)printf("%s", count > 0 ? "\n" : "");
}

/* ---- What was done ---- */

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* "noise: not normal at a (Student, 3.0 degrees of freedom), b (10% of rows 3.0 times as wide)" */
static void print_noise(const json_t *summary)
{
    json_t *laws = json_object_get(summary, "noise_laws");
    const char *name = NULL;
    json_t *own = NULL;
    size_t shown = 0;
    json_object_foreach(laws, name, own)
    {
        if (shown == MOST_EDGES) {
            (void)printf(", and %zu more", json_object_size(laws) - shown);
            break;
        }
        (void)printf("%s%s ", shown++ > 0 ? ", " : "noise: not normal at ", name);
        if (strcmp(text(own, "law"), "student") == 0) {
            (void)printf("(Student, %.1f degrees of freedom)", number(own, "dof"));
        } else {
            (void)printf("(%.0f%% of rows %.1f times as wide)", 100 * number(own, "share"),
                         number(own, "ratio"));
        }
    }
    (void)printf("%s", shown > 0 ? "\n" : "");
}

static void print_method(const lscm_posterior *posterior, const json_t *summary, const char *folder)
{
    size_t edges = likely_edges(posterior, NULL, 0);
    size_t nodes = lscm_posterior_nodes(posterior);
    const char *reason = text(summary, "reason");
    const char *sampler = text(summary, "sampler");
    (void)printf("%s: method %s, decoder %s; %zu edge%s over 1/2 between %zu node%s", folder,
                 text(summary, "method"), text(summary, "decoder"), edges, PLURAL(edges), nodes,
                 PLURAL(nodes));
    if (json_object_get(summary, "bound") != NULL) {
        (void)printf("; bound %.1f", number(summary, "bound"));
    }
    (void)printf(" (%.1f s)\n", number(json_object_get(summary, "seconds"), "total"));
    if (reason != NULL) {
        (void)printf("why: %s\n", reason);
    }
    if (text(summary, "device") != NULL) {
        const char *without = text(summary, "device_reason");
        (void)printf("device: %s%s%s%s\n", text(summary, "device"), without != NULL ? " (" : "",
                     without != NULL ? without : "", without != NULL ? ")" : "");
    }
    if (number(summary, "missing") > 0) {
        (void)printf(
            "missing: %.0f of the entries of x, taken as missing at random and drawn with the "
            "rest\n",
            number(summary, "missing"));
    }
    print_noise(summary);
    if (sampler == NULL) {
        return;
    }
    (void)printf("%zu draws: ", lscm_posterior_draws(posterior));
    if (strcmp(sampler, "exact") == 0) {
        (void)printf("exact, independent\n");
    } else if (strcmp(sampler, "mcmc") == 0) {
        (void)printf("graphs sampled by MCMC, R-hat %.2f, effective number %.0f\n",
                     number(summary, "r_hat"), number(summary, "ess"));
    } else {
        (void)printf("%s, causal variables, graph and weights sampled together\n", sampler);
    }
}

/* ---- What held-out interventions say ---- */

/* "0.93", or "-" where there is no such number. */
static void add_cell(struct libscols_line *line, size_t column, const json_t *value,
                     const char *format, double scale)
{
    char cell[32] = "-";
    if (json_is_number(value)) {
        double shown = scale * json_number_value(value);
        (void)snprintf(cell, sizeof cell, format, fabs(shown) < 0.005 ? 0 : shown); /* not -0.00 */
    }
    (void)scols_line_set_data(line, column, cell);
}

static void add_node(struct libscols_table *table, const lscm_posterior *posterior, size_t node,
                     const json_t *held_out, const json_t *anchors)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    char cell[32];
    if (line == NULL) {
        return;
    }
    const char *name = label(posterior, node, cell, sizeof cell);
    const json_t *r2 = json_object_get(json_object_get(held_out, "r2"), name);
    const json_t *inside = json_object_get(json_object_get(held_out, "coverage_90"), name);
    const json_t *anchor = json_object_get(anchors, name);
    (void)scols_line_set_data(line, 0, name);
    add_cell(line, 2, r2, "%.2f", 1);
    add_cell(line, 3, inside, "%.0f%%", 100);
    if (anchors != NULL) {
        add_cell(line, 4, json_object_get(anchor, "r2"), "%.3f", 1);
    }
    (void)snprintf(cell, sizeof cell, "%zu", likely_causes(posterior, node));
    (void)scols_line_set_data(line, 1, cell);
}

typedef struct rated {
    size_t node;
    double r2;
} rated;

static int by_r2(const void *a, const void *b)
{
    const rated *x = a;
    const rated *y = b;
    if (x->r2 != y->r2) {
        return x->r2 < y->r2 ? -1 : 1;
    }
    return x->node < y->node ? -1 : x->node > y->node;
}

/* The nodes to show (d): all when they are few, else those with causes that are predicted worst. */
static size_t choose_nodes(const lscm_posterior *posterior, const json_t *r2, rated *out)
{
    size_t d = lscm_posterior_nodes(posterior);
    size_t count = 0;
    for (size_t i = 0; i < d; i++) {
        char room[32];
        const json_t *own = json_object_get(r2, label(posterior, i, room, sizeof room));
        if (d <= MOST_NODES || (likely_causes(posterior, i) > 0 && json_is_number(own))) {
            out[count++] = (rated){i, json_number_value(own)};
        }
    }
    if (d > MOST_NODES) {
        qsort(out, count, sizeof *out, by_r2);
        count = count < WORST_NODES ? count : WORST_NODES;
    }
    return count;
}

static void print_nodes(const lscm_posterior *posterior, const json_t *held_out,
                        const json_t *anchors)
{
    size_t d = lscm_posterior_nodes(posterior);
    struct libscols_table *table = scols_new_table();
    rated *nodes = calloc(d, sizeof *nodes);
    if (table == NULL || nodes == NULL) {
        goto done;
    }
    (void)scols_table_new_column(table, "node", 0, 0);
    (void)scols_table_new_column(table, "causes", 0, SCOLS_FL_RIGHT);
    (void)scols_table_new_column(table, "R2 under do", 0, SCOLS_FL_RIGHT);
    (void)scols_table_new_column(table, "in 90% interval", 0, SCOLS_FL_RIGHT);
    if (anchors != NULL) {
        (void)scols_table_new_column(table, "R2 of anchor", 0, SCOLS_FL_RIGHT);
    }
    size_t count = choose_nodes(posterior, json_object_get(held_out, "r2"), nodes);
    for (size_t k = 0; k < count; k++) {
        add_node(table, posterior, nodes[k].node, held_out, anchors);
    }
    if (count < d && count > 0) {
        (void)printf("of the nodes with causes, those predicted worst:\n");
    }
    if (count > 0) {
        (void)scols_print_table(table);
    }
done:
    free(nodes);
    scols_unref_table(table);
}

static void print_judgement(const lscm_posterior *posterior, const json_t *summary)
{
    const json_t *held_out = json_object_get(summary, "held_out");
    if (held_out == NULL) {
        return;
    }
    if (number(held_out, "sets") > 0) {
        (void)printf("judged on %.0f intervention set%s held out", number(held_out, "sets"),
                     number(held_out, "sets") > 1 ? "s" : "");
    } else {
        (void)printf("judged on rows held out of every set");
    }
    (void)printf(" (%.0f rows): log likelihood %.2f a row, %.2f without edges\n",
                 number(held_out, "rows"), number(held_out, "log_likelihood"),
                 number(held_out, "log_likelihood_without_edges"));
    print_nodes(posterior, held_out, json_object_get(summary, "anchors"));
}

/* How well effects of targets that were left out whole are predicted, beside those who know no
 * graph. */
static void print_left_out(const json_t *summary)
{
    static const struct {
        const char *key, *title;
    } ways[] = {{"model", "this fit"},
                {"no_edges", "no edges"},
                {"mean_of_others", "mean of the other interventions"},
                {"correlation", "correlation"}};
    const json_t *left_out = json_object_get(summary, "left_out_targets");
    struct libscols_table *table = scols_new_table();
    if (left_out == NULL || table == NULL) {
        scols_unref_table(table);
        return;
    }
    const char *reading = text(left_out, "reading");
    bool kept = reading != NULL && strcmp(reading, "all rows") == 0;
    (void)printf("left out whole, %.0f of %.0f targets: their effects on other nodes (%.0f pairs) "
                 "as predicted%s by\n",
                 number(left_out, "targets"), number(left_out, "of"), number(left_out, "pairs"),
                 kept ? ", z read off as by all rows," : "");
    (void)scols_table_new_column(table, "way", 0, 0);
    (void)scols_table_new_column(table, "R2", 0, SCOLS_FL_RIGHT);
    (void)scols_table_new_column(table, "Spearman", 0, SCOLS_FL_RIGHT);
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        struct libscols_line *line = scols_table_new_line(table, NULL);
        const json_t *own = json_object_get(left_out, ways[k].key);
        if (line != NULL) {
            (void)scols_line_set_data(line, 0, ways[k].title);
            add_cell(line, 1, json_object_get(own, "r2"), "%.2f", 1);
            add_cell(line, 2, json_object_get(own, "spearman"), "%.2f", 1);
        }
    }
    (void)scols_print_table(table);
    scols_unref_table(table);
}

/* Anchors that are not bad enough for a warning. */
static void print_weak_anchors(const lscm_posterior *posterior, const json_t *summary)
{
    const json_t *anchors = json_object_get(summary, "anchors");
    size_t shown = 0;
    for (size_t i = 0; i < lscm_posterior_nodes(posterior) && shown < MOST_EDGES; i++) {
        char room[32];
        const char *name = label(posterior, i, room, sizeof room);
        const json_t *anchor = json_object_get(anchors, name);
        const json_t *r2 = json_object_get(anchor, "r2");
        if (json_is_number(r2) && json_number_value(r2) < 0.9 && text(anchor, "anchor") != NULL &&
            strcmp(text(anchor, "anchor"), "none") != 0) {
            (void)printf("%s%s (%.0f rows, R2 %.2f)",
                         shown++ > 0 ? ", " : "weakly anchored: ", name, number(anchor, "samples"),
                         json_number_value(r2));
        }
    }
    (void)printf("%s", shown > 0 ? "\n" : "");
}

/* ---- For scripts ---- */

/* The pairs whose edge has a probability, the likeliest first; NULL: no memory. */
static json_t *edges_json(const lscm_posterior *posterior)
{
    lscm_edge *edges = NULL;
    size_t count = 0;
    lscm_error why;
    if (lscm_posterior_edges(&edges, &count, posterior, &why) != LSCM_OK) {
        return NULL;
    }
    json_t *list = json_array();
    for (size_t k = 0; k < count && edges[k].probability > 0; k++) {
        char parent[32], child[32];
        const lscm_edge *e = &edges[k];
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:f, s:f, s:f, s:f}", "parent",
                            label(posterior, e->from, parent, sizeof parent), "child",
                            label(posterior, e->to, child, sizeof child), "probability",
                            e->probability, "mean", e->mean, "q05", e->q05, "q95", e->q95));
    }
    lscm_edges_free(edges);
    return list;
}

/* The summary, where the run is, and its edges, on one line. */
static void print_json(const lscm_posterior *posterior, json_t *summary, const char *folder,
                       const char *note)
{
    (void)json_object_set_new(summary, "run", json_string(folder));
    (void)json_object_set_new(summary, "edges", edges_json(posterior));
    if (note != NULL) {
        (void)json_object_set_new(summary, "note", json_string(note));
    }
    (void)json_dumpf(summary, stdout, JSON_COMPACT);
    (void)printf("\n");
}

void print_fit(const lscm_posterior *posterior, const char *folder, const char *note, bool json)
{
    json_t *summary = json_loads(lscm_posterior_summary(posterior), 0, NULL);
    if (json) {
        print_json(posterior, summary, folder, note);
    } else {
        const json_t *warnings = json_object_get(summary, "warnings");
        print_method(posterior, summary, folder);
        print_edges(posterior);
        print_judgement(posterior, summary);
        print_left_out(summary);
        print_weak_anchors(posterior, summary);
        for (size_t i = 0; i < json_array_size(warnings); i++) {
            (void)printf("warning: %s\n", json_string_value(json_array_get(warnings, i)));
        }
    }
    json_decref(summary);
}
