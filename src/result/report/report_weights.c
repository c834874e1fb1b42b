/* Mean and sd of every weight over the draws, beside the truth; and who stands before whom. */
#include "result/report/report_state.h"

#include <math.h>

/* The largest |value| of both, so that maps side by side have one scale. */
static double largest(const report *r, const double *a, const double *b)
{
    double most = 0;
    for (size_t k = 0; k < r->d * r->d; k++) {
        most = fmax(most, fmax(fabs(a[k]), b != NULL ? fabs(b[k]) : 0));
    }
    return most;
}

void report_weights(const report *r)
{
    bool weights = r->true_w != NULL && !r->plain_truth;
    double most = largest(r, r->mean, weights ? r->true_w : NULL);
    double spread = largest(r, r->sd, NULL);
    section_open(r->out, "weights", "The weights");
    (void)fprintf(r->out,
                  "<p>Each row is a cause and each column an effect, first causes first, so that "
                  "edges stand to the right of the diagonal. Blue is positive, orange negative; "
                  "full colour is a weight of %s. ",
                  few_digits(most).text);
    if (spread > 0) {
        (void)fprintf(r->out,
                      "The last map is how uncertain each weight is, on a scale of its own: full "
                      "colour is a standard deviation of %s, %s of the largest weight.",
                      few_digits(spread).text, percent(most > 0 ? spread / most : 0).text);
    }
    (void)fputs("</p>\n", r->out);
    put_slopes_note(r);
    if (r->d > HEAT_NODES) {
        (void)fprintf(r->out,
                      "<p>With more than %d variables a map is too fine to read: the table of the "
                      "graph has the likeliest edges, and <code>lscm export RUN edges.csv</code> "
                      "all of them.</p>\n",
                      (int)HEAT_NODES);
        section_close(r->out);
        return;
    }
    (void)fputs("<div class=\"maps\">\n", r->out);
    if (weights) {
        put_heat_map(r, &(heat_map){"True weights", "The weights that made the data", r->true_w,
                                    most, false});
    } else if (r->true_w != NULL) {
        put_heat_map(r,
                     &(heat_map){"True graph", "One where there is an edge", r->true_w, 1.6, true});
    }
    put_heat_map(r, &(heat_map){"Mean of the posterior",
                                "Mean of each weight; the table of the graph has the numbers",
                                r->mean, most, false});
    if (spread > 0) {
        put_heat_map(r, &(heat_map){"Standard deviation", "How far each weight is uncertain", r->sd,
                                    spread, false});
    }
    (void)fputs("</div>\n", r->out);
    section_close(r->out);
}

/* ---- The order ---- */

/* Pairs whose order is the same in at least 95% of the draws. */
static size_t settled_pairs(const report *r)
{
    size_t settled = 0;
    for (size_t j = 0; j < r->d; j++) {
        for (size_t i = j + 1; i < r->d; i++) {
            double share = r->before[j * r->d + i];
            settled += share >= SURE || share <= 1 - SURE ? 1 : 0;
        }
    }
    return settled;
}

static void put_sequence(const report *r)
{
    enum { MOST = 40 };
    (void)fputs("<p>On average over the draws, causes first: ", r->out);
    for (size_t k = 0; k < r->d && k < MOST; k++) {
        (void)fputs(k > 0 ? ", " : "", r->out);
        put_node(r, r->order[k]);
    }
    (void)fputs(r->d > MOST ? ", and so on.</p>\n" : ".</p>\n", r->out);
}

void report_order(const report *r)
{
    size_t pairs = r->d * (r->d - 1) / 2;
    size_t settled = settled_pairs(r);
    section_open(r->out, "order", "The order");
    if (pairs > 0 && settled == pairs) {
        (void)fputs("<p><b>The causal order is settled</b>: every pair of variables stands in the "
                    "same order in nearly all draws.</p>\n",
                    r->out);
    } else if (pairs > 0) {
        (void)fprintf(r->out,
                      "<p>Of %zu pairs of variables, %s %s in a settled order; for the other %s "
                      "it is open which comes first. Pairs that no arrow connects, not even by way "
                      "of others, can have no settled order: nothing depends on it.</p>\n",
                      pairs, counted(settled).text, settled == 1 ? "stands" : "stand",
                      counted(pairs - settled).text);
    }
    put_sequence(r);
    if (r->d > 1 && r->d <= HEAT_NODES) {
        (void)fputs("<div class=\"maps\">\n", r->out);
        put_heat_map(r, &(heat_map){"Share of draws in which the row stands before the column",
                                    "Full colour is certain, half is open", r->before, 1, false});
        (void)fputs("</div>\n", r->out);
    }
    section_close(r->out);
}
