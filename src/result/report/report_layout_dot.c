/* Layout by Graphviz: a graph of boxes without names goes to `dot -Tplain`, coordinates come back.
 * The program reads a temporary file and writes another, both without a name, so that nothing can
 * wait for each other and nothing stays behind; after a few seconds it is stopped. */
#define _GNU_SOURCE /* posix_spawn_file_actions_addclosefrom_np, environ */

#include "data/netcdf/netcdf.h"
#include "data/text/text.h"
#include "result/report/report_layout.h"
#include "result/report/report_page.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double INCH = 72; /* points */

static void put_graph(FILE *out, const layout *l)
{
    (void)fputs("digraph {\n"
                "graph [rankdir=TB, nodesep=0.35, ranksep=0.5];\n"
                "node [shape=box, fixedsize=true, label=\"\"];\n"
                "edge [arrowhead=none, fontname=\"Helvetica\", fontsize=12];\n",
                out);
    for (size_t i = 0; i < l->nodes; i++) {
        (void)fprintf(out, "%zu [width=%s", i, fixed(l->node[i].width / INCH, 4).text);
        (void)fprintf(out, ", height=%s];\n", fixed(l->node[i].height / INCH, 4).text);
    }
    for (size_t k = 0; k < l->edges; k++) {
        (void)fprintf(out, "%zu -> %zu [label=\"%s%s\"];\n", l->edge[k].from, l->edge[k].to,
                      l->edge[k].label[0] != '\0' ? "M" : "", l->edge[k].label); /* M: a gap */
    }
    (void)fputs("}\n", out);
}

/* ---- The program ---- */

/* True when the child ended by itself and well. Where the host ignores its children, nobody can
 * say how this one ended: what it wrote will tell. */
static bool wait_for(pid_t child)
{
    enum { STEP_MS = 2, MOST_MS = 10000 };
    const struct timespec step = {0, STEP_MS * 1000000L};
    int state = 0;
    for (int waited = 0; waited < MOST_MS; waited += STEP_MS) {
        pid_t ended = waitpid(child, &state, WNOHANG);
        if (ended == child) {
            return WIFEXITED(state) && WEXITSTATUS(state) == 0;
        }
        if (ended < 0 && errno != EINTR) {
            return errno == ECHILD;
        }
        (void)nanosleep(&step, NULL);
    }
    (void)kill(child, SIGKILL);
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
    }
    return false;
}

/* The child keeps nothing else open; an older C library leaves it what is there. */
static bool close_rest(posix_spawn_file_actions_t *actions)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    return posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1) == 0;
#else
    (void)actions;
    return true;
#endif
}

/* netCDF waits meanwhile: a file that another thread just writes is locked by HDF5 for as long as
 * anybody has it open, and the child must not be one of them. */
static bool run_dot(FILE *in, FILE *out)
{
    char name[] = "dot";
    char option[] = "-Tplain";
    char *const argv[] = {name, option, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return false;
    }
    netcdf_begin();
    bool good =
        posix_spawn_file_actions_adddup2(&actions, fileno(in), STDIN_FILENO) == 0 &&
        posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO) == 0 &&
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
        close_rest(&actions) && posix_spawnp(&child, name, &actions, NULL, argv, environ) == 0;
    (void)netcdf_end(0, NULL, "", NULL);
    (void)posix_spawn_file_actions_destroy(&actions);
    return good && wait_for(child);
}

/* ---- What it wrote: "node 0 x y ..", "edge 0 1 n x1 y1 .. [label x y] style colour", "stop" */

typedef struct words {
    char *rest;
    locale_t c;
    bool bad;
} words;

static const char *next_word(words *w)
{
    char *word = strtok_r(NULL, " \n", &w->rest);
    w->bad = w->bad || word == NULL;
    return word != NULL ? word : "";
}

static double next_number(words *w)
{
    double value = 0;
    w->bad = !number_parse(next_word(w), w->c, &value) || w->bad;
    return value;
}

static size_t next_count(words *w, size_t below)
{
    double value = next_number(w);
    bool good = value >= 0 && value < (double)below;
    w->bad = w->bad || !good;
    return good ? (size_t)value : 0;
}

static layout_point next_point(words *w, const layout *l)
{
    double x = INCH * next_number(w);
    double y = INCH * next_number(w);
    return (layout_point){x, l->height - y}; /* theirs grows upwards */
}

static void read_edge(layout *l, words *w)
{
    enum { MOST_POINTS = 10000 };
    size_t from = next_count(w, l->nodes);
    size_t to = next_count(w, l->nodes);
    layout_edge *edge = NULL;
    for (size_t k = 0; k < l->edges; k++) {
        edge = l->edge[k].from == from && l->edge[k].to == to ? &l->edge[k] : edge;
    }
    size_t points = next_count(w, MOST_POINTS);
    if (edge == NULL || points % 3 != 1 || points < 4) {
        w->bad = true;
        return;
    }
    edge->first = l->used;
    edge->points = 0;
    for (size_t i = 0; i < points; i++) {
        w->bad = !layout_add(l, edge, next_point(w, l)) || w->bad;
    }
    if (edge->label[0] != '\0') {
        (void)next_word(w);
        edge->label_at = next_point(w, l);
    }
}

static bool read_plain(layout *l, FILE *in, locale_t c)
{
    char *line = NULL;
    size_t room = 0;
    size_t placed = 0;
    size_t drawn = 0;
    bool stopped = false;
    words w = {.c = c};
    while (!w.bad && !stopped && getline(&line, &room, in) > 0) {
        const char *kind = strtok_r(line, " \n", &w.rest);
        if (kind == NULL) {
            continue;
        }
        if (strcmp(kind, "graph") == 0) {
            (void)next_number(&w);
            l->width = INCH * next_number(&w);
            l->height = INCH * next_number(&w);
        } else if (strcmp(kind, "node") == 0) {
            size_t i = next_count(&w, l->nodes);
            l->node[i].centre = next_point(&w, l);
            placed++;
        } else if (strcmp(kind, "edge") == 0) {
            read_edge(l, &w);
            drawn++;
        }
        stopped = strcmp(kind, "stop") == 0;
    }
    free(line);
    return stopped && !w.bad && placed == l->nodes && drawn == l->edges;
}

bool layout_by_dot(layout *l)
{
    FILE *in = tmpfile();
    FILE *out = tmpfile();
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    bool good = in != NULL && out != NULL && c != (locale_t)0;
    if (good) {
        put_graph(in, l);
        good = fflush(in) == 0 && lseek(fileno(in), 0, SEEK_SET) == 0 && run_dot(in, out);
    }
    if (good) {
        rewind(out);
        good = read_plain(l, out, c);
    }
    if (c != (locale_t)0) {
        freelocale(c);
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    if (out != NULL) {
        (void)fclose(out);
    }
    return good;
}
