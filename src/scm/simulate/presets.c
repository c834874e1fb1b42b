/* The published experiments by name: settings on top of the defaults, then the number of sets and
 * of points as published for that many nodes (the row with the largest `nodes` not above the
 * asked). */
#include "base/settings.h"
#include "base/status.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct named_settings {
    const char *name, *help;
    const char *settings; /* "name=value ..." */
    int64_t nodes;        /* where nobody says how many; 0: the default */
} named_settings;

#define REVISED                                                                                    \
    "observational=2000 noise=unequal noise_scale=1 values=gaussian value_scale=2 "                \
    "actuator_noise=0.1 projection_low=-5 projection_high=5 x_noise=0.1"

#define SCENE(name) "projection=scene scene=" name " noise_scale=1.5 value_scale=5 x_noise=0.02"

static const named_settings PRESETS[] = {
    {"paper-linear", "x = z A without noise, A = 10 U(0,1)", "", 0},
    {"paper-nonlinear", "x from a random three-layer ReLU network", "projection=mlp", 0},
    {"paper-image", "50 x 50 pictures of blocks; z clipped to +-8",
     "projection=image noise_scale=1.5 value_scale=5 clip=8", 0},
    {"revised-linear", "the paper's later protocol: unequal noise, noisy x and actuators", REVISED,
     0},
    {"revised-nonlinear", "the same with the ReLU network", REVISED " projection=mlp", 0},
    {"son", "the same with a rotation, D = d", REVISED " projection=son", 0},
    {"blobs", "pictures of soft blobs that overlap; z not clipped",
     "projection=blobs noise_scale=1.5 value_scale=5", 0},
    {"prior", "graph, weights and noise from the prior of the anchored method",
     "weights=prior noise=prior values=gaussian value_scale=2 projection_low=-5 projection_high=5 "
     "x_noise=0.02",
     0},
    {"balls", "pictures of balls that move, two nodes each", SCENE("balls"), 4},
    {"discs", "pictures of discs that hide each other, a node each", SCENE("discs"), 4},
    {"pendulum", "pictures of a pendulum, a lamp and the shadow", SCENE("pendulum"), 4},
    {"sprites", "pictures of shapes that turn, scale and change colour, three nodes each",
     SCENE("sprites"), 6},
    {"movers", "pictures of a shape that moves, turns, scales and changes colour and brightness",
     SCENE("movers"), 6},
    {"spheres", "pictures of a shaded sphere, and a light that turns around it", SCENE("spheres"),
     5},
    {"lamps", "pictures of lamps that glow in the dark, a node each", SCENE("lamps"), 4},
};
enum { PRESET_COUNT = sizeof PRESETS / sizeof PRESETS[0] };

static const struct {
    const char *preset;
    int64_t nodes;
    const char *settings;
} SIZES[] = {
    {"paper-linear", 10, "sets=200 per_set=100"},
    {"paper-linear", 20, "sets=100 per_set=200"},
    {"paper-nonlinear", 10, "sets=50 per_set=100"},
    {"paper-nonlinear", 20, "sets=100 per_set=100"},
};

const lscm_settings_table *lscm_simulation_table(void)
{
#define ROW(type, ...) SETTING_ROW(lscm_simulation, __VA_ARGS__)
    static const lscm_setting rows[] = {LSCM_SIMULATION_TABLE(ROW)};
#undef ROW
    static const lscm_settings_table table = {rows, sizeof rows / sizeof rows[0],
                                              sizeof(lscm_simulation)};
    return &table;
}

lscm_simulation *lscm_simulation_new(void)
{
    return settings_new(lscm_simulation_table(), NULL);
}

lscm_simulation *lscm_simulation_copy(const lscm_simulation *settings)
{
    return settings_new(lscm_simulation_table(), settings);
}

void lscm_simulation_free(lscm_simulation *settings)
{
    free(settings);
}

const char *lscm_preset_name(size_t index)
{
    return index < PRESET_COUNT ? PRESETS[index].name : NULL;
}

const char *lscm_preset_help(size_t index)
{
    return index < PRESET_COUNT ? PRESETS[index].help : NULL;
}

static lscm_status apply(lscm_simulation *s, const char *settings, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char name[64];
    char value[64];
    int used = 0;
    while (sscanf(settings, " %63[^=]=%63s%n", name, value, &used) == 2) {
        TRY(lscm_settings_set(lscm_simulation_table(), s, name, value, why));
        settings += used;
    }
done:
    return status;
}

static lscm_status fail_unknown(const char *name, lscm_error *why)
{
    const char *names[PRESET_COUNT];
    for (size_t i = 0; i < PRESET_COUNT; i++) {
        names[i] = PRESETS[i].name;
    }
    const char *best = lscm_suggest(name, names, PRESET_COUNT);
    if (best != NULL) {
        return fail(why, LSCM_USAGE, "there is no preset '%s'; did you mean '%s'?", name, best);
    }
    return fail(why, LSCM_USAGE, "there is no preset '%s'; `lscm simulate --help` lists them",
                name);
}

lscm_status lscm_simulation_preset(lscm_simulation *out, const char *preset, int64_t nodes,
                                   lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t index = 0;
    while (index < PRESET_COUNT && strcmp(PRESETS[index].name, preset) != 0) {
        index++;
    }
    if (index == PRESET_COUNT) {
        return fail_unknown(preset, why);
    }
    lscm_settings_defaults(lscm_simulation_table(), out);
    out->nodes = nodes > 0 ? nodes : PRESETS[index].nodes > 0 ? PRESETS[index].nodes : out->nodes;
    /* 100 features, as published, up to 50 nodes; twice the nodes beyond */
    out->features = out->nodes > 50 ? 2 * out->nodes : out->features;
    TRY(apply(out, PRESETS[index].settings, why));
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        if (strcmp(SIZES[i].preset, preset) == 0 && out->nodes >= SIZES[i].nodes) {
            TRY(apply(out, SIZES[i].settings, why));
        }
    }
done:
    return status;
}
