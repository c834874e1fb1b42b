#include "result/report/report_drawing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EDGES = 150, MOST_EDGES_OF_FEW = 90, MOST_LABELS = 45 };
static const double LEAST_DRAWN = 0.1; /* probability */

static double strength(const report_edge *e)
{
    return e->probability * fabs(e->mean);
}

static int by_strength(const void *left, const void *right)
{
    const report_edge *a = left;
    const report_edge *b = right;
    if (strength(a) != strength(b)) {
        return strength(a) > strength(b) ? -1 : 1;
    }
    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    return a->to < b->to ? -1 : a->to > b->to ? 1 : 0;
}

static void choose(const report *r, drawing *g)
{
    for (size_t k = 0; k < r->count; k++) {
        if (r->edges[k].probability >= LEAST_DRAWN) {
            g->edge[g->edges++] = r->edges[k];
        }
    }
    qsort(g->edge, g->edges, sizeof *g->edge, by_strength);
    size_t most = r->d > DRAWING_LARGE ? MOST_EDGES : MOST_EDGES_OF_FEW;
    g->left_out = g->edges > most ? g->edges - most : 0;
    g->edges -= g->left_out;
    for (size_t i = 0; i < r->d; i++) {
        g->place[i] = r->d > DRAWING_LARGE ? SIZE_MAX : 0;
    }
    for (size_t k = 0; k < g->edges; k++) {
        g->place[g->edge[k].from] = g->place[g->edge[k].to] = 0;
    }
    for (size_t k = 0; k < r->d; k++) {
        size_t i = r->order[k];
        if (g->place[i] == 0) {
            g->place[i] = g->nodes;
            g->node[g->nodes++] = i;
        }
    }
}

enum { NAME_CHARACTERS = 24 };

static void measure(const report *r, drawing *g)
{
    for (size_t k = 0; k < g->nodes; k++) {
        char room[24];
        size_t width = text_width(node_label(r, g->node[k], room));
        width = width < NAME_CHARACTERS ? width : NAME_CHARACTERS;
        g->box[k] = (layout_node){.width = fmax(34, 8.2 * (double)width + 18), .height = 28};
    }
    for (size_t k = 0; k < g->edges; k++) {
        const report_edge *e = &g->edge[k];
        g->arc[k] = (layout_edge){.from = g->place[e->from], .to = g->place[e->to]};
        if (g->edges <= MOST_LABELS) {
            (void)snprintf(g->arc[k].label, sizeof g->arc[k].label, "+%.9s",
                           fixed(fabs(e->mean), 2).text);
        }
    }
    g->plan = (layout){.nodes = g->nodes, .edges = g->edges, .node = g->box, .edge = g->arc};
}

/* ---- Drawing ---- */

static layout_point mix(layout_point a, layout_point b, double t)
{
    return (layout_point){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
}

/* The last curve (4 points) cut where it is `length` from its end, so that the arrow has room. */
static void cut_end(layout_point *curve, double length)
{
    layout_point end = curve[3];
    layout_point left[4] = {curve[0], curve[0], curve[0], curve[0]};
    double low = 0;
    double high = 1;
    for (int step = 0; step < 24; step++) {
        double t = (low + high) / 2;
        layout_point a = mix(curve[0], curve[1], t);
        layout_point b = mix(curve[1], curve[2], t);
        layout_point c = mix(curve[2], curve[3], t);
        layout_point ab = mix(a, b, t);
        layout_point bc = mix(b, c, t);
        layout_point on = mix(ab, bc, t);
        left[1] = a;
        left[2] = ab;
        left[3] = on;
        *(hypot(on.x - end.x, on.y - end.y) > length ? &low : &high) = t;
    }
    memcpy(curve + 1, left + 1, 3 * sizeof *left);
}

static void put_point(FILE *out, const char *before, layout_point p)
{
    (void)fprintf(out, "%s%s", before, coordinate(p.x).text);
    (void)fprintf(out, " %s", coordinate(p.y).text);
}

static void put_arrow(FILE *out, layout_point from, layout_point tip, double half)
{
    double length = hypot(tip.x - from.x, tip.y - from.y);
    double x = length > 0 ? (tip.x - from.x) / length : 0;
    double y = length > 0 ? (tip.y - from.y) / length : 1;
    (void)fputs("<polygon points=\"", out);
    put_point(out, "", tip);
    put_point(out, " ", (layout_point){from.x - half * y, from.y + half * x});
    put_point(out, " ", (layout_point){from.x + half * y, from.y - half * x});
    (void)fputs("\"/>", out);
}

static void put_edge_title(const report *r, const report_edge *e)
{
    put_edge_name(r, e->from, e->to);
    (void)fprintf(r->out, ": probability %s, ", decimals(e->probability, 2).text);
    (void)fprintf(r->out, "%s %s",
                  lscm_posterior_bends(r->p, e->from, e->to) > 0 ? "average slope" : "mean weight",
                  few_digits(e->mean).text);
}

static void put_edge(const report *r, const drawing *g, size_t k)
{
    const report_edge *e = &g->edge[k];
    const layout_edge *arc = &g->arc[k];
    layout_point *points = g->plan.points + arc->first;
    layout_point tip = points[arc->points - 1];
    double width = 0.8 + 3.2 * e->probability;
    if (!e->undirected) {
        cut_end(points + arc->points - 4, 6 + 1.6 * width);
    }
    (void)fprintf(r->out, "<g class=\"edge %s%s\"><title>", e->mean < 0 ? "neg" : "pos",
                  e->probability >= SURE ? "" : " maybe");
    put_edge_title(r, e);
    (void)fprintf(r->out, "</title><path stroke-width=\"%s\" d=\"", coordinate(width).text);
    put_point(r->out, "M", points[0]);
    for (size_t i = 1; i < arc->points; i++) {
        put_point(r->out, i % 3 == 1 ? "C" : " ", points[i]);
    }
    (void)fputs("\"/>", r->out);
    if (!e->undirected) {
        put_arrow(r->out, points[arc->points - 1], tip, 2.2 + 1.15 * width);
    }
    if (arc->label[0] != '\0') {
        (void)fprintf(r->out, "<text x=\"%s\"", coordinate(arc->label_at.x + 4).text);
        (void)fprintf(r->out, " y=\"%s\">%s%s</text>", coordinate(arc->label_at.y + 4).text,
                      e->mean < 0 ? "\xe2\x88\x92" : "+", tiny(fabs(e->mean)).text);
    }
    (void)fputs("</g>\n", r->out);
}

static void put_box(const report *r, const drawing *g, size_t k)
{
    const layout_node *box = &g->box[k];
    char room[24];
    (void)fprintf(r->out, "<g class=\"node\"><title>");
    put_node(r, g->node[k]);
    (void)fprintf(r->out, "</title><rect x=\"%s\"",
                  coordinate(box->centre.x - box->width / 2).text);
    (void)fprintf(r->out, " y=\"%s\"", coordinate(box->centre.y - box->height / 2).text);
    (void)fprintf(r->out, " width=\"%s\"", coordinate(box->width).text);
    (void)fprintf(r->out, " height=\"%s\" rx=\"8\"/>", coordinate(box->height).text);
    (void)fprintf(r->out, "<text x=\"%s\"", coordinate(box->centre.x).text);
    (void)fprintf(r->out, " y=\"%s\">", coordinate(box->centre.y + 4.5).text);
    put_short_text(r->out, node_label(r, g->node[k], room), NAME_CHARACTERS);
    (void)fputs("</text></g>\n", r->out);
}

double drawing_width(const drawing *g)
{
    return g->plan.width + 2 * DRAWING_MARGIN;
}

double drawing_height(const drawing *g)
{
    return g->plan.height + 2 * DRAWING_MARGIN;
}

void put_drawing_about(const report *r, const drawing *g, const char *more)
{
    for (size_t k = 0; k < g->edges && k < DRAWING_TOLD; k++) {
        (void)fputs(k > 0 ? "; " : "", r->out);
        put_edge_title(r, &g->edge[k]);
    }
    (void)fputs(g->edges > DRAWING_TOLD ? more : ".", r->out);
}

void put_drawing_parts(const report *r, const drawing *g)
{
    for (size_t k = g->edges; k > 0; k--) { /* the strongest on top */
        put_edge(r, g, k - 1);
    }
    for (size_t k = 0; k < g->nodes; k++) {
        put_box(r, g, k);
    }
}

lscm_status drawing_open(drawing *out, const report *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    drawing g = {.edge = calloc(r->count + 1, sizeof(report_edge)),
                 .node = calloc(r->d, sizeof(size_t)),
                 .place = calloc(r->d, sizeof(size_t)),
                 .box = calloc(r->d, sizeof(layout_node)),
                 .arc = calloc(r->count + 1, sizeof(layout_edge))};
    if (g.edge == NULL || g.node == NULL || g.place == NULL || g.box == NULL || g.arc == NULL) {
        status = fail_memory(why, r->count * sizeof *g.arc + r->d * sizeof *g.box);
        goto done;
    }
    choose(r, &g);
    measure(r, &g);
    g.by_dot = g.nodes == 0 || layout_by_dot(&g.plan);
    if (!g.by_dot) {
        TRY(layout_on_circle(&g.plan, why));
    }
done:
    *out = g;
    return status;
}

void drawing_close(drawing *g)
{
    layout_free(&g->plan);
    free(g->edge);
    free(g->node);
    free(g->place);
    free(g->box);
    free(g->arc);
}
