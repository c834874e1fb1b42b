/* Curves over what is varied, for one degree: a panel for each metric (and each size of problem), a
 * line of medians with its quartiles for each method, or for each kind of data. Ours, where it has
 * no steps to vary, is a dashed line across; diamonds are published medians. */
#include "experiments/plot.h"

#include <math.h>
#include <string.h>

enum { MOST_LINES = 32, MOST_PANELS = 16 };

/* Rows of one variant and method. */
typedef struct curve {
    const variant *of;
    int method;
    const char *colour;
    char title[80];
} curve;

typedef struct curves {
    const grid *g;
    const grid_section *s;
    double degree;
    const char *panels[MOST_PANELS]; /* rows of panels */
    size_t panel_count;
    curve lines[MOST_LINES];
    size_t line_count;
    double first, last; /* of what is varied */
    bool published;     /* some panel has a diamond */
} curves;

static const char *const LINE_COLOURS[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00"};

static bool in_page(const curves *c, size_t r)
{
    return c->g->rows[r].degree == c->degree;
}

static size_t find_name(const char *const *names, size_t count, const char *name)
{
    size_t at = 0;
    while (at < count && strcmp(names[at], name) != 0) {
        at++;
    }
    return at;
}

/* Panels, lines and the range of what is varied. Lines are coloured by method, or by kind of data
 * where there are several. */
static void look(curves *c)
{
    const char *kinds[8];
    size_t kind_count = 0;
    c->first = INFINITY;
    c->last = -INFINITY;
    for (size_t r = c->s->first_row; r < c->s->first_row + c->s->rows; r++) {
        const grid_row *row = &c->g->rows[r];
        const char *kind = row->of->line;
        if (!in_page(c, r)) {
            continue;
        }
        size_t panel = find_name(c->panels, c->panel_count, row->of->panel);
        if (panel == c->panel_count && panel < MOST_PANELS) {
            c->panels[c->panel_count++] = row->of->panel;
        }
        if (row->point > 0) {
            c->first = fmin(c->first, (double)row->point);
            c->last = fmax(c->last, (double)row->point);
        }
        size_t at = 0;
        while (at < c->line_count &&
               (c->lines[at].of != row->of || c->lines[at].method != row->method)) {
            at++;
        }
        if (at < c->line_count || at == MOST_LINES) {
            continue;
        }
        size_t k = kind != NULL ? find_name(kinds, kind_count, kind) : 0;
        if (kind != NULL && k == kind_count && k < 8) {
            kinds[kind_count++] = kind;
        }
        curve *line = &c->lines[c->line_count++];
        *line = (curve){.of = row->of,
                        .method = row->method,
                        .colour = kind != NULL ? LINE_COLOURS[k % 5] : METHODS[row->method].colour};
        (void)snprintf(line->title, sizeof line->title, kind != NULL ? "%s, %s" : "%s",
                       METHODS[row->method].title, kind);
    }
}

/* x q1 median q3; a row that is not varied goes all the way across. Returns the number of points.
 */
static size_t put_line(FILE *out, const curves *c, const curve *line, int metric, double *least,
                       double *most)
{
    size_t count = 0;
    for (size_t r = c->s->first_row; r < c->s->first_row + c->s->rows; r++) {
        const grid_row *row = &c->g->rows[r];
        spread w;
        if (row->of != line->of || row->method != line->method || !in_page(c, r) ||
            !row_spread(c->g, r, metric, &w)) {
            continue;
        }
        for (int end = 0; end < (row->point > 0 ? 1 : 2); end++) {
            double x = row->point > 0 ? (double)row->point : end == 0 ? c->first : c->last;
            (void)fprintf(out, "%g %g %g %g\n", x, plot_value(metric, w.q1),
                          plot_value(metric, w.median), plot_value(metric, w.q3));
        }
        *least = fmin(*least, w.q1);
        *most = fmax(*most, w.q3);
        count++;
    }
    return count;
}

/* Where steps are varied, what was published is of the last. */
static size_t put_published(FILE *out, const curves *c, const curve *line, int metric,
                            double *least, double *most)
{
    size_t count = 0;
    for (size_t r = c->s->first_row; r < c->s->first_row + c->s->rows; r++) {
        const grid_row *row = &c->g->rows[r];
        double value = 0;
        bool steps = row->of->varied != NULL && strcmp(row->of->varied, "steps") == 0;
        if (row->of != line->of || row->method != line->method || !in_page(c, r) ||
            (steps && (double)row->point != c->last) ||
            !published_median(c->g, r, row->method, metric, &value)) {
            continue;
        }
        (void)fprintf(out, "%lld %g \"%s\"\n", (long long)row->point, plot_value(metric, value),
                      line->colour);
        *least = fmin(*least, value);
        *most = fmax(*most, value);
        count++;
    }
    return count;
}

static bool is_across(const curves *c, const curve *line)
{
    return line->method == METHOD_OURS && strcmp(line->of->varied, "steps") == 0 && c->last > 0;
}

static void put_panel(FILE *out, curves *c, const char *panel, int metric)
{
    size_t points[MOST_LINES] = {0};
    size_t diamonds[MOST_LINES] = {0};
    double least = INFINITY;
    double most = -INFINITY;
    for (size_t i = 0; i < c->line_count; i++) {
        const curve *line = &c->lines[i];
        if (strcmp(line->of->panel, panel) != 0) {
            continue;
        }
        (void)fprintf(out, "$line%zu << EOD\n", i);
        points[i] = put_line(out, c, line, metric, &least, &most);
        (void)fprintf(out, "EOD\n$published%zu << EOD\n", i);
        diamonds[i] = put_published(out, c, line, metric, &least, &most);
        (void)fputs("EOD\n", out);
    }
    plot_axis(out, metric, isfinite(least) ? least : 0, isfinite(most) ? most : 1);
    (void)fputs("plot NaN notitle", out);
    for (size_t i = 0; i < c->line_count; i++) {
        const curve *line = &c->lines[i];
        if (points[i] > 0 && is_across(c, line)) {
            (void)fprintf(out, ", $line%zu using 1:3 with lines dt 2 lw 2 lc rgb '%s'", i,
                          line->colour);
        } else if (points[i] > 0) {
            (void)fprintf(out,
                          ", $line%zu using 1:2:4 with filledcurves fs transparent solid 0.15 "
                          "noborder lc rgb '%s'"
                          ", $line%zu using 1:3 with linespoints pt 7 ps 0.5 lw 2 lc rgb '%s'",
                          i, line->colour, i, line->colour);
        }
        if (diamonds[i] > 0) {
            c->published = true;
            (void)fprintf(out,
                          ", $published%zu using 1:2 with points pt 12 ps 1.4 lw 2 lc rgb '%s'", i,
                          line->colour);
        }
    }
    (void)fputc('\n', out);
}

/* Lines that differ in their panel alone have one entry. */
static void put_legend(FILE *out, const curves *c, double high)
{
    plot_place(out, (place){0.02, 0.98, 0.004, high});
    (void)fprintf(
        out, "unset title\nunset border\nunset tics\nunset grid\nunset logscale\nunset xlabel\n"
             "unset ylabel\nset xrange [0:1]\nset yrange [0:1]\n"
             "set key center center horizontal Left reverse maxcols 3 samplen 2\nplot ");
    for (size_t i = 0; i < c->line_count; i++) {
        bool seen = false;
        for (size_t k = 0; k < i; k++) {
            seen = seen || strcmp(c->lines[k].title, c->lines[i].title) == 0;
        }
        if (!seen) {
            (void)fprintf(out, "NaN with lines %s lw 2 lc rgb '%s' title \"%s\", ",
                          is_across(c, &c->lines[i]) ? "dt 2" : "dt 1", c->lines[i].colour,
                          c->lines[i].title);
        }
    }
    (void)fputs(c->published ? "NaN with points pt 12 ps 1.4 lw 2 lc rgb 'black' title "
                               "\"published median\"\nunset multiplot\n"
                             : "NaN notitle\nunset multiplot\n",
                out);
}

/* Few values are named; more have the marks of a logarithmic axis. */
static void put_x_axis(FILE *out, const curves *c)
{
    enum { MOST_NAMED = 6 };
    int64_t named[MOST_NAMED + 1];
    size_t count = 0;
    for (size_t r = c->s->first_row; r < c->s->first_row + c->s->rows; r++) {
        int64_t point = c->g->rows[r].point;
        size_t at = 0;
        while (at < count && named[at] != point) {
            at++;
        }
        if (in_page(c, r) && point > 0 && at == count && count <= MOST_NAMED) {
            named[count++] = point;
        }
    }
    (void)fprintf(out, "set logscale x\nset xrange [%g:%g]\nset xlabel \"%s\" offset 0,0.6\n",
                  0.9 * c->first, 1.1 * c->last, c->lines[0].of->varied);
    for (size_t k = 0; k < count && count <= MOST_NAMED; k++) {
        (void)fprintf(out, "set xtics %s (%lld)\n", k > 0 ? "add" : "", (long long)named[k]);
    }
}

void plot_curves(FILE *out, const grid *g, size_t section, double degree)
{
    curves c = {.g = g, .s = &g->sections[section], .degree = degree};
    look(&c);
    if (c.line_count == 0) {
        return;
    }
    bool all = c.s->of->shown > SHOWN_FOUR; /* one size of problem, panels in rows */
    size_t across = all ? 5 : SHOWN_FOUR;
    size_t down = all ? (c.s->of->shown + across - 1) / across : c.panel_count;
    int height = 130 + 260 * (int)down;
    double foot = 70.0 / height;
    double high = (1 - foot - 60.0 / height) / (double)down;
    char note[64];
    (void)snprintf(note, sizeof note, ", ER-%g", degree);
    plot_page(out, g, section, note, 310 * (int)across, height);
    put_x_axis(out, &c);
    for (size_t k = 0; k < (all ? c.s->of->shown : down * across); k++) {
        size_t row = k / across;
        size_t column = k % across;
        double wide = 0.97 / (double)across;
        double left = 0.02 + wide * (double)column;
        double top = 1 - 60.0 / height - high * (double)row;
        plot_place(out, (place){left + 0.03, left + wide - 0.01, top - high + 60.0 / height,
                                top - 22.0 / height});
        (void)fprintf(out, "set ylabel \"%s\" offset 1.2,0\n",
                      all || column > 0 ? "" : c.panels[row]);
        put_panel(out, &c, c.panels[all ? 0 : row], SHOWN[all ? k : column]);
    }
    put_legend(out, &c, foot);
}
