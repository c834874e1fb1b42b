/* The response curves of likely edges, where any mechanism bends: a panel for each, with the mean
 * and 90% band of the effect (lscm_posterior_curve) over what the rows have of the cause, and
 * fainter what goes on beyond. Both axes begin and end where numbers are round. */
#include "result/report/report_state.h"

#include <math.h>

enum {
    MOST = 24,
    PLACES = 41, /* the rows have FIRST to LAST of them */
    FIRST = 4,
    LAST = 36,
    NAME = 22, /* letters of one on an axis */
    WIDTH = 288,
    HEIGHT = 190,
    LEFT = 44,
    RIGHT = 10,
    TOP = 24,
    BOTTOM = 42
};

typedef struct panel {
    const report_edge *edge;
    double at[PLACES], low[PLACES], mean[PLACES], high[PLACES];
    double seen[2];
    double least, most; /* of the axis upwards */
} panel;

static size_t likely(const report *r)
{
    size_t count = 0;
    while (count < r->count && r->edges[count].probability > 0.5) {
        count++;
    }
    return count;
}

bool has_curves(const report *r)
{
    return lscm_posterior_any_bends(r->p) && r->p->rows > 0 && likely(r) > 0;
}

void put_slopes_note(const report *r)
{
    if (!lscm_posterior_any_bends(r->p)) {
        return;
    }
    (void)fprintf(r->out,
                  "<p>Mechanisms bend here. Where one does, a weight is the <b>average slope</b> "
                  "over the rows, which can be near 0 where the effect is not%s.</p>\n",
                  has_curves(r) ? ": <a href=\"#curves\">response curves</a> say the rest" : "");
}

static double across(const panel *c, double value)
{
    double share = (value - c->at[0]) / (c->at[PLACES - 1] - c->at[0]);
    return LEFT + share * (WIDTH - LEFT - RIGHT);
}

static double upwards(const panel *c, double value)
{
    double share = (value - c->least) / (c->most - c->least);
    return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP);
}

/* 1, 2 or 5 times a power of ten, of which `range` has three to seven. */
static double round_step(double range)
{
    double power = pow(10, floor(log10(range / 3)));
    double rest = range / 3 / power;
    return power * (rest >= 5 ? 5 : rest >= 2 ? 2 : 1);
}

static number tick(double value, double step)
{
    double places = -floor(log10(step));
    return decimals(value, places > 0 ? (places < 7 ? (int)places : 7) : 0);
}

static void put_ticks_across(const report *r, const panel *c)
{
    double step = round_step(c->at[PLACES - 1] - c->at[0]);
    double first = ceil(c->at[0] / step);
    for (size_t k = 0; (first + (double)k) * step <= c->at[PLACES - 1]; k++) {
        double value = (first + (double)k) * step;
        double x = across(c, value);
        (void)fprintf(r->out, "<path class=\"axis\" d=\"M%s", coordinate(x).text);
        (void)fprintf(r->out, " %dv4\"/>", HEIGHT - BOTTOM);
        (void)fprintf(r->out, "<text class=\"tick\" x=\"%s\" y=\"%d\" text-anchor=\"middle\">",
                      coordinate(x).text, HEIGHT - BOTTOM + 16);
        (void)fprintf(r->out, "%s</text>", tick(value, step).text);
    }
}

static void put_ticks_upwards(const report *r, const panel *c)
{
    double step = round_step(c->most - c->least);
    double first = ceil(c->least / step);
    for (size_t k = 0; (first + (double)k) * step <= c->most; k++) {
        double value = (first + (double)k) * step;
        double y = upwards(c, value);
        (void)fprintf(r->out, "<path class=\"axis\" d=\"M%d", (int)LEFT);
        (void)fprintf(r->out, " %sh-4\"/>", coordinate(y).text);
        (void)fprintf(r->out, "<text class=\"tick\" x=\"%d\" y=\"%s\" text-anchor=\"end\">",
                      LEFT - 7, coordinate(y + 3.5).text);
        (void)fprintf(r->out, "%s</text>", tick(value, step).text);
    }
}

static void put_axes(const report *r, const panel *c)
{
    char room[24];
    (void)fprintf(r->out, "<path class=\"axis\" d=\"M%d %dV%d", (int)LEFT, (int)TOP,
                  HEIGHT - BOTTOM);
    (void)fprintf(r->out, "H%d\"/>", WIDTH - RIGHT);
    put_ticks_across(r, c);
    put_ticks_upwards(r, c);
    if (c->least < 0 && c->most > 0) {
        (void)fprintf(r->out, "<path class=\"zero\" d=\"M%d", (int)LEFT);
        (void)fprintf(r->out, " %sH%d\"/>", coordinate(upwards(c, 0)).text, WIDTH - RIGHT);
    }
    (void)fputs("<text class=\"tick\" x=\"2\" y=\"12\">effect on ", r->out);
    put_short_text(r->out, node_label(r, c->edge->to, room), NAME);
    (void)fprintf(r->out, "</text><text class=\"tick\" x=\"%d\" y=\"%d\" text-anchor=\"end\">",
                  WIDTH - RIGHT, HEIGHT - 8);
    put_short_text(r->out, node_label(r, c->edge->from, room), NAME);
    (void)fputs("</text>\n", r->out);
}

/* From place `first` to `last`, and back along the other side. */
static void put_band(const report *r, const panel *c, size_t first, size_t last, const char *class)
{
    (void)fprintf(r->out, "<path class=\"%s\" d=\"", class);
    for (size_t k = first; k <= last; k++) {
        (void)fprintf(r->out, "%s%s ", k == first ? "M" : "L",
                      coordinate(across(c, c->at[k])).text);
        (void)fputs(coordinate(upwards(c, c->high[k])).text, r->out);
    }
    for (size_t k = last + 1; k > first; k--) {
        (void)fprintf(r->out, "L%s ", coordinate(across(c, c->at[k - 1])).text);
        (void)fputs(coordinate(upwards(c, c->low[k - 1])).text, r->out);
    }
    (void)fputs("z\"/>", r->out);
}

static void put_line(const report *r, const panel *c, size_t first, size_t last, const char *class)
{
    (void)fprintf(r->out, "<path class=\"%s\" d=\"", class);
    for (size_t k = first; k <= last; k++) {
        (void)fprintf(r->out, "%s%s ", k == first ? "M" : "L",
                      coordinate(across(c, c->at[k])).text);
        (void)fputs(coordinate(upwards(c, c->mean[k])).text, r->out);
    }
    (void)fputs("\"/>", r->out);
}

/* What the rows have of the cause, as a bar on the axis. */
static void put_seen(const report *r, const panel *c)
{
    (void)fprintf(r->out, "<path class=\"seen\" d=\"M%s", coordinate(across(c, c->seen[0])).text);
    (void)fprintf(r->out, " %dH%s\"/>", HEIGHT - BOTTOM, coordinate(across(c, c->seen[1])).text);
}

static void put_said(const report *r, const panel *c)
{
    static const size_t told[] = {FIRST, (FIRST + LAST) / 2, LAST};
    int across_digits = decimals_for(c->seen[1] - c->seen[0]);
    int digits = decimals_for(c->most - c->least);
    (void)fputs("<title>Effect of ", r->out);
    put_node(r, c->edge->from);
    (void)fputs(" on ", r->out);
    put_node(r, c->edge->to);
    for (size_t k = 0; k < sizeof told / sizeof told[0]; k++) {
        size_t at = told[k];
        (void)fprintf(r->out, "%s %s", k == 0 ? ":" : ";", decimals(c->mean[at], digits).text);
        (void)fprintf(r->out, " (%s to ", decimals(c->low[at], digits).text);
        (void)fprintf(r->out, "%s) at ", decimals(c->high[at], digits).text);
        (void)fprintf(r->out, "%s", decimals(c->at[at], across_digits).text);
    }
    (void)fputs("</title>\n", r->out);
}

static void put_caption(const report *r, const panel *c)
{
    double bends = lscm_posterior_bends(r->p, c->edge->from, c->edge->to);
    int digits = decimals_for(c->edge->high - c->edge->low);
    (void)fputs("<figcaption><b>", r->out);
    put_edge_name(r, c->edge->from, c->edge->to);
    (void)fprintf(r->out, "</b> <span class=\"soft\">probability %s; ",
                  decimals(c->edge->probability, 2).text);
    if (bends > 0) {
        (void)fprintf(r->out, "bends in %s of draws", percent(bends).text);
    } else {
        (void)fputs("straight", r->out);
    }
    (void)fprintf(r->out, "</span><span class=\"soft\">%s %s</span></figcaption>\n",
                  bends > 0 ? "average slope" : "weight", decimals(c->edge->mean, digits).text);
}

static lscm_status take(const report *r, const report_edge *e, panel *c, lscm_error *why)
{
    lscm_curve curve = {PLACES, c->at, c->low, c->mean, c->high, {0}};
    c->edge = e;
    lscm_posterior_places(r->p, e->from, PLACES, c->at);
    lscm_status status = lscm_posterior_curve(&curve, r->p, e->from, e->to, why);
    c->seen[0] = curve.seen[0];
    c->seen[1] = curve.seen[1];
    c->least = c->most = 0;
    for (size_t k = 0; k < PLACES; k++) {
        c->least = fmin(c->least, c->low[k]);
        c->most = fmax(c->most, c->high[k]);
    }
    double margin = 0.05 * (c->most - c->least);
    c->least -= margin;
    c->most += margin;
    return status;
}

/* Nothing where no draw has the edge, or its cause (but for rounding) or the effect never differs.
 */
static bool can_be_drawn(const panel *c)
{
    double far = fmax(fabs(c->at[0]), fabs(c->at[PLACES - 1]));
    return c->at[PLACES - 1] - c->at[0] > 1e-9 * far && c->most - c->least > 0 &&
           isfinite(c->mean[0]);
}

static void put_panel(const report *r, const panel *c)
{
    (void)fprintf(r->out, "<figure class=\"%s\">\n", c->edge->mean < 0 ? "neg" : "pos");
    put_caption(r, c);
    (void)fprintf(r->out, "<svg role=\"img\" viewBox=\"0 0 %d %d\">", (int)WIDTH, (int)HEIGHT);
    put_said(r, c);
    put_band(r, c, 0, FIRST, "area beyond");
    put_band(r, c, LAST, PLACES - 1, "area beyond");
    put_band(r, c, FIRST, LAST, "area");
    put_axes(r, c);
    put_line(r, c, 0, FIRST, "line beyond");
    put_line(r, c, LAST, PLACES - 1, "line beyond");
    put_line(r, c, FIRST, LAST, "line");
    put_seen(r, c);
    (void)fputs("</svg>\n</figure>\n", r->out);
}

static void put_words(const report *r, size_t shown, size_t count)
{
    (void)fputs(
        "<p>What a cause adds to its effect, by the value of the cause: the line is the mean over "
        "the draws that have the edge, the band holds 90&#160;% of them at each value, and 0 is "
        "the average over the rows. Of what several causes do together it is the average over the "
        "others. The bar on the axis is what the rows have of the cause; <b>beyond it</b>, where "
        "the line is dashed and the band pale, curves go on straight and no row vouches for "
        "them.</p>\n",
        r->out);
    if (shown < count) {
        (void)fprintf(r->out,
                      "<p>Shown are the %zu likeliest of %zu edges over 1/2; <code>lscm export RUN "
                      "curves.json</code> has all of them.</p>\n",
                      shown, count);
    }
}

lscm_status report_curves(const report *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t count = likely(r);
    size_t shown = count < MOST ? count : MOST;
    panel c;
    if (!has_curves(r)) {
        return LSCM_OK;
    }
    section_open(r->out, "curves", "Response curves");
    put_words(r, shown, count);
    (void)fputs("<div class=\"curves\">\n", r->out);
    for (size_t k = 0; k < shown; k++) {
        TRY(take(r, &r->edges[k], &c, why));
        if (can_be_drawn(&c)) {
            put_panel(r, &c);
        }
    }
    (void)fputs("</div>\n", r->out);
    section_close(r->out);
done:
    return status;
}
