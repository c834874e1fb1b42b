/* Variable by variable: how well it can be read off x (anchors), how well interventions on others
 * predict it (held out), and its noise. */
#include "result/report/report_state.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 60, MOST_NAMED = 12 };
static const double WELL = 0.9; /* R2 */

static double number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double value_of(const report *r, const json_t *by_node, size_t node)
{
    const json_t *value = of_node(r, by_node, node);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* ---- Words ---- */

static void put_anchors(const report *r, const json_t *anchors)
{
    size_t weak = 0;
    if (r->p->decode.kind == DECODER_IDENTITY) {
        (void)fputs("<p>The variables are observed themselves, so none of them had to be found."
                    "</p>\n",
                    r->out);
        return;
    }
    if (json_object_size(anchors) == 0) {
        (void)fputs("<p>This method does not find variables one by one with the help of values of "
                    "do(), so it cannot say how well each of them is found.</p>\n",
                    r->out);
        return;
    }
    for (size_t i = 0; i < r->d; i++) {
        weak += number_at(of_node(r, anchors, i), "r2") < WELL ? 1 : 0;
    }
    if (weak == 0) {
        (void)fputs("<p><b>Every variable that could be checked is found well</b>: values of do() "
                    "that the encoder was not shown are read off the data with an R\xc2\xb2 of at "
                    "least 0.9.</p>\n",
                    r->out);
        return;
    }
    (void)fprintf(r->out,
                  "<p><b>%s %s weakly anchored</b>, with an R\xc2\xb2 below 0.9 for values "
                  "of do() that the encoder was not shown: ",
                  weak == 1 ? "One variable" : "Some variables", weak == 1 ? "is" : "are");
    size_t named = 0;
    for (size_t i = 0; i < r->d && named < MOST_NAMED; i++) {
        if (number_at(of_node(r, anchors, i), "r2") < WELL) {
            (void)fputs(named++ > 0 ? ", " : "", r->out);
            put_node(r, i);
        }
    }
    (void)fputs(weak > named ? " and more. What is said of them leans on less.</p>\n"
                             : ". What is said of them leans on less.</p>\n",
                r->out);
}

static void put_held_out(const report *r, const json_t *held_out)
{
    if (held_out == NULL) {
        return;
    }
    (void)fputs("<p>\xe2\x80\x9cPredicted\xe2\x80\x9d is the R\xc2\xb2 of each variable under "
                "interventions on others that were held out: near 1 where it follows from its "
                "causes, near 0 where it has none. \xe2\x80\x9cIn 90&#160;% interval\xe2\x80\x9d "
                "should be about 90&#160;%: much less means more confidence than the data "
                "allow.</p>\n",
                r->out);
}

/* ---- The table ---- */

static void put_cell(const report *r, double value, int count)
{
    (void)fprintf(r->out, "<td>%s</td>", decimals(value, count).text);
}

static void put_noise(const report *r, size_t node)
{
    double mean = 0;
    for (size_t s = 0; s < r->p->draws; s++) {
        mean += r->p->sigma[s * r->d + node] / (double)r->p->draws;
    }
    (void)fprintf(r->out, "<td>%s</td>", few_digits(mean).text);
    if (r->true_sigma != NULL) {
        (void)fprintf(r->out, "<td>%s</td>", few_digits(r->true_sigma[node]).text);
    }
}

static void put_row(const report *r, size_t node, const json_t *anchors, const json_t *held_out)
{
    const json_t *anchor = of_node(r, anchors, node);
    double rows = number_at(anchor, "samples");
    size_t causes = 0;
    for (size_t j = 0; j < r->d; j++) {
        bool told = r->p->undirected[j * r->d + node] == 0;
        causes += told && r->p->edge_prob[j * r->d + node] > 0.5 ? 1 : 0;
    }
    (void)fputs("<tr><th class=\"t\" scope=\"row\">", r->out);
    put_node(r, node);
    (void)fprintf(r->out, "</th><td>%zu</td>", causes);
    if (anchors != NULL) {
        put_cell(r, isnan(rows) ? number_at(anchor, "values") : rows, 0);
        put_cell(r, number_at(anchor, "r2"), 3);
    }
    if (held_out != NULL) {
        double inside = value_of(r, json_object_get(held_out, "coverage_90"), node);
        put_cell(r, value_of(r, json_object_get(held_out, "r2"), node), 3);
        (void)fprintf(r->out, "<td>%s</td>", isnan(inside) ? "\xe2\x80\x93" : percent(inside).text);
    }
    put_noise(r, node);
    (void)fputs("</tr>\n", r->out);
}

static void put_head(const report *r, const json_t *anchors, const json_t *held_out, bool worst)
{
    (void)fputs("<div class=\"wide\">\n<table>\n", r->out);
    if (worst) {
        (void)fprintf(r->out,
                      "<caption>The %d variables that are anchored worst, of %zu</caption>\n",
                      (int)MOST, r->d);
    } else {
        (void)fputs("<caption>Every variable, first causes first</caption>\n", r->out);
    }
    (void)fputs("<thead><tr><th class=\"t\" scope=\"col\">variable</th><th scope=\"col\">likely "
                "causes</th>",
                r->out);
    if (anchors != NULL) {
        (void)fputs("<th scope=\"col\">rows in which do() set it</th><th scope=\"col\">read off x "
                    "(R\xc2\xb2)</th>",
                    r->out);
    }
    if (held_out != NULL) {
        (void)fputs("<th scope=\"col\">predicted (R\xc2\xb2)</th><th scope=\"col\">in 90&#160;% "
                    "interval</th>",
                    r->out);
    }
    (void)fputs("<th scope=\"col\">sd of its noise</th>", r->out);
    (void)fputs(r->true_sigma != NULL ? "<th scope=\"col\">true sd</th>" : "", r->out);
    (void)fputs("</tr></thead>\n<tbody>\n", r->out);
}

lscm_status report_nodes(const report *r, lscm_error *why)
{
    const json_t *anchors = json_object_get(r->summary, "anchors");
    const json_t *held_out = json_object_get(r->summary, "held_out");
    ranked_node *nodes = malloc(r->d * sizeof *nodes);
    bool worst = r->d > MOST;
    if (nodes == NULL) {
        return fail_memory(why, r->d * sizeof *nodes);
    }
    for (size_t k = 0; k < r->d; k++) {
        double r2 = number_at(of_node(r, anchors, r->order[k]), "r2");
        nodes[k] = (ranked_node){isnan(r2) ? -1 : r2, r->order[k]};
    }
    if (worst) {
        sort_nodes(nodes, r->d);
    }
    section_open(r->out, "nodes", "The variables");
    put_anchors(r, anchors);
    put_held_out(r, held_out);
    put_head(r, anchors, held_out, worst);
    for (size_t k = 0; k < r->d && k < MOST; k++) {
        put_row(r, nodes[k].node, anchors, held_out);
    }
    (void)fputs("</tbody>\n</table>\n</div>\n", r->out);
    section_close(r->out);
    free(nodes);
    return LSCM_OK;
}
