/* Simulated data as a source of rows: x_r = g(z_r) + noise, made when they are read; nothing but
 * the latents of the last block is kept, for the caller that asks for x, then targets, values and z
 * of the same rows. Rows beyond what is kept are made in several rounds. */
#include "base/rng.h"
#include "base/streams.h"
#include "base/threads.h"
#include "data/dataset/dataset.h"
#include "scm/recipe/recipe.h"
#include "scm/simulate/latents.h"
#include "scm/simulate/projection.h"
#include "scm/simulate/simulation_check.h"
#include "scm/simulate/slopes.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_BYTES = 32 << 20 };

typedef struct thread_scratch {
    latent_scratch latent;
    double *x;      /* (TILE, D); of pictures (D) */
    double *hidden; /* of the projection; or one row of noise of x */
} thread_scratch;

typedef struct simulation {
    row_source source; /* first: a simulation is a row source */
    lscm_simulation settings;
    scm_model model;
    projection project;
    size_t rows;
    bool alone;     /* every row is under one do(); settings.seed is then that of the noise alone */
    uint8_t *mask;  /* (d) of that do() */
    double *values; /* (d) */
    dtype x_type;
    int threads;
    thread_scratch *scratch; /* (threads) */
    latent_rows kept;        /* of tiles kept_first .. kept_first + kept_count - 1 */
    size_t kept_first, kept_count, kept_most;
    latent_level kept_level;
    arena memory;
} simulation;

static void lay_out(simulation *s, arena *a)
{
    size_t d = s->model.d;
    size_t D = s->project.features;
    size_t hidden = projection_scratch(&s->project, TILE);
    s->mask = arena_take(a, d, 1);
    s->values = arena_take(a, d, sizeof(double));
    s->scratch = arena_take(a, (size_t)s->threads, sizeof *s->scratch);
    for (int k = 0; k < s->threads; k++) {
        thread_scratch t = {
            .latent = latent_scratch_take(a, d),
            .x = arena_take(a, s->project.height > 0 ? D : TILE * D, sizeof(double)),
            .hidden = arena_take(a, hidden > D ? hidden : D, sizeof(double)),
        };
        if (s->scratch != NULL) {
            s->scratch[k] = t;
        }
    }
}

/* Not in the arena: it is large, and every byte is written before it is read. */
static lscm_status open_kept(simulation *s, lscm_error *why)
{
    size_t count = s->kept_most * TILE * s->model.d;
    double *block = malloc(count * (2 * sizeof(double) + 1));
    if (block == NULL) {
        return fail_memory(why, count * (2 * sizeof(double) + 1));
    }
    s->kept = (latent_rows){(uint8_t *)(block + 2 * count), block, block + count};
    return LSCM_OK;
}

static latent_rows kept_tile(const simulation *s, size_t tile)
{
    size_t at = (tile - s->kept_first) * TILE * s->model.d;
    return (latent_rows){s->kept.mask + at, s->kept.values + at, s->kept.z + at};
}

/* Makes room for the latents of tiles begin .. end - 1; false when they are there already. */
static bool must_make(simulation *s, size_t begin, size_t end, latent_level level)
{
    if (s->kept_level >= level && s->kept_first <= begin && end <= s->kept_first + s->kept_count) {
        return false;
    }
    s->kept_first = begin;
    s->kept_count = end - begin;
    s->kept_level = level;
    return true;
}

/* x (count, D) of rows first .. with z (count, d). */
static void make_x(const simulation *s, size_t first, size_t count, const double *z,
                   thread_scratch *t, double *x)
{
    size_t D = s->project.features;
    projection_apply(&s->project, count, z, t->hidden, x);
    if (s->settings.x_noise > 0) {
        rng noise = {(uint64_t)s->settings.seed, STREAM_X_NOISE + (s->alone ? STREAM_ALONE : 0)};
        for (size_t r = 0; r < count; r++) {
            rng_normals(noise, (first + r) * D, D, t->hidden);
            for (size_t i = 0; i < D; i++) {
                x[r * D + i] += s->settings.x_noise * t->hidden[i];
            }
        }
    }
    /* a camera shows nothing darker than black */
    bool cut = s->project.kind == LSCM_PROJECTION_SCENE || s->x_type == DTYPE_UINT8;
    for (size_t i = 0; i < count * D && cut; i++) {
        x[i] = fmin(fmax(x[i], 0), 1);
    }
}

/* Pictures are large, and one is made like the next: row by row, no more than is asked for. */
static void emit_pictures(const simulation *s, size_t first, size_t count, const double *z,
                          thread_scratch *t, void *out)
{
    size_t D = s->project.features;
    for (size_t r = 0; r < count; r++) {
        make_x(s, first + r, 1, z + r * s->model.d, t, t->x);
        for (size_t i = 0; i < D; i++) {
            if (s->x_type == DTYPE_UINT8) {
                ((uint8_t *)out)[r * D + i] = (uint8_t)(255 * t->x[i] + 0.5);
            } else {
                ((float *)out)[r * D + i] = (float)t->x[i];
            }
        }
    }
}

/* Rows from .. from + count - 1 of a tile go to raw, in the field's dtype. */
static void emit(const simulation *s, lscm_field field, size_t tile, size_t from, size_t count,
                 thread_scratch *t, void *raw)
{
    size_t d = s->model.d;
    size_t D = s->project.features;
    latent_rows rows = kept_tile(s, tile);
    if (field == LSCM_TARGETS) {
        memcpy(raw, rows.mask + from * d, count * d);
    } else if (field == LSCM_VALUES) {
        memcpy(raw, rows.values + from * d, count * d * sizeof(double));
    } else if (field == LSCM_Z) {
        memcpy(raw, rows.z + from * d, count * d * sizeof(double));
    } else if (s->project.height > 0) {
        emit_pictures(s, tile * TILE + from, count, rows.z + from * d, t, raw);
    } else if (count == TILE) {
        make_x(s, tile * TILE, TILE, rows.z, t, raw);
    } else {
        make_x(s, tile * TILE, TILE, rows.z, t, t->x);
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
    size_t last = (end + TILE - 1) / TILE;
    const latent_do one = {s->mask, s->values};
    latent_level level = field == LSCM_TARGETS  ? LATENT_MASK
                         : field == LSCM_VALUES ? LATENT_VALUES
                                                : LATENT_Z;
    threads_blas_single();
    for (size_t begin = first / TILE; begin < last; begin += s->kept_most) {
        size_t stop = begin + s->kept_most < last ? begin + s->kept_most : last;
        bool make = must_make(s, begin, stop, level);
#pragma omp parallel for num_threads(s->threads) schedule(static)
        for (ptrdiff_t k = (ptrdiff_t)begin; k < (ptrdiff_t)stop; k++) {
            size_t start = (size_t)k * TILE;
            thread_scratch *t = &s->scratch[omp_get_thread_num()];
            if (make) {
                latents_make(&s->settings, &s->model, s->alone ? &one : NULL, start, level,
                             &t->latent, kept_tile(s, (size_t)k));
            }
            size_t from = start < first ? first : start;
            size_t to = start + TILE < end ? start + TILE : end;
            emit(s, field, (size_t)k, from - start, to - from, t,
                 (char *)raw + (from - first) * bytes);
        }
    }
    threads_blas_restore();
    return LSCM_OK;
}

static void close_simulation(row_source *self)
{
    simulation *s = (simulation *)(void *)self;
    scm_model_close(&s->model);
    projection_close(&s->project);
    arena_close(&s->memory);
    free(s->kept.values);
    free(s);
}

/* What lscm_simulate_do was asked. */
typedef struct question {
    const uint8_t *targets; /* (d) */
    const double *values;   /* (d) */
    size_t count;
    int64_t seed;
} question;

static lscm_status check_question(const lscm_simulation *s, const question *q, lscm_error *why)
{
    if (q->count == 0 || (double)q->count > 1e15) {
        return fail(why, LSCM_USAGE, "%zu rows were asked for; ask for at least one", q->count);
    }
    if (q->seed < 0) {
        return fail(why, LSCM_USAGE, "the seed is %lld; it must not be negative",
                    (long long)q->seed);
    }
    for (size_t i = 0; i < (size_t)s->nodes; i++) {
        if (q->targets[i] != 0 && !(fabs(q->values[i]) <= DBL_MAX)) {
            return fail(why, LSCM_VALUE, "do() sets node %zu (0-based) to %g; give a finite number",
                        i, q->values[i]);
        }
    }
    return LSCM_OK;
}

/* After the model is made: from here on the settings are those of its rows. */
static void set_alone(simulation *s, const question *q)
{
    s->alone = true;
    s->rows = q->count;
    s->settings.seed = q->seed;
    s->settings.paired = false;
}

static void keep_question(simulation *s, const question *q)
{
    for (size_t i = 0; i < s->model.d; i++) {
        s->mask[i] = q->targets[i] != 0 ? 1 : 0;
        s->values[i] = q->targets[i] != 0 ? q->values[i] : 0;
    }
}

/* q: NULL for the rows of the data. */
static lscm_status start(simulation **out, const lscm_simulation *settings, const question *q,
                         lscm_error *why)
{
    lscm_status status = LSCM_OK;
    simulation *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return fail_memory(why, sizeof *s);
    }
    s->source = (row_source){read_rows, close_simulation};
    s->settings = *settings;
    s->rows = latent_observational(settings) + (size_t)settings->sets * (size_t)settings->per_set;
    s->threads = omp_get_max_threads();
    TRY(scm_model_random(&s->model, settings, why));
    TRY(projection_random(&s->project, settings, why));
    s->x_type = s->project.height == 0                  ? DTYPE_FLOAT64
                : settings->pixels == LSCM_PIXELS_UINT8 ? DTYPE_UINT8
                                                        : DTYPE_FLOAT32;
    if (q != NULL) {
        set_alone(s, q);
    } else if (s->model.bent) {
        TRY(slopes_average(&s->model, settings, s->rows, why));
    }

    size_t tiles = (s->rows + TILE - 1) / TILE;
    size_t fit = KEPT_BYTES / (TILE * s->model.d * (2 * sizeof(double) + 1)) + (size_t)s->threads;
    s->kept_most = tiles < fit ? tiles : fit;
    TRY(open_kept(s, why));
    lay_out(s, &s->memory);
    TRY(arena_open(&s->memory, why));
    lay_out(s, &s->memory);
    if (q != NULL) {
        keep_question(s, q);
    }
    *out = s;
    s = NULL;
done:
    if (s != NULL) {
        close_simulation(&s->source);
    }
    return status;
}

static lscm_status keep_whole(lscm_dataset *data, lscm_field field, const void *from,
                              lscm_error *why)
{
    size_t bytes = shape_count(&data->shape[field]) * dtype_size(data->shape[field].type);
    data->whole[field] = malloc(bytes);
    if (data->whole[field] == NULL) {
        return fail_memory(why, bytes);
    }
    memcpy(data->whole[field], from, bytes);
    return LSCM_OK;
}

/* Everything but how it was made. */
static lscm_status make(lscm_dataset **out, const lscm_simulation *settings, const question *q,
                        lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_dataset *data = NULL;
    simulation *s = NULL;
    TRY(dataset_new(&data, "simulation", "simulation", why));
    TRY(start(&s, settings, q, why));
    data->source = &s->source;

    size_t n = data->rows = s->rows;
    size_t d = data->nodes = s->model.d;
    size_t height = s->project.height;
    size_t width = s->project.width;
    size_t channels = s->project.channels;
    data->shape[LSCM_X] = height == 0 ? (array_shape){true, s->x_type, 2, {n, s->project.features}}
                          : channels > 1
                              ? (array_shape){true, s->x_type, 4, {n, height, width, channels}}
                              : (array_shape){true, s->x_type, 3, {n, height, width}};
    data->shape[LSCM_TARGETS] = (array_shape){true, DTYPE_UINT8, 2, {n, d}};
    data->shape[LSCM_VALUES] = (array_shape){true, DTYPE_FLOAT64, 2, {n, d}};
    data->shape[LSCM_Z] = (array_shape){true, DTYPE_FLOAT64, 2, {n, d}};
    bool slopes_known = q == NULL || !s->model.bent;
    data->shape[LSCM_W] = (array_shape){slopes_known, DTYPE_FLOAT64, 2, {d, d}};
    data->shape[LSCM_SIGMA] = (array_shape){true, DTYPE_FLOAT64, 1, {d}};
    data->shape[LSCM_ORDER] = (array_shape){true, DTYPE_INT64, 1, {d}};
    if (slopes_known) {
        TRY(keep_whole(data, LSCM_W, s->model.w, why));
    }
    TRY(keep_whole(data, LSCM_SIGMA, s->model.sigma, why));
    TRY(keep_whole(data, LSCM_ORDER, s->model.order, why));
    *out = data;
    data = NULL;
done:
    lscm_dataset_free(data);
    return status;
}

lscm_status lscm_simulate(lscm_dataset **out, const lscm_simulation *settings, const char *preset,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_dataset *data = NULL;
    TRY(simulation_check(settings, why));
    TRY(make(&data, settings, NULL, why));
    TRY(recipe_write(&data->recipe, lscm_simulation_table(), settings, preset, why));
    *out = data;
    data = NULL;
done:
    lscm_dataset_free(data);
    return status;
}

lscm_status lscm_simulate_do(lscm_dataset **out, const lscm_simulation *settings,
                             const uint8_t *targets, const double *values, size_t count,
                             int64_t seed, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const question q = {targets, values, count, seed};
    *out = NULL;
    TRY(simulation_check(settings, why));
    TRY(check_question(settings, &q, why));
    TRY(make(out, settings, &q, why));
    (*out)->banded = true;
done:
    return status;
}
