#include "scm/simulate/latents.h"

#include "base/rng.h"
#include "base/streams.h"

#include <math.h>
#include <string.h>

latent_scratch latent_scratch_take(arena *a, size_t d)
{
    return (latent_scratch){
        .noise = arena_take(a, TILE * d, sizeof(double)),
        .values_t = arena_take(a, TILE * d, sizeof(double)),
        .noise_t = arena_take(a, TILE * d, sizeof(double)),
        .z_t = arena_take(a, TILE * d, sizeof(double)),
        .mask_t = arena_take(a, TILE * d, 1),
        .pool = arena_take(a, d, sizeof(size_t)),
        .chosen = arena_take(a, d, sizeof(size_t)),
    };
}

size_t latent_observational(const lscm_simulation *settings)
{
    return settings->paired ? (size_t)settings->sets * (size_t)settings->per_set
                            : (size_t)settings->observational;
}

/* The targets of set `set` as a mask (d). */
static void draw_targets(const lscm_simulation *s, size_t set, const latent_scratch *scratch,
                         uint8_t *mask)
{
    uint64_t seed = (uint64_t)s->seed;
    size_t d = (size_t)s->nodes;
    size_t touched = d - (size_t)s->untouched;
    size_t most = touched < d ? touched : d - 1;
    size_t count = 1;
    memset(mask, 0, d);
    if (touched == 0) {
        return;
    }
    if (s->targets == LSCM_TARGETS_CYCLE) {
        mask[scratch->pool[set % touched]] = 1;
        return;
    }
    if (s->targets == LSCM_TARGETS_MULTI && most > 1) {
        count += (size_t)rng_below((rng){seed, STREAM_TARGET_COUNT}, set, most);
    }
    rng_choose((rng){seed, STREAM_TARGETS}, set * d, touched, count, scratch->chosen);
    for (size_t k = 0; k < count; k++) {
        mask[scratch->pool[scratch->chosen[k]]] = 1;
    }
}

static void draw_pool(const lscm_simulation *s, size_t *pool)
{
    size_t d = (size_t)s->nodes;
    if (s->untouched > 0) {
        rng_permutation((rng){(uint64_t)s->seed, STREAM_UNTOUCHED}, 0, d, pool);
        return;
    }
    for (size_t i = 0; i < d; i++) {
        pool[i] = i;
    }
}

static void draw_masks(const lscm_simulation *s, size_t first, const latent_scratch *scratch,
                       uint8_t *masks)
{
    size_t d = (size_t)s->nodes;
    size_t observational = latent_observational(s);
    size_t drawn = SIZE_MAX; /* the set whose mask stands in the row before */
    draw_pool(s, scratch->pool);
    for (size_t r = 0; r < TILE; r++) {
        uint8_t *mask = masks + r * d;
        if (first + r < observational) {
            memset(mask, 0, d);
            continue;
        }
        size_t set = (first + r - observational) / (size_t)s->per_set;
        if (set == drawn) {
            memcpy(mask, mask - d, d);
        } else {
            draw_targets(s, set, scratch, mask);
            drawn = set;
        }
    }
}

static void draw_values(const lscm_simulation *s, size_t first, const uint8_t *restrict mask,
                        double *restrict values)
{
    size_t n = TILE * (size_t)s->nodes;
    double scale = s->value_scale;
    rng r = {(uint64_t)s->seed, STREAM_VALUES};
    if (s->values == LSCM_VALUES_GAUSSIAN) {
        rng_normals(r, first * (size_t)s->nodes, n, values);
        for (size_t i = 0; i < n; i++) {
            values[i] = mask[i] * (scale * values[i]) + 0; /* + 0: no -0 off target */
        }
    } else if (s->values == LSCM_VALUES_UNIFORM || s->values == LSCM_VALUES_THREE) {
        rng_uniforms(r, first * (size_t)s->nodes, n, values);
        for (size_t i = 0; i < n; i++) {
            double u =
                s->values == LSCM_VALUES_THREE ? floor(3 * values[i]) - 1 : 2 * values[i] - 1;
            values[i] = mask[i] * (scale * u) + 0;
        }
    } else {
        memset(values, 0, n * sizeof *values);
    }
}

static void repeat_do(const latent_do *alone, size_t d, latent_level level, latent_rows out)
{
    for (size_t r = 0; r < TILE; r++) {
        memcpy(out.mask + r * d, alone->mask, d);
        if (level >= LATENT_VALUES) {
            memcpy(out.values + r * d, alone->values, d * sizeof *out.values);
        }
    }
}

/* A number of mean 0 and variance 1 of a law that is not normal, index by index; `more` is another
 * stream.
 *
 *   student      N_0 / sqrt(N_1^2 + N_2^2 + N_3^2): t of 3 degrees of freedom over its sd, sqrt 3
 *   laplace      of scale 1/sqrt 2
 *   exponential  -log U - 1
 *   mixture      N(0, a^2), one in ten N(0, 25 a^2): a^2 (0.9 + 2.5) = 1
 */
static double draw_unit_noise(lscm_noise_shape law, rng r, rng more, uint64_t index)
{
    double squares = 0;
    double u = rng_uniform(r, index);
    switch (law) {
    case LSCM_NOISE_SHAPE_STUDENT:
        for (uint64_t k = 0; k < 3; k++) {
            double side = rng_normal(stream_part(more, k), index);
            squares += side * side;
        }
        return rng_normal(r, index) / sqrt(squares);
    case LSCM_NOISE_SHAPE_LAPLACE:
        return (u < 0.5 ? log(2 * u) : -log(2 * (1 - u))) / sqrt(2);
    case LSCM_NOISE_SHAPE_UNIFORM:
        return sqrt(3) * (2 * u - 1);
    case LSCM_NOISE_SHAPE_EXPONENTIAL:
        return -log(u) - 1;
    case LSCM_NOISE_SHAPE_MIXTURE:
        return rng_normal(r, index) * (rng_uniform(more, index) < 0.1 ? 5 : 1) / sqrt(3.4);
    case LSCM_NOISE_SHAPE_GAUSSIAN:
        break;
    }
    return rng_normal(r, index);
}

/* n of them, indices first, first + 1, .. */
static void draw_unit_noises(const lscm_simulation *s, uint64_t streams, uint64_t first, size_t n,
                             double *noise)
{
    rng r = {(uint64_t)s->seed, STREAM_NOISE + streams};
    rng more = {(uint64_t)s->seed, STREAM_NOISE_LAW + streams};
    if (s->noise_law == LSCM_NOISE_SHAPE_GAUSSIAN) {
        rng_normals(r, first, n, noise);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        noise[k] = draw_unit_noise(s->noise_law, r, more, first + k);
    }
}

/* e_i, or what do() misses by where it acts. `streams` is added to theirs. */
static void draw_noise(const lscm_simulation *s, const scm_model *model, uint64_t streams,
                       size_t first, const uint8_t *restrict mask, double *restrict noise)
{
    size_t d = model->d;
    size_t observational = latent_observational(s);
    rng actuator = {(uint64_t)s->seed, STREAM_ACTUATOR + streams};
    const double *restrict sigma = model->sigma;
    if (!s->paired) {
        draw_unit_noises(s, streams, first * d, TILE * d, noise);
    }
    for (size_t row = 0; row < TILE; row++) {
        double *restrict e = noise + row * d;
        const uint8_t *restrict t = mask + row * d;
        size_t at = first + row;
        if (s->paired) {
            draw_unit_noises(s, streams, (at < observational ? at : at - observational) * d, d, e);
        }
        for (size_t i = 0; i < d; i++) {
            e[i] *= (1 - t[i]) * sigma[i];
        }
        for (size_t i = 0; i < d && s->actuator_noise > 0; i++) {
            if (t[i] != 0) {
                e[i] = s->actuator_noise * rng_normal(actuator, at * d + i);
            }
        }
    }
}

/* to (d, TILE) = from (TILE, d) transposed */
static void flip(const double *restrict from, size_t d, double *restrict to)
{
    for (size_t i = 0; i < d; i++) {
        for (size_t r = 0; r < TILE; r++) {
            to[i * TILE + r] = from[r * d + i];
        }
    }
}

void latents_make(const lscm_simulation *settings, const scm_model *model, const latent_do *alone,
                  size_t first, latent_level level, latent_scratch *scratch, latent_rows out)
{
    size_t d = model->d;
    double clip = settings->clip > 0 ? settings->clip : INFINITY;
    if (alone != NULL) {
        repeat_do(alone, d, level, out);
    } else {
        draw_masks(settings, first, scratch, out.mask);
    }
    if (alone == NULL && level >= LATENT_VALUES) {
        draw_values(settings, first, out.mask, out.values);
    }
    if (level < LATENT_Z) {
        return;
    }
    draw_noise(settings, model, alone != NULL ? STREAM_ALONE : 0, first, out.mask, scratch->noise);
    flip(out.values, d, scratch->values_t);
    flip(scratch->noise, d, scratch->noise_t);
    for (size_t i = 0; i < d; i++) {
        for (size_t r = 0; r < TILE; r++) {
            scratch->mask_t[i * TILE + r] = out.mask[r * d + i];
        }
    }
    scm_model_sample(model, TILE, scratch->mask_t, scratch->values_t, scratch->noise_t,
                     scratch->z_t);
    const double *restrict z_t = scratch->z_t;
    double *restrict z = out.z;
    for (size_t r = 0; r < TILE; r++) {
        for (size_t i = 0; i < d; i++) {
            double below = z_t[i * TILE + r] < clip ? z_t[i * TILE + r] : clip;
            z[r * d + i] = below > -clip ? below : -clip;
        }
    }
}
