/* Pictures of things that move, turn, scale, change colour, hide each other and cast shadows.
 *
 *   x = picture of (a_1, .., a_d),   a_i = middle_i + reach_i s(z_i),   s(z) = v / sqrt(1 + v^2),
 *   v = z / (4u),  u the unit of scm_value_unit: values of do() reach about two thirds of the way
 *
 * s is smooth and strictly increasing: two values of a node are never drawn alike, values far out
 * only ever closer to each other, as its tails are those of 1 - 1/(2 v^2) and not of tanh. Its ends
 * keep a thing inside the picture, an angle within 0.8 of the turn after which the shape repeats,
 * a hue within 0.8 of the circle: nothing wraps.
 *
 *   balls      x and y of a ball: 2 nodes each, the last ball of an odd d moves along x alone
 *   discs      a large disc along a line of its own, through the middle: 1 node each
 *   pendulum   node 1 moves a lamp; the others, in threes, a pendulum's angle, hue and length. The
 *              shadow of its weight falls where the line from the lamp through it meets the ground
 *   sprites    angle, size and hue of a shape that stays in its place: 3 nodes each
 *   movers     x, y, angle, size, hue and brightness of a shape: 6 nodes each
 *   spheres    node 2 turns a light around all; the others, in fours, x, y, hue and size of a
 *              sphere: a pixel with the normal n is as bright as 1/5 + 4/5 max(n . light, 0)
 *   lamps      the light of a lamp that stays in its place, at night: 1 node each. Its bulb has an
 *              edge, its glow is Gaussian and lies over its neighbours
 *
 * Things are drawn from the back to the front, those behind larger. A pixel takes of a thing what
 * it covers, by the signed distance from its edge, smoothed over 1.5 pixels. The seed draws what no
 * node decides: sizes, places, hues, shapes, rims, the background (flat, gradient or texture) and
 * where the camera looks; so z and the seed determine the picture.
 *
 * Coordinates: 0 to 1 from left to right and from top to bottom of the largest square in the
 * middle, before the camera's shift; what moves along x or y, and what has a place of its own, uses
 * the rest of a wider or taller picture, too.
 *
 * A grey picture is the luminance (Rec. 601) of one in colour. There hues are of the half of the
 * circle that goes from bright to dark, and rims are bright: with it a mover's hue and brightness
 * are seen apart.
 */
#ifndef LSCM_SCM_SIMULATE_SCENE_H
#define LSCM_SCM_SIMULATE_SCENE_H

#include "base/arena.h"
#include "base/rng.h"

enum { SCENE_NODES = 24, SCENE_THINGS = 24, SCENE_CHANNELS = 3, SCENE_LEAST = 16 };

typedef enum scene_shape {
    SHAPE_HEART,
    SHAPE_TRIANGLE,
    SHAPE_SQUARE,
    SHAPE_BAR,
    SHAPE_DISC,
    SHAPE_ELLIPSE
} scene_shape;
enum { SHAPES_THAT_TURN = SHAPE_BAR + 1 };

typedef enum scene_attribute {
    ATTRIBUTE_X,
    ATTRIBUTE_Y,
    ATTRIBUTE_ALONG, /* the line of a disc */
    ATTRIBUTE_ANGLE,
    ATTRIBUTE_SIZE,
    ATTRIBUTE_HUE,
    ATTRIBUTE_LIGHT,
    ATTRIBUTE_LENGTH, /* of a pendulum */
    ATTRIBUTE_LAMP,   /* of all: where it hangs, or the light turns */
    ATTRIBUTE_GLOW
} scene_attribute;

/* A thing where all its nodes are 0, and how far they take it. */
typedef struct scene_thing {
    scene_shape shape;
    double x, y;
    double reach;       /* of x, y or along; a pendulum: its length */
    double right, down; /* the line of a disc: a unit vector */
    double radius;
    double angle, turn;    /* middle and reach, radians */
    double hue, hue_reach; /* turns of the circle of colours */
} scene_thing;

typedef struct scene {
    lscm_scene kind;
    size_t height, width;  /* pixels */
    size_t channels;       /* 3, or 1: grey */
    size_t d, count;       /* nodes; things */
    double side;           /* pixels from 0 to 1: the smaller of height and width */
    double more_x, more_y; /* half of what the picture has beyond its largest square */
    double scale;          /* 4u */
    double shift_x, shift_y;
    double light, height_of_light; /* of spheres: where it is at 0, radians */
    bool rim;
    scene_thing thing[SCENE_THINGS];
    double *background; /* (height, width, channels) */
} scene;

static inline double scene_between(rng r, uint64_t index, double low, double high)
{
    return low + (high - low) * rng_uniform(r, index);
}

/* What node i drives, and of which thing (the lamp: of none, 0). */
scene_attribute scene_attribute_of(const scene *s, size_t node, size_t *thing);

/* Takes memory for a scene of these settings: twice, to measure and to place. */
void scene_lay_out(scene *s, const lscm_simulation *settings, arena *a);
void scene_draw_up(scene *s, const lscm_simulation *settings);
/* The background, from the scene's own random numbers; a strip of ground from `ground` on. */
void scene_background(const scene *s, rng r, double ground);
/* A colour to the numbers of a pixel. */
void scene_tone(const scene *s, const double colour[SCENE_CHANNELS], double *out);
/* z (d) to x (height, width, channels), within [0, 1]. */
void scene_apply(const scene *s, const double *z, double *x);

/* The ground, lamp and pivots of pendulums. */
#define SCENE_GROUND 0.82
#define SCENE_LAMP 0.06
#define SCENE_PIVOT 0.16

/* Signed distance from the edge, negative inside, of a shape with radius 1 around the origin, y
 * downwards; `width`: thickness of a bar or ellipse over its length. */
double scene_distance(scene_shape shape, double width, double x, double y);
/* The turn after which it looks the same. */
double scene_period(scene_shape shape);

#endif
