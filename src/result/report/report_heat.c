/* A heat map: rows are causes and columns effects, both in the order of the report. Colour is the
 * sign, its strength the size; small maps have the numbers in their cells, larger ones join equal
 * neighbours, so that the page stays small. */
#include "result/report/report_state.h"

#include <math.h>
#include <stdlib.h>

enum { WITH_NUMBERS = 10, WITH_TITLES = 30, WITH_NAMES = 60, NAME = 10 };
static const double DARKEST = 0.8; /* opacity; black text on it has contrast 4.5 */

typedef struct grid {
    size_t d;
    double cell, left, top; /* where the cells begin */
    double most;
    int shades;
    bool turned; /* names of columns */
} grid;

static grid lay_out(const report *r, const heat_map *map)
{
    size_t d = r->d;
    size_t longest = 1;
    grid g = {.d = d, .most = map->most, .shades = d <= WITH_TITLES ? 100 : 20};
    for (size_t i = 0; i < d; i++) {
        char room[24];
        size_t width = text_width(node_label(r, i, room));
        longest = width > longest ? width : longest;
    }
    longest = longest < NAME ? longest : NAME;
    g.cell = d <= WITH_NUMBERS  ? (d <= 6 ? 44 : 38)
             : d <= WITH_TITLES ? fmax(15, 330 / (double)d)
             : d <= WITH_NAMES  ? 12
                                : 4;
    g.turned = 7.6 * (double)longest > g.cell - 2;
    g.left = d <= WITH_NAMES ? 7.6 * (double)longest + 10 : 4;
    g.top = d > WITH_NAMES ? 4 : g.turned ? 6.8 * (double)longest + 10 : 20;
    for (size_t k = 0; map->most <= 0 && k < d * d; k++) {
        g.most = fmax(g.most, fabs(map->values[k]));
    }
    return g;
}

static int shade(double value, const grid *g)
{
    double share = g->most > 0 ? fmin(fabs(value) / g->most, 1) : 0;
    return (int)lround(share * g->shades) * (value < 0 ? -1 : 1);
}

static void put_names(const report *r, const grid *g)
{
    for (size_t k = 0; k < g->d; k++) {
        char room[24];
        const char *name = node_label(r, r->order[k], room);
        double middle = ((double)k + 0.5) * g->cell;
        (void)fprintf(r->out, "<text class=\"name row\" x=\"%s\"", coordinate(g->left - 6).text);
        (void)fprintf(r->out, " y=\"%s\">", coordinate(g->top + middle + 4).text);
        put_short_text(r->out, name, NAME);
        (void)fprintf(r->out, "</text><text class=\"name%s\"", g->turned ? " col" : "");
        (void)fprintf(r->out, " x=\"%s\"", coordinate(g->left + middle + (g->turned ? 4 : 0)).text);
        (void)fprintf(r->out, " y=\"%s\"", coordinate(g->top - 6).text);
        if (g->turned) {
            (void)fprintf(r->out, " transform=\"rotate(-90 %s",
                          coordinate(g->left + middle + 4).text);
            (void)fprintf(r->out, " %s)\"", coordinate(g->top - 6).text);
        }
        (void)fputs(">", r->out);
        put_short_text(r->out, name, NAME);
        (void)fputs("</text>\n", r->out);
    }
}

/* Cells [first, last) of a row, all of one shade. */
static void put_run(const report *r, const grid *g, const heat_map *map, size_t row, size_t first,
                    size_t last)
{
    size_t from = r->order[row];
    size_t to = r->order[first];
    double value = map->values[from * g->d + to];
    int strength = shade(value, g);
    double opacity = DARKEST * abs(strength) / g->shades;
    (void)fprintf(r->out, "<rect class=\"c %s\"", strength < 0 ? "neg" : "pos");
    (void)fprintf(r->out, " x=\"%s\"", coordinate(g->left + (double)first * g->cell).text);
    (void)fprintf(r->out, " y=\"%s\"", coordinate(g->top + (double)row * g->cell).text);
    (void)fprintf(r->out, " width=\"%s\"", coordinate((double)(last - first) * g->cell).text);
    (void)fprintf(r->out, " height=\"%s\"", coordinate(g->cell).text);
    (void)fprintf(r->out, " fill-opacity=\"%s\"", coordinate(opacity).text);
    if (g->d > WITH_TITLES) {
        (void)fputs("/>\n", r->out);
        return;
    }
    (void)fputs("><title>", r->out);
    put_edge_name(r, from, to);
    (void)fprintf(r->out, ": %s</title></rect>", few_digits(value).text);
    if (g->d <= WITH_NUMBERS) {
        (void)fprintf(r->out, "<text%s", opacity > 0.6 * DARKEST ? " class=\"s\"" : "");
        (void)fprintf(r->out, " x=\"%s\"",
                      coordinate(g->left + ((double)first + 0.5) * g->cell).text);
        (void)fprintf(r->out, " y=\"%s\">",
                      coordinate(g->top + ((double)row + 0.5) * g->cell + 4).text);
        (void)fprintf(r->out, "%s</text>", (map->whole ? decimals(value, 0) : tiny(value)).text);
    }
    (void)fputs("\n", r->out);
}

static void put_row(const report *r, const grid *g, const heat_map *map, size_t row)
{
    const double *values = map->values + r->order[row] * g->d;
    size_t next = 0;
    for (size_t first = 0; first < g->d; first = next) {
        int same = shade(values[r->order[first]], g);
        next = first + 1;
        if (first == row) {
            continue;
        }
        while (g->d > WITH_TITLES && next < g->d && next != row &&
               shade(values[r->order[next]], g) == same) {
            next++;
        }
        if (same != 0) {
            put_run(r, g, map, row, first, next);
        }
    }
}

void put_heat_map(const report *r, const heat_map *map)
{
    grid g = lay_out(r, map);
    double side = (double)g.d * g.cell;
    (void)fprintf(r->out, "<figure>\n<figcaption><b>%s</b></figcaption>\n<div class=\"wide\">\n",
                  map->title);
    (void)fprintf(r->out, "<svg class=\"heat\" role=\"img\" aria-label=\"%s. %s\" viewBox=\"0 0 ",
                  map->title, map->about);
    (void)fprintf(r->out, "%s ", coordinate(g.left + side + 2).text);
    (void)fprintf(r->out, "%s\"", coordinate(g.top + side + 2).text);
    (void)fprintf(r->out, " style=\"width:%.0fpx;max-width:%s\">\n", g.left + side + 2,
                  g.left + side < 420 ? "100%" : "none");
    (void)fprintf(r->out, "<rect class=\"frame\" x=\"%s\"", coordinate(g.left).text);
    (void)fprintf(r->out, " y=\"%s\"", coordinate(g.top).text);
    (void)fprintf(r->out, " width=\"%s\"", coordinate(side).text);
    (void)fprintf(r->out, " height=\"%s\"/>\n<g%s>\n", coordinate(side).text,
                  g.d <= WITH_TITLES ? " class=\"cells\"" : "");
    for (size_t row = 0; row < g.d; row++) {
        double corner = (double)row * g.cell;
        (void)fprintf(r->out, "<rect class=\"own\" x=\"%s\"", coordinate(g.left + corner).text);
        (void)fprintf(r->out, " y=\"%s\"", coordinate(g.top + corner).text);
        (void)fprintf(r->out, " width=\"%s\"", coordinate(g.cell).text);
        (void)fprintf(r->out, " height=\"%s\"/>\n", coordinate(g.cell).text);
        put_row(r, &g, map, row);
    }
    (void)fputs("</g>\n", r->out);
    if (g.d <= WITH_NAMES) {
        put_names(r, &g);
    }
    (void)fputs("</svg>\n</div>\n</figure>\n", r->out);
}
