/* A graph for other programs, with what is known of each edge: one form for the true graph of a
 * data set (probability 1, sd 0) and for that of a posterior, so that one reader reads both. */
#ifndef LSCM_DATA_DRAWING_GRAPH_FILE_H
#define LSCM_DATA_DRAWING_GRAPH_FILE_H

#include "base/status.h"

#include <jansson.h>

typedef struct graph_file {
    size_t nodes;
    char *const *names;     /* (nodes), or NULL: numbers */
    const lscm_edge *edges; /* (count) */
    size_t count;
} graph_file;

/* GraphML: nodes n0, n1, .. with name and label; edges with probability, mean, sd, sign and
 * directed. `what` opens the sentence: "writing graph.graphml". */
lscm_status graphml_write(const graph_file *graph, const char *to, const char *what,
                          lscm_error *why);

/* JSON in the node-link form that NetworkX and D3 read, in new memory:
 *
 *     {"directed": true, "multigraph": false, "graph": {}, "nodes": [{"id": ..}, ..],
 *      "edges": [{"source": .., "target": .., "probability", "mean", "sd", "q05", "q95",
 *                "directed"}, ..]}
 *
 * An id is the name of the node, or its number where nodes have no names. NULL: out of memory. */
json_t *graph_json(const graph_file *graph);
json_t *graph_json_id(const graph_file *graph, size_t node);
/* Takes the object (NULL: there was no memory for it). */
lscm_status graph_json_write(json_t *object, const char *to, const char *what, lscm_error *why);

#endif
