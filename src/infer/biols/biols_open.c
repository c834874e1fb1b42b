/* Building the estimator: what the data say once, memory once, and where each restart begins. */
#include "base/lanes.h"
#include "infer/biols/biols_state.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static network_shape network_of(const biols *b)
{
    bool image = b->settings.decoder == LSCM_DECODER_IMAGE;
    const size_t width[] = {b->d, 16, 64, image ? 256 : 64, image ? 512 : 64, b->D};
    return network_dense(
        &(network_stack){.layers = 5,
                         .width = width,
                         .between = ACTIVATION_GELU,
                         .last = image ? ACTIVATION_SIGMOID : ACTIVATION_IDENTITY});
}

static void lay_out(biols *b, arena *a)
{
    size_t S = b->S;
    size_t n = b->inputs;
    size_t dd = b->d * b->d;
    size_t doubles = 2 * n + (b->linear ? b->d * b->D : 0);
    size_t stepped = b->closed ? 2 * n : doubles; /* in closed form A needs no steps */
    optimiser_settings rule =
        b->settings.optimiser == LSCM_OPTIMISER_ADAM ? optimiser_adam() : optimiser_adabelief();
    b->parameter = arena_take(a, doubles, sizeof(double));
    b->gradient = arena_take(a, doubles, sizeof(double));
    optimiser_f64_lay_out(&b->step64, a, stepped, &rule, b->device);
    if (!b->linear) {
        b->weight = arena_take(a, network_count(&b->shape), sizeof(float));
        optimiser_f32_lay_out(&b->step_net, a, network_count(&b->shape), &rule, b->device);
    }
    if (b->law != NULL) {
        optimiser_f32_lay_out(&b->step_order, a, order_parameters(b->law), &rule, b->device);
    }
    b->eps = arena_take(a, S * n, sizeof(double));
    b->theta = arena_take(a, S * n, sizeof(double));
    b->theta_slope = arena_take(a, S * n, sizeof(double));
    b->lower = arena_take(a, S * dd, sizeof(double));
    b->by_weight = arena_take(a, S * dd, sizeof(double));
    b->by_p = arena_take(a, S * dd, sizeof(double));
    b->sigma = arena_take(a, S * b->d, sizeof(double));
    b->by_sigma = arena_take(a, S * b->d, sizeof(double));
    b->error = arena_take(a, S, sizeof(double));
    b->log_q = arena_take(a, S, sizeof(double));
    b->order = arena_take(a, S * b->d, sizeof(size_t));
    b->by_mean = arena_take(a, n, sizeof(double));
    b->by_raw = arena_take(a, n, sizeof(double));
}

static void lay_out_rows(biols *b, row_store *store, arena *a)
{
    store->mask = arena_take(a, store->rows * b->d, 1);
    store->values = arena_take(a, store->rows * b->d, sizeof(double));
    if (b->linear) {
        store->x64 = arena_take(a, store->rows * b->D, sizeof(double));
    } else if (store == &b->all || !b->queued) {
        store->x32 = arena_take(a, store->rows * b->D, sizeof(float));
    }
}

static void lay_out_stores(biols *b, arena *a)
{
    lay_out_rows(b, &b->all, a);
    if (b->batch.rows < b->all.rows) {
        lay_out_rows(b, &b->batch, a);
        b->picked = b->queued ? arena_take(a, b->batch.rows, sizeof *b->picked) : NULL;
    } else {
        b->batch = b->all;
    }
}

/* Rows first .. first + n - 1 through `x` (n, features) and `small` (n, d), both scratch; adds
 * their squares to xx. */
static lscm_status load_rows(biols *b, const lscm_dataset *data, size_t first, size_t n, double *x,
                             double *small, double *xx, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = b->d;
    double *values = b->all.values + first * d;
    TRY(lscm_dataset_read(data, LSCM_X, first, n, x, why));
    TRY(lscm_dataset_read(data, LSCM_TARGETS, first, n, small, why));
    TRY(lscm_dataset_read(data, LSCM_VALUES, first, n, values, why));
    for (size_t i = 0; i < n * d; i++) {
        b->all.mask[first * d + i] = small[i] != 0 ? 1 : 0;
        values[i] = small[i] != 0 ? values[i] : 0;
    }
    for (size_t r = 0; r < n; r++) {
        for (size_t i = 0; i < b->D; i++) {
            double value = x[r * b->features + (b->linear ? i : b->kept[i])];
            *xx += value * value;
            if (b->linear) {
                b->all.x64[(first + r) * b->D + i] = value;
            } else {
                b->all.x32[(first + r) * b->D + i] = (float)value;
            }
        }
    }
done:
    return status;
}

static lscm_status open_decoder(biols *b, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t tiles = b->S * ((b->batch.rows + SAMPLED_TILE - 1) / SAMPLED_TILE);
    if (b->linear) {
        TRY(tile_linear_open(&b->tile, b->batch.rows, b->d, b->D, why));
    } else if (b->queued) {
        TRY(tile_queue_open(&b->far, b->device, &b->shape, &b->step_net.settings, tiles, b->N,
                            b->all.x32, why));
    } else {
        TRY(tile_net_open(&b->net, b->device, &b->shape, why));
    }
    TRY(sampled_open(&b->sampled, b->d,
                     b->linear   ? &b->tile.decode
                     : b->queued ? &b->far.decode
                                 : &b->net.decode,
                     why));
done:
    return status;
}

static lscm_status open_rows(biols *b, const lscm_dataset *data, double *xx, lscm_error *why)
{
    enum { BLOCK = 1024 };
    lscm_status status = LSCM_OK;
    arena scratch = {0};
    size_t batch = (size_t)b->settings.batch;
    if (!data->shape[LSCM_VALUES].present) {
        return fail(why, LSCM_MISSING, "%s: there are no 'values'; a decoder needs what do() set",
                    data->path);
    }
    if (batch == 0) {
        batch = b->settings.decoder == LSCM_DECODER_IMAGE ? 256 : b->N;
    }
    b->all.rows = b->N;
    b->batch.rows = batch < b->N ? batch : b->N;
    lay_out_stores(b, &b->rows);
    TRY(arena_open(&b->rows, why));
    lay_out_stores(b, &b->rows);
    (void)arena_take(&scratch, BLOCK * (b->features + b->d), sizeof(double));
    TRY(arena_open(&scratch, why));
    double *x = arena_take(&scratch, BLOCK * (b->features + b->d), sizeof(double));
    for (size_t first = 0; first < b->N; first += BLOCK) {
        size_t n = b->N - first < BLOCK ? b->N - first : BLOCK;
        TRY(load_rows(b, data, first, n, x, x + BLOCK * b->features, xx, why));
    }
    TRY(open_decoder(b, why));
done:
    arena_close(&scratch);
    return status;
}

/* What does well on the paper's data; see bench/RESULTS.md. The paper draws 64 times a step; fewer
 * find the same graphs sooner. */
static void choose(biols *b)
{
    lscm_fit_settings *s = &b->settings;
    if (s->noise == LSCM_NOISE_AUTO) {
        s->noise = LSCM_NOISE_EQUAL;
    }
    if (s->degree == 0) {
        s->degree = 1;
    }
    if (s->samples == 0) {
        s->samples = !b->linear ? LANES : b->d <= 6 ? 64 : 16;
    }
    if (s->steps == 0) {
        s->steps = b->linear ? 5000 : 3000;
    }
    if (s->rate == 0) {
        s->rate = b->linear ? 8e-3 : 3e-3;
    }
}

lscm_status biols_open(biols **out, const device *on, const lscm_dataset *data,
                       lscm_fit_settings *settings, const size_t *order,
                       const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    meter m = meter_over(data, progress, "reading");
    double xx = 0; /* sum ||x||^2 */
    biols *b = calloc(1, sizeof *b);
    if (b == NULL) {
        return fail_memory(why, sizeof *b);
    }
    b->device = on;
    b->settings = *settings;
    b->d = data->nodes;
    b->features = lscm_dataset_features(data);
    b->D = b->features;
    b->N = data->rows;
    b->noises = settings->noise == LSCM_NOISE_UNEQUAL ? b->d : 1;
    b->entries = b->d * (b->d - 1) / 2;
    b->inputs = b->entries + b->noises;
    b->linear = settings->decoder == LSCM_DECODER_LINEAR;
    b->queued = !b->linear && on->dense != NULL;
    b->closed = b->linear && settings->expectation == LSCM_EXPECTATION_CLOSED;
    if (!b->linear) {
        TRY(biols_find_still(b, data, why));
        b->shape = network_of(b);
    }
    choose(b);
    b->S = ((size_t)b->settings.samples + LANES - 1) / LANES * LANES;
    *settings = b->settings;
    horseshoe_init(&b->prior, horseshoe_scale(b->N, b->d, settings->degree));
    if (order == NULL) {
        b->log_factorial = lgamma((double)b->d + 1);
        TRY(order_open(&b->law, on, b->d, b->inputs, b->S,
                       settings->permanent == LSCM_PERMANENT_EXACT, why));
    }
    lay_out(b, &b->memory);
    TRY(on->claim(on, &b->memory, why));
    lay_out(b, &b->memory);
    for (size_t s = 0; s < b->S && order != NULL; s++) {
        memcpy(b->order + s * b->d, order, b->d * sizeof *order);
    }
    if (b->closed) {
        TRY(moments_of(&b->m, data, &m, why));
        TRY(linear_open(&b->moment, &b->m, b->S, why));
        xx = b->m.xx;
    } else {
        TRY(open_rows(b, data, &xx, why));
    }
    b->noise_floor = 1e-3 * sqrt(xx / ((double)b->N * (double)b->D));
    *out = b;
    b = NULL;
done:
    biols_close(b);
    return status;
}

void biols_close(biols *b)
{
    if (b == NULL) {
        return;
    }
    order_close(b->law);
    linear_close(b->moment);
    moments_close(&b->m);
    sampled_close(b->sampled);
    tile_linear_close(&b->tile);
    tile_net_close(&b->net);
    tile_queue_close(&b->far);
    b->device->release(b->device, &b->memory);
    arena_close(&b->rows);
    arena_close(&b->columns);
    free(b);
}

void biols_begin(biols *b, size_t restart)
{
    const double start = 5 * atanh(-0.2); /* log sd -1 after squashing */
    size_t n = b->inputs;
    b->restart = restart;
    b->step = 0;
    b->x_noise = b->settings.x_noise > 0 ? fmax(b->settings.x_noise, b->noise_floor) : 1;
    memset(b->parameter, 0, n * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        b->parameter[n + i] = start;
    }
    memset(b->step64.state, 0, 2 * b->step64.n * sizeof(double));
    b->step64.steps = 0;
    if (b->linear) {
        double *matrix = b->parameter + 2 * n;
        rng_normals(biols_stream(b, STREAM_BIOLS_NET, 0), 0, b->d * b->D, matrix);
        cblas_dscal((int)(b->d * b->D), 1 / sqrt((double)b->d), matrix, 1);
    } else {
        network_f32_draw(&b->shape, biols_stream(b, STREAM_BIOLS_NET, 0), b->weight, NULL);
        memset(b->step_net.state, 0, 2 * b->step_net.n * sizeof(float));
        b->step_net.steps = 0;
        biols_hand_out(b);
    }
    if (b->law != NULL) {
        order_begin(b->law, biols_stream(b, STREAM_BIOLS_ORDER_NET, 0));
        memset(b->step_order.state, 0, 2 * b->step_order.n * sizeof(float));
        b->step_order.steps = 0;
    }
}
