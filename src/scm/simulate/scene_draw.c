/* A picture of a scene: things take their poses from z, and are painted from the back to the front:
 * see scene.h. */
#include "scm/simulate/scene.h"

#include <math.h>
#include <string.h>

static const double EDGE = 1.5; /* pixels from outside to inside */

/* A thing as z has it. */
typedef struct pose {
    double x, y, angle, radius, hue, light, length;
} pose;

/* A shape of one colour: what is painted. */
typedef struct mark {
    scene_shape shape;
    double x, y, radius, angle;
    double width;   /* of a bar or ellipse over its length */
    double soft;    /* pixels from outside to inside */
    double opacity; /* inside */
    double colour[SCENE_CHANNELS];
} mark;

/* s of scene.h. Far out is as good as 10^9: nothing overflows, and its square loses nothing. */
static double reach(const scene *s, double z)
{
    double v = fmin(fmax(z / s->scale, -1e9), 1e9);
    return v / sqrt(1 + v * v);
}

/* Colours of a circle, smooth in the hue (turns). */
static void colour_of(double hue, double light, double *out)
{
    const double turn = 2 * acos(-1);
    for (size_t c = 0; c < SCENE_CHANNELS; c++) {
        out[c] = light * (0.5 + 0.45 * cos(turn * (hue - (double)c / 3)));
    }
}

static size_t pixel_at(double place, size_t side)
{
    return (size_t)fmin(fmax(floor(place), 0), (double)side);
}

static void paint(const scene *s, const mark *m, double *x)
{
    double side = (double)s->side;
    double radius = fmax(m->radius * side, 1e-6);
    double column = (m->x + s->shift_x) * side - 0.5;
    double row = (m->y + s->shift_y) * side - 0.5;
    double box = radius * 1.1 + m->soft + 1;
    double right = cos(m->angle) / radius;
    double down = sin(m->angle) / radius;
    for (size_t i = pixel_at(row - box, s->side); i < pixel_at(row + box + 1, s->side); i++) {
        for (size_t j = pixel_at(column - box, s->side); j < pixel_at(column + box + 1, s->side);
             j++) {
            double across = (double)j - column;
            double along = (double)i - row;
            double distance =
                radius * scene_distance(m->shape, m->width, across * right + along * down,
                                        along * right - across * down);
            double inside = fmin(fmax(0.5 - distance / m->soft, 0), 1);
            double cover = m->opacity * inside * inside * (3 - 2 * inside);
            double *pixel = x + (i * s->side + j) * SCENE_CHANNELS;
            for (size_t c = 0; c < SCENE_CHANNELS; c++) {
                pixel[c] += cover * (m->colour[c] - pixel[c]);
            }
        }
    }
}

/* The poses of all things, and where the lamp is. */
static double take_poses(const scene *s, const double *z, pose *poses)
{
    double lamp = 0.5;
    for (size_t k = 0; k < s->count; k++) {
        const scene_thing *t = &s->thing[k];
        poses[k] = (pose){t->x, t->y, t->angle, t->radius, t->hue, 1, t->reach};
    }
    for (size_t i = 0; i < s->d; i++) {
        size_t k;
        scene_attribute attribute = scene_attribute_of(s, i, &k);
        const scene_thing *t = &s->thing[k];
        double a = reach(s, z[i]);
        switch (attribute) {
        case ATTRIBUTE_X:
            poses[k].x += t->reach * a;
            break;
        case ATTRIBUTE_Y:
            poses[k].y += t->reach * a;
            break;
        case ATTRIBUTE_ALONG:
            poses[k].x += t->reach * t->right * a;
            poses[k].y += t->reach * t->down * a;
            break;
        case ATTRIBUTE_ANGLE:
            poses[k].angle += t->turn * a;
            break;
        case ATTRIBUTE_SIZE:
            poses[k].radius *= exp(0.5 * a);
            break;
        case ATTRIBUTE_HUE:
            poses[k].hue += t->hue_reach * a;
            break;
        case ATTRIBUTE_LIGHT:
            poses[k].light = 0.7 + 0.3 * a;
            break;
        case ATTRIBUTE_LENGTH:
            poses[k].length *= exp(0.3 * a);
            break;
        case ATTRIBUTE_LAMP:
            lamp += 0.3 * a;
            break;
        }
    }
    return lamp;
}

/* A thing in its colour; with a rim, darker around it. */
static void paint_thing(const scene *s, mark m, double *x)
{
    if (s->rim) {
        mark rim = m;
        for (size_t c = 0; c < SCENE_CHANNELS; c++) {
            rim.colour[c] *= 0.35;
        }
        paint(s, &rim, x);
        m.radius *= 0.84;
    }
    paint(s, &m, x);
}

static void paint_lamp(const scene *s, double lamp, double *x)
{
    mark m = {.shape = SHAPE_DISC,
              .x = lamp,
              .y = SCENE_LAMP,
              .radius = 0.08,
              .width = 1,
              .soft = 0.12 * (double)s->side,
              .opacity = 0.6,
              .colour = {1, 0.85, 0.4}};
    paint(s, &m, x);
    m.radius = 0.045;
    m.soft = EDGE;
    m.opacity = 1;
    paint(s, &m, x);
}

/* Where the line from the lamp through the weight meets the middle of the ground; the further the
 * weight from the ground, the larger and the softer. */
static void paint_shadow(const scene *s, double lamp, const mark *weight, double *x)
{
    double ground = (1 + SCENE_GROUND) / 2;
    double times = (ground - SCENE_LAMP) / (weight->y - SCENE_LAMP);
    mark shadow = {.shape = SHAPE_ELLIPSE,
                   .x = lamp + (weight->x - lamp) * times,
                   .y = ground,
                   .radius = weight->radius * times,
                   .width = 0.35,
                   .soft = EDGE + 0.02 * times * (double)s->side,
                   .opacity = 0.8,
                   .colour = {0.04, 0.04, 0.06}};
    paint(s, &shadow, x);
}

static void paint_pendulum(const scene *s, const pose *p, double lamp, double *x)
{
    double right = sin(p->angle);
    double down = cos(p->angle);
    mark weight = {.shape = SHAPE_DISC,
                   .x = p->x + p->length * right,
                   .y = p->y + p->length * down,
                   .radius = p->radius,
                   .width = 1,
                   .soft = EDGE,
                   .opacity = 1};
    mark rod = {.shape = SHAPE_BAR,
                .x = p->x + p->length * right / 2,
                .y = p->y + p->length * down / 2,
                .radius = p->length / 2,
                .angle = atan2(down, right),
                .width = 0.05,
                .soft = EDGE,
                .opacity = 1,
                .colour = {0.45, 0.4, 0.35}};
    colour_of(p->hue, p->light, weight.colour);
    paint_shadow(s, lamp, &weight, x);
    paint(s, &rod, x);
    paint_thing(s, weight, x);
}

void scene_apply(const scene *s, const double *z, double *x)
{
    pose poses[SCENE_THINGS];
    double lamp = take_poses(s, z, poses);
    bool pendulums = s->kind == LSCM_SCENE_PENDULUM;
    memcpy(x, s->background, s->side * s->side * SCENE_CHANNELS * sizeof *x);
    for (size_t k = 0; k < s->count; k++) {
        const pose *p = &poses[k];
        mark m = {s->thing[k].shape, p->x, p->y, p->radius, p->angle, 0.36, EDGE, 1, {0}};
        colour_of(p->hue, p->light, m.colour);
        if (pendulums) {
            paint_pendulum(s, p, lamp, x);
        } else {
            paint_thing(s, m, x);
        }
    }
    if (pendulums) {
        paint_lamp(s, lamp, x);
    }
}
