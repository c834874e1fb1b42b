/* The graph: edge width is probability, colour and label are the sign and size of the mean weight,
 * dashes are doubt. Not more edges than the eye can follow: those with the largest probability
 * times |mean weight|, and in large graphs only the nodes that they touch. */
#include "result/report.h"
#include "result/report_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 60, MOST_EDGES = 90, MOST_LABELS = 45, MOST_TOLD = 40, MOST_ROWS = 100 };
static const double LEAST_DRAWN = 0.1; /* probability */

typedef struct drawing {
    size_t edges, nodes, left_out;
    report_edge *edge;    /* (edges): copies, the strongest first */
    size_t *node, *place; /* (nodes): which; (d): where in node, SIZE_MAX when not drawn */
    layout_node *box;
    layout_edge *arc;
    layout plan;
    bool by_dot;
} drawing;

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
    size_t most = r->d > LARGE ? LARGE : MOST_EDGES;
    g->left_out = g->edges > most ? g->edges - most : 0;
    g->edges -= g->left_out;
    for (size_t i = 0; i < r->d; i++) {
        g->place[i] = r->d > LARGE ? SIZE_MAX : 0;
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
    (void)fprintf(out, "%s%s", before, at(p.x).text);
    (void)fprintf(out, " %s", at(p.y).text);
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
    (void)fprintf(r->out, "mean weight %s", few_digits(e->mean).text);
}

static void put_edge(const report *r, const drawing *g, size_t k)
{
    const report_edge *e = &g->edge[k];
    const layout_edge *arc = &g->arc[k];
    layout_point *points = g->plan.points + arc->first;
    layout_point tip = points[arc->points - 1];
    double width = 0.8 + 3.2 * e->probability;
    cut_end(points + arc->points - 4, 6 + 1.6 * width);
    (void)fprintf(r->out, "<g class=\"edge %s%s\"><title>", e->mean < 0 ? "neg" : "pos",
                  e->probability >= SURE ? "" : " maybe");
    put_edge_title(r, e);
    (void)fprintf(r->out, "</title><path stroke-width=\"%s\" d=\"", at(width).text);
    put_point(r->out, "M", points[0]);
    for (size_t i = 1; i < arc->points; i++) {
        put_point(r->out, i % 3 == 1 ? "C" : " ", points[i]);
    }
    (void)fputs("\"/>", r->out);
    put_arrow(r->out, points[arc->points - 1], tip, 2.2 + 1.15 * width);
    if (arc->label[0] != '\0') {
        (void)fprintf(r->out, "<text x=\"%s\"", at(arc->label_at.x + 4).text);
        (void)fprintf(r->out, " y=\"%s\">%s%s</text>", at(arc->label_at.y + 4).text,
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
    (void)fprintf(r->out, "</title><rect x=\"%s\"", at(box->centre.x - box->width / 2).text);
    (void)fprintf(r->out, " y=\"%s\"", at(box->centre.y - box->height / 2).text);
    (void)fprintf(r->out, " width=\"%s\"", at(box->width).text);
    (void)fprintf(r->out, " height=\"%s\" rx=\"8\"/>", at(box->height).text);
    (void)fprintf(r->out, "<text x=\"%s\"", at(box->centre.x).text);
    (void)fprintf(r->out, " y=\"%s\">", at(box->centre.y + 4.5).text);
    put_short_text(r->out, node_label(r, g->node[k], room), NAME_CHARACTERS);
    (void)fputs("</text></g>\n", r->out);
}

static void put_drawing(const report *r, const drawing *g)
{
    const double margin = 6;
    double width = g->plan.width + 2 * margin;
    double height = g->plan.height + 2 * margin;
    (void)fprintf(r->out,
                  "<div class=\"wide\" style=\"width:%.0fpx\">\n<svg class=\"graph\" role=\"img\" "
                  "aria-labelledby=\"graph-name graph-about\" viewBox=\"-6 -6 %s ",
                  1.15 * width, at(width).text);
    (void)fprintf(r->out, "%s\"", at(height).text);
    (void)fprintf(r->out, " style=\"min-width:%.0fpx\">\n", fmin(0.66 * width, 1100));
    (void)fputs("<title id=\"graph-name\">The causal graph</title>\n<desc id=\"graph-about\">",
                r->out);
    for (size_t k = 0; k < g->edges && k < MOST_TOLD; k++) {
        (void)fputs(k > 0 ? "; " : "", r->out);
        put_edge_title(r, &g->edge[k]);
    }
    (void)fputs(g->edges > MOST_TOLD ? "; and more, see the table below.</desc>\n" : ".</desc>\n",
                r->out);
    for (size_t k = g->edges; k > 0; k--) { /* the strongest on top */
        put_edge(r, g, k - 1);
    }
    for (size_t k = 0; k < g->nodes; k++) {
        put_box(r, g, k);
    }
    (void)fputs("</svg>\n</div>\n", r->out);
}

/* ---- Words ---- */

static void put_key(const report *r)
{
    static const struct {
        const char *class, *shape, *text;
    } keys[] = {
        {"pos", "<path class=\"line\" d=\"M1 7H34\" style=\"stroke-width:4\"/>",
         "blue, + : more of the cause makes more of the effect"},
        {"neg", "<path class=\"line\" d=\"M1 7H34\" style=\"stroke-width:4\"/>",
         "orange, \xe2\x88\x92 : more makes less"},
        {"pos",
         "<path class=\"line\" d=\"M1 7H34\" style=\"stroke-width:2;stroke-dasharray:5 4\"/>",
         "dashed and thinner: less probable"}};
    (void)fputs("<ul class=\"key\">\n", r->out);
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        (void)fprintf(r->out,
                      "<li><svg class=\"%s\" viewBox=\"0 0 36 14\" aria-hidden=\"true\">%s</svg>%s"
                      "</li>\n",
                      keys[k].class, keys[k].shape, keys[k].text);
    }
    (void)fputs("</ul>\n", r->out);
}

static void put_row(const report *r, const report_edge *e)
{
    (void)fputs("<tr><th class=\"t\" scope=\"row\">", r->out);
    put_edge_name(r, e->from, e->to);
    (void)fprintf(r->out, "</th><td>%s</td>", decimals(e->probability, 2).text);
    int count = decimals_for(e->high - e->low);
    (void)fprintf(r->out, "<td>%s</td>", decimals(e->mean, count).text);
    (void)fprintf(r->out, "<td>%s to ", decimals(e->low, count).text);
    (void)fprintf(r->out, "%s</td>", decimals(e->high, count).text);
    if (r->true_w != NULL && r->plain_truth) {
        (void)fprintf(r->out, "<td>%s</td>",
                      true_weight(r, e->from, e->to) != 0 ? "yes" : "<b>no</b>");
    } else if (r->true_w != NULL) {
        double w = true_weight(r, e->from, e->to);
        (void)fprintf(r->out, "<td>%s</td>", w != 0 ? decimals(w, count).text : "<b>none</b>");
    }
    (void)fputs("</tr>\n", r->out);
}

static void put_table(const report *r)
{
    size_t shown = r->count < MOST_ROWS ? r->count : MOST_ROWS;
    if (shown == 0) {
        return;
    }
    (void)fprintf(r->out,
                  "<details%s>\n<summary>All of this as a table</summary>\n<div class=\"wide\">\n"
                  "<table>\n<caption>",
                  shown <= 40 ? " open=\"open\"" : "");
    if (shown < r->count) {
        (void)fprintf(r->out, "The %zu likeliest of %zu edges that are not ruled out", shown,
                      r->count);
    } else {
        (void)fputs("Every edge that is not ruled out, the likeliest first", r->out);
    }
    (void)fprintf(r->out,
                  "</caption>\n<thead><tr><th class=\"t\" scope=\"col\">edge</th><th "
                  "scope=\"col\">probability</th><th scope=\"col\">mean weight</th><th "
                  "scope=\"col\">90&#160;%% interval</th>%s</tr></thead>\n<tbody>\n",
                  r->true_w != NULL ? "<th scope=\"col\">truth</th>" : "");
    for (size_t k = 0; k < shown; k++) {
        put_row(r, &r->edges[k]);
    }
    (void)fputs("</tbody>\n</table>\n</div>\n</details>\n", r->out);
}

/* True edges that the posterior rules out. */
static void put_missed(const report *r)
{
    size_t missed = 0;
    for (size_t k = 0; r->true_w != NULL && k < r->d * r->d; k++) {
        if (r->true_w[k] == 0 || r->p->edge_prob[k] > RULED_OUT) {
            continue;
        }
        if (missed < MOST_TOLD) {
            (void)fputs(missed == 0 ? "<p>True, but ruled out: " : ", ", r->out);
            put_edge_name(r, k / r->d, k % r->d);
        }
        missed++;
    }
    if (missed > MOST_TOLD) {
        (void)fprintf(r->out, " and %zu more", missed - MOST_TOLD);
    }
    (void)fputs(missed > 0 ? ".</p>\n" : "", r->out);
}

static void put_words(const report *r, const drawing *g)
{
    (void)fputs("<p>An arrow from A to B says that setting A changes B directly. The thicker the "
                "arrow, the more probable it is; the number is the mean weight, the change of B "
                "for one unit more of A.</p>\n",
                r->out);
    if (g->left_out > 0 || r->d > LARGE) {
        (void)fprintf(r->out,
                      "<p>So that it can be read, this drawing has only the %zu strongest of %zu "
                      "edges with a probability of at least 0.1%s.</p>\n",
                      g->edges, g->edges + g->left_out,
                      r->d > LARGE ? ", and the variables that they touch" : "");
    }
    if (g->edges == 0) {
        (void)fputs("<p>No edge has a probability of 0.1 or more.</p>\n", r->out);
    }
    if (!g->by_dot) {
        (void)fputs("<p class=\"soft\">Graphviz, which lays out such drawings better, was not "
                    "found or failed: the variables stand on a circle, the first causes at the "
                    "top, clockwise.</p>\n",
                    r->out);
    }
}

lscm_status report_graph(const report *r, lscm_error *why)
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
    section_open(r->out, "graph", "The graph");
    put_words(r, &g);
    put_key(r);
    (void)fputs("<div class=\"side\">\n", r->out);
    if (g.nodes > 0) {
        put_drawing(r, &g);
    }
    put_table(r);
    (void)fputs("</div>\n", r->out);
    put_missed(r);
    section_close(r->out);
done:
    layout_free(&g.plan);
    free(g.edge);
    free(g.node);
    free(g.place);
    free(g.box);
    free(g.arc);
    return status;
}
