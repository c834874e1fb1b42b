/* The posterior of each likely weight: a histogram of the draws that have the edge, the 90%
 * interval as a bar below it, zero as a dashed line and the truth as a diamond. */
#include "result/report/report_state.h"

#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 36, BINS = 28, WIDTH = 216, HEIGHT = 104, SIDE = 8, TOP = 10, BOTTOM = 30 };

typedef struct histogram {
    double low, high; /* of the axis */
    double q05, q95, median;
    size_t count[BINS];
    size_t there, most; /* draws with the edge; in the fullest bin */
} histogram;

static bool has_edge(const report *r, double w)
{
    return fabs(w) > r->p->threshold;
}

/* What to show: 0.5% to 99.5% of the draws that have the edge, the truth and, where it is near,
 * zero. */
static histogram take(const report *r, const report_edge *e)
{
    histogram h = {0};
    double *values = r->values;
    for (size_t s = 0; s < r->p->draws; s++) {
        double w = edge_weight(r, e, r->p->w + s * r->d * r->d);
        if (has_edge(r, w)) {
            values[h.there++] = w;
        }
    }
    if (h.there == 0) {
        return h;
    }
    qsort(values, h.there, sizeof *values, quantile_compare);
    h.low = quantile_of_sorted(values, h.there, 0.005);
    h.high = quantile_of_sorted(values, h.there, 0.995);
    h.q05 = quantile_of_sorted(values, h.there, 0.05);
    h.q95 = quantile_of_sorted(values, h.there, 0.95);
    h.median = quantile_of_sorted(values, h.there, 0.5);
    if (r->true_w != NULL && !r->plain_truth) {
        h.low = fmin(h.low, edge_weight(r, e, r->true_w));
        h.high = fmax(h.high, edge_weight(r, e, r->true_w));
    }
    double range = h.high - h.low;
    h.low = h.low > 0 && h.low < range ? 0 : h.low;
    h.high = h.high < 0 && -h.high < range ? 0 : h.high;
    range = fmax(h.high - h.low, 1e-9 + 1e-6 * fabs(h.high));
    h.low -= 0.06 * range;
    h.high += 0.06 * range;
    for (size_t k = 0; k < h.there; k++) {
        double bin = (values[k] - h.low) / (h.high - h.low) * BINS;
        if (bin >= 0 && bin < BINS) {
            size_t *count = &h.count[(size_t)bin];
            *count += 1;
            h.most = *count > h.most ? *count : h.most;
        }
    }
    return h;
}

static double across(const histogram *h, double value)
{
    return SIDE + (value - h->low) / (h->high - h->low) * (WIDTH - 2 * SIDE);
}

static void put_bars(const report *r, const histogram *h)
{
    const double base = HEIGHT - BOTTOM;
    const double step = (double)(WIDTH - 2 * SIDE) / BINS;
    (void)fprintf(r->out, "<path class=\"c\" opacity=\".75\" d=\"");
    for (size_t k = 0; k < BINS; k++) {
        if (h->count[k] > 0) {
            double high = (base - TOP) * (double)h->count[k] / (double)h->most;
            (void)fprintf(r->out, "M%s", coordinate(SIDE + (double)k * step + 0.4).text);
            (void)fprintf(r->out, " %sv", coordinate(base).text);
            (void)fprintf(r->out, "%sh", coordinate(-high).text);
            (void)fprintf(r->out, "%sv", coordinate(step - 0.8).text);
            (void)fprintf(r->out, "%sz", coordinate(high).text);
        }
    }
    (void)fputs("\"/>", r->out);
}

/* Two numbers on the axis, with as many decimals as tell them apart. */
static void put_axis(const report *r, const histogram *h)
{
    const double base = HEIGHT - BOTTOM;
    double range = h->high - h->low;
    int count = decimals_for(range);
    (void)fprintf(r->out, "<path class=\"axis\" d=\"M%d %sH%d\"/>", (int)SIDE,
                  coordinate(base).text, WIDTH - SIDE);
    (void)fprintf(r->out, "<path class=\"band\" d=\"M%s", coordinate(across(h, h->q05)).text);
    (void)fprintf(r->out, " %s", coordinate(base + 6).text);
    (void)fprintf(r->out, "H%s\"/>",
                  coordinate(fmax(across(h, h->q95), across(h, h->q05) + 1)).text);
    if (h->low < 0 && h->high > 0) {
        (void)fprintf(r->out, "<path class=\"zero\" d=\"M%s", coordinate(across(h, 0)).text);
        (void)fprintf(r->out, " %dV%s\"/>", (int)TOP, coordinate(base).text);
    }
    (void)fprintf(r->out, "<text class=\"tick\" x=\"%d\" y=\"%d\">%s</text>", (int)SIDE, HEIGHT - 6,
                  decimals(h->low, count).text);
    (void)fprintf(r->out, "<text class=\"tick\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
                  WIDTH - SIDE, HEIGHT - 6, decimals(h->high, count).text);
}

static void put_truth(const report *r, const histogram *h, double truth)
{
    double x = across(h, truth);
    (void)fprintf(r->out, "<path class=\"truth\" d=\"M%s %dV%d\"/>", coordinate(x).text, (int)TOP,
                  HEIGHT - BOTTOM);
    (void)fprintf(r->out, "<path class=\"mark\" d=\"M%s %dl4 5l-4 5l-4-5z\"/>", coordinate(x).text,
                  TOP - 8);
}

static void put_figure(const report *r, const report_edge *e)
{
    histogram h = take(r, e);
    double share = (double)h.there / (double)r->p->draws;
    bool known = r->true_w != NULL && !r->plain_truth;
    double truth = known ? edge_weight(r, e, r->true_w) : 0;
    if (h.there == 0) {
        return;
    }
    (void)fprintf(r->out, "<figure class=\"%s\">\n<figcaption><b>", e->mean < 0 ? "neg" : "pos");
    put_edge_name(r, e->from, e->to);
    int count = decimals_for(h.q95 - h.q05);
    (void)fprintf(r->out, "</b> %s <span class=\"soft\">", decimals(h.median, count).text);
    (void)fprintf(r->out, "(%s to ", decimals(h.q05, count).text);
    (void)fprintf(r->out, "%s)", decimals(h.q95, count).text);
    if (share < 1) {
        (void)fprintf(r->out, "; absent in %s", percent(1 - share).text);
    }
    (void)fprintf(r->out,
                  "</span></figcaption>\n<svg role=\"img\" viewBox=\"0 0 %d %d\"><title>Posterior "
                  "of the weight ",
                  (int)WIDTH, (int)HEIGHT);
    put_edge_name(r, e->from, e->to);
    if (known) {
        (void)fprintf(r->out, "; the truth is %s", truth != 0 ? few_digits(truth).text : "no edge");
    }
    (void)fputs("</title>", r->out);
    put_bars(r, &h);
    put_axis(r, &h);
    if (known) {
        put_truth(r, &h, truth);
    }
    (void)fputs("</svg>\n</figure>\n", r->out);
}

void report_posteriors(const report *r)
{
    size_t shown = r->count < MOST ? r->count : MOST;
    bool known = r->true_w != NULL && !r->plain_truth;
    if (shown == 0) {
        return;
    }
    section_open(r->out, "posteriors", "How sure each weight is");
    (void)fprintf(r->out,
                  "<p>What the weight of an edge can be, given the data: the narrower the hill, "
                  "the better it is known. The number is the median, in brackets and as a bar the "
                  "range that holds 90&#160;%% of the draws that have the edge%s.</p>\n",
                  known ? "; the diamond is the truth" : "");
    put_slopes_note(r);
    if (shown < r->count) {
        (void)fprintf(r->out,
                      "<p>Shown are the %zu likeliest of %zu edges that are not ruled "
                      "out.</p>\n",
                      shown, r->count);
    }
    (void)fputs("<div class=\"many\">\n", r->out);
    for (size_t k = 0; k < shown; k++) {
        put_figure(r, &r->edges[k]);
    }
    (void)fputs("</div>\n", r->out);
    section_close(r->out);
}
