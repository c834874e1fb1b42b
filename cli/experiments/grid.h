/* The grid behind lscm reproduce: every figure and table of the paper as cells (task, method,
 * seed).
 *
 * Tables (grid_experiments.c) say which experiments there are; grid.c expands them to rows, one per
 * task and method, and cells, one per row and seed. A cell is simulated, fitted and evaluated in
 * this process (grid_cell.c) and leaves one file (grid_file.c); grid_run.c goes through them. What
 * is shown and written is made of rows: their spreads over seeds beside the published medians. */
#ifndef LSCM_CLI_GRID_H
#define LSCM_CLI_GRID_H

#include "common/cli.h"

/* ---- What is measured ---- */

enum {
#define GRID_METRIC(name, help) METRIC_##name,
    LSCM_SCORES_TABLE(GRID_METRIC)
#undef GRID_METRIC
        METRIC_seconds, /* of the fit */
    METRIC_COUNT
};

typedef enum axis_scale { SCALE_LINEAR, SCALE_COUNT, SCALE_LOG } axis_scale;

typedef struct grid_metric {
    const char *key, *title;
    axis_scale scale; /* of its axis; counts: linear near 0, logarithmic beyond */
    int better;       /* 1: higher, -1: lower, 0: neither */
    double tolerance; /* medians that differ by no more are as good as each other */
} grid_metric;

extern const grid_metric METRICS[METRIC_COUNT];

/* The paper's eighteen, its four first. */
enum { SHOWN_FOUR = 4, SHOWN_ALL = 18 };
extern const int SHOWN[SHOWN_ALL];

/* ---- What is run ---- */

enum {
    METHOD_OURS,
    METHOD_BIOLS_GIVEN,
    METHOD_BIOLS_LEARNED,
    METHOD_VAE,
    METHOD_GRAPHVAE,
    METHOD_COUNT
};

typedef struct grid_method {
    const char *name, *title; /* as --methods takes it; as figures show it */
    const char *settings;     /* of the fit: "name=value ..." */
    const char *colour;       /* Okabe and Ito's, safe for the colour-blind */
} grid_method;

extern const grid_method METHODS[METHOD_COUNT];

typedef enum figure_kind { FIGURE_BOXES, FIGURE_CURVES, FIGURE_TIMES } figure_kind;

typedef struct experiment {
    const char *name, *title;
    figure_kind kind;
    int seeds;    /* unless told otherwise */
    size_t shown; /* metrics of its figure, of SHOWN; FIGURE_TIMES shows seconds */
    const char *help;
} experiment;

enum { EXPERIMENT_COUNT = 11 };
extern const experiment EXPERIMENTS[EXPERIMENT_COUNT];

/* Tasks of an experiment that differ in their degree and, in curves, in what is varied. */
typedef struct variant {
    const char *experiment;
    const char *panel; /* "d10 (20 sets)"; tasks of one name share a row of panels in curves */
    const char *line;  /* what tells lines of a panel apart, besides the method; or NULL */
    const char *preset;
    int64_t nodes;
    const char *simulation;          /* further settings of the simulation; or NULL */
    const char *quick_simulation;    /* further ones for --quick; or NULL */
    const char *degrees;             /* "1,2,4" */
    const char *quick_degrees;       /* the same for --quick; NULL: left out there */
    const char *varied;              /* "sets" of the simulation or "steps" of the fit; or NULL */
    const char *points;              /* its values: "5,10,20" */
    const char *quick_points;        /* the same for --quick */
    unsigned methods;                /* a bit for each */
    const char *biols;               /* further settings of biols; or NULL */
    const char *quick[METHOD_COUNT]; /* further settings for --quick */
} variant;

extern const variant VARIANTS[];
extern const size_t VARIANT_COUNT;

/* ---- The grid ---- */

typedef struct grid_options {
    const char *folder;
    const char *name;              /* of an experiment, or "all" */
    const char *tasks, *methods;   /* NULL: all */
    int64_t first_seed, last_seed; /* last 0: the experiment's own number */
    bool quick, force, retry, quiet, json;
} grid_options;

typedef struct grid_row {
    const variant *of;
    size_t section;
    int method;
    double degree;
    int64_t point; /* of what is varied; 0: nothing is, for this method */
    char task[96];
    bool selected; /* by --tasks and --methods */
} grid_row;

typedef enum cell_state { CELL_OPEN, CELL_DONE, CELL_FAILED } cell_state;

typedef struct cell {
    size_t row;
    int64_t seed;
    cell_state state;
    double value[METRIC_COUNT]; /* NaN: not known */
    char *error;                /* why it failed */
} cell;

/* The rows and cells of one experiment; cells go through all rows before the next seed, so that
 * every row has its first result early: cell = first_cell + k * rows + (row - first_row). */
typedef struct grid_section {
    const experiment *of;
    size_t first_row, rows, first_cell, seeds;
} grid_section;

typedef struct grid {
    const grid_options *options;
    grid_section *sections; /* (EXPERIMENT_COUNT) */
    size_t section_count;
    grid_row *rows;
    size_t row_count;
    cell *cells;
    size_t cell_count;
} grid;

lscm_status grid_open(grid *g, const grid_options *o, lscm_error *why);
void grid_close(grid *g);
static inline cell *grid_cell(const grid *g, size_t row, size_t k)
{
    const grid_section *s = &g->sections[g->rows[row].section];
    return &g->cells[s->first_cell + k * s->rows + (row - s->first_row)];
}
/* "name=value ..." into settings. */
lscm_status apply_settings(const lscm_settings_table *table, void *settings, const char *text,
                           lscm_error *why);

/* ---- Cells ---- */

/* New settings, the caller's to free; NULL on failure. */
lscm_status simulation_settings(const grid *g, const grid_row *row, int64_t seed,
                                lscm_simulation **out, lscm_error *why);
lscm_status cell_settings(const grid *g, const cell *c, lscm_simulation **simulation,
                          lscm_fit_settings **fit, lscm_error *why);
/* Fills the values; *summary is that of the fit, the caller's to free. */
lscm_status cell_run(const grid *g, cell *c, const lscm_progress *progress, char **summary,
                     lscm_error *why);
/* Takes over what the file of the cell says, when it is there, readable and of the same settings.
 */
void cell_load(const grid *g, cell *c);
/* Writes the file, whole or not at all. */
lscm_status cell_save(const grid *g, const cell *c, const char *summary, lscm_error *why);

/* Runs what is selected and open; true in *stopped when the user stopped it. `finished` is called
 * when all cells of a section are behind us. */
typedef struct grid_watcher {
    void (*finished)(void *self, const grid *g, size_t section);
    void *self;
} grid_watcher;
lscm_status grid_run(grid *g, lscm_comm *comm, const grid_watcher *watcher, bool *stopped,
                     lscm_error *why);

/* ---- What is seen while it runs ---- */

typedef struct live live;
live *live_open(const grid *g, int size); /* NULL is fine everywhere below */
void live_begin(live *l, const cell *c);
void live_inside(live *l, const char *what, double share);
void live_end(live *l, const cell *c);
void live_close(live *l);
/* Seconds to go. */
double grid_time_left(const grid *g, int size);
/* "3 min", "2.5 h" */
void human_time(double seconds, char *out, size_t size);

/* ---- Over seeds, and beside the published ---- */

typedef struct spread {
    size_t count;
    double low, q1, median, q3, high; /* low and high: the farthest within 1.5 (q3 - q1) */
} spread;

/* False where no cell of the row has the metric. */
bool row_spread(const grid *g, size_t row, int metric, spread *out);
size_t row_count(const grid *g, size_t row, cell_state state);
size_t section_count(const grid *g, size_t section, cell_state state, bool selected);
/* Rows of the same task; the row of that method among them, or SIZE_MAX. */
size_t row_of_method(const grid *g, size_t row, int method);

/* The published median of that task, method and metric; false where there is none. Weights are
 * converted to the mean over d^2 entries. */
bool published_median(const grid *g, size_t row, int method, int metric, double *out);

typedef enum verdict { VERDICT_NONE, VERDICT_BETTER, VERDICT_EQUAL, VERDICT_WORSE } verdict;
/* Of a median beside that which was published for `method`; none of what --quick cut short. */
verdict row_verdict(const grid *g, size_t row, int metric, int method);
/* Beside all that was published for the task: the worst. */
verdict row_worst_verdict(const grid *g, size_t row, int metric);

/* ---- What is left ---- */

/* "FOLDER/NAMEending" into out (size). */
lscm_status grid_path(const grid *g, const char *name, const char *ending, char *out, size_t size,
                      lscm_error *why);
/* A file that appears whole or not at all: `write` writes it. */
lscm_status write_whole(const char *path, void (*write)(FILE *out, const void *self),
                        const void *self, lscm_error *why);
enum { LONGEST_PATH = 4096 };

lscm_status write_csv(const grid *g, size_t section, lscm_error *why);
lscm_status write_markdown(const grid *g, size_t section, lscm_error *why);
/* A part of it: the paper's runtimes. */
void write_times(FILE *out, const grid *g, size_t section);
/* Of all sections, linking them. */
lscm_status write_overview(const grid *g, lscm_error *why);
/* How many published medians ours does not reach. */
size_t section_misses(const grid *g, size_t section);
/* The table of what was selected of a section, on standard output. */
void print_section(const grid *g, size_t section);
/* The command that would run what is left out. */
void print_command(FILE *out, const grid *g, size_t section, int method, const char *tasks);

#endif
