/* What is behind the things of a scene: dark or light, with a tint; flat, a gradient, or a texture
 * of waves; and the ground of pendulums. */
#include "scm/simulate/scene.h"

#include <math.h>

enum { WAVES = 6 };
typedef enum background_kind { FLAT, GRADIENT, TEXTURE, BACKGROUNDS } background_kind;

typedef struct wave {
    double right, down, phase; /* radians per width of the picture */
} wave;

typedef struct backdrop {
    background_kind kind;
    double colour[SCENE_CHANNELS];
    double change[SCENE_CHANNELS]; /* from one side to the other, or from crest to trough */
    double right, down;            /* of the gradient: a unit vector */
    wave waves[WAVES];
} backdrop;

static backdrop draw(rng r, bool night)
{
    const double turn = 2 * acos(-1);
    backdrop b = {.kind = (background_kind)rng_below(r, 0, BACKGROUNDS)};
    bool dark = rng_uniform(r, 1) < 0.5 || night;
    double grey = dark ? scene_between(r, 2, 0.08, 0.2) : scene_between(r, 2, 0.78, 0.9);
    double strength = b.kind == GRADIENT ? 0.25 : 0.12;
    double angle = scene_between(r, 3, 0, turn);
    b.right = cos(angle);
    b.down = sin(angle);
    for (size_t c = 0; c < SCENE_CHANNELS; c++) {
        b.colour[c] = grey + scene_between(r, 4 + c, -0.06, 0.06);
        b.change[c] = strength * scene_between(r, 7 + c, 0.4, 1);
    }
    for (size_t k = 0; k < WAVES; k++) {
        double heading = scene_between(r, 10 + 3 * k, 0, turn);
        double frequency = turn * scene_between(r, 11 + 3 * k, 1.5, 7);
        b.waves[k] = (wave){frequency * cos(heading), frequency * sin(heading),
                            scene_between(r, 12 + 3 * k, 0, turn)};
    }
    return b;
}

/* How much of the change there is at a place, about -1/2 to 1/2. */
static double change_at(const backdrop *b, double x, double y)
{
    double sum = 0;
    if (b->kind == GRADIENT) {
        return (x - 0.5) * b->right + (y - 0.5) * b->down;
    }
    for (size_t k = 0; k < WAVES && b->kind == TEXTURE; k++) {
        const wave *w = &b->waves[k];
        sum += sin(x * w->right + y * w->down + w->phase);
    }
    return sum / 4;
}

void scene_background(const scene *s, rng r, double ground)
{
    const backdrop b = draw(r, s->kind == LSCM_SCENE_LAMPS);
    for (size_t pixel = 0; pixel < s->height * s->width; pixel++) {
        double colour[SCENE_CHANNELS];
        size_t row = pixel / s->width;
        double x = ((double)(pixel % s->width) + 0.5) / s->side - s->shift_x;
        double y = ((double)row + 0.5) / s->side - s->shift_y;
        double strip = fmin(fmax((y - ground) * s->side + 0.5, 0), 1);
        for (size_t c = 0; c < SCENE_CHANNELS; c++) {
            double value = b.colour[c] + b.change[c] * change_at(&b, x, y);
            value += strip * (0.55 - 0.05 * (double)c - value) * 0.75;
            colour[c] = fmin(fmax(value, 0), 1);
        }
        scene_tone(s, colour, s->background + pixel * s->channels);
    }
}
