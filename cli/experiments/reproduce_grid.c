/* lscm reproduce of grids: the folder, the run, and what is left of it. */
#include "experiments/plot.h"
#include "experiments/reproduce.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What happens to a section when its cells are done. */
typedef struct writer {
    bool quiet;
    bool without_figures; /* gnuplot is not there, and that was said */
    lscm_status status;
    lscm_error why;
} writer;

static void write_section(void *self, const grid *g, size_t section)
{
    writer *w = self;
    lscm_error tool = {0};
    if (w->status == LSCM_OK) {
        w->status = write_csv(g, section, &w->why);
    }
    if (w->status == LSCM_OK && !w->without_figures && plot_section(g, section, &tool) != LSCM_OK) {
        w->without_figures = tool.status == LSCM_TOOL;
        if (!w->without_figures) {
            w->status = tool.status;
            w->why = tool;
        } else if (!w->quiet) {
            (void)fprintf(stderr, "lscm: %s\n", tool.text);
        }
    }
    if (w->status == LSCM_OK) {
        w->status = write_markdown(g, section, &w->why);
    }
}

/* FOLDER and FOLDER/cells. A table without cells is somebody else's. */
static lscm_status make_folders(const grid *g, bool *made, lscm_error *why)
{
    char cells[LONGEST_PATH];
    char table[LONGEST_PATH];
    bool made_cells = false;
    lscm_status status = make_folder(g->options->folder, made, why);
    if (status == LSCM_OK) {
        status = grid_path(g, "cells", "", cells, sizeof cells, why);
    }
    for (size_t s = 0; s < g->section_count && status == LSCM_OK; s++) {
        status = grid_path(g, g->sections[s].of->name, ".csv", table, sizeof table, why);
        if (status == LSCM_OK && !g->options->force && access(table, F_OK) == 0 &&
            access(cells, F_OK) != 0) {
            status = cli_explain(why, LSCM_EXISTS,
                                 "%s: this file exists already, and not from here; choose another "
                                 "folder or replace it with --force",
                                 table);
        }
    }
    return status == LSCM_OK ? make_folder(cells, &made_cells, why) : status;
}

/* Part of all of them; what is there is done. */
static lscm_status run_unseen(const reproduce_options *o, lscm_error *why)
{
    reproduce_options quiet = *o;
    char path[LONGEST_PATH];
    quiet.name = "unseen-interventions";
    quiet.common = (common_options){.quiet = true, .force = o->common.force, .out = o->common.out};
    (void)snprintf(path, sizeof path, "%s/unseen-interventions.csv", o->common.out);
    return access(path, F_OK) == 0 && !o->common.force ? LSCM_OK : reproduce_unseen(quiet, why);
}

/* ---- what is said at the end ---- */

typedef struct tally {
    size_t wanted, done, failed, misses;
} tally;

static tally count_all(const grid *g)
{
    tally t = {0};
    for (size_t s = 0; s < g->section_count; s++) {
        t.done += section_count(g, s, CELL_DONE, true);
        t.failed += section_count(g, s, CELL_FAILED, true);
        t.wanted += section_count(g, s, CELL_OPEN, true);
        t.misses += section_misses(g, s);
    }
    t.wanted += t.done + t.failed;
    return t;
}

static void say(const grid *g, const tally *t, const writer *w)
{
    enum { MOST_LINES = 60 };
    const grid_options *o = g->options;
    if (o->json) {
        (void)printf("{\"name\": \"%s\", \"quick\": %s, \"cells\": %zu, \"done\": %zu, \"failed\": "
                     "%zu, \"not_reached\": %zu, \"figures\": %s}\n",
                     o->name, o->quick ? "true" : "false", t->wanted, t->done, t->failed, t->misses,
                     w->without_figures ? "false" : "true");
        return;
    }
    if (g->section_count == 1 && g->row_count <= MOST_LINES) {
        print_section(g, 0);
        (void)printf("\n");
    }
    (void)printf(
        "%zu of %zu cells done; published medians that ours does not reach: %zu\n%s/%s.md\n",
        t->done, t->wanted, t->misses, o->folder,
        g->section_count == 1 ? g->sections[0].of->name : "README");
}

static lscm_status finish(const grid *g, const writer *w, bool stopped, lscm_error *why)
{
    tally t = count_all(g);
    if (w->status != LSCM_OK) {
        *why = w->why;
        return w->status;
    }
    if (stopped) {
        return cli_explain(
            why, LSCM_STOPPED,
            "stopped; %zu of %zu cells are done and kept; the same command continues",
            t.done + t.failed, t.wanted);
    }
    if (g->options->json || !g->options->quiet) {
        say(g, &t, w);
    }
    if (t.failed > 0) {
        return cli_explain(why, LSCM_VALUE,
                           "%zu of %zu cells failed; %s/%s.md says why; --retry tries them again",
                           t.failed, t.wanted, g->options->folder,
                           g->section_count == 1 ? g->sections[0].of->name : "README");
    }
    return LSCM_OK;
}

lscm_status reproduce_grid(const reproduce_options *o, lscm_comm *comm, lscm_error *why)
{
    grid g;
    bool made = false;
    bool stopped = false;
    bool all = strcmp(o->name, "all") == 0;
    bool first = lscm_comm_rank(comm) == 0;
    writer w = {.quiet = o->common.quiet};
    const grid_watcher watcher = {write_section, &w};
    lscm_status status = grid_open(&g, &o->grid, why);
    if (status == LSCM_OK) {
        status = make_folders(&g, &made, why);
    }
    status = lscm_comm_agree(comm, status, why); /* or the first would wait for one that has gone */
    if (status == LSCM_OK && all && first) {
        status = run_unseen(o, why);
    }
    if (status == LSCM_OK) {
        status = grid_run(&g, comm, &watcher, &stopped, why);
    }
    if (first && all && (status == LSCM_OK || stopped) && w.status == LSCM_OK) {
        w.status = write_overview(&g, &w.why);
    }
    if (first && (status == LSCM_OK || stopped)) {
        status = finish(&g, &w, stopped, why);
    }
    grid_close(&g);
    return status;
}
