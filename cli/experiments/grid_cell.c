/* One cell: simulate, fit, evaluate, all in this process and without files. */
#include "experiments/grid.h"

#include <stdlib.h>
#include <string.h>

lscm_status simulation_settings(const grid *g, const grid_row *row, int64_t seed,
                                lscm_simulation **out, lscm_error *why)
{
    const variant *v = row->of;
    const lscm_settings_table *table = lscm_simulation_table();
    lscm_simulation *s = lscm_simulation_new();
    lscm_status status = s != NULL ? lscm_simulation_preset(s, v->preset, v->nodes, why)
                                   : cli_explain(why, LSCM_MEMORY, "out of memory");
    if (status == LSCM_OK) {
        status = apply_settings(table, s, v->simulation, why);
    }
    if (status == LSCM_OK && g->options->quick) {
        status = apply_settings(table, s, v->quick_simulation, why);
    }
    if (status == LSCM_OK && s != NULL) {
        s->degree = row->degree;
        s->seed = seed;
        if (row->point > 0 && strcmp(v->varied, "sets") == 0) {
            s->sets = row->point;
        }
        status = lscm_settings_check(table, s, why);
    }
    *out = status == LSCM_OK ? s : NULL;
    if (status != LSCM_OK) {
        lscm_simulation_free(s);
    }
    return status;
}

/* Biols is told the degree, as the paper's is; ours is told nothing. */
static lscm_status fit_settings(const grid *g, const cell *c, const grid_row *row,
                                lscm_fit_settings *out, lscm_error *why)
{
    const variant *v = row->of;
    const lscm_settings_table *table = lscm_fit_table();
    bool biols = row->method == METHOD_BIOLS_GIVEN || row->method == METHOD_BIOLS_LEARNED;
    lscm_status status = apply_settings(table, out, METHODS[row->method].settings, why);
    if (status == LSCM_OK && biols) {
        out->degree = row->degree;
        status = apply_settings(table, out, v->biols, why);
    }
    if (status == LSCM_OK && row->point > 0 && strcmp(v->varied, "steps") == 0) {
        out->steps = row->point;
    }
    if (status == LSCM_OK && g->options->quick) {
        status = apply_settings(table, out, v->quick[row->method], why);
    }
    out->seed = c->seed;
    return status == LSCM_OK ? lscm_settings_check(table, out, why) : status;
}

lscm_status cell_settings(const grid *g, const cell *c, lscm_simulation **simulation,
                          lscm_fit_settings **fit, lscm_error *why)
{
    const grid_row *row = &g->rows[c->row];
    lscm_status status = simulation_settings(g, row, c->seed, simulation, why);
    *fit = status == LSCM_OK ? lscm_fit_settings_new() : NULL;
    if (status == LSCM_OK) {
        status = *fit != NULL ? fit_settings(g, c, row, *fit, why)
                              : cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    if (status != LSCM_OK) {
        lscm_simulation_free(*simulation);
        lscm_fit_settings_free(*fit);
        *simulation = NULL;
        *fit = NULL;
    }
    return status;
}

lscm_status cell_run(const grid *g, cell *c, const lscm_progress *progress, char **summary,
                     lscm_error *why)
{
    lscm_simulation *simulation = NULL;
    lscm_fit_settings *settings = NULL;
    lscm_scores *scores = lscm_scores_new();
    lscm_dataset *data = NULL;
    lscm_posterior *run = NULL;
    lscm_status status = scores != NULL ? cell_settings(g, c, &simulation, &settings, why)
                                        : cli_explain(why, LSCM_MEMORY, "out of memory");
    if (status == LSCM_OK) {
        status = lscm_simulate(&data, simulation, g->rows[c->row].of->preset, why);
    }
    double begun = seconds_now();
    if (status == LSCM_OK) {
        status = lscm_fit(&run, data, settings, NULL, progress, why);
    }
    double seconds = seconds_now() - begun;
    if (status == LSCM_OK) {
        status = lscm_posterior_evaluate(scores, run, data, why);
    }
    if (status == LSCM_OK && scores != NULL) {
        const double values[METRIC_COUNT] = {
#define VALUE(name, help) scores->name,
            LSCM_SCORES_TABLE(VALUE)
#undef VALUE
                seconds};
        memcpy(c->value, values, sizeof values);
        *summary = strdup(lscm_posterior_summary(run));
    }
    lscm_posterior_free(run);
    lscm_dataset_free(data);
    lscm_scores_free(scores);
    lscm_simulation_free(simulation);
    lscm_fit_settings_free(settings);
    return status;
}
