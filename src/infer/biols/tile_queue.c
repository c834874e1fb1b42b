#include "infer/biols/tile_queue.h"

enum { TOGETHER = 256, SCRATCH = 256 << 20 }; /* tiles, bytes: at most */

/* At a time, of as many as a pass has. */
static size_t tiles_of(const network_shape *shape, size_t pass)
{
    size_t numbers = 2; /* of a row on its way, and its error there and here */
    for (size_t l = 0; l < shape->layers; l++) {
        numbers += 2 * shape->layer[l].out;
    }
    size_t fit = SCRATCH / sizeof(float) / numbers / SAMPLED_TILE;
    fit = fit < 1 ? 1 : fit < TOGETHER ? fit : TOGETHER;
    return fit < pass ? fit : pass;
}

static size_t rows_of(const tile_queue *t)
{
    return t->decode.together * SAMPLED_TILE;
}

static void lay_out_there(tile_queue *t, const optimiser_settings *rule, arena *a)
{
    const device *on = &t->queue->on;
    size_t rows = rows_of(t);
    size_t count = network_count(&t->shape);
    network_f32_lay_out(&t->net, a, &t->shape, rows, on);
    optimiser_f32_lay_out(&t->descent, a, count, rule, on);
    t->x = arena_take(a, t->all * network_out(&t->shape), sizeof(float));
    t->parameter = arena_take(a, count, sizeof(float));
    t->gradient = arena_take(a, count, sizeof(float));
    t->z = arena_take(a, rows * network_in(&t->shape), sizeof(float));
    t->back = arena_take(a, rows * network_in(&t->shape), sizeof(float));
    t->row = arena_take(a, rows, sizeof(uint32_t));
    t->squares = arena_take(a, rows, sizeof(double));
    t->dial = arena_take(a, 1, sizeof(backend_dial));
}

static void lay_out_here(tile_queue *t, arena *a)
{
    size_t rows = rows_of(t);
    t->z_here = arena_take(a, rows * network_in(&t->shape), sizeof(float));
    t->row_here = arena_take(a, rows, sizeof(uint32_t));
    t->squares_here = arena_take(a, rows, sizeof(double));
}

/* ---- A pass ---- */

/* Forward, errors, and back, for these rows. */
static void queue_pass(const tile_queue *t, size_t rows, bool slopes)
{
    const network_batch_f32 batch = {.parameters = t->parameter,
                                     .n = rows,
                                     .input = t->z,
                                     .gradient = t->gradient,
                                     .add = true,
                                     .input_gradient = t->back};
    const dense_misfit fit = {.rows = rows,
                              .cols = network_out(&t->shape),
                              .factor = 2,
                              .row = t->row,
                              .target = t->x,
                              .y = network_f32_forward(&t->net, &batch),
                              .squares = t->squares};
    t->queue->does->misfit(t->queue, &fit);
    if (slopes) {
        network_f32_backward(&t->net, &batch);
    }
}

/* The first pass with slopes is taken down: most are like it. One that could not be is queued, and
 * what is wrong is said by `wait`. */
static void run_pass(tile_queue *t, size_t rows, bool slopes)
{
    const dense_machine *does = t->queue->does;
    if (slopes && t->steps == NULL && does->record(t->queue, NULL) == LSCM_OK) {
        queue_pass(t, rows, true);
        t->rows = does->recorded(t->queue, &t->steps, NULL) == LSCM_OK ? rows : 0;
    }
    if (slopes && t->steps != NULL && rows == t->rows) {
        does->replay(t->queue, t->steps);
    } else {
        queue_pass(t, rows, slopes);
    }
}

static size_t send_tiles(const tile_queue *t, size_t count, const sampled_tile *tile)
{
    const dense_machine *does = t->queue->does;
    size_t d = network_in(&t->shape);
    size_t rows = 0;
    for (size_t k = 0; k < count; k++) {
        for (size_t r = 0; r < tile[k].rows; r++) {
            size_t at = tile[k].first + r;
            t->row_here[rows + r] = t->picked != NULL ? t->picked[at] : (uint32_t)at;
        }
        for (size_t i = 0; i < tile[k].rows * d; i++) {
            t->z_here[rows * d + i] = (float)tile[k].z[i];
        }
        rows += tile[k].rows;
    }
    does->put(t->queue, rows * d * sizeof(float), t->z_here, t->z);
    does->put(t->queue, rows * sizeof(uint32_t), t->row_here, t->row);
    return rows;
}

static void take_tiles(const tile_queue *t, size_t count, sampled_tile *tile, bool slopes)
{
    size_t d = network_in(&t->shape);
    size_t row = 0;
    for (size_t k = 0; k < count; k++) {
        tile[k].error = 0;
        for (size_t r = 0; r < tile[k].rows; r++) {
            tile[k].error += t->squares_here[row + r];
        }
        for (size_t i = 0; i < tile[k].rows * d && slopes; i++) {
            tile[k].slope[i] = (double)t->z_here[row * d + i];
        }
        row += tile[k].rows;
    }
}

static void errors(tile_decoder *self, size_t slot, size_t count, sampled_tile *tile, bool slopes)
{
    tile_queue *t = (tile_queue *)(void *)self;
    const dense_machine *does = t->queue->does;
    (void)slot;
    size_t rows = send_tiles(t, count, tile);
    run_pass(t, rows, slopes);
    does->get(t->queue, rows * sizeof(double), t->squares, t->squares_here);
    if (slopes) {
        does->get(t->queue, rows * network_in(&t->shape) * sizeof(float), t->back, t->z_here);
    }
    take_tiles(t, count, tile, slopes);
}

void tile_queue_begin(tile_queue *t, const uint32_t *picked)
{
    const device *on = &t->queue->on;
    t->picked = picked;
    on->backend_f32->fill(on, network_count(&t->shape), 0, t->gradient);
}

lscm_status tile_queue_wait(const tile_queue *t, lscm_error *why)
{
    return t->queue->does->wait(t->queue, why);
}

void tile_queue_step(tile_queue *t, const backend_dial *dial)
{
    t->queue->does->put(t->queue, sizeof *dial, dial, t->dial);
    optimiser_f32_descend(&t->descent, 0, t->descent.n, t->dial, t->parameter, t->gradient);
}

/* ---- Opening, and what stays there ---- */

lscm_status tile_queue_open(tile_queue *out, const device *on, const network_shape *shape,
                            const optimiser_settings *rule, size_t tiles, size_t all,
                            const float *x, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    tile_queue t = {
        .decode = {.slots = 1, .together = tiles_of(shape, tiles), .errors = errors},
        .shape = *shape,
        .all = all,
    };
    TRY(on->dense->open(&t.queue, on, rows_of(&t), why));
    lay_out_here(&t, &t.here);
    TRY(arena_open(&t.here, why));
    lay_out_here(&t, &t.here);
    lay_out_there(&t, rule, &t.there);
    TRY(t.queue->on.claim(&t.queue->on, &t.there, why));
    lay_out_there(&t, rule, &t.there);
    t.queue->does->put(t.queue, all * network_out(shape) * sizeof(float), x, t.x);
    TRY(tile_queue_wait(&t, why));
    *out = t;
    t = (tile_queue){0};
done:
    tile_queue_close(&t);
    return status;
}

void tile_queue_close(tile_queue *t)
{
    if (t->queue != NULL) {
        t->queue->does->forget(t->steps);
        t->queue->on.release(&t->queue->on, &t->there);
        t->queue->does->close(t->queue);
    }
    arena_close(&t->here);
}

void tile_queue_put(const tile_queue *t, const float *parameter, const float *state)
{
    const dense_machine *does = t->queue->does;
    size_t bytes = t->descent.n * sizeof(float);
    does->put(t->queue, bytes, parameter, t->parameter);
    does->put(t->queue, 2 * bytes, state, t->descent.state);
}

lscm_status tile_queue_get(const tile_queue *t, float *parameter, float *state, lscm_error *why)
{
    const dense_machine *does = t->queue->does;
    size_t bytes = t->descent.n * sizeof(float);
    does->get(t->queue, bytes, t->parameter, parameter);
    does->get(t->queue, 2 * bytes, t->descent.state, state);
    return does->wait(t->queue, why);
}
