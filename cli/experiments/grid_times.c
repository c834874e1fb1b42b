/* The paper's table of runtimes with a column for here: in FOLDER/runtimes.md. */
#include "experiments/grid.h"

#include <math.h>

static void put_number(FILE *out, const char *format, double number)
{
    if (isnan(number)) {
        (void)fputs(" - |", out);
    } else {
        (void)fprintf(out, format, number);
    }
}

static double median_seconds(const grid *g, size_t row)
{
    spread s;
    return row != SIZE_MAX && row_spread(g, row, METRIC_seconds, &s) ? s.median : NAN;
}

void write_times(FILE *out, const grid *g, size_t section)
{
    const grid_section *s = &g->sections[section];
    (void)fputs("\n## Beside the paper's table\n\n"
                "| task | order | steps here | paper, minutes | BIOLS here, minutes | BIOLS here, "
                "ms a step | ours, seconds | paper / ours |\n|---|---|---|---|---|---|---|---|\n",
                out);
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        const grid_row *row = &g->rows[r];
        lscm_simulation *simulation = NULL;
        lscm_fit_settings *fit = NULL;
        lscm_error ignored;
        double paper = NAN;
        if (row->method == METHOD_OURS ||
            cell_settings(g, grid_cell(g, r, 0), &simulation, &fit, &ignored) != LSCM_OK) {
            continue;
        }
        (void)published_median(g, r, row->method, METRIC_seconds, &paper);
        double here = median_seconds(g, r);
        double ours = median_seconds(g, row_of_method(g, r, METHOD_OURS));
        (void)fprintf(out, "| %s | %s | %lld |", row->task,
                      row->method == METHOD_BIOLS_GIVEN ? "given" : "learned",
                      (long long)fit->steps);
        put_number(out, " %.0f |", paper / 60);
        put_number(out, " %.3g |", here / 60);
        put_number(out, " %.3g |", 1000 * here / (double)fit->steps);
        put_number(out, " %.3g |", ours);
        put_number(out, " %.0f |\n", paper / ours);
        (void)fputs(isnan(paper / ours) ? "\n" : "", out);
        lscm_simulation_free(simulation);
        lscm_fit_settings_free(fit);
    }
}
