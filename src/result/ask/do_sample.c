/* What would be seen under do(t, v): row k takes posterior draw s = k mod draws and samples
 *
 *     z_i = v_i exactly where t_i = 1,  else  z_i = c_s[i] + sum_j z_j w_s[j][i] + sd_s[i] e_ki
 *     (where i bends in s, the effect that its curves have in the place of the sum)
 *     x = g(z), the decoder's mean: the noise of x is not added
 *
 * (where noise is not normal, e_ki has the law of the draw, and what sets have of their own is
 * added) in the order of the draw, and then, where the fit found z clipped at +-C, z clipped there
 * as the data were (causes act unclipped); e_ki is a pure function of (seed, k, i), so the first
 * rows are the same however many are asked for. z is kept whole, x is made when it is read, in
 * whole tiles of rows: float32 for pictures, float64 otherwise. The posterior is not needed
 * afterwards. A decoder of positions makes pictures of any size: z is the same, and so is x where
 * sizes are.
 */
#include "base/rng.h"
#include "base/streams.h"
#include "data/dataset/dataset.h"
#include "data/text/text.h"
#include "scm/mechanism/mechanism.h"
#include "scm/posterior/posterior.h"

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct samples {
    row_source base;
    size_t d, features, rows;
    bool single;     /* x is float32 */
    decoder decode;  /* its arrays are copies; of another size than p's where one was asked for */
    uint8_t *mask;   /* (d) */
    double *values;  /* (d), 0 off target */
    double *z;       /* (tiles * tile, d) */
    double *x;       /* (round * tile, D): what was made last */
    double *scratch; /* of the decoder */
    int threads;
    size_t tile, tiles, round; /* rows in one, how many there are, how many are made at a time */
    arena memory;
} samples;

static void lay_out(samples *s, size_t weights)
{
    arena *a = &s->memory;
    s->decode.weights = arena_take(a, weights, sizeof(double));
    s->decode.bias = arena_take(a, decoder_bias_count(&s->decode), sizeof(double));
    s->mask = arena_take(a, s->d, 1);
    s->values = arena_take(a, s->d, sizeof(double));
    s->decode.backdrop =
        s->decode.kind == DECODER_POSITIONS ? arena_take(a, s->features, sizeof(double)) : NULL;
    s->z = arena_take(a, s->tiles, s->tile * s->d * sizeof(double));
    s->x = arena_take(a, s->round * s->tile, s->features * sizeof(double));
    s->scratch = arena_take(a, decoder_tiles_scratch(&s->decode, s->threads), sizeof(double));
}

/* C, as the summary of the fit says. */
static double clip_of(const lscm_posterior *p)
{
    json_t *summary = p->summary != NULL ? json_loads(p->summary, 0, NULL) : NULL;
    double clip = json_number_value(json_object_get(summary, "clip"));
    json_decref(summary);
    return clip > 0 ? clip : INFINITY;
}

/* Noise with sd 1, made of a normal number, by the law of entry `at`; number: of this one. */
static double noise_of(const noise_shapes *law, size_t at, double normal, rng noise,
                       uint64_t number)
{
    double nu = law->dof[at];
    double share = law->share[at];
    double ratio = law->ratio[at];
    if (nu <= DBL_MAX) {
        double chi2 = 2 * rng_gamma(stream_part(noise, 1), number * RNG_GAMMA, nu / 2);
        return normal * sqrt((nu - 2) / chi2);
    }
    bool wider = rng_uniform(stream_part(noise, 2), number) < share;
    return normal * (wider ? ratio : 1) / sqrt(1 + share * (ratio * ratio - 1));
}

/* What is added to node i of row k, in a set never seen. */
static double disturbance(const lscm_posterior *p, size_t at, double normal, rng noise,
                          uint64_t number)
{
    if (p->noise.dof == NULL) {
        return hypot(p->sigma[at], p->effect[at]) * normal;
    }
    return p->sigma[at] * noise_of(&p->noise, at, normal, noise, number) +
           p->effect[at] * rng_normal(stream_part(noise, 3), number);
}

static void sample_z(samples *s, const lscm_posterior *p, uint64_t seed)
{
    const rng noise = {seed, STREAM_DO_SAMPLE};
    const double clip = clip_of(p);
    size_t d = s->d;
    for (size_t k = 0; k < s->rows; k++) {
        size_t draw = k % p->draws;
        mechanism_model m = {.d = d,
                             .w = p->w + draw * d * d,
                             .intercept = p->intercept + draw * d,
                             .sigma = p->sigma + draw * d,
                             .bent = p->bent,
                             .draw = draw};
        const size_t *order = p->order + draw * d;
        double *z = s->z + k * d;
        rng_normals(noise, (uint64_t)k * d, d, z); /* z_i stands for e_i until its turn */
        for (size_t at = 0; at < d; at++) {
            size_t i = order[at];
            double e = disturbance(p, draw * d + i, z[i], noise, (uint64_t)k * d + i);
            double own = mechanism_simulate(&m, i, order, at, z, e);
            z[i] = s->mask[i] != 0 ? s->values[i] : own;
        }
        for (size_t i = 0; i < d; i++) {
            z[i] = fmax(-clip, fmin(z[i], clip));
        }
    }
}

/* Rows [first, first + count) of x, which lie in at most s->round tiles from `tile` on. */
static void make_x(samples *s, size_t tile, size_t first, size_t count, void *raw)
{
    size_t D = s->features;
    size_t last = (first + count + s->tile - 1) / s->tile;
    decoder_apply_tiles(&s->decode, last - tile, s->z + tile * s->tile * s->d, s->threads,
                        s->scratch, s->x);
    const double *x = s->x + (first - tile * s->tile) * D;
    if (!s->single) {
        memcpy(raw, x, count * D * sizeof *x);
        return;
    }
    float *out = raw;
    for (size_t k = 0; k < count * D; k++) {
        out[k] = (float)x[k];
    }
}

static void read_x(samples *s, size_t first, size_t count, void *raw)
{
    size_t row = s->features * (s->single ? sizeof(float) : sizeof(double));
    size_t end = first + count;
    for (size_t at = first; at < end;) {
        size_t tile = at / s->tile;
        size_t stop = (tile + s->round) * s->tile;
        stop = stop < end ? stop : end;
        make_x(s, tile, at, stop - at, (char *)raw + (at - first) * row);
        at = stop;
    }
}

static lscm_status samples_read(row_source *self, lscm_field field, size_t first, size_t count,
                                void *raw, lscm_error *why)
{
    samples *s = (samples *)(void *)self;
    size_t d = s->d;
    (void)why;
    if (field == LSCM_X) {
        read_x(s, first, count, raw);
    } else if (field == LSCM_Z) {
        memcpy(raw, s->z + first * d, count * d * sizeof *s->z);
    }
    for (size_t k = 0; k < count && field == LSCM_TARGETS; k++) {
        memcpy((uint8_t *)raw + k * d, s->mask, d);
    }
    for (size_t k = 0; k < count && field == LSCM_VALUES; k++) {
        memcpy((double *)raw + k * d, s->values, d * sizeof *s->values);
    }
    return LSCM_OK;
}

static void samples_close(row_source *self)
{
    samples *s = (samples *)(void *)self;
    arena_close(&s->memory);
    free(s);
}

/* size: of pictures, (height, width), where another one is asked for; NULL: as they were fitted. */
static lscm_status start(samples **out, const lscm_posterior *p, size_t count, const size_t *size,
                         lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t weights = decoder_weights(&p->decode);
    size_t biases = decoder_bias_count(&p->decode);
    samples *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return fail_memory(why, sizeof *s);
    }
    s->base = (row_source){samples_read, samples_close};
    s->d = p->d;
    s->rows = count;
    s->single = p->x_ndim > 2;
    s->decode = p->decode;
    s->decode.height = size != NULL ? size[0] : p->decode.height;
    s->decode.width = size != NULL ? size[1] : p->decode.width;
    s->features = decoder_features(&s->decode);
    s->threads = omp_get_max_threads();
    s->tile = decoder_tile(&s->decode);
    s->tiles = count / s->tile + (count % s->tile > 0 ? 1 : 0);
    s->round = decoder_round(&s->decode, count, s->threads);
    lay_out(s, weights);
    TRY(arena_open(&s->memory, why));
    lay_out(s, weights);
    if (weights > 0) {
        memcpy(s->decode.weights, p->decode.weights, weights * sizeof *p->decode.weights);
    }
    if (biases > 0) {
        memcpy(s->decode.bias, p->decode.bias, biases * sizeof *p->decode.bias);
    }
    if (s->decode.backdrop != NULL) {
        decoder_resample(&p->decode, s->decode.height, s->decode.width, s->decode.backdrop);
    }
    *out = s;
    s = NULL;
done:
    if (s != NULL) {
        samples_close(&s->base);
    }
    return status;
}

static lscm_status check(const lscm_posterior *p, const uint8_t *targets, const double *values,
                         size_t count, int64_t seed, lscm_error *why)
{
    if (count == 0 || count > PTRDIFF_MAX / sizeof(double) / p->d) {
        return fail(why, LSCM_USAGE, "%zu draws were asked for; ask for at least one", count);
    }
    if (seed < 0) {
        return fail(why, LSCM_USAGE, "the seed is %lld; it must not be negative", (long long)seed);
    }
    for (size_t i = 0; i < p->d; i++) {
        if (targets[i] != 0 && !(fabs(values[i]) <= DBL_MAX)) {
            const char *name = lscm_posterior_node_name(p, i);
            return fail(why, LSCM_VALUE,
                        "do() sets node %zu (0-based)%s%s to %g; give a finite number", i,
                        name != NULL ? ", " : "", name != NULL ? name : "", values[i]);
        }
    }
    return LSCM_OK;
}

/* How the rows were made, for the file they go to. */
static lscm_status write_recipe(lscm_dataset *data, const lscm_posterior *p, int64_t seed,
                                lscm_error *why)
{
    json_t *recipe = json_pack("{s:s, s:I, s:I}", "sampled_from", "posterior", "posterior_draws",
                               (json_int_t)p->draws, "seed", (json_int_t)seed);
    data->recipe = recipe != NULL ? json_dumps(recipe, 0) : NULL;
    json_decref(recipe);
    return data->recipe != NULL ? LSCM_OK : fail_memory(why, 0);
}

/* Observed variables are their own features. */
static lscm_status name_all(lscm_dataset *data, const lscm_posterior *p, lscm_error *why)
{
    bool observed = p->decode.kind == DECODER_IDENTITY;
    if (p->node_names == NULL) {
        return LSCM_OK;
    }
    data->node_names = names_copy(p->node_names, p->d);
    data->feature_names = observed ? names_copy(p->node_names, p->d) : NULL;
    if (data->node_names == NULL || (observed && data->feature_names == NULL)) {
        return fail_memory(why, p->d);
    }
    return LSCM_OK;
}

static void describe(lscm_dataset *data, const lscm_posterior *p, size_t count, const size_t *size)
{
    array_shape *x = &data->shape[LSCM_X];
    data->rows = count;
    data->nodes = p->d;
    data->banded = true;
    data->decoded = p->x_ndim > 2;
    *x = (array_shape){true, p->x_ndim > 2 ? DTYPE_FLOAT32 : DTYPE_FLOAT64, p->x_ndim, {count}};
    for (int i = 1; i < p->x_ndim; i++) {
        x->dims[i] = size != NULL && i < 3 ? size[i - 1] : p->x_dims[i - 1];
    }
    data->shape[LSCM_TARGETS] = (array_shape){true, DTYPE_UINT8, 2, {count, p->d}};
    data->shape[LSCM_VALUES] = (array_shape){true, DTYPE_FLOAT64, 2, {count, p->d}};
    data->shape[LSCM_Z] = (array_shape){true, DTYPE_FLOAT64, 2, {count, p->d}};
}

static lscm_status sample(lscm_dataset **out, const lscm_posterior *p, const uint8_t *targets,
                          const double *values, size_t count, const size_t *size, int64_t seed,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_dataset *data = NULL;
    samples *s = NULL;
    *out = NULL;
    TRY(check(p, targets, values, count, seed, why));
    TRY(dataset_new(&data, "samples", "samples", why));
    TRY(start(&s, p, count, size, why));
    data->source = &s->base;
    describe(data, p, count, size);
    for (size_t i = 0; i < p->d; i++) {
        s->mask[i] = targets[i] != 0 ? 1 : 0;
        s->values[i] = targets[i] != 0 ? values[i] : 0;
    }
    sample_z(s, p, (uint64_t)seed);
    TRY(name_all(data, p, why));
    TRY(write_recipe(data, p, seed, why));
    *out = data;
    data = NULL;
done:
    lscm_dataset_free(data);
    return status;
}

lscm_status lscm_posterior_sample(lscm_dataset **out, const lscm_posterior *posterior,
                                  const uint8_t *targets, const double *values, size_t count,
                                  int64_t seed, lscm_error *why)
{
    return sample(out, posterior, targets, values, count, NULL, seed, why);
}

lscm_status lscm_posterior_sample_sized(lscm_dataset **out, const lscm_posterior *posterior,
                                        const uint8_t *targets, const double *values, size_t count,
                                        size_t height, size_t width, int64_t seed, lscm_error *why)
{
    const lscm_posterior *p = posterior;
    const size_t size[2] = {height, width};
    *out = NULL;
    if (p->decode.kind != DECODER_POSITIONS) {
        return fail(why, LSCM_USAGE,
                    "pictures of %zu x %zu were asked for, but only the decoder 'positions' makes "
                    "them of any size, and this run has another one; leave the size out",
                    height, width);
    }
    for (int k = 0; k < 2; k++) {
        if (size[k] < LSCM_LEAST_SIDE || size[k] > LSCM_MOST_SIDE) {
            return fail(why, LSCM_USAGE,
                        "pictures of %zu x %zu were asked for; each side has %d to %d pixels",
                        height, width, LSCM_LEAST_SIDE, LSCM_MOST_SIDE);
        }
    }
    return sample(out, p, targets, values, count, size, seed, why);
}
