/* Which settings of a simulation go together: see simulation_check.h. */
#include "scm/simulate/simulation_check.h"

#include "scm/simulate/scene.h"

static lscm_status check_scene(const lscm_simulation *s, lscm_error *why)
{
    lscm_simulation usual;
    lscm_settings_defaults(lscm_simulation_table(), &usual);
    if (s->projection == LSCM_PROJECTION_SCENE && s->nodes > SCENE_NODES) {
        return fail(why, LSCM_USAGE,
                    "'nodes' is %lld, but a scene has things for %d at most; ask for fewer, or set "
                    "'projection' to another one",
                    (long long)s->nodes, SCENE_NODES);
    }
    const char *surplus = s->scene != usual.scene   ? "scene"
                          : s->size != usual.size   ? "size"
                          : s->width != usual.width ? "width"
                          : s->grey != usual.grey   ? "grey"
                                                    : NULL;
    if (s->projection != LSCM_PROJECTION_SCENE && surplus != NULL) {
        return fail(why, LSCM_USAGE,
                    "'%s' is for scenes alone; set 'projection' to scene, or leave it out",
                    surplus);
    }
    if (s->width > 0 && s->width < SCENE_LEAST) {
        return fail(why, LSCM_USAGE,
                    "'width' is %lld, but a scene has %d to 256 pixels from left to right; ask for "
                    "more, or for 0: as many as 'size'",
                    (long long)s->width, SCENE_LEAST);
    }
    if (s->pixels != usual.pixels && s->projection != LSCM_PROJECTION_SCENE &&
        s->projection != LSCM_PROJECTION_IMAGE && s->projection != LSCM_PROJECTION_BLOBS) {
        return fail(why, LSCM_USAGE,
                    "'pixels' is for pictures alone; set 'projection' to scene, blobs or image, or "
                    "leave it out");
    }
    return LSCM_OK;
}

static lscm_status check_mechanism(const lscm_simulation *s, lscm_error *why)
{
    lscm_simulation usual;
    lscm_settings_defaults(lscm_simulation_table(), &usual);
    const char *surplus = s->weights != usual.weights           ? "weights"
                          : s->weight_low != usual.weight_low   ? "weight_low"
                          : s->weight_high != usual.weight_high ? "weight_high"
                                                                : NULL;
    if (s->mechanism != LSCM_MECHANISM_LAW_LINEAR && surplus != NULL) {
        return fail(why, LSCM_USAGE,
                    "'%s' is for linear mechanisms alone; set 'mechanism' to linear, or leave "
                    "it as it is by default",
                    surplus);
    }
    return LSCM_OK;
}

lscm_status simulation_check(const lscm_simulation *s, lscm_error *why)
{
    lscm_status status = lscm_settings_check(lscm_simulation_table(), s, why);
    if (status != LSCM_OK) {
        return status;
    }
    if (s->weight_low > s->weight_high) {
        return fail(why, LSCM_USAGE, "'weight_low' is above 'weight_high'");
    }
    if (s->projection_low > s->projection_high) {
        return fail(why, LSCM_USAGE, "'projection_low' is above 'projection_high'");
    }
    if (s->projection != LSCM_PROJECTION_MLP &&
        (s->activation != LSCM_ACTIVATION_RELU || s->biases)) {
        return fail(why, LSCM_USAGE,
                    "'%s' is for the network alone; set 'projection' to mlp, or leave it out",
                    s->biases ? "biases" : "activation");
    }
    status = check_scene(s, why);
    if (status == LSCM_OK) {
        status = check_mechanism(s, why);
    }
    if (status != LSCM_OK) {
        return status;
    }
    if (s->sets > 0 && s->untouched >= s->nodes) {
        return fail(why, LSCM_USAGE,
                    "'untouched' is %lld and there are %lld nodes; interventions need at least one",
                    (long long)s->untouched, (long long)s->nodes);
    }
    if (s->paired && s->sets == 0) {
        return fail(why, LSCM_USAGE, "'paired' needs interventional rows; set 'sets' above 0");
    }
    double rows = (double)s->sets * (double)s->per_set * (s->paired ? 2 : 1);
    rows += s->paired ? 0 : (double)s->observational;
    if (rows < 2 || rows > 1e15) {
        return fail(why, LSCM_USAGE, "these settings give %.0f rows; at least 2 are needed", rows);
    }
    return LSCM_OK;
}
