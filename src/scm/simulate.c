/* Simulated data as a source of rows. Row r is a pure function of (settings, r):
 *
 *   targets  from the set that r belongs to,   values v_r,   noise e_r  ->  z_r  ->  x_r = g(z_r) +
 * noise
 *
 * so nothing is stored: rows are made when they are read, in tiles of TILE rows that are always
 * made whole, which keeps every bit the same for any block size and any number of threads. Rows:
 * `observational` ones first, then `sets` x `per_set`. Paired: interventional row k shares its
 * noise with observational row k.
 */
#include "base/rng.h"
#include "base/threads.h"
#include "data/dataset.h"
#include "scm/model.h"
#include "scm/projection.h"
#include "scm/recipe.h"
#include "scm/streams.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 128 };

/* Choices of the settings table, in its order. */
enum { TARGETS_MULTI, TARGETS_SINGLE, TARGETS_CYCLE };
enum { VALUES_UNIFORM, VALUES_GAUSSIAN, VALUES_ZERO };

typedef struct tile {
    double *values, *noise, *z;       /* (TILE, d) */
    double *values_t, *noise_t, *z_t; /* (d, TILE) */
    uint8_t *mask, *mask_t;           /* (TILE, d), (d, TILE) */
    size_t *chosen;                   /* (d) */
    double *x;                        /* (TILE, D) */
    double *scratch;                  /* of the projection; or one row of noise of x */
} tile;

typedef struct simulation {
    row_source source; /* first: a simulation is a row source */
    lscm_simulation settings;
    scm_model model;
    projection project;
    size_t observational, rows;
    dtype x_type;
    int threads;
    tile *tiles; /* (threads) */
    arena memory;
} simulation;

static void lay_out(simulation *s, arena *a)
{
    size_t d = s->model.d;
    size_t D = s->project.features;
    size_t scratch = projection_scratch(&s->project, TILE);
    s->tiles = arena_take(a, (size_t)s->threads, sizeof *s->tiles);
    for (int k = 0; k < s->threads; k++) {
        tile t = {
            .values = arena_take(a, TILE * d, sizeof(double)),
            .noise = arena_take(a, TILE * d, sizeof(double)),
            .z = arena_take(a, TILE * d, sizeof(double)),
            .values_t = arena_take(a, TILE * d, sizeof(double)),
            .noise_t = arena_take(a, TILE * d, sizeof(double)),
            .z_t = arena_take(a, TILE * d, sizeof(double)),
            .mask = arena_take(a, TILE * d, 1),
            .mask_t = arena_take(a, TILE * d, 1),
            .chosen = arena_take(a, d, sizeof(size_t)),
            .x = arena_take(a, TILE * D, sizeof(double)),
            .scratch = arena_take(a, scratch > D ? scratch : D, sizeof(double)),
        };
        if (s->tiles != NULL) {
            s->tiles[k] = t;
        }
    }
}

/* The targets of set `set` as a mask (d). */
static void draw_targets(const simulation *s, size_t set, size_t *chosen, uint8_t *mask)
{
    uint64_t seed = (uint64_t)s->settings.seed;
    size_t d = s->model.d;
    memset(mask, 0, d);
    if (s->settings.targets == TARGETS_CYCLE) {
        mask[set % d] = 1;
        return;
    }
    size_t count = 1;
    if (s->settings.targets == TARGETS_MULTI && d > 2) {
        count += (size_t)rng_below((rng){seed, STREAM_TARGET_COUNT}, set, d - 1);
    }
    rng_choose((rng){seed, STREAM_TARGETS}, set * d, d, count, chosen);
    for (size_t k = 0; k < count; k++) {
        mask[chosen[k]] = 1;
    }
}

static void draw_masks(const simulation *s, size_t first, tile *t)
{
    size_t d = s->model.d;
    size_t drawn = SIZE_MAX; /* the set whose mask stands in the row before */
    for (size_t r = 0; r < TILE; r++) {
        uint8_t *mask = t->mask + r * d;
        if (first + r < s->observational) {
            memset(mask, 0, d);
            continue;
        }
        size_t set = (first + r - s->observational) / (size_t)s->settings.per_set;
        if (set == drawn) {
            memcpy(mask, mask - d, d);
        } else {
            draw_targets(s, set, t->chosen, mask);
            drawn = set;
        }
    }
}

static void draw_values(const simulation *s, size_t first, tile *t)
{
    size_t d = s->model.d;
    double scale = s->settings.value_scale;
    rng r = {(uint64_t)s->settings.seed, STREAM_VALUES};
    if (s->settings.values == VALUES_GAUSSIAN) {
        rng_normals(r, first * d, TILE * d, t->values);
        for (size_t i = 0; i < TILE * d; i++) {
            t->values[i] = t->mask[i] != 0 ? scale * t->values[i] : 0;
        }
    } else if (s->settings.values == VALUES_UNIFORM) {
        rng_uniforms(r, first * d, TILE * d, t->values);
        for (size_t i = 0; i < TILE * d; i++) {
            t->values[i] = t->mask[i] != 0 ? scale * (2 * t->values[i] - 1) : 0;
        }
    } else {
        memset(t->values, 0, TILE * d * sizeof *t->values);
    }
}

/* e_i, or what do() misses by where it acts. */
static void draw_noise(const simulation *s, size_t first, tile *t)
{
    size_t d = s->model.d;
    rng r = {(uint64_t)s->settings.seed, STREAM_NOISE};
    if (!s->settings.paired) {
        rng_normals(r, first * d, TILE * d, t->noise);
    } else {
        for (size_t row = 0; row < TILE; row++) {
            size_t at = first + row;
            size_t pair = at < s->observational ? at : at - s->observational;
            rng_normals(r, pair * d, d, t->noise + row * d);
        }
    }
    for (size_t i = 0; i < TILE * d; i++) {
        t->noise[i] = t->mask[i] != 0 ? 0 : t->noise[i] * s->model.sigma[i % d];
    }
    if (s->settings.actuator_noise > 0) {
        rng actuator = {(uint64_t)s->settings.seed, STREAM_ACTUATOR};
        for (size_t i = 0; i < TILE * d; i++) {
            if (t->mask[i] != 0) {
                t->noise[i] = s->settings.actuator_noise * rng_normal(actuator, first * d + i);
            }
        }
    }
}

static void make_z(const simulation *s, size_t first, tile *t)
{
    size_t d = s->model.d;
    double clip = s->settings.clip;
    draw_masks(s, first, t);
    draw_values(s, first, t);
    draw_noise(s, first, t);
    for (size_t i = 0; i < d; i++) {
        for (size_t r = 0; r < TILE; r++) {
            t->values_t[i * TILE + r] = t->values[r * d + i];
            t->noise_t[i * TILE + r] = t->noise[r * d + i];
            t->mask_t[i * TILE + r] = t->mask[r * d + i];
        }
    }
    scm_model_sample(&s->model, TILE, t->mask_t, t->values_t, t->noise_t, t->z_t);
    for (size_t r = 0; r < TILE; r++) {
        for (size_t i = 0; i < d; i++) {
            double z = t->z_t[i * TILE + r];
            t->z[r * d + i] = clip > 0 ? fmin(fmax(z, -clip), clip) : z;
        }
    }
}

static void make_x(const simulation *s, size_t first, tile *t, double *x)
{
    size_t D = s->project.features;
    projection_apply(&s->project, TILE, t->z, t->scratch, x);
    if (s->settings.x_noise > 0) {
        rng noise = {(uint64_t)s->settings.seed, STREAM_X_NOISE};
        for (size_t r = 0; r < TILE; r++) {
            rng_normals(noise, (first + r) * D, D, t->scratch);
            for (size_t i = 0; i < D; i++) {
                x[r * D + i] += s->settings.x_noise * t->scratch[i];
            }
        }
    }
}

/* Rows `from` .. `from + count - 1` of the tile at `first` go to raw, in the field's dtype. */
static void make_rows(const simulation *s, lscm_field field, size_t first, size_t from,
                      size_t count, tile *t, void *raw)
{
    size_t d = s->model.d;
    size_t D = s->project.features;
    make_z(s, first, t);
    if (field == LSCM_TARGETS) {
        memcpy(raw, t->mask + from * d, count * d);
    } else if (field == LSCM_VALUES) {
        memcpy(raw, t->values + from * d, count * d * sizeof(double));
    } else if (field == LSCM_Z) {
        memcpy(raw, t->z + from * d, count * d * sizeof(double));
    } else if (s->x_type == DTYPE_FLOAT32) {
        make_x(s, first, t, t->x);
        float *out = raw;
        for (size_t i = 0; i < count * D; i++) {
            out[i] = (float)t->x[from * D + i];
        }
    } else if (count == TILE) {
        make_x(s, first, t, raw);
    } else {
        make_x(s, first, t, t->x);
        memcpy(raw, t->x + from * D, count * D * sizeof(double));
    }
}

static size_t row_bytes(const simulation *s, lscm_field field)
{
    if (field == LSCM_TARGETS) {
        return s->model.d;
    }
    return field == LSCM_X ? s->project.features * dtype_size(s->x_type)
                           : s->model.d * sizeof(double);
}

static lscm_status read_rows(row_source *self, lscm_field field, size_t first, size_t count,
                             void *raw, lscm_error *why)
{
    simulation *s = (simulation *)(void *)self;
    (void)why;
    size_t end = first + count;
    size_t bytes = row_bytes(s, field);
    ptrdiff_t tile_begin = (ptrdiff_t)(first / TILE);
    ptrdiff_t tile_end = (ptrdiff_t)((end + TILE - 1) / TILE);
    int blas = threads_blas_single();
#pragma omp parallel for num_threads(s->threads) schedule(static)
    for (ptrdiff_t k = tile_begin; k < tile_end; k++) {
        size_t start = (size_t)k * TILE;
        size_t from = start < first ? first : start;
        size_t to = start + TILE < end ? start + TILE : end;
        make_rows(s, field, start, from - start, to - from, &s->tiles[omp_get_thread_num()],
                  (char *)raw + (from - first) * bytes);
    }
    threads_blas_restore(blas);
    return LSCM_OK;
}

static void close_simulation(row_source *self)
{
    simulation *s = (simulation *)(void *)self;
    scm_model_close(&s->model);
    projection_close(&s->project);
    arena_close(&s->memory);
    free(s);
}

static lscm_status check(const lscm_simulation *s, lscm_error *why)
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
    if (s->paired && s->sets == 0) {
        return fail(why, LSCM_USAGE, "'paired' needs interventional rows; set 'sets' above 0");
    }
    double rows =
        (double)s->sets * (double)s->per_set * (s->paired ? 2 : 1) + (double)s->observational;
    if (rows < 2 || rows > 1e15) {
        return fail(why, LSCM_USAGE, "these settings give %.0f rows; at least 2 are needed", rows);
    }
    return LSCM_OK;
}

static lscm_status start(simulation **out, const lscm_simulation *settings, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    simulation *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return fail_memory(why, sizeof *s);
    }
    s->source = (row_source){read_rows, close_simulation};
    s->settings = *settings;
    size_t interventional = (size_t)settings->sets * (size_t)settings->per_set;
    s->observational = settings->paired ? interventional : (size_t)settings->observational;
    s->rows = s->observational + interventional;
    s->x_type = settings->projection == PROJECTION_IMAGE ? DTYPE_FLOAT32 : DTYPE_FLOAT64;
    s->threads = omp_get_max_threads();
    TRY(scm_model_random(&s->model, settings, why));
    TRY(projection_random(&s->project, settings, why));
    lay_out(s, &s->memory);
    TRY(arena_open(&s->memory, why));
    lay_out(s, &s->memory);
    *out = s;
    s = NULL;
done:
    if (s != NULL) {
        close_simulation(&s->source);
    }
    return status;
}

static lscm_status keep_whole(lscm_dataset *data, lscm_field field, dtype type, const void *from,
                              lscm_error *why)
{
    size_t bytes = shape_count(&data->shape[field]) * dtype_size(type);
    data->whole[field] = malloc(bytes);
    if (data->whole[field] == NULL) {
        return fail_memory(why, bytes);
    }
    memcpy(data->whole[field], from, bytes);
    return LSCM_OK;
}

lscm_status lscm_simulate(lscm_dataset **out, const lscm_simulation *settings, const char *preset,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_dataset *data = NULL;
    simulation *s = NULL;
    TRY(check(settings, why));
    TRY(dataset_new(&data, "simulation", "simulation", why));
    TRY(start(&s, settings, why));
    data->source = &s->source;

    size_t n = data->rows = s->rows;
    size_t d = data->nodes = s->model.d;
    size_t side = s->project.side;
    data->shape[LSCM_X] = side > 0 ? (array_shape){true, s->x_type, 3, {n, side, side}}
                                   : (array_shape){true, s->x_type, 2, {n, s->project.features}};
    data->shape[LSCM_TARGETS] = (array_shape){true, DTYPE_UINT8, 2, {n, d}};
    data->shape[LSCM_VALUES] = (array_shape){true, DTYPE_FLOAT64, 2, {n, d}};
    data->shape[LSCM_Z] = (array_shape){true, DTYPE_FLOAT64, 2, {n, d}};
    data->shape[LSCM_W] = (array_shape){true, DTYPE_FLOAT64, 2, {d, d}};
    data->shape[LSCM_SIGMA] = (array_shape){true, DTYPE_FLOAT64, 1, {d}};
    data->shape[LSCM_ORDER] = (array_shape){true, DTYPE_INT64, 1, {d}};
    TRY(keep_whole(data, LSCM_W, DTYPE_FLOAT64, s->model.w, why));
    TRY(keep_whole(data, LSCM_SIGMA, DTYPE_FLOAT64, s->model.sigma, why));
    TRY(keep_whole(data, LSCM_ORDER, DTYPE_INT64, s->model.order, why));
    TRY(recipe_write(&data->recipe, lscm_simulation_table(), settings, preset, why));
    *out = data;
    data = NULL;
done:
    lscm_dataset_free(data);
    return status;
}
