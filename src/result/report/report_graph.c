/* The graph: its drawing with the words to read it by, and the same as a table. */
#include "result/report/report_drawing.h"

#include <math.h>

enum { MOST_ROWS = 100 };
static const double LEAST_SCALE = 0.75; /* of letters of 13 pixels */

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

/* Of an edge without a direction, the way that is likelier to bend. */
static number share_that_bends(const report *r, const report_edge *e)
{
    double share = lscm_posterior_bends(r->p, e->from, e->to);
    double back = e->undirected ? lscm_posterior_bends(r->p, e->to, e->from) : NAN;
    return percent(fmax(fmax(share, back), 0));
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
    if (lscm_posterior_any_bends(r->p)) {
        (void)fprintf(r->out, "<td>%s</td>", share_that_bends(r, e).text);
    }
    if (r->true_w != NULL && r->plain_truth) {
        (void)fprintf(r->out, "<td>%s</td>",
                      edge_weight(r, e, r->true_w) != 0 ? "yes" : "<b>no</b>");
    } else if (r->true_w != NULL) {
        double w = edge_weight(r, e, r->true_w);
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
                  "scope=\"col\">90&#160;%% interval</th>%s%s</tr></thead>\n<tbody>\n",
                  lscm_posterior_any_bends(r->p) ? "<th scope=\"col\">bends</th>" : "",
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
        if (r->true_w[k] == 0 || posterior_shown(r->p, k / r->d, k % r->d) > RULED_OUT) {
            continue;
        }
        if (missed < DRAWING_TOLD) {
            (void)fputs(missed == 0 ? "<p>True, but ruled out: " : ", ", r->out);
            put_edge_name(r, k / r->d, k % r->d);
        }
        missed++;
    }
    if (missed > DRAWING_TOLD) {
        (void)fprintf(r->out, " and %zu more", missed - DRAWING_TOLD);
    }
    (void)fputs(missed > 0 ? ".</p>\n" : "", r->out);
}

static void put_words(const report *r, const drawing *g)
{
    (void)fputs("<p>An arrow from A to B says that setting A changes B directly. The thicker the "
                "arrow, the more probable it is; the number is the mean weight, the change of B "
                "for one unit more of A.</p>\n",
                r->out);
    put_slopes_note(r);
    if (r->undirected > 0) {
        (void)fputs("<p>A line without a head says that there is an edge, and that nothing in "
                    "these data tells which end is the cause: the graphs that differ there "
                    "explain them alike.</p>\n",
                    r->out);
    }
    if (g->left_out > 0) {
        (void)fprintf(r->out,
                      "<p>So that it can be read, this drawing has only the %zu strongest of %zu "
                      "edges with a probability of at least 0.1.</p>\n",
                      g->edges, g->edges + g->left_out);
    }
    if (g->nodes < r->d) {
        (void)fprintf(r->out,
                      "<p>Variables that no drawn edge touches, %zu of %zu, are left out.</p>\n",
                      r->d - g->nodes, r->d);
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

static void put_drawing(const report *r, const drawing *g)
{
    double width = drawing_width(g);
    (void)fprintf(r->out,
                  "<div class=\"wide\" style=\"width:%.0fpx\">\n<svg class=\"graph\" role=\"img\" "
                  "aria-labelledby=\"graph-name graph-about\" viewBox=\"-6 -6 %s ",
                  1.15 * width, coordinate(width).text);
    (void)fprintf(r->out, "%s\"", coordinate(drawing_height(g)).text);
    /* names stay readable: what does not fit is scrolled to */
    (void)fprintf(r->out, " style=\"min-width:%.0fpx\">\n", LEAST_SCALE * width);
    (void)fputs("<title id=\"graph-name\">The causal graph</title>\n<desc id=\"graph-about\">",
                r->out);
    put_drawing_about(r, g, "; and more, see the table below.");
    (void)fputs("</desc>\n", r->out);
    put_drawing_parts(r, g);
    (void)fputs("</svg>\n</div>\n", r->out);
}

lscm_status report_graph(const report *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    drawing g = {0};
    TRY(drawing_open(&g, r, why));
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
    drawing_close(&g);
    return status;
}
