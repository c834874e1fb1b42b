/* FOLDER/NAME.csv: every cell of an experiment that has a result, a row each. */
#include "experiments/grid.h"

#include <math.h>

typedef struct part {
    const grid *g;
    size_t section;
} part;

static void put_quoted(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (; text != NULL && *text != '\0'; text++) {
        if (*text == '"') {
            (void)fputc('"', out);
        }
        (void)fputc(*text == '\n' ? ' ' : *text, out);
    }
    (void)fputc('"', out);
}

static void put_cell(FILE *out, const grid *g, const cell *c)
{
    const grid_row *row = &g->rows[c->row];
    lscm_simulation *s = NULL;
    lscm_error ignored;
    bool made = simulation_settings(g, row, c->seed, &s, &ignored) == LSCM_OK;
    (void)fprintf(out, "%s,", row->of->experiment);
    put_quoted(out, row->task);
    (void)fprintf(out, ",%s,%s,%lld,%g,%lld,%lld,%s,", METHODS[row->method].name, row->of->preset,
                  made ? (long long)s->nodes : 0, made ? s->degree : 0,
                  made ? (long long)s->sets : 0, made ? (long long)s->per_set : 0,
                  row->point > 0 ? row->of->varied : "");
    if (row->point > 0) {
        (void)fprintf(out, "%lld", (long long)row->point);
    }
    (void)fprintf(out, ",%lld,%s,%s", (long long)c->seed, g->options->quick ? "quick" : "full",
                  c->state == CELL_DONE ? "done" : "failed");
    for (int m = 0; m < METRIC_COUNT; m++) {
        if (c->state == CELL_DONE && isfinite(c->value[m])) {
            (void)fprintf(out, ",%.10g", c->value[m]);
        } else {
            (void)fputc(',', out);
        }
    }
    (void)fputc(',', out);
    if (c->error != NULL) {
        put_quoted(out, c->error);
    }
    (void)fputc('\n', out);
    lscm_simulation_free(s);
}

static void put_all(FILE *out, const void *self)
{
    const part *p = self;
    const grid_section *s = &p->g->sections[p->section];
    (void)fputs("experiment,task,method,preset,nodes,degree,sets,per_set,varied,point,seed,length,"
                "status",
                out);
    for (int m = 0; m < METRIC_COUNT; m++) {
        (void)fprintf(out, ",%s", METRICS[m].key);
    }
    (void)fputs(",error\n", out);
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        for (size_t k = 0; k < s->seeds; k++) {
            const cell *c = grid_cell(p->g, r, k);
            if (c->state != CELL_OPEN) {
                put_cell(out, p->g, c);
            }
        }
    }
}

lscm_status write_csv(const grid *g, size_t section, lscm_error *why)
{
    char path[LONGEST_PATH];
    const part p = {g, section};
    lscm_status status =
        grid_path(g, g->sections[section].of->name, ".csv", path, sizeof path, why);
    return status == LSCM_OK ? write_whole(path, put_all, &p, why) : status;
}
