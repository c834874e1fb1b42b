/* What is seen while the grid runs. On a terminal: a table of the experiment at hand, medians so
 * far, and a line that says where it is; drawn anew, in place. Elsewhere: a line for every cell. */
#include "experiments/grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct live {
    const grid *g;
    const cell *at;
    bool terminal;
    int size, lines; /* size: processes; lines: drawn and to be drawn over */
    double shown;
};

live *live_open(const grid *g, int size)
{
    live *l = g->options->quiet ? NULL : calloc(1, sizeof *l);
    if (l != NULL) {
        *l = (live){.g = g, .size = size, .terminal = isatty(STDERR_FILENO) == 1};
    }
    return l;
}

void human_time(double seconds, char *out, size_t size)
{
    if (!(seconds >= 0)) {
        (void)snprintf(out, size, "unknown");
    } else if (seconds < 100) {
        (void)snprintf(out, size, "%.0f s", seconds);
    } else if (seconds < 6000) {
        (void)snprintf(out, size, "%.0f min", seconds / 60);
    } else {
        (void)snprintf(out, size, "%.1f h", seconds / 3600);
    }
}

/* ---- how long it takes ---- */

typedef struct mean {
    double sum;
    size_t count;
} mean;

static double mean_or(mean m, double otherwise)
{
    return m.count > 0 ? m.sum / (double)m.count : otherwise;
}

/* Of cells to come: as those of the row so far; else as those of its method; else as all. */
double grid_time_left(const grid *g, int size)
{
    mean *rows = calloc(g->row_count, sizeof *rows);
    mean methods[METHOD_COUNT] = {{0}};
    mean all = {0};
    double left = 0;
    for (size_t i = 0; i < g->cell_count && rows != NULL; i++) {
        const cell *c = &g->cells[i];
        mean *groups[] = {&rows[c->row], &methods[g->rows[c->row].method], &all};
        for (size_t k = 0; k < 3 && c->state == CELL_DONE; k++) {
            groups[k]->sum += c->value[METRIC_seconds];
            groups[k]->count++;
        }
    }
    for (size_t i = 0; i < g->cell_count && rows != NULL; i++) {
        const cell *c = &g->cells[i];
        if (c->state == CELL_OPEN && g->rows[c->row].selected) {
            double usual = mean_or(methods[g->rows[c->row].method], mean_or(all, NAN));
            left += mean_or(rows[c->row], usual);
        }
    }
    free(rows);
    return left / size;
}

/* Cells that were asked for, and how many of them are behind us. */
static void count_cells(const grid *g, size_t *done, size_t *total)
{
    *done = *total = 0;
    for (size_t s = 0; s < g->section_count; s++) {
        *done += section_count(g, s, CELL_DONE, true) + section_count(g, s, CELL_FAILED, true);
        *total += section_count(g, s, CELL_OPEN, true);
    }
    *total += *done;
}

/* ---- a line per cell ---- */

static void print_line(const live *l, const cell *c)
{
    const grid_row *row = &l->g->rows[c->row];
    char left[32];
    size_t done = 0;
    size_t total = 0;
    count_cells(l->g, &done, &total);
    human_time(grid_time_left(l->g, l->size), left, sizeof left);
    (void)fprintf(stderr, "%zu/%zu %s, %s, %s, seed %lld: ", done, total, row->of->experiment,
                  row->task, METHODS[row->method].name, (long long)c->seed);
    if (c->state == CELL_FAILED) {
        (void)fprintf(stderr, "failed: %s", c->error != NULL ? c->error : "");
    } else {
        (void)fprintf(stderr, "E-SHD %.3g, AUROC %.3f, MCC of drawn z %.3f, MSE of W %.2g, %.1f s",
                      c->value[METRIC_e_shd_entries], c->value[METRIC_auroc],
                      c->value[METRIC_mcc_drawn], c->value[METRIC_w_mse], c->value[METRIC_seconds]);
    }
    (void)fprintf(stderr, done < total ? "; %s left\n" : "\n", left);
}

/* ---- a table in place ---- */

static void print_row(const live *l, size_t r, int width)
{
    static const int columns[] = {METRIC_e_shd_entries, METRIC_auroc, METRIC_mcc_drawn,
                                  METRIC_w_mse, METRIC_seconds};
    const grid_row *row = &l->g->rows[r];
    size_t done = row_count(l->g, r, CELL_DONE);
    size_t failed = row_count(l->g, r, CELL_FAILED);
    char text[256];
    int used = snprintf(text, sizeof text, "%-32.32s %-21.21s %3zu/%-3zu", row->task,
                        METHODS[row->method].title, done, l->g->sections[row->section].seeds);
    for (size_t k = 0; k < 5; k++) {
        spread s;
        char number[16] = "-";
        if (row_spread(l->g, r, columns[k], &s)) {
            (void)snprintf(number, sizeof number, "%.3g", s.median);
        }
        used += snprintf(text + used, sizeof text - (size_t)used, " %9s", number);
    }
    if (failed > 0) {
        (void)snprintf(text + used, sizeof text - (size_t)used, "  %zu failed", failed);
    }
    (void)fprintf(stderr, "%.*s\n", width, text);
}

/* Of a section with more rows than lines, those around the row at hand. */
static void draw(live *l, const char *what, double share)
{
    struct winsize window = {.ws_row = 24, .ws_col = 80};
    (void)ioctl(STDERR_FILENO, TIOCGWINSZ, &window);
    int width = window.ws_col > 1 ? window.ws_col - 1 : 79;
    size_t most = window.ws_row > 8 ? (size_t)window.ws_row - 4 : 4;
    const grid_row *row = &l->g->rows[l->at->row];
    const grid_section *s = &l->g->sections[row->section];
    size_t count = s->rows < most ? s->rows : most;
    size_t first = l->at->row > s->first_row + count / 2 ? l->at->row - count / 2 : s->first_row;
    first = first + count > s->first_row + s->rows ? s->first_row + s->rows - count : first;
    char line[256];
    char left[32];
    size_t done = 0;
    size_t total = 0;
    count_cells(l->g, &done, &total);
    human_time(grid_time_left(l->g, l->size), left, sizeof left);
    if (l->lines > 0) {
        (void)fprintf(stderr, "\033[%dA\033[J", l->lines);
    }
    (void)snprintf(line, sizeof line, "%s%-*s %-21s %-7s %9s %9s %9s %9s %9s", s->of->name,
                   (int)(32 - strlen(s->of->name)), l->g->options->quick ? " (quick)" : "", "",
                   "seeds", "E-SHD", "AUROC", "MCC", "MSE of W", "seconds");
    (void)fprintf(stderr, "%.*s\n", width, line);
    for (size_t r = first; r < first + count; r++) {
        print_row(l, r, width);
    }
    (void)snprintf(line, sizeof line, "%zu of %zu cells, %s left; %s, %s, seed %lld: %.0f%% %s",
                   done, total, left, row->task, METHODS[row->method].title, (long long)l->at->seed,
                   100 * share, what);
    (void)fprintf(stderr, "%.*s\n", width, line);
    (void)fflush(stderr);
    l->lines = (int)count + 2;
    l->shown = seconds_now();
}

void live_begin(live *l, const cell *c)
{
    if (l != NULL) {
        l->at = c;
        if (l->terminal) {
            draw(l, "", 0);
        }
    }
}

void live_inside(live *l, const char *what, double share)
{
    if (l != NULL && l->terminal && seconds_now() - l->shown > 0.3) {
        draw(l, what, share);
    }
}

void live_end(live *l, const cell *c)
{
    if (l != NULL && !l->terminal) {
        print_line(l, c);
    } else if (l != NULL && c->state == CELL_FAILED) {
        if (l->lines > 0) {
            (void)fprintf(stderr, "\033[%dA\033[J", l->lines);
        }
        l->lines = 0;
        print_line(l, c);
    }
}

void live_close(live *l)
{
    if (l != NULL && l->lines > 0) {
        (void)fprintf(stderr, "\033[%dA\033[J", l->lines);
    }
    free(l);
}
