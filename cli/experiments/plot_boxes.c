/* Box plots: a panel for each metric, a group for each task, a box for each method in it:
 * quartiles, median, whiskers to the farthest within 1.5 of their distance, and every seed as a
 * point; diamonds are published medians. */
#include "experiments/plot.h"

#include <math.h>
#include <string.h>

/* Which place in a group each method has; methods without rows have none. */
typedef struct slots {
    int of[METHOD_COUNT];
    int count;
    size_t tasks;
} slots;

static slots find_slots(const grid *g, const grid_section *s)
{
    slots out = {.count = 0};
    for (int m = 0; m < METHOD_COUNT; m++) {
        bool used = false;
        for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
            used = used || g->rows[r].method == m;
        }
        out.of[m] = used ? out.count++ : -1;
    }
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        bool first = r == s->first_row || strcmp(g->rows[r].task, g->rows[r - 1].task) != 0;
        out.tasks += first ? 1 : 0;
    }
    return out;
}

static double width_of(const slots *n)
{
    return 0.84 / n->count;
}

/* Of the row; rows of a task follow each other. */
static double x_of(const grid *g, const grid_section *s, const slots *n, size_t row, int method)
{
    size_t task = 0;
    for (size_t r = s->first_row + 1; r <= row; r++) {
        task += strcmp(g->rows[r].task, g->rows[r - 1].task) != 0 ? 1 : 0;
    }
    return (double)task + (n->of[method] - (n->count - 1) / 2.0) * width_of(n);
}

static size_t put_boxes(FILE *out, const grid *g, const grid_section *s, const slots *n, int method,
                        int metric)
{
    size_t count = 0;
    (void)fprintf(out, "$boxes%d << EOD\n", method);
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        spread w;
        if (g->rows[r].method == method && row_spread(g, r, metric, &w)) {
            (void)fprintf(out, "%.4f %g %g %g %g %g\n", x_of(g, s, n, r, method),
                          plot_value(metric, w.q1), plot_value(metric, w.low),
                          plot_value(metric, w.high), plot_value(metric, w.q3),
                          plot_value(metric, w.median));
            count++;
        }
    }
    (void)fprintf(out, "EOD\n$points%d << EOD\n", method);
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        for (size_t k = 0; k < s->seeds && g->rows[r].method == method; k++) {
            const cell *c = grid_cell(g, r, k);
            if (c->state == CELL_DONE && isfinite(c->value[metric])) {
                double jitter = fmod(0.61803398875 * (double)(k + 1), 1) - 0.5;
                (void)fprintf(out, "%.4f %g\n",
                              x_of(g, s, n, r, method) + 0.6 * jitter * width_of(n),
                              plot_value(metric, c->value[metric]));
            }
        }
    }
    (void)fputs("EOD\n", out);
    return count;
}

static size_t put_published(FILE *out, const grid *g, const grid_section *s, const slots *n,
                            int metric, double *least, double *most)
{
    size_t count = 0;
    (void)fputs("$published << EOD\n", out);
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        double value = 0;
        if (published_median(g, r, g->rows[r].method, metric, &value)) {
            (void)fprintf(out, "%.4f %g\n", x_of(g, s, n, r, g->rows[r].method),
                          plot_value(metric, value));
            *least = fmin(*least, value);
            *most = fmax(*most, value);
            count++;
        }
    }
    (void)fputs("EOD\n", out);
    return count;
}

/* "d10 (20 sets) ER-1" in three lines at most. */
static void put_labels(FILE *out, const grid *g, const grid_section *s)
{
    size_t task = 0;
    (void)fputs("set xtics (", out);
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        bool first = r == s->first_row || strcmp(g->rows[r].task, g->rows[r - 1].task) != 0;
        if (!first) {
            continue;
        }
        (void)fprintf(out, "%s\"", task > 0 ? ", " : "");
        for (const char *t = g->rows[r].task; *t != '\0'; t++) {
            bool split = *t == ' ' && (t[1] == '(' || t[1] == 'E' || t[1] == 'N');
            (void)fputs(split ? "\\n" : (const char[]){*t, '\0'}, out);
        }
        (void)fprintf(out, "\" %zu", task++);
    }
    (void)fprintf(out, ") scale 0\nset xrange [-0.5:%g]\n", (double)task - 0.5);
}

static void put_panel(FILE *out, const grid *g, const grid_section *s, const slots *n, int metric)
{
    double least = INFINITY;
    double most = -INFINITY;
    size_t boxes[METHOD_COUNT];
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        for (size_t k = 0; k < s->seeds; k++) {
            const cell *c = grid_cell(g, r, k);
            bool known = c->state == CELL_DONE && isfinite(c->value[metric]);
            least = known ? fmin(least, c->value[metric]) : least;
            most = known ? fmax(most, c->value[metric]) : most;
        }
    }
    for (int m = 0; m < METHOD_COUNT; m++) {
        boxes[m] = put_boxes(out, g, s, n, m, metric);
    }
    size_t published = put_published(out, g, s, n, metric, &least, &most);
    plot_axis(out, metric, isfinite(least) ? least : 0, isfinite(most) ? most : 1);
    (void)fprintf(out, "set boxwidth %g\nplot NaN notitle", 0.8 * width_of(n));
    for (int m = 0; m < METHOD_COUNT; m++) {
        if (boxes[m] > 0) {
            (void)fprintf(out,
                          ", $boxes%d using 1:2:3:4:5 with candlesticks lc rgb '%s' lw 1.2 fs "
                          "solid 0.3 border lc rgb '%s' whiskerbars 0.5"
                          ", $boxes%d using 1:6:6:6:6 with candlesticks lc rgb '%s' lw 3"
                          ", $points%d using 1:2 with points pt 7 ps 0.4 lc rgb '%s'",
                          m, METHODS[m].colour, METHODS[m].colour, m, METHODS[m].colour, m,
                          METHODS[m].colour);
        }
    }
    (void)fputs(published > 0
                    ? ", $published using 1:2 with points pt 12 ps 1.4 lw 2 lc rgb 'black'\n"
                    : "\n",
                out);
}

static void put_legend(FILE *out, const slots *n, bool times, double high)
{
    plot_place(out, (place){0.02, 0.98, 0.005, high});
    (void)fputs("unset title\nunset border\nunset tics\nunset grid\nunset logscale y\n"
                "set yrange [0:1]\nset key center center horizontal Left reverse maxrows 2 samplen "
                "1.5\nplot ",
                out);
    for (int m = 0; m < METHOD_COUNT; m++) {
        if (n->of[m] >= 0) {
            (void)fprintf(out, "NaN with boxes fs solid 0.4 lc rgb '%s' title \"%s\", ",
                          METHODS[m].colour, METHODS[m].title);
        }
    }
    (void)fprintf(out,
                  "NaN with points pt 12 ps 1.4 lw 2 lc rgb 'black' title \"%s\"\n"
                  "unset multiplot\n",
                  times ? "published: all steps, one accelerator" : "published median");
}

void plot_boxes(FILE *out, const grid *g, size_t section)
{
    const grid_section *s = &g->sections[section];
    slots n = find_slots(g, s);
    int one = METRIC_seconds;
    bool times = s->of->kind == FIGURE_TIMES;
    const int *metrics = times ? &one : SHOWN;
    int panels = times ? 1 : (int)s->of->shown;
    int across = panels > 1 && n.tasks <= 4 ? 2 : 1;
    int down = (panels + across - 1) / across;
    int width = n.tasks <= 4 ? 1000 : 1300;
    int head = 60;
    int foot = 60;
    int tall = times ? 500 : across > 1 ? 320 : 260; /* points of SVG, as the others here */
    double height = head + tall * down + foot;
    plot_page(out, g, section, "", width, (int)height);
    for (int k = 0; k < panels; k++) {
        int row = k / across;
        double wide = 0.94 / across;
        double left = 0.05 + wide * (k % across);
        double top = (foot + tall * (down - row)) / height;
        plot_place(out, (place){left + 0.01, left + wide - 0.03, top - (tall - 62) / height,
                                top - 30 / height});
        put_labels(out, g, s);
        put_panel(out, g, s, &n, metrics[k]);
    }
    put_legend(out, &n, times, foot / height);
}
