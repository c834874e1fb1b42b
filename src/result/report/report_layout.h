/* Where the nodes and edges of a drawn graph lie, in points, y downwards: by Graphviz's program dot
 * where there is one, else on a circle. Edges are chains of cubic Bezier curves from border to
 * border, 3 k + 1 points each. */
#ifndef LSCM_RESULT_REPORT_REPORT_LAYOUT_H
#define LSCM_RESULT_REPORT_REPORT_LAYOUT_H

#include "base/status.h"

typedef struct layout_point {
    double x, y;
} layout_point;

typedef struct layout_node {
    double width, height; /* given */
    layout_point centre;
} layout_node;

typedef struct layout_edge {
    size_t from, to;      /* given */
    char label[16];       /* given: one as wide; "": none */
    size_t first, points; /* in layout.points; none until it is laid out */
    layout_point label_at;
} layout_edge;

typedef struct layout {
    size_t nodes, edges;
    layout_node *node;    /* (nodes), the caller's */
    layout_edge *edge;    /* (edges), the caller's */
    layout_point *points; /* owned: layout_free */
    size_t used, room;
    double width, height;
} layout;

/* True where dot has laid out everything; false where it is missing, failed or took too long. */
bool layout_by_dot(layout *l);
lscm_status layout_on_circle(layout *l, lscm_error *why);
void layout_free(layout *l);

/* Adds a point to the edge that is being laid out; false without memory. */
bool layout_add(layout *l, layout_edge *edge, layout_point point);

#endif
