/* A posterior as node-link JSON (data/drawing/graph_file.h), with
 *
 *   graph   kind "posterior", draws, rows, features, order: the nodes by their mean position over
 *           the draws, causes first; config and summary of the run
 *   nodes   position: that mean, from 0; sigma, intercept: means over the draws
 *   edges   the pairs whose edge has a probability, the likeliest first
 *   curves  only where a mechanism bends: of the edges over 1/2, see export_edges.h
 */
#include "result/ask/export_edges.h"

#include <math.h>
#include <stdlib.h>

typedef struct placed {
    size_t node;
    double position;
} placed;

static int by_position(const void *left, const void *right)
{
    const placed *a = left;
    const placed *b = right;
    if (a->position != b->position) {
        return a->position < b->position ? -1 : 1;
    }
    return a->node < b->node ? -1 : 1;
}

/* Mean position of every node, by node. */
static void find_positions(const lscm_posterior *p, placed *out)
{
    for (size_t i = 0; i < p->d; i++) {
        out[i] = (placed){.node = i};
    }
    for (size_t s = 0; s < p->draws; s++) {
        for (size_t k = 0; k < p->d; k++) {
            out[p->order[s * p->d + k]].position += (double)k / (double)p->draws;
        }
    }
}

/* Of values (draws, d), column `node`. */
static double mean_over_draws(const lscm_posterior *p, const double *values, size_t node)
{
    double sum = 0;
    for (size_t s = 0; s < p->draws; s++) {
        sum += values[s * p->d + node];
    }
    return sum / (double)p->draws;
}

static void add_nodes(json_t *object, const lscm_posterior *p, const placed *places)
{
    json_t *nodes = json_object_get(object, "nodes");
    for (size_t i = 0; i < p->d; i++) {
        json_t *node = json_array_get(nodes, i);
        (void)json_object_set_new(node, "position", json_real(places[i].position));
        (void)json_object_set_new(node, "sigma", json_real(mean_over_draws(p, p->sigma, i)));
        (void)json_object_set_new(node, "intercept",
                                  json_real(mean_over_draws(p, p->intercept, i)));
    }
}

/* `places` is sorted on the way. */
static void add_graph(json_t *object, const lscm_posterior *p, const graph_file *graph,
                      placed *places)
{
    json_t *about = json_object_get(object, "graph");
    json_t *order = json_array();
    qsort(places, p->d, sizeof *places, by_position);
    for (size_t k = 0; k < p->d; k++) {
        (void)json_array_append_new(order, graph_json_id(graph, places[k].node));
    }
    (void)json_object_set_new(about, "kind", json_string("posterior"));
    (void)json_object_set_new(about, "draws", json_integer((json_int_t)p->draws));
    (void)json_object_set_new(about, "rows", json_integer((json_int_t)p->rows));
    (void)json_object_set_new(about, "features", json_integer((json_int_t)p->features));
    (void)json_object_set_new(about, "order", order);
    (void)json_object_set_new(about, "config", json_loads(lscm_posterior_config(p), 0, NULL));
    (void)json_object_set_new(about, "summary", json_loads(lscm_posterior_summary(p), 0, NULL));
}

static json_t *numbers(const double *values, size_t count)
{
    json_t *out = json_array();
    for (size_t k = 0; k < count; k++) { /* not a number: null */
        (void)json_array_append_new(out, isfinite(values[k]) ? json_real(values[k]) : json_null());
    }
    return out;
}

static void add_curves(json_t *object, const graph_file *graph, const export_curves *c)
{
    json_t *curves = json_array();
    for (size_t k = 0; k < c->count; k++) {
        size_t first = k * EXPORT_PLACES;
        json_t *curve = json_object();
        (void)json_object_set_new(curve, "from", graph_json_id(graph, (size_t)c->from[k]));
        (void)json_object_set_new(curve, "to", graph_json_id(graph, (size_t)c->to[k]));
        (void)json_object_set_new(curve, "at", numbers(c->at + first, EXPORT_PLACES));
        (void)json_object_set_new(curve, "low", numbers(c->low + first, EXPORT_PLACES));
        (void)json_object_set_new(curve, "mean", numbers(c->mean + first, EXPORT_PLACES));
        (void)json_object_set_new(curve, "high", numbers(c->high + first, EXPORT_PLACES));
        (void)json_object_set_new(curve, "seen", numbers(c->seen + 2 * k, 2));
        (void)json_object_set_new(curve, "bends", json_real(c->bends[k]));
        (void)json_array_append_new(curves, curve);
    }
    (void)json_object_set_new(object, "curves", curves);
}

lscm_status export_json(const lscm_posterior *p, const char *to, const char *what, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    graph_file graph = {.nodes = p->d, .names = p->node_names};
    lscm_edge *edges = NULL;
    json_t *object = NULL;
    export_curves curves = {0};
    placed *places = calloc(p->d, sizeof *places);
    if (places == NULL) {
        status = fail_memory(why, p->d * sizeof *places);
        goto done;
    }
    TRY(lscm_posterior_edges(&edges, &graph.count, p, why));
    graph.edges = edges;
    graph.count = export_edges_over(edges, graph.count, 0);
    TRY(export_curves_open(&curves, p, why));
    object = graph_json(&graph);
    find_positions(p, places);
    add_nodes(object, p, places);
    add_graph(object, p, &graph, places);
    if (curves.count > 0) {
        add_curves(object, &graph, &curves);
    }
    TRY(graph_json_write(object, to, what, why)); /* takes it */
done:
    export_curves_close(&curves);
    free(edges);
    free(places);
    return status;
}
