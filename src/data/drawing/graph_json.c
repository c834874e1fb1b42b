/* Graphs as node-link JSON. Numbers have 12 digits: enough to plot and to filter by, and no longer
 * than they are known. */
#include "data/drawing/graph_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

json_t *graph_json_id(const graph_file *graph, size_t node)
{
    return graph->names != NULL ? json_string(graph->names[node]) : json_integer((json_int_t)node);
}

json_t *graph_json(const graph_file *graph)
{
    json_t *nodes = json_array();
    json_t *edges = json_array();
    bool whole = nodes != NULL && edges != NULL;
    for (size_t i = 0; whole && i < graph->nodes; i++) {
        json_t *node = json_pack("{s:o}", "id", graph_json_id(graph, i));
        whole = json_array_append_new(nodes, node) == 0;
    }
    for (size_t k = 0; whole && k < graph->count; k++) {
        const lscm_edge *e = &graph->edges[k];
        json_t *edge = json_pack(
            "{s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:b}", "source", graph_json_id(graph, e->from),
            "target", graph_json_id(graph, e->to), "probability", e->probability, "mean", e->mean,
            "sd", e->sd, "q05", e->q05, "q95", e->q95, "directed", e->undirected ? 0 : 1);
        whole = json_array_append_new(edges, edge) == 0;
    }
    if (!whole) {
        json_decref(nodes);
        json_decref(edges);
        return NULL;
    }
    return json_pack("{s:b, s:b, s:{}, s:o, s:o}", "directed", 1, "multigraph", 0, "graph", "nodes",
                     nodes, "edges", edges);
}

lscm_status graph_json_write(json_t *object, const char *to, const char *what, lscm_error *why)
{
    if (object == NULL) {
        return fail_memory(why, 0);
    }
    FILE *file = fopen(to, "wb");
    if (file == NULL) {
        json_decref(object);
        return fail(why, LSCM_WRITE, "%s: %s", what, strerror(errno));
    }
    bool bad = json_dumpf(object, file, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) != 0;
    bad = putc('\n', file) == EOF || bad;
    bad = fclose(file) != 0 || bad;
    json_decref(object);
    return bad ? fail(why, LSCM_WRITE, "%s: %s", what, strerror(errno)) : LSCM_OK;
}
