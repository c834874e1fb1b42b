/* Graphs in the DOT language, for Graphviz. */
#ifndef LSCM_DATA_DRAWING_DOT_H
#define LSCM_DATA_DRAWING_DOT_H

#include "base/status.h"

typedef struct dot_edge {
    size_t from, to;
    double weight;   /* its label; its sign is the colour */
    double width;    /* 0 to 1 */
    bool undirected; /* without an arrowhead */
} dot_edge;

typedef struct dot_graph {
    size_t nodes;
    char *const *names;    /* (nodes), or NULL: numbers */
    const dot_edge *edges; /* (count) */
    size_t count;
    bool plain; /* edges without colour, width and label */
} dot_graph;

/* `what` opens the sentence: "drawing the graph of data.nc". */
lscm_status dot_write_graph(const dot_graph *graph, const char *to, const char *what,
                            lscm_error *why);

#endif
