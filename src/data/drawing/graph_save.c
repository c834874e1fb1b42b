/* lscm_dataset_save_graph: the true graph of a data set, by the ending of the name. An edge j -> i
 * where w[j][i] is not 0, known for certain: probability 1, mean w, sd 0.
 */
#include "base/output.h"
#include "data/drawing/drawing.h"
#include "data/drawing/graph_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct true_graph {
    graph_file graph;
    lscm_edge *edges; /* (d * d) */
} true_graph;

static lscm_status read_graph(const lscm_dataset *data, true_graph *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    double *w = NULL; /* (d, d) */
    if (!data->shape[LSCM_W].present) {
        return fail(why, LSCM_MISSING, "%s: there is no true graph 'w'; give one with --truth",
                    data->path);
    }
    w = malloc(d * d * sizeof *w);
    out->edges = malloc(d * d * sizeof *out->edges);
    if (w == NULL || out->edges == NULL) {
        status = fail_memory(why, d * d * (sizeof *w + sizeof *out->edges));
        goto done;
    }
    TRY(lscm_dataset_read(data, LSCM_W, 0, d, w, why));
    out->graph = (graph_file){.nodes = d, .names = data->node_names, .edges = out->edges};
    for (size_t k = 0; k < d * d; k++) {
        if (w[k] != 0) {
            out->edges[out->graph.count++] = (lscm_edge){.from = k / d,
                                                         .to = k % d,
                                                         .probability = 1,
                                                         .mean = w[k],
                                                         .q05 = w[k],
                                                         .q95 = w[k]};
        }
    }
done:
    free(w);
    return status;
}

static lscm_status save_graphml(const lscm_dataset *data, const char *to, const char *what,
                                lscm_error *why)
{
    true_graph truth = {0};
    lscm_status status = read_graph(data, &truth, why);
    if (status == LSCM_OK) {
        status = graphml_write(&truth.graph, to, what, why);
    }
    free(truth.edges);
    return status;
}

/* Adds order and recipe to the graph, sigma to the nodes, those that there are. */
static lscm_status add_truth(json_t *object, const lscm_dataset *data, const graph_file *graph,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    json_t *about = json_object_get(object, "graph");
    json_t *order = json_array();
    double *numbers = malloc(d * sizeof *numbers);
    if (order == NULL || numbers == NULL) {
        status = fail_memory(why, d * sizeof *numbers);
        goto done;
    }
    (void)json_object_set_new(about, "kind", json_string("truth"));
    if (data->shape[LSCM_ORDER].present) {
        TRY(lscm_dataset_read(data, LSCM_ORDER, 0, d, numbers, why));
        for (size_t k = 0; k < d; k++) {
            (void)json_array_append_new(order, graph_json_id(graph, (size_t)numbers[k]));
        }
        (void)json_object_set(about, "order", order);
    }
    if (data->shape[LSCM_SIGMA].present) {
        TRY(lscm_dataset_read(data, LSCM_SIGMA, 0, d, numbers, why));
        for (size_t i = 0; i < d; i++) {
            json_t *node = json_array_get(json_object_get(object, "nodes"), i);
            (void)json_object_set_new(node, "sigma", json_real(numbers[i]));
        }
    }
    if (lscm_dataset_recipe(data) != NULL) {
        json_t *recipe = json_loads(lscm_dataset_recipe(data), 0, NULL);
        (void)json_object_set_new(about, "recipe", recipe);
    }
done:
    free(numbers);
    json_decref(order);
    return status;
}

static lscm_status save_json(const lscm_dataset *data, const char *to, const char *what,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    true_graph truth = {0};
    json_t *object = NULL;
    TRY(read_graph(data, &truth, why));
    object = graph_json(&truth.graph);
    TRY(add_truth(object, data, &truth.graph, why));
    status = graph_json_write(object, to, what, why); /* takes it */
    object = NULL;
done:
    json_decref(object);
    free(truth.edges);
    return status;
}

static lscm_status save_dot(const lscm_dataset *data, const char *to, const char *what,
                            lscm_error *why)
{
    (void)what;
    return dot_write(data, to, why);
}

lscm_status lscm_dataset_save_graph(const lscm_dataset *data, const char *path, bool force,
                                    lscm_error *why)
{
    static const struct {
        const char *ending;
        lscm_status (*write)(const lscm_dataset *data, const char *to, const char *what,
                             lscm_error *why);
    } formats[] = {{".dot", save_dot}, {".graphml", save_graphml}, {".json", save_json}};
    lscm_status status = LSCM_OK;
    output out = {0};
    char what[512];
    const char *ending = strrchr(path, '.');
    size_t format = 0;
    while (format < 3 && (ending == NULL || strcasecmp(ending, formats[format].ending) != 0)) {
        format++;
    }
    if (format == 3) {
        return fail(why, LSCM_USAGE, "%s: a graph goes to .dot, .graphml or .json", path);
    }
    (void)snprintf(what, sizeof what, "writing %s", path);
    TRY(output_begin(&out, path, false, force, why));
    TRY(formats[format].write(data, out.temporary, what, why));
    TRY(output_commit(&out, why));
done:
    output_end(&out);
    return status;
}
