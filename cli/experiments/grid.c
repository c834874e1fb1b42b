/* From the tables of experiments to rows and cells. */
#include "experiments/grid.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

lscm_status apply_settings(const lscm_settings_table *table, void *settings, const char *text,
                           lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char name[64];
    char value[64];
    int used = 0;
    while (text != NULL && status == LSCM_OK &&
           sscanf(text, " %63[^=]=%63s%n", name, value, &used) == 2) {
        status = lscm_settings_set(table, settings, name, value, why);
        text += used;
    }
    return status;
}

/* ---- words chosen from a list ---- */

/* The k-th of "a,b,c" into out; false past the last. */
static bool nth_word(const char *list, size_t k, char *out, size_t size)
{
    while (list != NULL && k > 0) {
        list = strchr(list, ',');
        list = list != NULL ? list + 1 : NULL;
        k--;
    }
    if (list == NULL || *list == '\0') {
        return false;
    }
    (void)snprintf(out, size, "%.*s", (int)strcspn(list, ","), list);
    return true;
}

static double nth_number(const char *list, size_t k)
{
    char word[32];
    return nth_word(list, k, word, sizeof word) ? strtod(word, NULL) : NAN;
}

static bool contains(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (; *text != '\0'; text++) {
        if (strncasecmp(text, word, length) == 0) {
            return true;
        }
    }
    return false;
}

static lscm_status choose_methods(const char *list, unsigned *out, lscm_error *why)
{
    const char *names[METHOD_COUNT];
    char word[64];
    *out = list == NULL ? ~0U : 0;
    for (int m = 0; m < METHOD_COUNT; m++) {
        names[m] = METHODS[m].name;
    }
    for (size_t k = 0; nth_word(list, k, word, sizeof word); k++) {
        int found = 0;
        while (found < METHOD_COUNT && strcmp(names[found], word) != 0) {
            found++;
        }
        if (found == METHOD_COUNT) {
            const char *best = lscm_suggest(word, names, METHOD_COUNT);
            return cli_explain(why, LSCM_USAGE,
                               "--methods: there is no method '%s'; %s%s%sthere are auto, "
                               "biols-given, biols-learned, vae and graphvae",
                               word, best != NULL ? "did you mean '" : "", best != NULL ? best : "",
                               best != NULL ? "'? " : "");
        }
        *out |= 1U << (unsigned)found;
    }
    return *out != 0 ? LSCM_OK : cli_explain(why, LSCM_USAGE, "--methods names no method");
}

/* Every word of --tasks must be in the name of some task. */
static lscm_status choose_tasks(grid *g, lscm_error *why)
{
    const char *list = g->options->tasks;
    char word[96];
    for (size_t r = 0; r < g->row_count && list != NULL; r++) {
        bool wanted = false;
        for (size_t k = 0; nth_word(list, k, word, sizeof word) && !wanted; k++) {
            wanted = contains(g->rows[r].task, word);
        }
        g->rows[r].selected = g->rows[r].selected && wanted;
    }
    for (size_t k = 0; nth_word(list, k, word, sizeof word); k++) {
        bool found = false;
        for (size_t r = 0; r < g->row_count && !found; r++) {
            found = contains(g->rows[r].task, word);
        }
        if (!found) {
            return cli_explain(why, LSCM_USAGE,
                               "--tasks: no task of %s%s has '%s' in its name; the first is '%s' "
                               "and the last '%s'",
                               g->options->name, g->options->quick ? " --quick" : "", word,
                               g->rows[0].task, g->rows[g->row_count - 1].task);
        }
    }
    return LSCM_OK;
}

/* ---- rows ---- */

/* ER-e has every edge from 2e = d - 1 on: such degrees are the same data, and run once, as the
 * first of them. */
static bool is_full(const variant *v, double degree)
{
    return 2 * degree >= (double)v->nodes - 1;
}

static bool is_repeated(const variant *v, const char *degrees, size_t e)
{
    return e > 0 && is_full(v, nth_number(degrees, e)) && is_full(v, nth_number(degrees, e - 1));
}

/* "d10 ER-2", "d5 ER-2 = ER-4" */
static void name_task(grid_row *row, const char *degrees, size_t e)
{
    const variant *v = row->of;
    char same[48] = "";
    char point[48] = "";
    char line[48] = "";
    if (row->point > 0) {
        (void)snprintf(point, sizeof point, " %s=%lld", v->varied, (long long)row->point);
    }
    if (v->line != NULL) {
        (void)snprintf(line, sizeof line, " %s", v->line);
    }
    for (size_t next = e + 1; is_repeated(v, degrees, next); next++) {
        size_t used = strlen(same);
        (void)snprintf(same + used, sizeof same - used, " = ER-%g", nth_number(degrees, next));
    }
    (void)snprintf(row->task, sizeof row->task, "%s ER-%g%s%s%s", v->panel, row->degree, same, line,
                   point);
}

/* Ours has no steps to vary: one row. */
static bool is_varied(const variant *v, int method)
{
    return v->varied != NULL && (strcmp(v->varied, "steps") != 0 || method != METHOD_OURS);
}

static bool has_point(const variant *v, int method, const char *points, size_t k)
{
    return is_varied(v, method) ? !isnan(nth_number(points, k)) : k == 0;
}

/* The rows of a variant at `at`; NULL: only their number. */
static size_t put_rows(const grid *g, const variant *v, size_t section, unsigned methods,
                       grid_row *at)
{
    bool quick = g->options->quick;
    const char *degrees = quick ? v->quick_degrees : v->degrees;
    const char *points = quick ? v->quick_points : v->points;
    size_t count = 0;
    for (size_t e = 0; !isnan(nth_number(degrees, e)); e++) {
        for (size_t k = 0; k == 0 || !isnan(nth_number(points, k)); k++) {
            for (int m = 0; m < METHOD_COUNT; m++) {
                if ((v->methods >> (unsigned)m & 1U) == 0 || !has_point(v, m, points, k) ||
                    is_repeated(v, degrees, e)) {
                    continue;
                }
                if (at != NULL) {
                    at[count] =
                        (grid_row){.of = v,
                                   .section = section,
                                   .method = m,
                                   .degree = nth_number(degrees, e),
                                   .point = is_varied(v, m) ? (int64_t)nth_number(points, k) : 0,
                                   .selected = (methods >> (unsigned)m & 1U) != 0};
                    name_task(&at[count], degrees, e);
                }
                count++;
            }
        }
    }
    return count;
}

static void expand(grid *g, unsigned methods, bool place)
{
    g->row_count = g->cell_count = g->section_count = 0;
    for (size_t i = 0; i < EXPERIMENT_COUNT; i++) {
        const experiment *e = &EXPERIMENTS[i];
        const grid_options *o = g->options;
        if (strcmp(o->name, "all") != 0 && strcmp(o->name, e->name) != 0) {
            continue;
        }
        grid_section s = {.of = e, .first_row = g->row_count, .first_cell = g->cell_count};
        s.seeds = o->last_seed > 0 ? (size_t)(o->last_seed - o->first_seed + 1)
                  : o->quick       ? 3
                                   : (size_t)e->seeds;
        for (size_t v = 0; v < VARIANT_COUNT; v++) {
            if (strcmp(VARIANTS[v].experiment, e->name) == 0) {
                g->row_count += put_rows(g, &VARIANTS[v], g->section_count, methods,
                                         place ? g->rows + g->row_count : NULL);
            }
        }
        s.rows = g->row_count - s.first_row;
        g->cell_count += s.rows * s.seeds;
        g->sections[g->section_count++] = s;
    }
}

static void place_cells(grid *g)
{
    for (size_t i = 0; i < g->section_count; i++) {
        const grid_section *s = &g->sections[i];
        for (size_t k = 0; k < s->seeds; k++) {
            for (size_t r = 0; r < s->rows; r++) {
                cell *c = grid_cell(g, s->first_row + r, k);
                c->row = s->first_row + r;
                c->seed = g->options->first_seed + (int64_t)k;
                for (size_t m = 0; m < METRIC_COUNT; m++) {
                    c->value[m] = NAN;
                }
            }
        }
    }
}

lscm_status grid_open(grid *g, const grid_options *o, lscm_error *why)
{
    unsigned methods = 0;
    *g = (grid){.options = o};
    lscm_status status = choose_methods(o->methods, &methods, why);
    if (status != LSCM_OK) {
        return status;
    }
    g->sections = calloc(EXPERIMENT_COUNT, sizeof *g->sections);
    if (g->sections == NULL) {
        return cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    expand(g, methods, false);
    g->rows = calloc(g->row_count, sizeof *g->rows);
    g->cells = calloc(g->cell_count, sizeof *g->cells);
    if (g->rows == NULL || g->cells == NULL) {
        return cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    expand(g, methods, true);
    place_cells(g);
    return choose_tasks(g, why);
}

void grid_close(grid *g)
{
    for (size_t i = 0; g->cells != NULL && i < g->cell_count; i++) {
        free(g->cells[i].error);
    }
    free(g->cells);
    free(g->rows);
    free(g->sections);
}

lscm_status grid_path(const grid *g, const char *name, const char *ending, char *out, size_t size,
                      lscm_error *why)
{
    if ((size_t)snprintf(out, size, "%s/%s%s", g->options->folder, name, ending) >= size) {
        return cli_explain(why, LSCM_USAGE, "the name of the folder behind --out is too long");
    }
    return LSCM_OK;
}
