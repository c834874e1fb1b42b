/* Going through the cells: the processes of a job take numbers from a counter they share, which go
 * through the whole list; a cell that is not wanted or done already takes no time. What is finished
 * is in its file before the next begins, so nothing is lost when the program ends, however it does.
 */
#include "experiments/grid.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What lscm reports from inside a fit goes to the live table; Ctrl-C comes from the bar. */
typedef struct inside {
    lscm_progress bar;
    live *live;
} inside;

static bool report(void *self, const char *what, uint64_t done, uint64_t total)
{
    const inside *in = self;
    live_inside(in->live, what, total > 0 ? (double)done / (double)total : 0);
    return in->bar.report(in->bar.self, what, done, total);
}

static bool is_open(const grid *g, const cell *c)
{
    return g->rows[c->row].selected && c->state == CELL_OPEN;
}

/* Files of the folder into the cells; what is to be run again stays open. */
static void load_all(grid *g)
{
    for (size_t i = 0; i < g->cell_count; i++) {
        cell *c = &g->cells[i];
        bool selected = g->rows[c->row].selected;
        if (selected && g->options->force) {
            continue;
        }
        cell_load(g, c);
        if (selected && c->state == CELL_FAILED && g->options->retry) {
            c->state = CELL_OPEN;
        }
    }
}

/* Another process may have finished it since. */
static bool done_by_others(const grid *g, cell *c)
{
    bool again = g->options->force || g->options->retry;
    if (!again) {
        cell_load(g, c);
    }
    return c->state != CELL_OPEN;
}

/* What other processes have finished among the first `count`. */
static void load_finished(grid *g, uint64_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (g->cells[i].state == CELL_OPEN) {
            cell_load(g, &g->cells[i]);
        }
    }
}

/* A failure is a result, too; being stopped is not. */
static lscm_status run_one(const grid *g, cell *c, inside *in, lscm_error *why)
{
    const lscm_progress progress = {report, in};
    char *summary = NULL;
    live_begin(in->live, c);
    lscm_status status = cell_run(g, c, &progress, &summary, why);
    if (status != LSCM_STOPPED) {
        free(c->error);
        c->error = status != LSCM_OK ? strdup(why->text) : NULL;
        c->state = status == LSCM_OK ? CELL_DONE : CELL_FAILED;
        status = cell_save(g, c, summary, why);
    }
    if (status == LSCM_OK) {
        live_end(in->live, c);
    }
    free(summary);
    return status;
}

/* Every other process takes one number past the end. So with `own` such numbers taken here before,
 * number - cells - own of them are through. */
static lscm_status wait_for_others(const grid *g, lscm_comm *comm, const lscm_progress *bar,
                                   uint64_t number, lscm_error *why)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    uint64_t others = (uint64_t)lscm_comm_size(comm) - 1;
    lscm_status status = LSCM_OK;
    for (uint64_t own = 0; status == LSCM_OK && number - g->cell_count - own < others; own++) {
        (void)nanosleep(&pause, NULL);
        if (!bar->report(bar->self, "waiting", 0, 0)) {
            return cli_explain(why, LSCM_STOPPED, "stopped on request");
        }
        status = lscm_comm_next(comm, &number, why);
    }
    return status;
}

lscm_status grid_run(grid *g, lscm_comm *comm, const grid_watcher *watcher, bool *stopped,
                     lscm_error *why)
{
    int rank = lscm_comm_rank(comm);
    bool alone = lscm_comm_size(comm) == 1; /* else others may be at the section before */
    bool fresh = !g->options->force && !g->options->retry; /* a file is a cell that is done */
    progress_bar bar;
    uint64_t number = 0;
    size_t section = 0;
    load_all(g);
    inside in = {progress_begin(&bar, true), live_open(g, lscm_comm_size(comm))};
    lscm_status status = lscm_comm_next(comm, &number, why);
    while (status == LSCM_OK && number < g->cell_count) {
        cell *c = &g->cells[number];
        for (; alone && section < g->rows[c->row].section; section++) {
            watcher->finished(watcher->self, g, section);
        }
        if (rank == 0 && !alone && fresh) {
            load_finished(g, number);
        }
        if (is_open(g, c) && !done_by_others(g, c)) {
            status = run_one(g, c, &in, why);
        }
        if (status == LSCM_OK) {
            status = lscm_comm_next(comm, &number, why);
        }
    }
    if (status == LSCM_OK && rank == 0) {
        status = wait_for_others(g, comm, &in.bar, number, why);
    }
    while (status != LSCM_OK && number < g->cell_count &&
           lscm_comm_next(comm, &number, NULL) == LSCM_OK) {
        /* nobody begins another cell, and the first does not wait in vain */
    }
    live_close(in.live);
    progress_end(&bar);
    *stopped = status == LSCM_STOPPED;
    if (rank == 0 && (status == LSCM_OK || *stopped)) {
        load_finished(g, g->cell_count);
        for (; section < g->section_count; section++) {
            watcher->finished(watcher->self, g, section);
        }
    }
    return status;
}
