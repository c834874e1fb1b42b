/* The file of a cell, FOLDER/cells/NAME.json: what was run, with every setting, and what came out:
 * the scores, or the sentence of the failure. It appears whole or not at all, so what is there is
 * finished, whenever the program was killed. */
#include "experiments/grid.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

lscm_status write_whole(const char *path, void (*write)(FILE *out, const void *self),
                        const void *self, lscm_error *why)
{
    char aside[LONGEST_PATH + 32];
    (void)snprintf(aside, sizeof aside, "%s.%ld.tmp", path, (long)getpid());
    FILE *file = fopen(aside, "w");
    bool fine = file != NULL;
    if (fine) {
        write(file, self);
        fine = fflush(file) == 0 && ferror(file) == 0 && fsync(fileno(file)) == 0;
        fine = fclose(file) == 0 && fine;
        fine = fine && rename(aside, path) == 0;
    }
    if (!fine) {
        (void)cli_explain(why, LSCM_WRITE, "%s: %s", path, strerror(errno));
        (void)unlink(aside);
    }
    return fine ? LSCM_OK : LSCM_WRITE;
}

/* FOLDER/cells/d5-linear.d5-er-1.auto.seed-1.json */
static lscm_status cell_path(const grid *g, const cell *c, char *out, size_t size, lscm_error *why)
{
    const grid_row *row = &g->rows[c->row];
    char name[256];
    char slug[96];
    size_t used = 0;
    for (const char *t = row->task; *t != '\0' && used + 1 < sizeof slug; t++) {
        bool kept = isalnum((unsigned char)*t) != 0;
        if (kept || (used > 0 && slug[used - 1] != '-')) {
            slug[used++] = kept ? (char)tolower((unsigned char)*t) : '-';
        }
    }
    while (used > 0 && slug[used - 1] == '-') {
        used--;
    }
    slug[used] = '\0';
    (void)snprintf(name, sizeof name, "cells/%s.%s.%s.%sseed-%lld", row->of->experiment, slug,
                   METHODS[row->method].name, g->options->quick ? "quick." : "",
                   (long long)c->seed);
    return grid_path(g, name, ".json", out, size, why);
}

/* ---- settings ---- */

static json_t *settings_to_json(const lscm_settings_table *table, const void *settings)
{
    json_t *out = json_object();
    const lscm_setting *row = NULL;
    for (size_t i = 0; (row = lscm_settings_row(table, i)) != NULL; i++) {
        char text[64];
        lscm_settings_get(row, settings, text, sizeof text);
        (void)json_object_set_new(out, row->name, json_string(text));
    }
    return out;
}

/* A setting that the file does not know had its default then. */
static bool same_settings(const lscm_settings_table *table, const void *settings,
                          const json_t *stored)
{
    bool same = json_is_object(stored);
    const lscm_setting *row = NULL;
    for (size_t i = 0; same && (row = lscm_settings_row(table, i)) != NULL; i++) {
        char text[64];
        char standard[64];
        const char *other = json_string_value(json_object_get(stored, row->name));
        lscm_settings_get(row, settings, text, sizeof text);
        lscm_settings_get(row, NULL, standard, sizeof standard);
        same = strcmp(text, other != NULL ? other : standard) == 0;
    }
    return same;
}

/* Settings that cannot be made (a method that this program does not have) are the same as ever. */
static bool same_cell(const grid *g, const cell *c, const json_t *file)
{
    lscm_simulation *simulation = NULL;
    lscm_fit_settings *fit = NULL;
    lscm_error ignored;
    const json_t *stored = json_object_get(file, "fit");
    if (cell_settings(g, c, &simulation, &fit, &ignored) != LSCM_OK) {
        return stored == NULL;
    }
    bool same =
        same_settings(lscm_fit_table(), fit, stored) &&
        same_settings(lscm_simulation_table(), simulation, json_object_get(file, "simulation"));
    lscm_simulation_free(simulation);
    lscm_fit_settings_free(fit);
    return same;
}

/* ---- the way in and out ---- */

void cell_load(const grid *g, cell *c)
{
    char path[LONGEST_PATH];
    lscm_error ignored;
    if (cell_path(g, c, path, sizeof path, &ignored) != LSCM_OK) {
        return;
    }
    json_t *file = json_load_file(path, 0, NULL);
    const char *outcome = json_string_value(json_object_get(file, "status"));
    if (outcome != NULL && same_cell(g, c, file)) {
        const json_t *scores = json_object_get(file, "scores");
        const char *error = json_string_value(json_object_get(file, "error"));
        for (int m = 0; m < METRIC_COUNT; m++) {
            const json_t *value = json_object_get(scores, METRICS[m].key);
            c->value[m] = json_is_number(value) ? json_number_value(value) : NAN;
        }
        free(c->error);
        c->error = error != NULL ? strdup(error) : NULL;
        c->state = strcmp(outcome, "done") == 0 ? CELL_DONE : CELL_FAILED;
    }
    json_decref(file);
}

static void dump(FILE *out, const void *self)
{
    (void)json_dumpf(self, out, JSON_INDENT(1));
    (void)fputc('\n', out);
}

/* The rest is in the settings, or for those who fit it themselves. */
static void add_summary(json_t *out, const char *summary)
{
    static const char *const kept[] = {"method", "decoder",    "reason",  "sampler",
                                       "steps",  "peak_bytes", "seconds", "warnings"};
    json_t *all = summary != NULL ? json_loads(summary, 0, NULL) : NULL;
    json_t *some = json_object();
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        json_t *value = json_object_get(all, kept[i]);
        if (value != NULL) {
            (void)json_object_set(some, kept[i], value);
        }
    }
    (void)json_object_set_new(out, "summary", some);
    json_decref(all);
}

lscm_status cell_save(const grid *g, const cell *c, const char *summary, lscm_error *why)
{
    const grid_row *row = &g->rows[c->row];
    char path[LONGEST_PATH];
    lscm_simulation *simulation = NULL;
    lscm_fit_settings *fit = NULL;
    lscm_error ignored;
    json_t *file =
        json_pack("{s:s, s:s, s:s, s:I, s:b, s:s, s:s, s:s}", "experiment", row->of->experiment,
                  "task", row->task, "method", METHODS[row->method].name, "seed",
                  (json_int_t)c->seed, "quick", g->options->quick, "version", lscm_version(),
                  "preset", row->of->preset, "status", c->state == CELL_DONE ? "done" : "failed");
    if (cell_settings(g, c, &simulation, &fit, &ignored) == LSCM_OK) {
        (void)json_object_set_new(file, "simulation",
                                  settings_to_json(lscm_simulation_table(), simulation));
        (void)json_object_set_new(file, "fit", settings_to_json(lscm_fit_table(), fit));
    }
    if (c->state == CELL_DONE) {
        json_t *scores = json_object();
        for (int m = 0; m < METRIC_COUNT; m++) {
            bool known = isfinite(c->value[m]);
            (void)json_object_set_new(scores, METRICS[m].key,
                                      known ? json_real(c->value[m]) : json_null());
        }
        (void)json_object_set_new(file, "scores", scores);
        add_summary(file, summary);
    } else {
        (void)json_object_set_new(file, "error", json_string(c->error));
    }
    lscm_status status = file != NULL ? cell_path(g, c, path, sizeof path, why)
                                      : cli_explain(why, LSCM_MEMORY, "out of memory");
    if (status == LSCM_OK) {
        status = write_whole(path, dump, file, why);
    }
    json_decref(file);
    lscm_simulation_free(simulation);
    lscm_fit_settings_free(fit);
    return status;
}
