/* lscm: latent structural causal models from data with known interventions.
 *
 * The whole public interface, in the order of the work: failing, settings, devices, data sets,
 * simulating, several processes, fitting, the posterior, scores, reports; examples/c has programs.
 * Arrays are row-major; every array argument has its shape beside it. Conventions: d nodes, D
 * features, N rows (samples); w[j][i] is the edge j -> i; order[k] is the node at position k,
 * causes first. The library never prints, exits or keeps global state. What has a _free is freed by
 * it alone; NULL is fine there.
 *
 * Threads: what a function takes as const may be used by any number of threads at once, with the
 * same numbers as alone (rows of a file are handed to one after the other); what it does not take
 * as const, by one at a time. OpenBLAS has one thread while any of them computes.
 *
 * Versions: each 0.x has a soname of its own (liblscm.so.0.2); within it a newer library serves
 * older programs. Therefore
 *   - what may grow is made by the library: settings, scores, diagnostics, rows of tables. Use it
 *     through its pointer, never declare one or copy it by =. New fields come at the end of their
 *     struct, new choices at the end of their enum;
 *   - all other structs are yours to declare, zero where you say nothing, and stay as they are.
 */
#ifndef LSCM_H
#define LSCM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LSCM_VERSION "0.2.0"

#if defined(__GNUC__)
#define LSCM_API __attribute__((visibility("default")))
#else
#define LSCM_API
#endif

/* ---- Failing --------------------------------------------------------------------------------
 * Every function that can fail returns a status and, when `why` is not NULL, leaves one sentence
 * there: what is wrong, where, and what to do. */

#define LSCM_STATUS_TABLE(X)                                                                       \
    X(OK, "done")                                                                                  \
    X(USAGE, "a setting or an argument is wrong")                                                  \
    X(MISSING, "a file or an array is missing")                                                    \
    X(READ, "a file could not be read")                                                            \
    X(FORMAT, "a file is not what its name says")                                                  \
    X(SHAPE, "shapes do not agree")                                                                \
    X(VALUE, "a number is not allowed where it stands")                                            \
    X(CYCLE, "a graph has a cycle")                                                                \
    X(EXISTS, "the output exists already")                                                         \
    X(WRITE, "the output could not be written")                                                    \
    X(MEMORY, "out of memory")                                                                     \
    X(STOPPED, "stopped on request")                                                               \
    X(TOOL, "a program that is needed is not installed")                                           \
    X(PEER, "another process of the job cannot be reached")

typedef enum lscm_status {
#define LSCM_STATUS_ENUM(name, sentence) LSCM_##name,
    LSCM_STATUS_TABLE(LSCM_STATUS_ENUM)
#undef LSCM_STATUS_ENUM
} lscm_status;

typedef struct lscm_error {
    lscm_status status;
    char text[1024];
} lscm_error;

LSCM_API const char *lscm_status_text(lscm_status status);
LSCM_API const char *lscm_version(void);

/* The candidate that `word` was probably meant to be, or NULL when none is near. */
LSCM_API const char *lscm_suggest(const char *word, const char *const *candidates, size_t count);

/* Called now and then by long operations, by one thread at a time, which may be one of the
 * library's own; return true to go on, false to stop (LSCM_STOPPED). */
typedef bool (*lscm_progress_fn)(void *self, const char *what, uint64_t done, uint64_t total);
/* `total` of reports of a whole fit, whose `done` never goes back: shares of the time it takes. */
#define LSCM_WHOLE 10000
typedef struct lscm_progress {
    lscm_progress_fn report; /* may be NULL */
    void *self;
} lscm_progress;

/* Threads used by what the calling thread does next; the default is one per core, and 0 changes
 * nothing. Returns how many there were. Results do not depend on it. */
LSCM_API int lscm_set_threads(int count);

/* ---- Settings -------------------------------------------------------------------------------
 * A group of settings is a struct with a field for each, and one table that describes them: the
 * table gives defaults, range checks, --help and stored configurations. The library makes the
 * struct (lscm_fit_settings_new, lscm_simulation_new); then set what should not be as it is by its
 * field,
 *
 *     settings->method = LSCM_METHOD_BIOLS;
 *
 * or, for words of a user or another language, by its name, through the table of the group:
 *
 *     lscm_settings_set(lscm_fit_table(), settings, "method", "biols", &why);
 */

typedef enum lscm_kind { LSCM_INTEGER, LSCM_REAL, LSCM_FLAG, LSCM_CHOICE } lscm_kind;

typedef struct lscm_setting {
    const char *name; /* "per_set"; on the command line --per-set */
    const char *meta; /* what stands behind it in --help, e.g. "D" */
    lscm_kind kind;
    size_t offset;       /* of its field: an int64_t, double, bool, or an enum */
    double initial;      /* default; for a choice its number */
    double least, most;  /* closed range */
    const char *choices; /* "er|ba|full" in the order of the enum, or NULL */
    const char *help;    /* one sentence */
} lscm_setting;

typedef struct lscm_settings_table lscm_settings_table;

/* Row by row; NULL past the last. `settings` below are those that the library made for the table.
 */
LSCM_API const lscm_setting *lscm_settings_row(const lscm_settings_table *table, size_t index);
/* `name` may be written with '-' or '_'; NULL where there is none. */
LSCM_API const lscm_setting *lscm_settings_find(const lscm_settings_table *table, const char *name);
/* All back to their defaults. */
LSCM_API void lscm_settings_defaults(const lscm_settings_table *table, void *settings);
/* An unknown name or value is answered with the nearest. */
LSCM_API lscm_status lscm_settings_set(const lscm_settings_table *table, void *settings,
                                       const char *name, const char *value, lscm_error *why);
/* The setting as text that lscm_settings_set would read back to the same value; its default where
 * `settings` is NULL. */
LSCM_API void lscm_settings_get(const lscm_setting *row, const void *settings, char *out,
                                size_t size);
/* All settings in range; says which is not. What takes settings does so, too. */
LSCM_API lscm_status lscm_settings_check(const lscm_settings_table *table, const void *settings,
                                         lscm_error *why);

/* ---- Devices --------------------------------------------------------------------------------
 * What networks and large matrices can be computed on; docs/gpu.md. CUDA devices come with a
 * plug-in, which is loaded when one is asked for; without it there is the CPU. Beyond cuda:7, say
 * which are to be seen by CUDA_VISIBLE_DEVICES. */

/* AUTO: the first CUDA device where there is one, and work for it; else the CPU. CUDA is the first
 * one; that of number n is LSCM_DEVICE_CUDA_0 + n. */
typedef enum lscm_device {
    LSCM_DEVICE_AUTO,
    LSCM_DEVICE_CPU,
    LSCM_DEVICE_CUDA,
    LSCM_DEVICE_CUDA_0,
    LSCM_DEVICE_CUDA_1,
    LSCM_DEVICE_CUDA_2,
    LSCM_DEVICE_CUDA_3,
    LSCM_DEVICE_CUDA_4,
    LSCM_DEVICE_CUDA_5,
    LSCM_DEVICE_CUDA_6,
    LSCM_DEVICE_CUDA_7
} lscm_device;

typedef struct lscm_device_row {
    char word[16];              /* "cpu", "cuda:0": as settings have it */
    char name[128];             /* "NVIDIA H200"; of the CPU "" */
    int cores;                  /* of the CPU, that threads may use; else 0 */
    int major, minor;           /* compute capability; of the CPU 0 */
    size_t memory, memory_free; /* bytes; of the CPU 0 */
} lscm_device_row;

/* All that there are; to be freed by lscm_devices_free. */
typedef struct lscm_devices {
    size_t count;                      /* 1 at least: the CPU is the first */
    const lscm_device_row *const *row; /* (count) */
    const char *without;               /* why there is no CUDA device; "" where there is one */
} lscm_devices;
LSCM_API lscm_status lscm_devices_list(lscm_devices **out, lscm_error *why);
LSCM_API void lscm_devices_free(lscm_devices *devices);

/* ---- Data sets ------------------------------------------------------------------------------
 * Rows are read in blocks from wherever they are (a file, memory, the simulator); only what is
 * asked for is ever in memory. */

typedef struct lscm_dataset lscm_dataset;

typedef enum lscm_field {
    LSCM_X,       /* (N, D), (N, H, W) or (N, H, W, C) */
    LSCM_TARGETS, /* (N, d): 1 where do() acted */
    LSCM_VALUES,  /* (N, d): what do() set there */
    LSCM_Z,       /* (N, d): truth */
    LSCM_W,       /* (d, d): truth */
    LSCM_SIGMA,   /* (d): truth, noise sd */
    LSCM_ORDER,   /* (d): truth */
    LSCM_FIELDS
} lscm_field;

enum { LSCM_MAX_DIMS = 4 };

typedef struct lscm_shape {
    bool present;
    int ndim;
    size_t dims[LSCM_MAX_DIMS];
    const char *dtype; /* "float64", "uint8", ... as stored */
} lscm_shape;

/* How to read what is not our own format; zero everywhere is the default. */
typedef struct lscm_open_options {
    const char *ignore; /* columns of a table to leave out: "soft,env"; of .h5ad genes, too */
    const char *truth;  /* CSV matrix of the true graph, row = parent */
    const char *names;  /* node names: "raf,mek,erk" */
    bool truth_only;    /* w and what else there is of the truth will do; a CSV is the graph */
    bool x_only;        /* x will do, be it one row: targets may be missing */
    const char *target_column; /* tables: which column names the targets of do() */
    const char *value_column;  /* .. and the values it set, for latent variables */
    const char *control;       /* words of that column for no target: "control,NT" */
    const char *layer;         /* .h5ad: the layer that is x, by its name */
} lscm_open_options;

LSCM_API lscm_status lscm_dataset_open(lscm_dataset **out, const char *path,
                                       const lscm_open_options *options, lscm_error *why);
/* Does this word of a column of targets say that nothing was set: one of `control` ("control,NT";
 * NULL: the usual words), in any case, with or without a number behind it ("NT_12", "NegCtrl0"; WT1
 * is a gene)? An empty one does. */
LSCM_API bool lscm_is_control(const char *word, const char *control);
/* A data set over arrays that stay yours and must outlive it; NULL for what is not there.
 * x (rows, features) in either precision, targets (rows, nodes), values and z (rows, nodes),
 * w (nodes, nodes), sigma (nodes). Without nodes x alone, to be transformed or saved. Rows of x
 * that are pictures have a height and a width, and channels unless it is one plane; features is
 * their product. Names (nodes), (features), w and sigma are copied. */
typedef struct lscm_arrays {
    size_t rows, nodes, features;
    const double *x;
    const float *x_single; /* instead of x */
    const uint8_t *targets;
    const double *values, *z, *w, *sigma;
    size_t height, width, channels; /* 0: x is a vector */
    const char *const *node_names, *const *feature_names;
} lscm_arrays;
LSCM_API lscm_status lscm_dataset_wrap(lscm_dataset **out, const lscm_arrays *arrays,
                                       lscm_error *why);
LSCM_API void lscm_dataset_free(lscm_dataset *data);

LSCM_API size_t lscm_dataset_rows(const lscm_dataset *data);
LSCM_API size_t lscm_dataset_nodes(const lscm_dataset *data);
LSCM_API size_t lscm_dataset_features(const lscm_dataset *data);
LSCM_API lscm_shape lscm_dataset_shape(const lscm_dataset *data, lscm_field field);
LSCM_API const char *lscm_dataset_format(const lscm_dataset *data); /* "netCDF-4", "NPZ", ... */
LSCM_API const char *lscm_dataset_recipe(const lscm_dataset *data); /* JSON object, or NULL */
/* What was understood when it was opened that is worth a look ("the first column has no name,
 * ..."), or NULL. */
LSCM_API const char *lscm_dataset_note(const lscm_dataset *data);
/* It is a copy of that file, which sentences and runs name from now on. */
LSCM_API lscm_status lscm_dataset_set_path(lscm_dataset *data, const char *path, lscm_error *why);
/* NULL when the data set has no such name. */
LSCM_API const char *lscm_dataset_node_name(const lscm_dataset *data, size_t node);
LSCM_API const char *lscm_dataset_feature_name(const lscm_dataset *data, size_t feature);
/* Rows [first, first + count) of a field as double; W, SIGMA and ORDER have d, d and d rows. */
LSCM_API lscm_status lscm_dataset_read(const lscm_dataset *data, lscm_field field, size_t first,
                                       size_t count, double *out, lscm_error *why);

/* Whether its w has edges and every one is 1: then it is taken for a graph alone, and scores of
 * weights are NaN, unless it is said that they are weights. */
LSCM_API bool lscm_dataset_graph_alone(const lscm_dataset *data);
LSCM_API void lscm_dataset_set_weights(lscm_dataset *data, bool weights);

/* One pass over all rows: masks 0/1, values finite at targets, x finite or missing (NaN). */
typedef struct lscm_overview {
    double x_min, x_max, x_mean, x_sd; /* sd over the count */
    size_t observational;              /* rows without a target */
    size_t sets;      /* distinct non-empty target sets; beyond 2^20 an estimate to 1% */
    size_t *per_node; /* (d): rows in which the node is a target; caller's, may be NULL */
    size_t missing;   /* entries of x that are NaN */
} lscm_overview;
LSCM_API lscm_status lscm_dataset_check(const lscm_dataset *data, lscm_overview *overview,
                                        const lscm_progress *progress, lscm_error *why);

/* What the rows of x, values or z are like, column by column: mean, sd (over the count) and the 5%,
 * 50% and 95% quantiles (interpolated linearly). The arrays (columns: D or d) are the caller's;
 * NULL for what is not wanted. */
typedef struct lscm_bands {
    double *mean, *sd, *lower, *median, *upper;
} lscm_bands;
LSCM_API lscm_status lscm_dataset_bands(const lscm_dataset *data, lscm_field field,
                                        const lscm_bands *bands, lscm_error *why);

/* The format follows the ending of `path`: .nc, .npz, .csv, .tsv, .png (a grid of pictures), .pngs
 * (a folder of pictures), or none: a folder in the BIOLS layout. Written under a temporary name and
 * renamed when whole. */
LSCM_API lscm_status lscm_dataset_save(const lscm_dataset *data, const char *path, bool force,
                                       const lscm_progress *progress, lscm_error *why);
/* The true graph, by the ending of `path`: .dot (Graphviz), .graphml (Gephi, Cytoscape, igraph,
 * NetworkX) or .json (node-link, as NetworkX and D3 read it). See docs/formats.md. */
LSCM_API lscm_status lscm_dataset_save_graph(const lscm_dataset *data, const char *path, bool force,
                                             lscm_error *why);

/* ---- Simulating -----------------------------------------------------------------------------
 * z = z W + e under do(targets, values), or bent mechanisms in place of z W; x = g(z) + noise; see
 * docs/model.md. Choices mean what
 * their row of the table says. Columns of the table: type, field, meta, default, least, most,
 * choices, help; new rows come at the end. */

typedef enum lscm_graph { LSCM_GRAPH_ER, LSCM_GRAPH_BA, LSCM_GRAPH_FULL } lscm_graph;
typedef enum lscm_weight_law {
    LSCM_WEIGHTS_UNIFORM,
    LSCM_WEIGHTS_GAUSSIAN,
    LSCM_WEIGHTS_PRIOR
} lscm_weight_law;
typedef enum lscm_noise_law {
    LSCM_NOISE_LAW_EQUAL,
    LSCM_NOISE_LAW_UNEQUAL,
    LSCM_NOISE_LAW_PRIOR
} lscm_noise_law;
typedef enum lscm_target_law {
    LSCM_TARGETS_MULTI,
    LSCM_TARGETS_SINGLE,
    LSCM_TARGETS_CYCLE
} lscm_target_law;
typedef enum lscm_value_law {
    LSCM_VALUES_UNIFORM,
    LSCM_VALUES_GAUSSIAN,
    LSCM_VALUES_ZERO,
    LSCM_VALUES_THREE
} lscm_value_law;
typedef enum lscm_projection {
    LSCM_PROJECTION_LINEAR,
    LSCM_PROJECTION_MLP,
    LSCM_PROJECTION_IMAGE,
    LSCM_PROJECTION_SON,
    LSCM_PROJECTION_IDENTITY,
    LSCM_PROJECTION_BLOBS,
    LSCM_PROJECTION_SCENE
} lscm_projection;
typedef enum lscm_scene {
    LSCM_SCENE_BALLS,
    LSCM_SCENE_DISCS,
    LSCM_SCENE_PENDULUM,
    LSCM_SCENE_SPRITES,
    LSCM_SCENE_MOVERS,
    LSCM_SCENE_SPHERES,
    LSCM_SCENE_LAMPS
} lscm_scene;
typedef enum lscm_pixels { LSCM_PIXELS_FLOAT32, LSCM_PIXELS_UINT8 } lscm_pixels;
typedef enum lscm_activation {
    LSCM_ACTIVATION_RELU,
    LSCM_ACTIVATION_LEAKY,
    LSCM_ACTIVATION_TANH,
    LSCM_ACTIVATION_SILU,
    LSCM_ACTIVATION_POLYNOMIAL
} lscm_activation;

typedef enum lscm_mechanism_law {
    LSCM_MECHANISM_LAW_LINEAR,
    LSCM_MECHANISM_LAW_ADDITIVE,
    LSCM_MECHANISM_LAW_NETWORK,
    LSCM_MECHANISM_LAW_PROCESS
} lscm_mechanism_law;
typedef enum lscm_noise_shape {
    LSCM_NOISE_SHAPE_GAUSSIAN,
    LSCM_NOISE_SHAPE_STUDENT,
    LSCM_NOISE_SHAPE_LAPLACE,
    LSCM_NOISE_SHAPE_UNIFORM,
    LSCM_NOISE_SHAPE_EXPONENTIAL,
    LSCM_NOISE_SHAPE_MIXTURE
} lscm_noise_shape;

#define LSCM_SIMULATION_TABLE(X)                                                                   \
    X(int64_t, nodes, "d", 5, 1, 100000, NULL, "causal variables")                                 \
    X(int64_t, features, "D", 100, 1, 1e9, NULL,                                                   \
      "observed dimensions (pictures, identity and son set their own)")                            \
    X(lscm_graph, graph, "NAME", 0, 0, 2, "er|ba|full",                                            \
      "random graph: Erdos-Renyi, Barabasi-Albert or every edge of a random order")                \
    X(double, degree, "E", 1, 0, 1e5, NULL, "expected edges per node, the e of ER-e")              \
    X(lscm_weight_law, weights, "NAME", 0, 0, 2, "uniform|gaussian|prior",                         \
      "edge weights: |w| uniform in [weight-low, weight-high] with a random sign, N(0, "           \
      "weight-high^2), or the prior of the anchored method: N(0, s^2/(ridge u^2)), s the child's " \
      "noise, u half the rms of the values")                                                       \
    X(double, weight_low, "W", 0.5, 0, 1e6, NULL, "smallest |weight|")                             \
    X(double, weight_high, "W", 2, 0, 1e6, NULL, "largest |weight|, or sd of gaussian weights")    \
    X(lscm_noise_law, noise, "NAME", 0, 0, 2, "equal|unequal|prior",                               \
      "sd of each node's noise: all noise-scale; noise-scale * exp U(0, log 2); or the prior of "  \
      "the anchored method: variance ridge u^2/chi2(noise-dof + parents)")                         \
    X(double, noise_scale, "S", 0.1, 0, 1e6, NULL, "scale of the nodes' noise")                    \
    X(int64_t, noise_dof, "K", 3, 2, 100000, NULL, "degrees of freedom of prior noise")            \
    X(double, ridge, "T", 0.001, 1e-9, 1e9, NULL, "t of prior weights and noise")                  \
    X(int64_t, observational, "N", 500, 0, 1e12, NULL, "rows without intervention")                \
    X(int64_t, sets, "K", 20, 0, 1e9, NULL, "intervention sets")                                   \
    X(int64_t, per_set, "N", 100, 1, 1e9, NULL, "rows in each set")                                \
    X(lscm_target_law, targets, "NAME", 0, 0, 2, "multi|single|cycle",                             \
      "targets of a set: 1 to d-1 random nodes, one random node, or the nodes in turn")            \
    X(int64_t, untouched, "K", 0, 0, 100000, NULL,                                                 \
      "this many random nodes are never intervened on")                                            \
    X(lscm_value_law, values, "NAME", 0, 0, 3, "uniform|gaussian|zero|three",                      \
      "values set by do(): U(-value-scale, value-scale), N(0, value-scale^2), 0, or one of "       \
      "-value-scale, 0, value-scale")                                                              \
    X(double, value_scale, "S", 10, 0, 1e6, NULL, "scale of the values")                           \
    X(double, actuator_noise, "S", 0, 0, 1e6, NULL, "sd of what do() misses its value by")         \
    X(lscm_projection, projection, "NAME", 0, 0, 6, "linear|mlp|image|son|identity|blobs|scene",   \
      "x from z: random matrix, network, picture of blocks, rotation, z itself, picture of soft "  \
      "blobs that overlap, or of a scene")                                                         \
    X(lscm_activation, activation, "NAME", 0, 0, 4, "relu|leaky|tanh|silu|polynomial",             \
      "f of the network's hidden layers: max(h, 0), max(h, h/5), h + tanh h, h/(1 + exp(-h)), or " \
      "h + h^3 once")                                                                              \
    X(bool, biases, NULL, 0, 0, 1, NULL, "the network's hidden layers have random biases")         \
    X(double, projection_low, "A", 0, -1e6, 1e6, NULL, "smallest entry of the linear matrix")      \
    X(double, projection_high, "A", 10, -1e6, 1e6, NULL, "largest entry of the linear matrix")     \
    X(double, x_noise, "S", 0, 0, 1e6, NULL, "sd of the noise added to x")                         \
    X(double, clip, "C", 0, 0, 1e6, NULL, "clip z to [-C, C] after sampling; 0 for no clip")       \
    X(bool, paired, NULL, 0, 0, 1, NULL,                                                           \
      "one observational row per interventional row, sharing its noise")                           \
    X(int64_t, seed, "SEED", 0, 0, 9007199254740991, NULL, "seed of every random number")          \
    X(lscm_scene, scene, "NAME", 0, 0, 6, "balls|discs|pendulum|sprites|movers|spheres|lamps",     \
      "what a scene shows: balls that move, discs that hide each other, pendulums with their "     \
      "shadows, shapes that turn, scale and change colour, or do so and move, spheres under a "    \
      "light that turns around them, or lamps that glow")                                          \
    X(int64_t, size, "PIXELS", 64, 16, 256, NULL,                                                  \
      "pixels on a side of a scene; with width, from top to bottom")                               \
    X(int64_t, width, "PIXELS", 0, 0, 256, NULL,                                                   \
      "pixels of a scene from left to right, 16 to 256; 0 for as many as size")                    \
    X(bool, grey, NULL, 0, 0, 1, NULL, "a scene in grey: one number a pixel")                      \
    X(lscm_pixels, pixels, "TYPE", 0, 0, 1, "float32|uint8",                                       \
      "pictures as numbers from 0 to 1, or rounded to whole ones from 0 to 255")                   \
    X(lscm_mechanism_law, mechanism, "NAME", 0, 0, 3, "linear|additive|network|process",           \
      "a node given its parents: a weighted sum, a sum of a random curve for each, a random "      \
      "network of all, or a draw of a Gaussian process of all")                                    \
    X(lscm_noise_shape, noise_law, "NAME", 0, 0, 5,                                                \
      "gaussian|student|laplace|uniform|exponential|mixture",                                      \
      "law of the nodes' noise, mean 0 and the sd that noise says; student has 3 degrees of "      \
      "freedom, mixture 10% of its draws from a normal law five times as wide")

typedef struct lscm_simulation {
#define LSCM_SIMULATION_FIELD(type, name, meta, initial, least, most, choices, help) type name;
    LSCM_SIMULATION_TABLE(LSCM_SIMULATION_FIELD)
#undef LSCM_SIMULATION_FIELD
} lscm_simulation;

LSCM_API const lscm_settings_table *lscm_simulation_table(void);
/* The defaults, or a copy of others; NULL when there is no memory. */
LSCM_API lscm_simulation *lscm_simulation_new(void);
LSCM_API lscm_simulation *lscm_simulation_copy(const lscm_simulation *settings);
LSCM_API void lscm_simulation_free(lscm_simulation *settings);

/* Names and one-line descriptions of the presets; NULL past the last. */
LSCM_API const char *lscm_preset_name(size_t index);
LSCM_API const char *lscm_preset_help(size_t index);
/* Defaults, then the preset as published for `nodes` nodes (0: the preset's own number). */
LSCM_API lscm_status lscm_simulation_preset(lscm_simulation *settings, const char *preset,
                                            int64_t nodes, lscm_error *why);

/* Rows are made when they are read. `preset`, a name to be recorded, may be NULL. */
LSCM_API lscm_status lscm_simulate(lscm_dataset **out, const lscm_simulation *settings,
                                   const char *preset, lscm_error *why);
/* The truth behind such data under another do(): `count` rows of the model that the settings make,
 * all under do(targets, values), with the noise and the clip that they have; x, targets, values, z
 * and the truth (w is not part of it where mechanisms bend: it is a mean over the rows of the
 * data). targets (d) 0/1, values (d). `seed` is that of the noise alone, none of which is
 * shared with the rows of lscm_simulate, whatever the seeds. The counterpart of
 * lscm_posterior_sample. */
LSCM_API lscm_status lscm_simulate_do(lscm_dataset **out, const lscm_simulation *settings,
                                      const uint8_t *targets, const double *values, size_t count,
                                      int64_t seed, lscm_error *why);

/* ---- Several processes ----------------------------------------------------------------------
 * The processes of a job: those that mpirun or srun started, where the library was built with MPI;
 * else one. NULL stands for one, too. All of them open it, and close it; each does so once. */

typedef struct lscm_comm lscm_comm;
LSCM_API lscm_status lscm_comm_open(lscm_comm **out, lscm_error *why);
LSCM_API void lscm_comm_close(lscm_comm *comm);
LSCM_API int lscm_comm_rank(const lscm_comm *comm); /* 0 .. size - 1 */
LSCM_API int lscm_comm_size(const lscm_comm *comm);
/* Threads that this process should use, so that those on one machine share its cores. */
LSCM_API int lscm_comm_threads(const lscm_comm *comm);
/* A counter that all of them share: 0, 1, 2, .., each number to one caller. Answered at once, also
 * while the others compute. */
LSCM_API lscm_status lscm_comm_next(lscm_comm *comm, uint64_t *out, lscm_error *why);
/* Waits until all have called it. When any comes with a failure, all get that of the first by rank,
 * with its sentence; LSCM_OK otherwise. */
LSCM_API lscm_status lscm_comm_agree(lscm_comm *comm, lscm_status status, lscm_error *why);
/* The rank that mpirun or srun gave this process, as the environment has it, before anything is
 * opened; 0 without them. */
LSCM_API int lscm_launched_rank(void);

/* ---- Fitting --------------------------------------------------------------------------------
 * Choices and table as above; help that opens with a method is for that method alone. */

typedef enum lscm_method {
    LSCM_METHOD_AUTO,
    LSCM_METHOD_ANCHORED,
    LSCM_METHOD_BIOLS,
    LSCM_METHOD_VAE,
    LSCM_METHOD_GRAPHVAE
} lscm_method;
typedef enum lscm_order { LSCM_ORDER_LEARNED, LSCM_ORDER_GIVEN } lscm_order;
typedef enum lscm_decoder {
    LSCM_DECODER_AUTO,
    LSCM_DECODER_LINEAR,
    LSCM_DECODER_MLP,
    LSCM_DECODER_IMAGE,
    LSCM_DECODER_IDENTITY
} lscm_decoder;
typedef enum lscm_noise { LSCM_NOISE_AUTO, LSCM_NOISE_EQUAL, LSCM_NOISE_UNEQUAL } lscm_noise;
typedef enum lscm_graph_prior { LSCM_GRAPH_PRIOR_ORDER, LSCM_GRAPH_PRIOR_UNIFORM } lscm_graph_prior;
typedef enum lscm_encoder {
    LSCM_ENCODER_AUTO,
    LSCM_ENCODER_KERNEL,
    LSCM_ENCODER_NETWORK,
    LSCM_ENCODER_CONV
} lscm_encoder;
typedef enum lscm_optimiser { LSCM_OPTIMISER_ADABELIEF, LSCM_OPTIMISER_ADAM } lscm_optimiser;
typedef enum lscm_expectation {
    LSCM_EXPECTATION_CLOSED,
    LSCM_EXPECTATION_SAMPLED
} lscm_expectation;
typedef enum lscm_objective { LSCM_OBJECTIVE_ELBO, LSCM_OBJECTIVE_MSE } lscm_objective;
typedef enum lscm_permanent { LSCM_PERMANENT_BETHE, LSCM_PERMANENT_EXACT } lscm_permanent;
typedef enum lscm_mechanism {
    LSCM_MECHANISM_AUTO,
    LSCM_MECHANISM_LINEAR,
    LSCM_MECHANISM_ADDITIVE,
    LSCM_MECHANISM_JOINT
} lscm_mechanism;
typedef enum lscm_noise_kind {
    LSCM_NOISE_KIND_AUTO,
    LSCM_NOISE_KIND_GAUSSIAN,
    LSCM_NOISE_KIND_STUDENT,
    LSCM_NOISE_KIND_MIXTURE
} lscm_noise_kind;

#define LSCM_FIT_TABLE(X)                                                                          \
    X(lscm_method, method, "NAME", 0, 0, 4, "auto|anchored|biols|vae|graphvae",                    \
      "estimator; auto is anchored, which chooses the rest and says why")                          \
    X(lscm_order, order, "NAME", 0, 0, 1, "learned|given",                                         \
      "learn the causal order, or take the one stored with the data (or listed: 2,0,1)")           \
    X(lscm_decoder, decoder, "NAME", 0, 0, 4, "auto|linear|mlp|image|identity",                    \
      "from causal variables to x; identity: x are the variables themselves (anchored)")           \
    X(int64_t, draws, "N", 1000, 8, 1e6, NULL, "posterior draws to keep")                          \
    X(lscm_noise, noise, "NAME", 0, 0, 2, "auto|equal|unequal",                                    \
      "one noise scale, or one per node; auto: equal for biols as in the paper, else unequal")     \
    X(double, x_noise, "S", 0, 0, 1e6, NULL, "sd of the noise of x; 0 learns it")                  \
    X(double, degree, "E", 0, 0, 1e5, NULL,                                                        \
      "expected edges per node, for the sparsity prior; 0 learns it (biols: 1, as d allows)")      \
    X(double, ridge, "T", 0, 0, 1e6, NULL,                                                         \
      "anchored: weight of the prior of edge weights and noise, in rows of data; 0 learns it")     \
    X(lscm_graph_prior, graph_prior, "NAME", 0, 0, 1, "order|uniform",                             \
      "anchored: a uniform order and each forward edge alike, or every graph with as many edges "  \
      "alike")                                                                                     \
    X(double, clip, "C", 0, 0, 1e12, NULL,                                                         \
      "anchored: z is clipped at +-C, such values are censored; 0 finds out (1e12: they are not)") \
    X(lscm_encoder, encoder, "NAME", 0, 0, 3, "auto|kernel|network|conv",                          \
      "anchored, x not linear in z: z by a kernel in closed form, refined through a network, or "  \
      "of pictures by convolutions, which see where things are")                                   \
    X(int64_t, width, "N", 0, 0, 4096, NULL,                                                       \
      "anchored, x not linear in z: width of the network's hidden layers; 0 chooses")              \
    X(int64_t, candidates, "N", 0, 0, 23, NULL,                                                    \
      "anchored: most candidate parents of a node beyond 20 nodes; 0 chooses")                     \
    X(int64_t, chains, "N", 0, 0, 1000, NULL,                                                      \
      "anchored: chains that sample graphs beyond 20 nodes; 0 chooses")                            \
    X(double, holdout, "SHARE", 0.2, 0, 0.9, NULL,                                                 \
      "anchored: share of the intervention sets held out to judge the fit; 0 for none")            \
    X(int64_t, steps, "N", 0, 0, 1e9, NULL,                                                        \
      "most steps of the optimiser, or steps of each chain (anchored, linear); 0 chooses")         \
    X(int64_t, samples, "S", 0, 0, 4096, NULL,                                                     \
      "biols: posterior draws per step, rounded up to a multiple of 8; 0 chooses")                 \
    X(double, rate, "R", 0, 0, 10, NULL, "learning rate of the optimiser; 0 chooses")              \
    X(lscm_optimiser, optimiser, "NAME", 0, 0, 1, "adabelief|adam", "biols: optimiser")            \
    X(int64_t, batch, "N", 0, 0, 1e9, NULL,                                                        \
      "rows per step of the optimiser; 0 chooses (biols: all for vectors, 256 for pictures; vae "  \
      "and graphvae: 128)")                                                                        \
    X(lscm_expectation, expectation, "NAME", 0, 0, 1, "closed|sampled",                            \
      "biols: over z, in closed form (linear decoder), or sampled as in the paper")                \
    X(lscm_objective, objective, "NAME", 0, 0, 1, "elbo|mse",                                      \
      "biols: evidence bound, or mean squared error alone as in the paper's first version")        \
    X(double, temperature, "T", 0.2, 1e-3, 100, NULL, "biols: of the relaxed permutation")         \
    X(double, final_temperature, "T", 0, 0, 100, NULL,                                             \
      "biols: cool to this over the steps; 0 stays")                                               \
    X(lscm_permanent, permanent, "NAME", 0, 0, 1, "bethe|exact",                                   \
      "biols: normaliser of q(order); exact to d = 16")                                            \
    X(int64_t, restarts, "N", 0, 0, 1000, NULL,                                                    \
      "biols: independent starts, the best bound is kept; 0 chooses")                              \
    X(bool, full_run, NULL, 0, 0, 1, NULL, "biols: take all steps; do not stop when converged")    \
    X(double, checkpoint, "SECONDS", 30, 0, 1e9, NULL,                                             \
      "time between checkpoints of networks; 0 for none")                                          \
    X(int64_t, trace, "N", 100, 1, 1e9, NULL,                                                      \
      "biols, vae, graphvae: steps between rows of trace.csv")                                     \
    X(int64_t, seed, "SEED", 0, 0, 9007199254740991, NULL, "seed of every random number")          \
    X(lscm_device, device, "NAME", 0, 0, 10,                                                       \
      "auto|cpu|cuda|cuda:0|cuda:1|cuda:2|cuda:3|cuda:4|cuda:5|cuda:6|cuda:7",                     \
      "what networks run on; auto: the first CUDA device, or the CPU without")                     \
    X(lscm_mechanism, mechanism, "NAME", 0, 0, 3, "auto|linear|additive|joint",                    \
      "anchored: effects of causes are straight, add up as curves, or may act together; auto "     \
      "weighs all of these where the rows speak for bends, and is linear elsewhere")               \
    X(lscm_noise_kind, noise_law, "NAME", 0, 0, 3, "auto|gaussian|student|mixture",                \
      "anchored, x linear in z: law of the noise of mechanisms: normal, Student's t, or normal "   \
      "with some rows far wider; auto is normal unless residuals say otherwise")

typedef struct lscm_fit_settings {
#define LSCM_FIT_FIELD(type, name, meta, initial, least, most, choices, help) type name;
    LSCM_FIT_TABLE(LSCM_FIT_FIELD)
#undef LSCM_FIT_FIELD
} lscm_fit_settings;

LSCM_API const lscm_settings_table *lscm_fit_table(void);
/* The defaults, or a copy of others; NULL when there is no memory. */
LSCM_API lscm_fit_settings *lscm_fit_settings_new(void);
LSCM_API lscm_fit_settings *lscm_fit_settings_copy(const lscm_fit_settings *settings);
LSCM_API void lscm_fit_settings_free(lscm_fit_settings *settings);

/* The posterior over models, a run. */
typedef struct lscm_posterior lscm_posterior;

/* Fits and keeps a run folder up to date: trace.csv, checkpoint, and at the end config.json,
 * posterior.nc and summary.json. `settings` NULL: the defaults; `run` NULL: nothing of what
 * follows. `folder` NULL: nothing is written. `order` (d) or NULL overrides the order setting.
 * `resume` continues from the folder's checkpoint, bit for bit. Stopped by `progress`, it leaves a
 * checkpoint and returns LSCM_STOPPED.
 *
 * Background knowledge, which only the method anchored uses (biols refuses it): edges that must not
 * and that must be there, (d, d) each with 1 at [j * d + i] for j -> i, and tiers (d): a node of a
 * later (larger) tier never causes one of an earlier, SIZE_MAX for a node in none. NULL: none.
 *
 * With `comm`, all of its processes call lscm_fit with the same data: passes over x too large to
 * keep are split between them, and the first does the rest. The numbers are the same for any number
 * of processes. The first gets the posterior and writes the folder, the others get NULL. All
 * return the same status and sentence. */
typedef struct lscm_run_options {
    const char *folder;
    const size_t *order;
    bool force, resume;
    lscm_open_options opened; /* how the data was opened, to be recorded */
    const uint8_t *forbidden, *required;
    const size_t *tiers;
    lscm_comm *comm; /* NULL: one process */
} lscm_run_options;
LSCM_API lscm_status lscm_fit(lscm_posterior **out, const lscm_dataset *data,
                              const lscm_fit_settings *settings, const lscm_run_options *run,
                              const lscm_progress *progress, lscm_error *why);

/* Before a fit: a quick one, without held-out sets, networks or files, to be asked for its
 * diagnostics: findings, and in its summary ("pairs") which pairs of nodes the design decides. The
 * same checks are in every fit by the method anchored. */
LSCM_API lscm_status lscm_check(lscm_posterior **out, const lscm_dataset *data,
                                const lscm_progress *progress, lscm_error *why);

/* ---- The posterior --------------------------------------------------------------------------
 * What a fit found, from lscm_fit or from its run folder. Whatever is asked of it, it stays as it
 * is. */

LSCM_API lscm_status lscm_posterior_open(lscm_posterior **out, const char *folder, lscm_error *why);
LSCM_API void lscm_posterior_free(lscm_posterior *posterior);

LSCM_API size_t lscm_posterior_draws(const lscm_posterior *posterior);
LSCM_API size_t lscm_posterior_nodes(const lscm_posterior *posterior);
LSCM_API size_t lscm_posterior_rows(const lscm_posterior *posterior);
LSCM_API const char *lscm_posterior_node_name(const lscm_posterior *posterior, size_t node);
LSCM_API const char *lscm_posterior_config(const lscm_posterior *posterior);  /* JSON */
LSCM_API const char *lscm_posterior_summary(const lscm_posterior *posterior); /* JSON */
/* A draw has an edge where |weight| exceeds it. */
LSCM_API double lscm_posterior_threshold(const lscm_posterior *posterior);
/* Of one row: (D), (H, W) or (H, W, C). */
LSCM_API lscm_shape lscm_posterior_x_shape(const lscm_posterior *posterior);

/* The posterior's own arrays: draws of the model, how probable each draw is (NaN where that is not
 * known) and was made, edge probabilities, the causal variables of the rows and their sd. Where a
 * mechanism bends, weights are average slopes; see lscm_posterior_curve. */
LSCM_API const double *lscm_posterior_weights(const lscm_posterior *posterior); /* (draws, d, d) */
LSCM_API const double *lscm_posterior_sigma(const lscm_posterior *posterior);   /* (draws, d) */
LSCM_API const double *lscm_posterior_intercept(const lscm_posterior *posterior); /* (draws, d) */
LSCM_API const size_t *lscm_posterior_order(const lscm_posterior *posterior);     /* (draws, d) */
LSCM_API const double *lscm_posterior_log_p(const lscm_posterior *posterior);     /* (draws) */
LSCM_API const double *lscm_posterior_log_q(const lscm_posterior *posterior);     /* (draws) */
LSCM_API const double *lscm_posterior_edge_prob(const lscm_posterior *posterior); /* (d, d) */
/* (d, d), symmetric: 1 where an edge between two nodes is likely enough to be spoken of and in most
 * graphs that have it nothing - no set of the design, no knowledge - tells which way it points:
 * what edge_prob says of its direction is the prior's word. Its own probability is the sum of both.
 */
LSCM_API const uint8_t *lscm_posterior_undirected(const lscm_posterior *posterior);
LSCM_API const double *lscm_posterior_z(const lscm_posterior *posterior);    /* (rows, d) */
LSCM_API const double *lscm_posterior_z_sd(const lscm_posterior *posterior); /* (rows, d) */

/* One named check of what a fit assumes (docs/commands/check.md lists them). */
typedef struct lscm_finding {
    const char *check;       /* "bent" */
    const char *verdict;     /* "good", "noted", "untested" or "found" */
    double figure, limit;    /* NaN where there is none */
    size_t nodes;            /* that it is about */
    const char *const *node; /* (nodes): by name, or number */
    const char *says;        /* one sentence */
    const char *remedy;      /* what to do about it; "" where there is nothing to do */
} lscm_finding;

/* How far to trust it: the figures of summary.json (docs/formats.md). NaN, or 0 rows, where there
 * is no such figure. It belongs to the posterior, and is there as long. */
typedef struct lscm_diagnostics {
    double r_hat, ess;          /* of the edge in doubt that mixed worst; 1 and draws when exact */
    double bound;               /* the evidence bound: biols, vae, graphvae */
    size_t warnings;            /* how many */
    const char *const *warning; /* (warnings): sentences to know before believing the fit */
    /* Of interventions held out, what a fit to the others says: */
    size_t held_out_sets;                         /* whole sets; 0: rows of every set */
    size_t held_out_rows;                         /* 0: none, and no figures below */
    double held_out_log_likelihood;               /* log likelihood of a row, mean */
    double held_out_log_likelihood_without_edges; /* the same without edges */
    const double *held_out_r2;                    /* (d): z under do() as predicted */
    const double *held_out_coverage_90;           /* (d): share of z in their 90% intervals */
    const double *anchor_r2; /* (d): values of do() as read off x, in sets left out */
    /* Checks of what the fit assumes, in the order in which they are printed: */
    size_t findings;
    size_t found;                       /* of them with the verdict "found": 0 where all is well */
    const lscm_finding *const *finding; /* (findings) */
    /* Of targets left out whole, the effects on other nodes that a fit to the others expects: */
    size_t left_out_targets;               /* 0: none, and no figures below */
    double left_out_r2, left_out_spearman; /* over pairs; r2 without edges is 0 */
    double left_out_r2_others;             /* as the mean of the other interventions says */
    double left_out_r2_correlation;        /* as correlation without intervention says */
} lscm_diagnostics;
LSCM_API const lscm_diagnostics *lscm_posterior_diagnostics(const lscm_posterior *posterior);

/* The run folder of a posterior, as lscm_fit writes it, without trace.csv. One that holds a run is
 * refused, unless `force` replaces it. */
LSCM_API lscm_status lscm_posterior_save(const lscm_posterior *posterior, const char *folder,
                                         bool force, lscm_error *why);

/* .npz: w, sigma, intercept, order, edge_prob, z, z_sd, log_p, log_q, names. .dot, .graphml: the
 * graph, edges over 1/2. .csv: every pair with its probability. .json: graph, order, settings.
 * Where mechanisms bend, .npz and .json have the curves of edges over 1/2, too. */
LSCM_API lscm_status lscm_posterior_export(const lscm_posterior *posterior, const char *path,
                                           bool force, lscm_error *why);
/* What the draws say of a pair of nodes: how probable the edge is; mean, sd (over the count) and
 * the 5% and 95% quantiles of its weight, the average slope where mechanisms bend; whether nothing
 * tells which end is the cause. */
typedef struct lscm_edge {
    size_t from, to;
    double probability, mean, sd, q05, q95;
    bool undirected;
} lscm_edge;
/* All d (d - 1) pairs, the likeliest first, to be freed by lscm_edges_free. */
LSCM_API lscm_status lscm_posterior_edges(lscm_edge **out, size_t *count,
                                          const lscm_posterior *posterior, lscm_error *why);
LSCM_API void lscm_edges_free(lscm_edge *edges);
/* Mechanisms that bend. Where one does, the weights of its node are average slopes over the rows,
 * and no more than a summary of its effects; curves say the rest. Whether any bends, in any draw;
 * where none does, curves are straight lines. */
LSCM_API bool lscm_posterior_any_bends(const lscm_posterior *posterior);
/* Share of the draws that have the edge in which the mechanism of `to` bends; NaN where none has
 * it. */
LSCM_API double lscm_posterior_bends(const lscm_posterior *posterior, size_t from, size_t to);
/* The effect of node `from` on node `to`, mean and 90% band over the draws that have the edge: at
 * each place what z_to is more by, had z_from that value, its other causes as they are in the rows.
 * It has mean 0 over z_from of the rows; of what parents do together it is the average over the
 * others' z. NaN where no draw has the edge. Beyond `seen`, curves go on straight, and no row
 * vouches for them. */
typedef struct lscm_curve {
    size_t count;
    const double *at;          /* (count): places, values of z_from */
    double *low, *mean, *high; /* (count), the caller's */
    double seen[2];            /* gets the least and the largest z_from of the rows */
} lscm_curve;
LSCM_API lscm_status lscm_posterior_curve(lscm_curve *out, const lscm_posterior *posterior,
                                          size_t from, size_t to, lscm_error *why);
/* Places to look at, at (count): even, over what the rows have of the node and an eighth of that
 * beyond on either side; 41 are those of exports and reports. */
LSCM_API void lscm_posterior_places(const lscm_posterior *posterior, size_t node, size_t count,
                                    double *at);
/* How far apart two posteriors over the same nodes are: A and B are independent draws of the graph,
 * one of each. A posterior and itself: how far its own draws are apart. */
typedef struct lscm_distance {
    double e_shd;         /* expected SHD of A and B, a reversed edge counts 1 */
    double e_shd_entries; /* a reversed edge counts 2: E |A xor B| */
    double largest;       /* largest difference between the two probabilities of an edge */
    double correlation;   /* of the mean weights, over all pairs; NaN where one has no edge */
} lscm_distance;
LSCM_API lscm_status lscm_posterior_distance(lscm_distance *out, const lscm_posterior *a,
                                             const lscm_posterior *b, lscm_error *why);
/* x under do(targets, values): `count` rows, each of another posterior draw and with noise of its
 * own, as a data set with x, targets, values and z. targets (d) 0/1, values (d). So its rows spread
 * as far as what would be seen is uncertain: lscm_dataset_bands says how far. Save it as .npz (the
 * bands with it: x_mean, x_lower, x_upper, z_mean, z_lower, z_upper), .nc or .png. */
LSCM_API lscm_status lscm_posterior_sample(lscm_dataset **out, const lscm_posterior *posterior,
                                           const uint8_t *targets, const double *values,
                                           size_t count, int64_t seed, lscm_error *why);
/* The same of runs whose decoder is 'positions', which make pictures of any size, as pictures of
 * height x width pixels; z, and so which rows there are, does not depend on it. */
enum { LSCM_LEAST_SIDE = 8, LSCM_MOST_SIDE = 1024 };
LSCM_API lscm_status lscm_posterior_sample_sized(lscm_dataset **out,
                                                 const lscm_posterior *posterior,
                                                 const uint8_t *targets, const double *values,
                                                 size_t count, size_t height, size_t width,
                                                 int64_t seed, lscm_error *why);
/* Whether such values were ever seen: a sentence, ended by a newline, of every node that do() would
 * set beyond all its values in the rows that were fitted, those that do() set and those it had by
 * itself; "" where none is. To be freed by lscm_text_free. */
LSCM_API lscm_status lscm_posterior_beyond(char **out, const lscm_posterior *posterior,
                                           const uint8_t *targets, const double *values,
                                           lscm_error *why);
/* The way back: x (rows, D), the caller's, of causal variables z (rows, d) by the decoder of the
 * run, its mean. */
LSCM_API lscm_status lscm_posterior_decode(const lscm_posterior *posterior, size_t rows,
                                           const double *z, double *x, lscm_error *why);
/* Causal variables of new rows of x, by the encoder of the run: z and its sd (rows, d) are the
 * caller's. Where the data have targets and values, z is what do() set there (with the noise of the
 * actuator, where the run found any); without them every node is read off x. *outside (may be NULL)
 * gets the number of rows in which a node that was read off x lies outside the values that do() set
 * it to when the run was fitted, so that nothing vouches for it; SIZE_MAX when that is not known.
 * Runs of biols, which never infers z from x, of vae and of graphvae have no encoder. Rows are read
 * in blocks. */
LSCM_API lscm_status lscm_posterior_transform(const lscm_posterior *posterior,
                                              const lscm_dataset *data, double *z, double *sd,
                                              size_t *outside, const lscm_progress *progress,
                                              lscm_error *why);
/* The same on a device, where the encoder has work for it. */
typedef struct lscm_encoding {
    double *z, *sd; /* (rows, d), the caller's */
    size_t outside;
    char device[160]; /* what it ran on: "cpu", "cuda:0 NVIDIA H200" */
} lscm_encoding;
LSCM_API lscm_status lscm_posterior_transform_on(const lscm_posterior *posterior,
                                                 const lscm_dataset *data, lscm_device asked,
                                                 lscm_encoding *out, const lscm_progress *progress,
                                                 lscm_error *why);
/* Such z and sd (rows, d) as z and z_sd, with the names of the run's nodes: .npz, .nc or .csv. */
LSCM_API lscm_status lscm_posterior_save_latents(const lscm_posterior *posterior, size_t rows,
                                                 const double *z, const double *sd,
                                                 const char *path, bool force, lscm_error *why);

/* ---- Scores ---------------------------------------------------------------------------------
 * Of a posterior, or of any estimate, against the truth. Definitions in docs/metrics.md. A score
 * that cannot be computed from what is there is NaN. New rows of the table come at the end. */

#define LSCM_SCORES_TABLE(X)                                                                       \
    X(e_shd, "expected SHD, a reversed edge counts 1")                                             \
    X(e_shd_entries, "expected SHD, a reversed edge counts 2 (the paper's)")                       \
    X(e_shd_cpdag, "expected SHD between equivalence classes")                                     \
    X(auroc, "area under the ROC curve of the edge probabilities")                                 \
    X(auprc_graph, "average precision of the edge probabilities")                                  \
    X(auprc_weights, "average precision of the mean |weight|")                                     \
    X(tp, "expected true edges found")                                                             \
    X(fp, "expected edges that are not there")                                                     \
    X(tn, "expected absent edges left out")                                                        \
    X(fn, "expected true edges missed")                                                            \
    X(tpr, "expected true positive rate")                                                          \
    X(fpr, "expected false positive rate")                                                         \
    X(precision, "expected precision")                                                             \
    X(recall, "expected recall")                                                                   \
    X(f1, "expected F1")                                                                           \
    X(mcc, "mean correlation of z, matched by assignment")                                         \
    X(mcc_named, "mean correlation of z, node by node")                                            \
    X(mcc_free, "mean correlation of z where not intervened on")                                   \
    X(mcc_drawn, "mean correlation of z drawn from its law, matched by assignment (the paper's)")  \
    X(w_mse, "expected squared error of the weights, mean of d^2 entries")                         \
    X(x_mse, "squared error of the reconstructed x")                                               \
    X(kl_z, "expected KL(true || drawn) of the observational z")                                   \
    X(coverage_90, "share of off-diagonal weights inside their 90% interval")                      \
    X(coverage_90_edges, "the same over the true edges")                                           \
    X(edge_ece, "expected calibration error of the edge probabilities")                            \
    X(do_mean_error, "root mean square error of E[z | do], in sds of the truth without do")        \
    X(do_energy, "energy distance of z | do from the truth, over the spread of the truth")

typedef struct lscm_scores {
#define LSCM_SCORES_FIELD(name, help) double name;
    LSCM_SCORES_TABLE(LSCM_SCORES_FIELD)
#undef LSCM_SCORES_FIELD
} lscm_scores;

/* All NaN; NULL when there is no memory. */
LSCM_API lscm_scores *lscm_scores_new(void);
LSCM_API void lscm_scores_free(lscm_scores *scores);

/* A posterior against the truth stored in a data set (the one that was fitted, or another of its
 * shape). Of a truth that is a graph alone (lscm_dataset_graph_alone) w_mse, kl_z and both
 * coverages are NaN, here and in lscm_evaluate_file; lscm_evaluate takes w as the weights that it
 * says. Where mechanisms bend, w of the draws are average slopes, and kl_z is NaN. do_mean_error
 * and do_energy are of simulated data, which hold their recipe, and only here. */
LSCM_API lscm_status lscm_posterior_evaluate(lscm_scores *out, const lscm_posterior *posterior,
                                             const lscm_dataset *truth, lscm_error *why);

typedef struct lscm_estimate {
    size_t draws, nodes, rows;
    const double *w;         /* (draws, nodes, nodes) */
    const double *sigma;     /* (draws, nodes), or NULL */
    const double *edge_prob; /* (nodes, nodes), or NULL: share of draws over the threshold */
    const double *z;         /* (rows, nodes), or NULL */
    const double *z_sd;      /* (rows, nodes), sd of z, or NULL */
    double threshold;        /* a draw has an edge where |w| exceeds it */
} lscm_estimate;

typedef struct lscm_truth {
    const double *w;        /* (nodes, nodes); an edge where not 0 */
    const double *sigma;    /* (nodes), or NULL */
    const double *z;        /* (rows, nodes), or NULL */
    const uint8_t *targets; /* (rows, nodes), or NULL: nothing intervened on */
} lscm_truth;

/* An estimate in memory: everything but x_mse, which needs x: see lscm_evaluate_file. */
LSCM_API lscm_status lscm_evaluate(lscm_scores *out, const lscm_estimate *estimate,
                                   const lscm_truth *truth, lscm_error *why);
/* An NPZ with w (draws, d, d) or (d, d), and any of sigma, edge_prob, z, z_sd, x, against the truth
 * stored in a data set. `draws` (may be NULL) gets the number of draws read. */
LSCM_API lscm_status lscm_evaluate_file(lscm_scores *out, size_t *draws, const char *estimate,
                                        const lscm_dataset *truth, double threshold,
                                        lscm_error *why);

/* ---- Reports --------------------------------------------------------------------------------
 * A run as one page of HTML for people, in words and drawings, that needs nothing else: no network,
 * no scripts. Graphviz's program dot lays out the graph where it is installed. The same run gives
 * the same page. */

typedef struct lscm_report_options {
    const char *folder;        /* of the run: its name, and its trace.csv; may be NULL */
    const lscm_dataset *truth; /* what to compare with, where it has w; may be NULL */
    bool force;                /* replace the page if it exists */
} lscm_report_options;
LSCM_API lscm_status lscm_report(const lscm_posterior *posterior, const char *path,
                                 const lscm_report_options *options, lscm_error *why);
/* The page's drawing of the graph alone, as the text of an SVG, to be freed by lscm_text_free. Its
 * lines and letters take the colour of the text around them. */
LSCM_API lscm_status lscm_posterior_draw(char **out, const lscm_posterior *posterior,
                                         lscm_error *why);
LSCM_API void lscm_text_free(char *text);

#ifdef __cplusplus
}
#endif
#endif
