/* FOLDER/NAME.md: medians and quartiles by task and method beside the published medians; what ours
 * does not reach, what failed and what was not run, none of it hidden. */
#include "experiments/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct part {
    const grid *g;
    size_t section;
} part;

static const int COLUMNS[] = {METRIC_e_shd_entries, METRIC_auroc, METRIC_mcc_drawn, METRIC_w_mse,
                              METRIC_seconds};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

void print_command(FILE *out, const grid *g, size_t section, int method, const char *tasks)
{
    (void)fprintf(out, "lscm reproduce %s --out %s", g->sections[section].of->name,
                  g->options->folder);
    if (method >= 0) {
        (void)fprintf(out, " --methods %s", METHODS[method].name);
    }
    if (tasks != NULL) {
        (void)fprintf(out, " --tasks '%s'", tasks);
    }
    if (g->options->last_seed > 0 && g->options->first_seed == 1) {
        (void)fprintf(out, " --seeds %lld", (long long)g->options->last_seed);
    } else if (g->options->last_seed > 0) {
        (void)fprintf(out, " --seeds %lld-%lld", (long long)g->options->first_seed,
                      (long long)g->options->last_seed);
    }
}

/* ---- the table ---- */

static void put_published(FILE *out, const grid *g, size_t row, int method)
{
    double value[COLUMN_COUNT];
    bool any = false;
    for (size_t k = 0; k < COLUMN_COUNT; k++) {
        if (!published_median(g, row, method, COLUMNS[k], &value[k])) {
            value[k] = NAN;
        }
        any = any || !isnan(value[k]);
    }
    if (!any) {
        return;
    }
    (void)fprintf(out, "| %s | *published: %s* | |", g->rows[row].task, METHODS[method].title);
    for (size_t k = 0; k < COLUMN_COUNT; k++) {
        if (isnan(value[k])) {
            (void)fputs(" |", out);
        } else {
            (void)fprintf(out, " *%.5g* |", value[k]);
        }
    }
    (void)fputc('\n', out);
}

static void put_row(FILE *out, const grid *g, size_t r)
{
    static const char *const marks[] = {"", " ▲", " =", " **▼**"};
    const grid_row *row = &g->rows[r];
    size_t done = row_count(g, r, CELL_DONE);
    size_t failed = row_count(g, r, CELL_FAILED);
    (void)fprintf(out, "| %s | %s | %zu of %zu", row->task, METHODS[row->method].title, done,
                  g->sections[row->section].seeds);
    (void)fprintf(out, failed > 0 ? ", %zu failed |" : " |", failed);
    for (size_t k = 0; k < COLUMN_COUNT; k++) {
        spread s;
        if (row_spread(g, r, COLUMNS[k], &s)) {
            verdict v = row->method == METHOD_OURS ? row_worst_verdict(g, r, COLUMNS[k])
                                                   : row_verdict(g, r, COLUMNS[k], row->method);
            (void)fprintf(out, " %.3g [%.3g, %.3g]%s |", s.median, s.q1, s.q3, marks[v]);
        } else {
            (void)fputs(done + failed == 0 && k == 0 ? " not run |" : " |", out);
        }
    }
    (void)fputc('\n', out);
}

/* The last row of a task: what was published goes below it. */
static bool is_last(const grid *g, size_t r)
{
    const grid_section *s = &g->sections[g->rows[r].section];
    return r + 1 == s->first_row + s->rows || strcmp(g->rows[r].task, g->rows[r + 1].task) != 0;
}

static void put_table(FILE *out, const grid *g, const grid_section *s)
{
    (void)fputs("\n| task | method | seeds |", out);
    for (size_t k = 0; k < COLUMN_COUNT; k++) {
        (void)fprintf(out, " %s |", METRICS[COLUMNS[k]].title);
    }
    (void)fputs("\n|---|---|---|---|---|---|---|---|\n", out);
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        put_row(out, g, r);
        for (int m = 0; m < METHOD_COUNT && is_last(g, r); m++) {
            put_published(out, g, r, m);
        }
    }
}

/* ---- what the table does not say ---- */

static void put_misses(FILE *out, const grid *g, const grid_section *s)
{
    size_t count = 0;
    (void)fputs("\n## Published medians that ours does not reach\n\n", out);
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        for (int m = 0; m < METRIC_COUNT && g->rows[r].method == METHOD_OURS; m++) {
            for (int by = 0; by < METHOD_COUNT; by++) {
                spread own;
                double other = 0;
                if (row_verdict(g, r, m, by) == VERDICT_WORSE && row_spread(g, r, m, &own) &&
                    published_median(g, r, by, m, &other)) {
                    (void)fprintf(out, "- %s, %s: %.3g; published %.3g (%s)\n", g->rows[r].task,
                                  METRICS[m].title, own.median, other, METHODS[by].title);
                    count++;
                }
            }
        }
    }
    if (count == 0) {
        (void)fputs("None of those shown here.\n", out);
    }
}

static void put_failures(FILE *out, const grid *g, const grid_section *s)
{
    bool any = false;
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        for (size_t k = 0; k < s->seeds; k++) {
            const cell *c = grid_cell(g, r, k);
            if (c->state == CELL_FAILED) {
                (void)fputs(any ? "" : "\n## Failed\n\nTried again with `--retry`.\n\n", out);
                (void)fprintf(out, "- %s, %s, seed %lld: %s\n", g->rows[r].task,
                              METHODS[g->rows[r].method].title, (long long)c->seed,
                              c->error != NULL ? c->error : "");
                any = true;
            }
        }
    }
}

/* Tasks by which no cell of the method was run, "a,b"; malloc'ed; NULL: none. *all: every task. */
static char *tasks_not_run(const grid *g, const grid_section *s, int method, bool *all)
{
    char *text = NULL;
    size_t size = 0;
    size_t count = 0;
    FILE *memory = open_memstream(&text, &size);
    *all = true;
    for (size_t r = s->first_row; memory != NULL && r < s->first_row + s->rows; r++) {
        if (g->rows[r].method != method) {
            continue;
        }
        if (row_count(g, r, CELL_OPEN) == s->seeds) {
            (void)fprintf(memory, "%s%s", count++ > 0 ? "," : "", g->rows[r].task);
        } else {
            *all = false;
        }
    }
    if (memory != NULL) {
        (void)fclose(memory);
    }
    if (count == 0) {
        free(text);
        return NULL;
    }
    return text;
}

static void put_not_run(FILE *out, const grid *g, size_t section)
{
    bool any = false;
    for (int m = 0; m < METHOD_COUNT; m++) {
        bool all = false;
        char *tasks = tasks_not_run(g, &g->sections[section], m, &all);
        if (tasks != NULL) {
            (void)fputs(any ? "" : "\n## Not run\n\nThese commands would run it:\n\n", out);
            (void)fputs("    ", out);
            print_command(out, g, section, m, all ? NULL : tasks);
            (void)fputs(g->options->quick ? " --quick\n" : "\n", out);
            any = true;
        }
        free(tasks);
    }
    if (g->options->quick) {
        (void)fputs(
            "\n## Left out by --quick\n\nMore seeds, more nodes, and every step of BIOLS and "
            "of the baselines:\n\n    ",
            out);
        print_command(out, g, section, -1, NULL);
        (void)fputc('\n', out);
    }
}

static void put_figures(FILE *out, const grid *g, size_t section)
{
    for (size_t k = 0; k < figure_count(g, section); k++) {
        char name[128];
        char path[LONGEST_PATH];
        lscm_error ignored;
        figure_name(g, section, k, name, sizeof name);
        if (grid_path(g, name, ".svg", path, sizeof path, &ignored) == LSCM_OK &&
            access(path, F_OK) == 0) {
            (void)fprintf(out, "\n![%s](%s.svg)\n", name, name);
        }
    }
}

static void put_all(FILE *out, const void *self)
{
    const part *p = self;
    const grid *g = p->g;
    const grid_section *s = &g->sections[p->section];
    (void)fprintf(out, "# %s%s\n\n%s.\n", s->of->name, g->options->quick ? " (quick)" : "",
                  s->of->title);
    if (g->options->quick) {
        (void)fputs(
            "\n> **Quick run.** Few seeds, the smallest problems, and BIOLS, VAE and GraphVAE "
            "stopped after a small part of their steps: their numbers and seconds here are not "
            "what "
            "they can do, and are not judged.\n",
            out);
    }
    (void)fputs("\nMedians [quartiles] over seeds. E-SHD counts a reversed edge as 2, as the paper "
                "does; errors of weights are means over d^2 entries, and so the published ones are "
                "converted. ▲ better than published, = as good, **▼** worse: of ours beside all "
                "that was published for the task, of the others beside the same method. Seconds "
                "are those of the fit on this machine.\n",
                out);
    put_figures(out, g, p->section);
    put_table(out, g, s);
    if (s->of->kind == FIGURE_TIMES) {
        write_times(out, g, p->section);
    }
    put_misses(out, g, s);
    put_failures(out, g, s);
    put_not_run(out, g, p->section);
    (void)fprintf(out, "\nEvery cell: [%s.csv](%s.csv). Made by lscm %s.\n", s->of->name,
                  s->of->name, lscm_version());
}

lscm_status write_markdown(const grid *g, size_t section, lscm_error *why)
{
    char path[LONGEST_PATH];
    const part p = {g, section};
    lscm_status status = grid_path(g, g->sections[section].of->name, ".md", path, sizeof path, why);
    return status == LSCM_OK ? write_whole(path, put_all, &p, why) : status;
}
