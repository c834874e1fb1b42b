/* A circle of nodes, the first at the top, clockwise; edges bend towards the middle. */
#include "result/report/report_layout.h"

#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

bool layout_add(layout *l, layout_edge *edge, layout_point point)
{
    if (l->used == l->room) {
        size_t room = l->room > 0 ? 2 * l->room : 256;
        layout_point *larger = realloc(l->points, room * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        l->points = larger;
        l->room = room;
    }
    l->points[l->used++] = point;
    edge->points++;
    return true;
}

void layout_free(layout *l)
{
    free(l->points);
    l->points = NULL;
    l->used = l->room = 0;
}

/* Where the way from the centre of a node to `to` leaves its box. */
static layout_point border(const layout_node *node, layout_point to)
{
    double x = to.x - node->centre.x;
    double y = to.y - node->centre.y;
    double share = fmin(fabs(x) > 0 ? node->width / 2 / fabs(x) : 1,
                        fabs(y) > 0 ? node->height / 2 / fabs(y) : 1);
    share = fmin(share, 1);
    return (layout_point){node->centre.x + share * x, node->centre.y + share * y};
}

static layout_point between(layout_point a, layout_point b, double share)
{
    return (layout_point){a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
}

lscm_status layout_on_circle(layout *l, lscm_error *why)
{
    enum { GAP = 34, MARGIN = 8, LABEL = 14 };
    double round = 0;
    double widest = 0;
    double highest = 0;
    for (size_t i = 0; i < l->nodes; i++) {
        round += fmax(l->node[i].width, l->node[i].height) + GAP;
        widest = fmax(widest, l->node[i].width);
        highest = fmax(highest, l->node[i].height);
    }
    double radius = fmax(l->nodes > 1 ? 60 : 0, round / (2 * PI));
    l->width = 2 * radius + widest + 2 * MARGIN;
    l->height = 2 * radius + highest + 2 * MARGIN;
    const layout_point middle = {l->width / 2, l->height / 2};
    for (size_t i = 0; i < l->nodes; i++) {
        double angle = 2 * PI * (double)i / (double)l->nodes;
        l->node[i].centre =
            (layout_point){middle.x + radius * sin(angle), middle.y - radius * cos(angle)};
    }
    l->used = 0;
    for (size_t k = 0; k < l->edges; k++) {
        layout_edge *e = &l->edge[k];
        const layout_node *from = &l->node[e->from];
        const layout_node *to = &l->node[e->to];
        layout_point bend = between(between(from->centre, to->centre, 0.5), middle, 0.25);
        layout_point begin = border(from, bend);
        layout_point end = border(to, bend);
        const layout_point curve[4] = {begin, between(begin, bend, 2.0 / 3),
                                       between(end, bend, 2.0 / 3), end};
        e->first = l->used;
        e->points = 0;
        for (size_t i = 0; i < 4; i++) {
            if (!layout_add(l, e, curve[i])) {
                return fail_memory(why, l->room);
            }
        }
        e->label_at = between(between(begin, bend, 0.5), between(end, bend, 0.5), 0.36);
    }
    return LSCM_OK;
}
