/* A graph as a drawing: edge width is probability, colour and label are the sign and size of the
 * mean weight, dashes are doubt, a line without a head has no direction that is known. Not more
 * edges than the eye can follow: those with the largest probability times |mean weight|, and in
 * large graphs only the nodes that they touch. */
#ifndef LSCM_RESULT_REPORT_REPORT_DRAWING_H
#define LSCM_RESULT_REPORT_REPORT_DRAWING_H

#include "result/report/report_layout.h"
#include "result/report/report_state.h"

enum { DRAWING_LARGE = 60, DRAWING_TOLD = 40, DRAWING_MARGIN = 6 }; /* nodes; edges; points */

typedef struct drawing {
    size_t edges, nodes, left_out;
    report_edge *edge;    /* (edges): copies, the strongest first */
    size_t *node, *place; /* (nodes): which; (d): where in node, SIZE_MAX when not drawn */
    layout_node *box;
    layout_edge *arc;
    layout plan;
    bool by_dot;
} drawing;

/* drawing_close is due also after a failure. */
lscm_status drawing_open(drawing *out, const report *r, lscm_error *why);
void drawing_close(drawing *g);

/* With the margin; the view begins at (-DRAWING_MARGIN, -DRAWING_MARGIN). */
double drawing_width(const drawing *g);
double drawing_height(const drawing *g);
/* The edges in words, `more` where they are too many to tell. */
void put_drawing_about(const report *r, const drawing *g, const char *more);
/* What stands within <svg>: groups of the classes edge (pos or neg, maybe) and node. */
void put_drawing_parts(const report *r, const drawing *g);

#endif
