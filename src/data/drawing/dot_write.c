/* Edges have the colour of their weight's sign (blue and orange, told apart by everyone), and the
 * weight as their label. The true graph: an edge j -> i where w[j][i] is not 0, of width |w| / max
 * |w|; a graph of zeros and ones has plain edges.
 */
#include "data/drawing/dot.h"

#include "data/drawing/drawing.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char STYLE[] =
    "    rankdir=TB; bgcolor=\"white\"; nodesep=0.35; ranksep=0.55;\n"
    "    node [shape=box, style=\"rounded,filled\", fillcolor=\"#f4f6f8\", color=\"#8a94a0\",\n"
    "          fontname=\"Helvetica\", fontsize=12, fontcolor=\"#1f2933\", height=0.36,\n"
    "          margin=\"0.14,0.06\"];\n"
    "    edge [fontname=\"Helvetica\", fontsize=10, color=\"#52606d\", fontcolor=\"#52606d\",\n"
    "          arrowsize=0.7];\n";

/* Inside a DOT string \ and " are special, and in a label & begins an entity. */
static void put_label(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            (void)fprintf(file, "\\%c", *text);
        } else if (*text == '&') {
            (void)fputs("&amp;", file);
        } else if (*text == '\n') {
            (void)fputs("\\n", file);
        } else {
            (void)putc(*text, file);
        }
    }
}

static void put_nodes(FILE *file, const dot_graph *graph)
{
    for (size_t i = 0; i < graph->nodes; i++) {
        if (graph->names != NULL) {
            (void)fprintf(file, "    n%zu [label=\"", i);
            put_label(file, graph->names[i]);
            (void)fputs("\"];\n", file);
        } else {
            (void)fprintf(file, "    n%zu [label=\"%zu\"];\n", i, i);
        }
    }
}

/* Hundredths as integers: the same text in every locale. */
static void put_weight(FILE *file, double w)
{
    double size = fabs(w);
    if (size >= 0.005 && size < 1e9) {
        long long hundredths = llround(100 * size);
        (void)fprintf(file, "%s%lld.%02lld", w < 0 ? "-" : "", hundredths / 100, hundredths % 100);
    } else {
        (void)fprintf(file, "%.0e", w);
    }
}

static void put_edges(FILE *file, const dot_graph *graph)
{
    for (size_t k = 0; k < graph->count; k++) {
        const dot_edge *edge = &graph->edges[k];
        (void)fprintf(file, "    n%zu -> n%zu", edge->from, edge->to);
        if (!graph->plain) {
            const char *colour = edge->weight > 0 ? "#0072b2" : "#d55e00";
            long long width = llround(100 * (0.6 + 2.4 * edge->width));
            (void)fprintf(file, " [color=\"%s\", fontcolor=\"%s\", penwidth=%lld.%02lld", colour,
                          colour, width / 100, width % 100);
            (void)fputs(", label=\" ", file);
            put_weight(file, edge->weight);
            (void)fprintf(file, "\"%s]", edge->undirected ? ", dir=none" : "");
        }
        (void)fputs(";\n", file);
    }
}

lscm_status dot_write_graph(const dot_graph *graph, const char *to, const char *what,
                            lscm_error *why)
{
    FILE *file = fopen(to, "wb");
    if (file == NULL) {
        return fail(why, LSCM_WRITE, "%s: %s", what, strerror(errno));
    }
    (void)fputs("digraph lscm {\n", file);
    (void)fputs(STYLE, file);
    put_nodes(file, graph);
    put_edges(file, graph);
    (void)fputs("}\n", file);
    bool bad = ferror(file) != 0;
    bad = fclose(file) != 0 || bad;
    return bad ? fail(why, LSCM_WRITE, "%s: %s", what, strerror(errno)) : LSCM_OK;
}

/* The edges of w (d, d) into graph->edges, which has room for d * d. */
static void list_edges(const double *w, size_t d, dot_graph *graph, dot_edge *edges)
{
    double largest = 0;
    graph->plain = true; /* zeros and ones only */
    for (size_t k = 0; k < d * d; k++) {
        largest = fmax(largest, fabs(w[k]));
        graph->plain = graph->plain && (w[k] == 0 || w[k] == 1);
    }
    for (size_t k = 0; k < d * d; k++) {
        if (w[k] != 0) {
            edges[graph->count++] = (dot_edge){k / d, k % d, w[k], fabs(w[k]) / largest, false};
        }
    }
    graph->edges = edges;
}

lscm_status dot_write(const lscm_dataset *data, const char *to, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    dot_graph graph = {.nodes = d, .names = data->node_names};
    dot_edge *edges = NULL;
    double *w = NULL; /* (d, d) */
    char what[512];
    if (!data->shape[LSCM_W].present) {
        return fail(why, LSCM_MISSING,
                    "%s: there is no true graph 'w' to draw; give one with --truth", data->path);
    }
    w = malloc(d * d * sizeof *w);
    edges = malloc(d * d * sizeof *edges);
    if (w == NULL || edges == NULL) {
        status = fail_memory(why, d * d * (sizeof *w + sizeof *edges));
        goto done;
    }
    TRY(lscm_dataset_read(data, LSCM_W, 0, d, w, why));
    list_edges(w, d, &graph, edges);
    (void)snprintf(what, sizeof what, "drawing the graph of %s", data->path);
    TRY(dot_write_graph(&graph, to, what, why));
done:
    free(edges);
    free(w);
    return status;
}
