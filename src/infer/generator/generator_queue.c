#include "infer/generator/generator_state.h"

#include "base/streams.h"

#include <math.h>

enum { LOOK = 64 }; /* steps between looks at what they came to */

static void lay_out_there(generator *g, arena *a)
{
    generator_queue *q = &g->far;
    const generator_rows *r = &g->rows;
    size_t batch = g->settings.batch;
    network_f32_lay_out(&q->net, a, &g->shape, batch, &q->queue->on);
    muon_f32_lay_out(&q->optimiser, a, &g->optimiser.plan, &q->queue->on);
    q->parameters = arena_take(a, g->count, sizeof(float));
    q->gradient = arena_take(a, g->count, sizeof(float));
    q->t = arena_take(a, r->rows * r->d, sizeof(float));
    q->y = arena_take(a, r->rows * r->R, sizeof(float));
    q->input = arena_take(a, batch * r->d, sizeof(float));
    q->row = arena_take(a, batch, sizeof(uint32_t));
    q->squares = arena_take(a, batch, sizeof(double));
    q->dial = arena_take(a, MUON_DIALS, sizeof(backend_dial));
    q->tally = arena_take(a, 1, sizeof(dense_tally));
}

static void queue_step(const generator *g)
{
    const generator_queue *q = &g->far;
    const dense_machine *does = q->queue->does;
    size_t R = g->rows.R;
    size_t batch = g->settings.batch;
    const network_batch_f32 drawn = {
        .parameters = q->parameters, .n = batch, .input = q->input, .gradient = q->gradient};
    does->gather(q->queue, batch, g->rows.d, q->row, q->t, q->input);
    const dense_misfit fit = {.rows = batch,
                              .cols = R,
                              .factor = 1 / (float)(batch * R),
                              .row = q->row,
                              .target = q->y,
                              .y = network_f32_forward(&q->net, &drawn),
                              .squares = q->squares};
    does->misfit(q->queue, &fit);
    does->tally(q->queue, batch, 1 / (double)(batch * R), q->squares, q->tally);
    network_f32_backward(&q->net, &drawn);
    muon_f32_descend(&q->optimiser, q->dial, q->parameters, q->gradient);
}

static lscm_status open_queue(generator *g, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    generator_queue *q = &g->far;
    size_t batch = g->settings.batch;
    const device *on = g->settings.device;
    TRY(on->dense->open(&q->queue, on, batch, why));
    (void)arena_take(&q->here, batch, sizeof(uint32_t));
    TRY(arena_open(&q->here, why));
    q->row_here = arena_take(&q->here, batch, sizeof(uint32_t));
    lay_out_there(g, &q->there);
    TRY(q->queue->on.claim(&q->queue->on, &q->there, why));
    lay_out_there(g, &q->there);
    q->queue->does->put(q->queue, g->rows.rows * g->rows.R * sizeof(float), g->y, q->y);
    TRY(q->queue->does->record(q->queue, why));
    queue_step(g);
    TRY(q->queue->does->recorded(q->queue, &q->step, why));
done:
    return status;
}

/* All that moves, as it is here. */
static void hand_out(generator *g)
{
    const generator_queue *q = &g->far;
    const dense_machine *does = q->queue->does;
    size_t bytes = g->count * sizeof(float);
    const dense_tally tally = {.sum = g->now.sum, .steps = (double)g->now.steps};
    does->put(q->queue, bytes, g->parameters, q->parameters);
    does->put(q->queue, 2 * bytes, g->optimiser.state, q->optimiser.state);
    does->put(q->queue, g->rows.rows * g->rows.d * sizeof(float), g->t, q->t);
    does->put(q->queue, sizeof tally, &tally, q->tally);
}

/* What the steps came to so far. */
static lscm_status look(generator *g, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    dense_tally tally = {0};
    dense_queue *queue = g->far.queue;
    queue->does->get(queue, sizeof tally, g->far.tally, &tally);
    TRY(queue->does->wait(queue, why));
    g->now.sum = tally.sum;
    if (tally.lost != 0) {
        status = generator_diverged(g, (uint64_t)tally.lost - 1, why);
    }
done:
    return status;
}

lscm_status generator_queue_step(generator *g, double rate, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    generator_queue *q = &g->far;
    size_t batch = g->settings.batch;
    backend_dial dial[MUON_DIALS];
    rng pick = stream_of(g->settings.seed, STREAM_GENERATOR_BATCH);
    if (q->queue == NULL) {
        TRY(open_queue(g, why));
    }
    if (!q->ahead) {
        hand_out(g);
        q->ahead = true;
    }
    for (size_t b = 0; b < batch; b++) {
        q->row_here[b] = (uint32_t)rng_below(pick, g->now.steps * batch + b, g->rows.rows);
    }
    g->optimiser.steps++;
    muon_f32_dials(&g->optimiser, rate, dial);
    q->queue->does->put(q->queue, batch * sizeof(uint32_t), q->row_here, q->row);
    q->queue->does->put(q->queue, sizeof dial, dial, q->dial);
    q->queue->does->replay(q->queue, q->step);
    g->now.batches += 1;
    g->now.steps++;
    if (g->now.steps % LOOK == 0) {
        TRY(look(g, why));
    }
done:
    return status;
}

lscm_status generator_queue_collect(generator *g, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    generator_queue *q = &g->far;
    size_t bytes = g->count * sizeof(float);
    if (q->ahead) {
        q->queue->does->get(q->queue, bytes, q->parameters, g->parameters);
        q->queue->does->get(q->queue, 2 * bytes, q->optimiser.state, g->optimiser.state);
        TRY(look(g, why));
    }
done:
    return status;
}

void generator_queue_close(generator_queue *q)
{
    if (q->queue != NULL) {
        q->queue->does->forget(q->step);
        q->queue->on.release(&q->queue->on, &q->there);
        q->queue->does->close(q->queue);
    }
    arena_close(&q->here);
}
