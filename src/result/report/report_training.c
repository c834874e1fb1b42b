/* Training curves from trace.csv: a table of numbers with a header. What stands in `step` (or
 * `epoch`) goes to the right; a step that goes back begins another line, the next restart. */
#include "data/text/text.h"
#include "result/report/report_state.h"
#include "result/store/store.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 64, MOST_CHARTS = 6, MOST_POINTS = 400, MOST_ROWS = 1 << 20 };
enum { WIDTH = 300, HEIGHT = 150, LEFT = 46, RIGHT = 8, TOP = 8, BOTTOM = 24 };

typedef struct table {
    char name[COLUMNS][40];
    size_t columns, rows, room;
    double *cell; /* (rows, columns); NaN where empty */
} table;

/* "a,b,c" into its parts, in place; an empty part is "". */
static size_t split(char *line, char **part)
{
    size_t count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    while (line != NULL && count < COLUMNS) {
        char *comma = strchr(line, ',');
        part[count++] = line;
        if (comma != NULL) {
            *comma++ = '\0';
        }
        line = comma;
    }
    return count;
}

static bool add_row(table *t, char **part, size_t count, locale_t c)
{
    if (t->columns == 0) {
        return true;
    }
    if (t->rows == t->room) {
        size_t room = t->room > 0 ? 2 * t->room : 256;
        double *larger = realloc(t->cell, room * t->columns * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        t->cell = larger;
        t->room = room;
    }
    for (size_t k = 0; k < t->columns; k++) {
        double *cell = &t->cell[t->rows * t->columns + k];
        if (k >= count || !number_parse(part[k], c, cell)) {
            *cell = NAN;
        }
    }
    t->rows++;
    return true;
}

static lscm_status read_table(const char *path, table *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char *line = NULL;
    size_t size = 0;
    char *part[COLUMNS] = {0};
    FILE *in = fopen(path, "r");
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (in == NULL || c == (locale_t)0 || getline(&line, &size, in) <= 0) {
        goto done; /* nothing to show */
    }
    t->columns = split(line, part);
    for (size_t k = 0; k < t->columns; k++) {
        (void)snprintf(t->name[k], sizeof t->name[k], "%s", part[k] != NULL ? part[k] : "");
    }
    while (t->rows < MOST_ROWS && getline(&line, &size, in) > 0) {
        if (!add_row(t, part, split(line, part), c)) {
            status = fail_memory(why, 2 * t->room * t->columns * sizeof *t->cell);
            goto done;
        }
    }
done:
    free(line);
    if (c != (locale_t)0) {
        freelocale(c);
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    return status;
}

/* ---- Which columns ---- */

/* NULL: not shown. */
static const char *title_of(const char *name)
{
    static const struct {
        const char *name, *title;
    } titles[] = {{"restart", NULL},
                  {"round", NULL},
                  {"step", NULL},
                  {"epoch", NULL},
                  {"loss", "Loss"},
                  {"x_mse_expected", "Squared error of x"},
                  {"x_noise", "Noise of x"},
                  {"kl_weights", NULL},
                  {"log_q_order", NULL},
                  {"misfit", "Misfit of the network to x"},
                  {"held_out_missed", "Held-out values missed"},
                  {"e_shd", "Wrong edges (expected SHD)"},
                  {"w_mse", "Squared error of the weights"},
                  {"auroc", "AUROC of the edges"},
#define NOT_SHOWN(name, help) {#name, NULL},
                  LSCM_SCORES_TABLE(NOT_SHOWN)
#undef NOT_SHOWN
    };
    for (size_t k = 0; k < sizeof titles / sizeof titles[0]; k++) {
        if (strcmp(titles[k].name, name) == 0) {
            return titles[k].title;
        }
    }
    return name;
}

static size_t find(const table *t, const char *name)
{
    size_t k = 0;
    while (k < t->columns && strcmp(t->name[k], name) != 0) {
        k++;
    }
    return k;
}

/* ---- A chart ---- */

typedef struct chart {
    const table *t;
    size_t x, y; /* columns; x may be past the last: rows are counted */
    double x_low, x_high, y_low, y_high;
    bool log; /* y */
} chart;

static double x_at(const chart *c, size_t row)
{
    return c->x < c->t->columns ? c->t->cell[row * c->t->columns + c->x] : (double)row;
}

static double y_at(const chart *c, size_t row)
{
    double y = c->t->cell[row * c->t->columns + c->y];
    return c->log ? log10(y) : y;
}

/* Many orders of magnitude are shown as such. */
static bool measure(chart *c)
{
    double least = INFINITY;
    double most = -INFINITY;
    c->x_low = INFINITY;
    c->x_high = -INFINITY;
    for (size_t row = 0; row < c->t->rows; row++) {
        double y = y_at(c, row);
        if (isfinite(y) && isfinite(x_at(c, row))) {
            least = fmin(least, y);
            most = fmax(most, y);
            c->x_low = fmin(c->x_low, x_at(c, row));
            c->x_high = fmax(c->x_high, x_at(c, row));
        }
    }
    c->log = least > 0 && most > 30 * least;
    c->y_low = c->log ? log10(least) : least;
    c->y_high = c->log ? log10(most) : most;
    if (!(c->y_high > c->y_low)) {
        double by = fmax(fabs(c->y_low), 1) / 10;
        c->y_low -= by;
        c->y_high += by;
    }
    return c->x_high > c->x_low;
}

static void put_line(const report *r, const chart *c)
{
    size_t every = c->t->rows / MOST_POINTS + 1;
    bool pen_down = false;
    double last = -INFINITY;
    (void)fputs("<path class=\"line\" d=\"", r->out);
    for (size_t row = 0; row < c->t->rows; row++) {
        double x = x_at(c, row);
        double y = y_at(c, row);
        if (!isfinite(x) || !isfinite(y)) {
            pen_down = false;
            continue;
        }
        bool back = x <= last;
        if (row % every != 0 && !back && row + 1 < c->t->rows) {
            continue;
        }
        double right = LEFT + (x - c->x_low) / (c->x_high - c->x_low) * (WIDTH - LEFT - RIGHT);
        double down = TOP + (c->y_high - y) / (c->y_high - c->y_low) * (HEIGHT - TOP - BOTTOM);
        (void)fprintf(r->out, "%s%s", pen_down && !back ? "L" : "M", fixed(right, 1).text);
        (void)fprintf(r->out, " %s", fixed(down, 1).text);
        pen_down = true;
        last = x;
    }
    (void)fputs("\"/>", r->out);
}

static void put_chart(const report *r, const chart *c, const char *title)
{
    (void)fputs("<figure class=\"pos\">\n<figcaption><b>", r->out);
    put_text(r->out, title);
    (void)fprintf(r->out, "</b>%s</figcaption>\n",
                  c->log ? " <span class=\"soft\">(logarithmic)</span>" : "");
    (void)fprintf(r->out, "<svg role=\"img\" viewBox=\"0 0 %d %d\"><title>", (int)WIDTH,
                  (int)HEIGHT);
    put_text(r->out, title);
    (void)fprintf(r->out,
                  " over the steps of training</title><path class=\"axis\" d=\"M%d %dV%dH%d\"/>",
                  (int)LEFT, (int)TOP, HEIGHT - BOTTOM, WIDTH - RIGHT);
    put_line(r, c);
    for (int end = 0; end < 2; end++) {
        double y = end == 0 ? c->y_low : c->y_high;
        (void)fprintf(r->out,
                      "<text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"%d\">%s</text>",
                      LEFT - 5, end == 0 ? HEIGHT - BOTTOM : TOP + 8,
                      few_digits(c->log ? pow(10, y) : y).text);
        (void)fprintf(r->out,
                      "<text class=\"tick\" text-anchor=\"%s\" x=\"%d\" y=\"%d\">%s%.0f</text>",
                      end == 0 ? "start" : "end", end == 0 ? LEFT : WIDTH - RIGHT, HEIGHT - 7,
                      end == 0 ? "step " : "", end == 0 ? c->x_low : c->x_high);
    }
    (void)fputs("</svg>\n</figure>\n", r->out);
}

bool has_training(const report *r)
{
    char *path = r->folder != NULL ? run_path(r->folder, "trace.csv") : NULL;
    bool there = path != NULL && access(path, R_OK) == 0;
    free(path);
    return there;
}

lscm_status report_training(const report *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    table t = {0};
    char *path = NULL;
    size_t charts = 0;
    if (!has_training(r)) {
        return LSCM_OK;
    }
    path = run_path(r->folder, "trace.csv");
    if (path == NULL) {
        return fail_memory(why, strlen(r->folder));
    }
    TRY(read_table(path, &t, why));
    section_open(r->out, "training", "The training");
    (void)fputs("<p>How the fit went, step by step. Curves that have become flat say that more "
                "steps would change little; curves that still fall ask for more (--steps). Each "
                "restart has a line of its own.</p>\n<div class=\"few\">\n",
                r->out);
    size_t x = find(&t, "step");
    x = x < t.columns ? x : find(&t, "epoch");
    for (size_t k = 0; k < t.columns && charts < MOST_CHARTS; k++) {
        chart c = {.t = &t, .x = x, .y = k};
        const char *title = title_of(t.name[k]);
        if (title != NULL && measure(&c)) {
            put_chart(r, &c, title);
            charts++;
        }
    }
    (void)fputs("</div>\n", r->out);
    section_close(r->out);
done:
    free(t.cell);
    free(path);
    return status;
}
