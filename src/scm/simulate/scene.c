/* A scene from the settings and the seed: which things there are, and what drives them. */
#include "scm/simulate/scene.h"

#include "base/streams.h"
#include "scm/simulate/model.h"

#include <math.h>

static const double SCALE = 4;     /* units of z: where s is 0.7 */
static const double SHIFT = 0.03;  /* of the camera, at most */
static const double JITTER = 0.03; /* of places, at most */
static const double RING = 0.07;   /* around the middle, of several */
static const double HALF = 0.49;   /* of the picture, less an edge */
static const double GROWN = 1.82;  /* the largest size over the middle one, and a heart's corners */
static const double SPREAD = 0.08; /* of sizes, to either side */
static const double LONGER = 1.35; /* the longest pendulum over the middle one: exp(0.3) */
static const double NO_WRAP = 0.4; /* of a period, to either side */
static const double BRIGHT = 0.27; /* the hue of the largest luminance */

/* What the nodes of a thing drive, in turn. */
typedef struct assignment {
    size_t count;
    scene_attribute attribute[6];
    size_t lamp; /* a node that drives what is not part of a thing; 0: none does */
} assignment;

static const assignment ASSIGNMENTS[] = {
    [LSCM_SCENE_BALLS] = {2, {ATTRIBUTE_X, ATTRIBUTE_Y}, 0},
    [LSCM_SCENE_DISCS] = {1, {ATTRIBUTE_ALONG}, 0},
    [LSCM_SCENE_PENDULUM] = {3, {ATTRIBUTE_ANGLE, ATTRIBUTE_HUE, ATTRIBUTE_LENGTH}, 1},
    [LSCM_SCENE_SPRITES] = {3, {ATTRIBUTE_ANGLE, ATTRIBUTE_SIZE, ATTRIBUTE_HUE}, 0},
    [LSCM_SCENE_MOVERS] = {6,
                           {ATTRIBUTE_X, ATTRIBUTE_Y, ATTRIBUTE_ANGLE, ATTRIBUTE_SIZE,
                            ATTRIBUTE_HUE, ATTRIBUTE_LIGHT},
                           0},
    [LSCM_SCENE_SPHERES] = {4, {ATTRIBUTE_X, ATTRIBUTE_Y, ATTRIBUTE_HUE, ATTRIBUTE_SIZE}, 2},
    [LSCM_SCENE_LAMPS] = {1, {ATTRIBUTE_GLOW}, 0},
};

scene_attribute scene_attribute_of(const scene *s, size_t node, size_t *thing)
{
    const assignment *a = &ASSIGNMENTS[s->kind];
    if (a->lamp > 0 && node == a->lamp) {
        *thing = 0;
        return ATTRIBUTE_LAMP;
    }
    node -= a->lamp > 0 && node > a->lamp ? 1 : 0;
    *thing = node / a->count;
    return a->attribute[node % a->count];
}

void scene_lay_out(scene *s, const lscm_simulation *settings, arena *a)
{
    s->height = (size_t)settings->size;
    s->width = (size_t)(settings->width > 0 ? settings->width : settings->size);
    s->channels = settings->grey ? 1 : SCENE_CHANNELS;
    s->background = arena_take(a, s->height * s->width * s->channels, sizeof(double));
}

/* The k-th of n, from the back; those in front are smaller, so that they leave an edge of it. */
static double radius_of(const scene *s, size_t k)
{
    double n = (double)s->count;
    double front = s->count > 1 ? (double)k / (n - 1) : 0;
    double crowd = sqrt(fmax(n / 3, 1));
    double cells = ceil(sqrt(n));
    switch (s->kind) {
    case LSCM_SCENE_BALLS:
        return (0.13 - 0.05 * front) / crowd;
    case LSCM_SCENE_DISCS:
        return (0.22 - 0.1 * front) / sqrt(crowd);
    case LSCM_SCENE_PENDULUM:
        return 0.085 / sqrt(crowd);
    case LSCM_SCENE_SPRITES:
        return (0.5 / cells - SHIFT) / (GROWN * (1 + SPREAD));
    case LSCM_SCENE_LAMPS:
        return fmin(0.09, 0.15 / cells);
    case LSCM_SCENE_MOVERS:
    case LSCM_SCENE_SPHERES:
        break;
    }
    return (0.13 - 0.03 * front) / sqrt(sqrt(n));
}

/* How far from the middle things are that move about, so that z = 0 does not stack them. */
static double ring_of(const scene *s)
{
    return s->count > 1 && s->kind != LSCM_SCENE_DISCS ? RING : 0;
}

/* Those that stay where they are get a place of their own, the others are around the middle. */
static void place(const scene *s, rng r, rng common, size_t k, scene_thing *t)
{
    double heading = 2 * acos(-1) * ((double)k / (double)s->count + rng_uniform(common, 6));
    size_t cells = (size_t)ceil(sqrt((double)s->count));
    size_t lines = (s->count + cells - 1) / cells;
    size_t line = k / cells;
    t->x = 0.5 + ring_of(s) * cos(heading) + scene_between(r, 0, -JITTER, JITTER);
    t->y = 0.5 + ring_of(s) * sin(heading) + scene_between(r, 1, -JITTER, JITTER);
    if (s->kind == LSCM_SCENE_SPRITES || s->kind == LSCM_SCENE_LAMPS) {
        t->x = ((double)(k % cells) + 0.5) / (double)cells * (1 + 2 * s->more_x) - s->more_x;
        t->y = ((double)line + 0.5) / (double)lines * (1 + 2 * s->more_y) - s->more_y;
    } else if (s->kind == LSCM_SCENE_PENDULUM) {
        t->x = 0.5 + ((double)k + 0.5 - (double)s->count / 2) * 0.5 / (double)s->count;
        t->y = SCENE_PIVOT;
    }
}

static scene_thing draw_thing(const scene *s, rng r, rng common, size_t k)
{
    const double turn = 2 * acos(-1);
    double n = (double)s->count;
    bool turns = s->kind == LSCM_SCENE_SPRITES || s->kind == LSCM_SCENE_MOVERS;
    bool grows = s->kind == LSCM_SCENE_MOVERS || s->kind == LSCM_SCENE_SPHERES;
    scene_thing t = {.shape = SHAPE_DISC};
    if (turns) {
        t.shape = (scene_shape)((k + rng_below(common, 3, SHAPES_THAT_TURN)) % SHAPES_THAT_TURN);
        t.angle = scene_between(r, 2, -0.2, 0.2);
        t.turn = NO_WRAP * scene_period(t.shape);
    }
    place(s, r, common, k, &t);
    t.radius = radius_of(s, k) * scene_between(r, 3, 1 - SPREAD, 1 + SPREAD);
    double largest = t.radius * (grows ? GROWN : 1);
    t.reach = HALF - ring_of(s) - JITTER - SHIFT - largest;
    if (s->kind == LSCM_SCENE_PENDULUM) {
        t.reach = scene_between(r, 6, 0.34, 0.42);
        t.turn = asin((HALF - fabs(t.x - 0.5) - SHIFT - largest) / (LONGER * t.reach));
    }
    double heading =
        turn / 2 * ((double)k + scene_between(r, 4, -0.2, 0.2)) / n + turn * rng_uniform(common, 4);
    t.right = cos(heading);
    t.down = sin(heading);
    t.hue = rng_uniform(common, 5) + ((double)k + scene_between(r, 5, -0.1, 0.1)) / n;
    /* things that meet keep colours of their own */
    t.hue_reach = s->kind == LSCM_SCENE_SPRITES ? NO_WRAP : NO_WRAP / n;
    if (s->channels == 1) {
        double part = s->kind == LSCM_SCENE_SPRITES ? 0.5 : ((double)k + 0.5) / n;
        t.hue = BRIGHT + part / 2;
        t.hue_reach /= 2;
    }
    return t;
}

void scene_draw_up(scene *s, const lscm_simulation *settings)
{
    const rng r = stream_of((uint64_t)settings->seed, STREAM_SCENE);
    const rng common = stream_part(r, SCENE_THINGS);
    size_t last = 0;
    s->kind = settings->scene;
    s->d = (size_t)settings->nodes;
    s->scale = SCALE * scm_value_unit(settings);
    for (size_t i = 0; i < s->d; i++) {
        size_t thing;
        (void)scene_attribute_of(s, i, &thing);
        last = thing > last ? thing : last;
    }
    s->count = last + 1;
    s->side = (double)(s->height < s->width ? s->height : s->width);
    s->more_x = ((double)s->width / s->side - 1) / 2;
    s->more_y = ((double)s->height / s->side - 1) / 2;
    s->shift_x = s->more_x + scene_between(common, 0, -SHIFT, SHIFT);
    s->shift_y = s->more_y + scene_between(common, 1, -SHIFT, SHIFT);
    s->rim = rng_uniform(common, 2) < 0.5 || (s->channels == 1 && s->kind == LSCM_SCENE_MOVERS);
    s->light = 2 * acos(-1) * rng_uniform(common, 7);
    s->height_of_light = scene_between(common, 8, 0.4, 0.8);
    for (size_t k = 0; k < s->count; k++) {
        s->thing[k] = draw_thing(s, stream_part(r, k), common, k);
    }
    scene_background(s, stream_part(r, SCENE_THINGS + 1),
                     s->kind == LSCM_SCENE_PENDULUM ? SCENE_GROUND : 2);
}
