/* What is left of all experiments together: FOLDER/README.md, and tables on the screen. */
#include "experiments/plot.h"

#include <libsmartcols/libsmartcols.h>
#include <string.h>
#include <unistd.h>

static const char MARK[] = "<!-- written by lscm reproduce -->";

static void put_section(FILE *out, const grid *g, size_t section)
{
    const grid_section *s = &g->sections[section];
    size_t failed = section_count(g, section, CELL_FAILED, false);
    size_t misses = section_misses(g, section);
    (void)fprintf(out, "| [%s](%s.md) | %s | %zu of %zu", s->of->name, s->of->name, s->of->title,
                  section_count(g, section, CELL_DONE, false), s->rows * s->seeds);
    if (failed > 0) {
        (void)fprintf(out, ", %zu failed", failed);
    }
    (void)fprintf(out, misses > 0 ? " | %zu |" : " | none |", misses);
    for (size_t k = 0; k < figure_count(g, section); k++) {
        static const char *const endings[] = {".svg", ".pdf"};
        char name[128];
        figure_name(g, section, k, name, sizeof name);
        for (size_t i = 0; i < 2; i++) {
            char path[LONGEST_PATH];
            lscm_error ignored;
            if (grid_path(g, name, endings[i], path, sizeof path, &ignored) == LSCM_OK &&
                access(path, F_OK) == 0) {
                (void)fprintf(out, " [%s%s](%s%s)", name, endings[i], name, endings[i]);
            }
        }
    }
    (void)fprintf(out, " [%s.csv](%s.csv) |\n", s->of->name, s->of->name);
}

static void put_overview(FILE *out, const void *self)
{
    const grid *g = self;
    (void)fprintf(out, "%s\n# The paper's figures and tables%s\n\n", MARK,
                  g->options->quick ? " (quick)" : "");
    if (g->options->quick) {
        (void)fputs(
            "> **Quick run**: few seeds, the smallest problems, and BIOLS, VAE and GraphVAE "
            "stopped early.\n\n",
            out);
    }
    (void)fputs("| experiment | what | cells done | published medians that ours does not reach | "
                "files |\n|---|---|---|---|---|\n",
                out);
    for (size_t s = 0; s < g->section_count; s++) {
        put_section(out, g, s);
    }
    (void)fprintf(out,
                  "\nWhat would be seen under do() that the data do not have: unseen-interventions "
                  "([table](unseen-interventions.csv), [pictures](unseen-interventions.png)).\n\n"
                  "Every cell has a file in [cells](cells). The same command continues where it "
                  "was stopped. Made by lscm %s.\n",
                  lscm_version());
}

/* Somebody else's README stays. */
lscm_status write_overview(const grid *g, lscm_error *why)
{
    char path[LONGEST_PATH];
    char begin[sizeof MARK] = "";
    lscm_status status = grid_path(g, "README.md", "", path, sizeof path, why);
    FILE *old = status == LSCM_OK ? fopen(path, "r") : NULL;
    bool ours =
        old == NULL || (fgets(begin, sizeof begin, old) != NULL && strcmp(begin, MARK) == 0);
    if (old != NULL) {
        (void)fclose(old);
    }
    return status == LSCM_OK && ours ? write_whole(path, put_overview, g, why) : status;
}

/* ---- on the screen ---- */

static void add_text(struct libscols_line *line, size_t column, const char *format, double number)
{
    char text[32];
    (void)snprintf(text, sizeof text, format, number);
    (void)scols_line_set_data(line, column, text);
}

static void add_row(struct libscols_table *table, const grid *g, size_t r)
{
    static const int columns[] = {METRIC_e_shd_entries, METRIC_auroc, METRIC_mcc_drawn,
                                  METRIC_w_mse, METRIC_seconds};
    const grid_row *row = &g->rows[r];
    struct libscols_line *line = scols_table_new_line(table, NULL);
    if (line == NULL) {
        return;
    }
    (void)scols_line_set_data(line, 0, row->task);
    (void)scols_line_set_data(line, 1, METHODS[row->method].title);
    size_t failed = row_count(g, r, CELL_FAILED);
    if (failed > 0) {
        add_text(line, 2, "%.0f failed", (double)failed);
    } else {
        add_text(line, 2, "%.0f", (double)row_count(g, r, CELL_DONE));
    }
    for (size_t k = 0; k < 5; k++) {
        spread s;
        double other = 0;
        char text[64] = "";
        int used =
            row_spread(g, r, columns[k], &s) ? snprintf(text, sizeof text, "%.3g", s.median) : 0;
        if (published_median(g, r, row->method, columns[k], &other)) {
            (void)snprintf(text + used, sizeof text - (size_t)used, " (%.3g)", other);
        }
        (void)scols_line_set_data(line, 3 + k, text);
    }
}

void print_section(const grid *g, size_t section)
{
    static const char *const titles[] = {"E-SHD", "AUROC", "MCC", "MSE of W", "seconds"};
    const grid_section *s = &g->sections[section];
    struct libscols_table *table = scols_new_table();
    if (table == NULL) {
        return;
    }
    (void)printf("%s%s: %s\nmedians (published in brackets)\n\n", s->of->name,
                 g->options->quick ? " (quick)" : "", s->of->title);
    (void)scols_table_new_column(table, "task", 0, 0);
    (void)scols_table_new_column(table, "method", 0, 0);
    (void)scols_table_new_column(table, "seeds", 0, SCOLS_FL_RIGHT);
    for (size_t k = 0; k < 5; k++) {
        (void)scols_table_new_column(table, titles[k], 0, SCOLS_FL_RIGHT);
    }
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        if (g->rows[r].selected) {
            add_row(table, g, r);
        }
    }
    (void)scols_print_table(table);
    scols_unref_table(table);
}
