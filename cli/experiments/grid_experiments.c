/* The paper's figures and tables as data: which experiments, which tasks, by which methods. */
#include "experiments/grid.h"

#define EVERY ((1U << METHOD_COUNT) - 1U)
#define OURS (1U << METHOD_OURS)
#define GIVEN (1U << METHOD_BIOLS_GIVEN)
#define LEARNED (1U << METHOD_BIOLS_LEARNED)
#define BASELINES ((1U << METHOD_VAE) | (1U << METHOD_GRAPHVAE))

const grid_method METHODS[METHOD_COUNT] = {
    {"auto", "ours (order learned)", "", "#0072B2"},
    {"biols-given", "BIOLS, order given", "method=biols order=given", "#E69F00"},
    {"biols-learned", "BIOLS, order learned", "method=biols order=learned", "#D55E00"},
    {"vae", "VAE", "method=vae", "#009E73"},
    {"graphvae", "GraphVAE", "method=graphvae", "#CC79A7"},
};

const experiment EXPERIMENTS[EXPERIMENT_COUNT] = {
    {"d5-linear", "5 nodes, linear projection, order given and learned", FIGURE_BOXES, 20,
     SHOWN_FOUR, "5 nodes behind a linear projection; E-SHD, AUROC, MCC and error of the weights"},
    {"d10-linear", "10 nodes, linear projection, order given and learned", FIGURE_BOXES, 20,
     SHOWN_FOUR, "the same with 10 nodes"},
    {"d20-linear", "20 nodes, linear projection, order given and learned", FIGURE_BOXES, 20,
     SHOWN_FOUR, "the same with 20 nodes"},
    {"d5-d10-nonlinear", "5 and 10 nodes, nonlinear projection", FIGURE_BOXES, 20, SHOWN_FOUR,
     "5 and 10 nodes behind a random network"},
    {"d6-nonlinear", "6 nodes, nonlinear projection, order given and learned", FIGURE_BOXES, 20,
     SHOWN_FOUR, "6 nodes behind a random network, order given and learned"},
    {"d20-nonlinear", "20 nodes, nonlinear projection", FIGURE_BOXES, 20, SHOWN_FOUR,
     "20 nodes behind a random network"},
    {"image", "5 and 10 nodes seen as pictures", FIGURE_BOXES, 20, SHOWN_FOUR,
     "pictures of 5 and 10 nodes"},
    {"training-curves", "scores over the steps of the optimiser, order given", FIGURE_CURVES, 20,
     SHOWN_FOUR,
     "scores over steps, order given, for 6, 20 and 50 nodes: observational data (not for ours, "
     "which "
     "needs interventions), single- and multi-target interventions"},
    {"all-metrics", "eighteen scores over the steps of the optimiser, 5 nodes", FIGURE_CURVES, 20,
     SHOWN_ALL, "all 18 scores over steps, 5 nodes, linear"},
    {"ablation-sets", "scores against the number of intervention sets", FIGURE_CURVES, 20,
     SHOWN_FOUR,
     "scores against the number of intervention sets, 5 and 10 nodes, linear and nonlinear"},
    {"runtimes", "the paper's table of runtimes", FIGURE_TIMES, 3, 0,
     "the paper's table of runtimes: the same number of steps here, and ours"},
};

/* ---- Tasks ----
 *
 * Quick runs of the paper's algorithm and of the baselines stop long before they converge. */

#define SHORT(given, learned)                                                                      \
    {                                                                                              \
        [METHOD_BIOLS_GIVEN] = (given), [METHOD_BIOLS_LEARNED] = (learned),                        \
        [METHOD_VAE] = "steps=200", [METHOD_GRAPHVAE] = "steps=100"                                \
    }

#define BOXES(name, title, made, size, ...)                                                        \
    {                                                                                              \
        .experiment = name, .panel = title, .preset = made, .nodes = size, .degrees = "1,2,4",     \
        __VA_ARGS__                                                                                \
    }

/* 3 500 rows; one start that takes every step, so that a run of more steps goes on as it was. */
#define ALL_STEPS "full_run=true restarts=1"
#define CURVES(size, kind, made, in_quick, by)                                                     \
    {                                                                                              \
        .experiment = "training-curves", .panel = "d" #size, .line = (kind),                       \
        .preset = "paper-linear", .nodes = (size), .simulation = (made), .degrees = "1,2,4",       \
        .quick_degrees = (in_quick), .varied = "steps", .points = "50,150,500,1500,5000",          \
        .quick_points = "50,150,500,1500", .methods = (by), .biols = ALL_STEPS                     \
    }
#define CURVES_OF(size, in_quick)                                                                  \
    CURVES(size, "observational", "observational=3500 sets=0", in_quick, GIVEN),                   \
        CURVES(size, "single-target", "sets=30 per_set=100 targets=single", in_quick,              \
               OURS | GIVEN),                                                                      \
        CURVES(size, "multi-target", "sets=30 per_set=100", in_quick, OURS | GIVEN)

#define ABLATION(title, made, size, ...)                                                           \
    {                                                                                              \
        .experiment = "ablation-sets", .panel = title, .preset = made, .nodes = size,              \
        .simulation = "per_set=100", .degrees = "1,2", .varied = "sets",                           \
        .quick_points = "5,20,80", .methods = OURS | GIVEN | BASELINES, __VA_ARGS__                \
    }

#define TIMES(title, made, size, by, settings, ...)                                                \
    {                                                                                              \
        .experiment = "runtimes", .panel = title, .preset = made, .nodes = size, .degrees = "1",   \
        .methods = OURS | (by), .biols = settings " samples=64 " ALL_STEPS, __VA_ARGS__            \
    }
#define BRIEF(settings)                                                                            \
    {                                                                                              \
        [METHOD_BIOLS_GIVEN] = (settings), [METHOD_BIOLS_LEARNED] = (settings)                     \
    }

const variant VARIANTS[] = {
    BOXES("d5-linear", "d5", "paper-linear", 5, .methods = EVERY, .quick_degrees = "1,2,4",
          .quick = SHORT("steps=2000", "steps=1500 restarts=2")),
    BOXES("d10-linear", "d10", "paper-linear", 10, .methods = EVERY, .quick_degrees = "1,2,4",
          .quick = SHORT("steps=500", "steps=500 restarts=1")),
    BOXES("d20-linear", "d20", "paper-linear", 20, .methods = EVERY, .quick_degrees = "1,2,4",
          .quick = SHORT("steps=150", "steps=100 restarts=1")),

    BOXES("d5-d10-nonlinear", "d5", "paper-nonlinear", 5, .methods = EVERY & ~LEARNED,
          .biols = "decoder=mlp", .quick_degrees = "1,2,4", .quick = SHORT("steps=50", NULL)),
    BOXES("d5-d10-nonlinear", "d10 (50 sets)", "paper-nonlinear", 10, .methods = EVERY & ~LEARNED,
          .biols = "decoder=mlp"),
    BOXES("d5-d10-nonlinear", "d10 (20 sets)", "paper-nonlinear", 10, .methods = EVERY & ~LEARNED,
          .biols = "decoder=mlp", .simulation = "sets=20"),
    BOXES("d6-nonlinear", "d6", "paper-nonlinear", 6, .methods = EVERY, .biols = "decoder=mlp",
          .quick_degrees = "1,2,4", .quick = SHORT("steps=50", "steps=50 restarts=1")),
    BOXES("d20-nonlinear", "d20", "paper-nonlinear", 20, .methods = EVERY & ~LEARNED,
          .biols = "decoder=mlp", .quick_degrees = "4", .quick_simulation = "per_set=40",
          .quick = SHORT("steps=10", NULL)),

    BOXES("image", "d5 (20 sets)", "paper-image", 5, .methods = EVERY & ~LEARNED,
          .biols = "decoder=image", .quick_degrees = "1,2,4", .quick = SHORT("steps=20", NULL)),
    BOXES("image", "d5 (50 sets)", "paper-image", 5, .methods = EVERY & ~LEARNED,
          .biols = "decoder=image", .simulation = "sets=50"),
    BOXES("image", "d10 (20 sets)", "paper-image", 10, .methods = EVERY & ~LEARNED,
          .biols = "decoder=image"),
    BOXES("image", "d10 (50 sets)", "paper-image", 10, .methods = EVERY & ~LEARNED,
          .biols = "decoder=image", .simulation = "sets=50"),

    CURVES_OF(6, "1,2,4"),
    CURVES_OF(20, NULL),
    CURVES_OF(50, NULL),

    {.experiment = "all-metrics",
     .panel = "d5",
     .preset = "paper-linear",
     .nodes = 5,
     .degrees = "1,2,4",
     .quick_degrees = "1",
     .varied = "steps",
     .points = "20,50,100,200,500,1000,2000,5000,10000",
     .quick_points = "20,100,500,1000",
     .methods = EVERY,
     .biols = ALL_STEPS},

    ABLATION("d5 linear", "paper-linear", 5, .points = "5,10,20,40,80", .quick_degrees = "1,2",
             .quick = SHORT("steps=2000", NULL)),
    ABLATION("d10 linear", "paper-linear", 10, .points = "10,20,50,100,200"),
    ABLATION("d5 nonlinear", "paper-nonlinear", 5, .points = "5,10,20,40,80",
             .biols = "decoder=mlp", .quick_degrees = "1", .quick = SHORT("steps=30", NULL)),
    ABLATION("d10 nonlinear", "paper-nonlinear", 10, .points = "10,20,50,100,200",
             .biols = "decoder=mlp"),

    TIMES("d5 linear N=2500", "paper-linear", 5, GIVEN, "steps=5000", .quick_degrees = "1"),
    TIMES("d10 linear N=10500", "paper-linear", 10, GIVEN | LEARNED, "steps=3000",
          .simulation = "sets=100", .quick_degrees = "1", .quick = BRIEF("steps=300")),
    TIMES("d20 linear N=80500", "paper-linear", 20, GIVEN, "steps=3000", .simulation = "sets=400",
          .quick_degrees = "1", .quick = BRIEF("steps=30")),
    TIMES("d20 linear N=20500", "paper-linear", 20, LEARNED, "steps=3000", .quick_degrees = "1",
          .quick = BRIEF("steps=30")),
    TIMES("d20 linear N=80500 (8000 steps)", "paper-linear", 20, LEARNED, "steps=8000",
          .simulation = "sets=400"),
    TIMES("d10 nonlinear N=5500", "paper-nonlinear", 10, GIVEN, "decoder=mlp steps=2000",
          .simulation = ""),
    TIMES("d5 nonlinear N=2500", "paper-nonlinear", 5, GIVEN, "decoder=mlp steps=5000",
          .quick_degrees = "1", .quick = BRIEF("steps=10")),
    TIMES("d20 nonlinear N=10500", "paper-nonlinear", 20, GIVEN, "decoder=mlp steps=10000",
          .simulation = ""),
    TIMES("d5 pictures N=2500", "paper-image", 5, GIVEN, "decoder=image steps=2000",
          .quick_degrees = "1", .quick = BRIEF("steps=10")),
    TIMES("d5 pictures N=5500", "paper-image", 5, GIVEN, "decoder=image steps=2000",
          .simulation = "sets=50"),
    TIMES("d10 pictures N=2500", "paper-image", 10, GIVEN, "decoder=image steps=2000",
          .simulation = ""),
    TIMES("d10 pictures N=5500", "paper-image", 10, GIVEN, "decoder=image steps=2000",
          .simulation = "sets=50"),
};
const size_t VARIANT_COUNT = sizeof VARIANTS / sizeof VARIANTS[0];
