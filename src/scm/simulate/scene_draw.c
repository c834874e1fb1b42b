/* A picture of a scene: things take their poses from z, and are painted from the back to the front:
 * see scene.h. */
#include "scm/simulate/scene.h"

#include <math.h>
#include <string.h>

static const double EDGE = 1.5;       /* pixels from outside to inside */
static const double AMBIENT = 0.2;    /* light on the dark side of a sphere */
static const double GLOW = 2.6;       /* sd of a lamp's glow over the radius of its bulb */
static const double GLOW_ENDS = 4;    /* sd: what is beyond it is less than a byte tells */
static const double LIGHT_TURN = 0.4; /* of the circle, to either side */
static const double RIM = 0.9;        /* of grey things */

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
    const double *light; /* of a sphere: a unit vector to the right, down and out; or NULL */
    bool glows;          /* Gaussian around its place: the radius is its sd */
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

void scene_tone(const scene *s, const double colour[SCENE_CHANNELS], double *out)
{
    if (s->channels == 1) {
        out[0] = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2];
    } else {
        memcpy(out, colour, SCENE_CHANNELS * sizeof *out);
    }
}

static size_t pixel_at(double place, size_t end)
{
    return (size_t)fmin(fmax(floor(place), 0), (double)end);
}

/* What a pixel takes of a mark; across and along: from its middle, in radii of its own axes. */
static double cover_of(const mark *m, double radius, double across, double along)
{
    if (m->glows) {
        return m->opacity * exp(-(across * across + along * along) / 2);
    }
    double distance = radius * scene_distance(m->shape, m->width, across, along);
    double inside = fmin(fmax(0.5 - distance / m->soft, 0), 1);
    return m->opacity * inside * inside * (3 - 2 * inside);
}

/* Lambert's law on a sphere; what is beyond its edge is like the edge. */
static double shade_of(const double *light, double across, double along)
{
    double far = fmax(sqrt(across * across + along * along), 1);
    double right = across / far;
    double down = along / far;
    double out = sqrt(fmax(1 - right * right - down * down, 0));
    double facing = right * light[0] + down * light[1] + out * light[2];
    return AMBIENT + (1 - AMBIENT) * fmax(facing, 0);
}

static void paint(const scene *s, const mark *m, double *x)
{
    double tone[SCENE_CHANNELS];
    double radius = fmax(m->radius * s->side, 1e-6);
    double column = (m->x + s->shift_x) * s->side - 0.5;
    double row = (m->y + s->shift_y) * s->side - 0.5;
    double box = m->glows ? radius * GLOW_ENDS : radius * 1.1 + m->soft + 1;
    double right = cos(m->angle) / radius;
    double down = sin(m->angle) / radius;
    size_t last_row = pixel_at(row + box + 1, s->height);
    size_t last_column = pixel_at(column + box + 1, s->width);
    scene_tone(s, m->colour, tone);
    for (size_t i = pixel_at(row - box, s->height); i < last_row; i++) {
        for (size_t j = pixel_at(column - box, s->width); j < last_column; j++) {
            double across = (double)j - column;
            double along = (double)i - row;
            double cover =
                cover_of(m, radius, across * right + along * down, along * right - across * down);
            double shade =
                m->light != NULL ? shade_of(m->light, across / radius, along / radius) : 1;
            double *pixel = x + (i * s->width + j) * s->channels;
            for (size_t c = 0; c < s->channels; c++) {
                pixel[c] += cover * (shade * tone[c] - pixel[c]);
            }
        }
    }
}

/* The poses of all things, and how far the lamp is from its middle, as a share of its reach. */
static double take_poses(const scene *s, const double *z, pose *poses)
{
    double lamp = 0;
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
            poses[k].x += (t->reach + s->more_x) * a;
            break;
        case ATTRIBUTE_Y:
            poses[k].y += (t->reach + s->more_y) * a;
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
            lamp = a;
            break;
        case ATTRIBUTE_GLOW:
            poses[k].light = 0.5 + 0.5 * a;
            break;
        }
    }
    return lamp;
}

/* A thing in its colour; with a rim, darker around it: of grey things brighter. */
static void paint_thing(const scene *s, mark m, double light, double *x)
{
    if (s->rim) {
        mark rim = m;
        for (size_t c = 0; c < SCENE_CHANNELS; c++) {
            rim.colour[c] = s->channels == 1 ? RIM * light : 0.35 * rim.colour[c];
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
              .soft = 0.12 * s->side,
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
                   .soft = EDGE + 0.02 * times * s->side,
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
    paint_thing(s, weight, p->light, x);
}

/* Away from the middle by turn, to the viewer by height. */
static void paint_sphere(const scene *s, mark m, double turned, double *x)
{
    double turn = s->light + LIGHT_TURN * 2 * acos(-1) * turned;
    double height = s->height_of_light;
    const double light[] = {cos(turn) * cos(height), sin(turn) * cos(height), sin(height)};
    m.light = light;
    paint(s, &m, x);
}

/* Its glow, and on it the bulb: pale, and dim where it is off. */
static void paint_bulb(const scene *s, mark m, double light, double *x)
{
    mark glow = m;
    glow.glows = true;
    glow.radius *= GLOW;
    glow.opacity = 0.8 * light;
    for (size_t c = 0; c < SCENE_CHANNELS; c++) {
        glow.colour[c] = (1 + m.colour[c]) / 2;
        m.colour[c] = (2 + m.colour[c]) / 3 * (0.2 + 0.8 * light);
    }
    paint(s, &glow, x);
    paint(s, &m, x);
}

void scene_apply(const scene *s, const double *z, double *x)
{
    pose poses[SCENE_THINGS];
    double lamp = take_poses(s, z, poses);
    double hangs = 0.5 + 0.3 * lamp;
    memcpy(x, s->background, s->height * s->width * s->channels * sizeof *x);
    for (size_t k = 0; k < s->count; k++) {
        const pose *p = &poses[k];
        mark m = {
            s->thing[k].shape, p->x, p->y, p->radius, p->angle, 0.36, EDGE, 1, {0}, NULL, false};
        colour_of(p->hue, s->kind == LSCM_SCENE_LAMPS ? 1 : p->light, m.colour);
        if (s->kind == LSCM_SCENE_PENDULUM) {
            paint_pendulum(s, p, hangs, x);
        } else if (s->kind == LSCM_SCENE_SPHERES) {
            paint_sphere(s, m, lamp, x);
        } else if (s->kind == LSCM_SCENE_LAMPS) {
            paint_bulb(s, m, p->light, x);
        } else {
            paint_thing(s, m, p->light, x);
        }
    }
    if (s->kind == LSCM_SCENE_PENDULUM) {
        paint_lamp(s, hangs, x);
    }
}
