#include "infer/baselines/baseline.h"

#include <math.h>

static size_t pairs_of(const baseline *b)
{
    return b->d * (b->d - 1) / 2;
}

static void lay_out(baseline *b, arena *a)
{
    baseline_queue *q = &b->far;
    size_t batch = b->rows.batch;
    const optimiser_settings rule = optimiser_adam();
    b->kind->queue_lay_out(b, a);
    optimiser_f32_lay_out(&q->descent, a, b->count, &rule, &q->queue->on);
    q->x = arena_take(a, b->rows.rows * b->D, sizeof(float));
    q->batch = arena_take(a, batch * b->D, sizeof(float));
    q->row = arena_take(a, batch, sizeof(uint32_t));
    q->parameter = arena_take(a, b->count, sizeof(float));
    q->gradient = arena_take(a, b->count, sizeof(float));
    q->running = arena_take(a, b->running_count, sizeof(float));
    q->eps = arena_take(a, batch * b->d, sizeof(double));
    q->gates = arena_take(a, pairs_of(b) + 1, sizeof(double));
    q->z = arena_take(a, batch * b->d, sizeof(float));
    q->slope = arena_take(a, batch * b->d, sizeof(float));
    q->squares = arena_take(a, batch, sizeof(double));
    q->kl = arena_take(a, batch, sizeof(double));
    q->terms = arena_take(a, 1, sizeof(latent_terms));
    q->dial = arena_take(a, 1, sizeof(backend_dial));
}

static void lay_out_here(baseline *b, arena *a)
{
    b->far.top = arena_take(a, b->d, sizeof(network_f32));
    b->far.row_here = arena_take(a, b->rows.batch, sizeof(uint32_t));
}

lscm_status baseline_queue_open(baseline *b, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    baseline_queue *q = &b->far;
    size_t bytes = b->rows.rows * b->D * sizeof(float);
    TRY(b->device->dense->open(&q->queue, b->device, b->rows.batch, why));
    const dense_machine *does = q->queue->does;
    lay_out_here(b, &q->here);
    TRY(arena_open(&q->here, why));
    lay_out_here(b, &q->here);
    lay_out(b, &q->there);
    TRY(q->queue->on.claim(&q->queue->on, &q->there, why));
    lay_out(b, &q->there);
    does->put(q->queue, bytes, b->rows.x, q->x);
    if (b->kind->queue_begin != NULL) {
        b->kind->queue_begin(b);
    }
    TRY(does->record(q->queue, why));
    does->gather(q->queue, b->rows.batch, b->D, q->row, q->x, q->batch);
    b->kind->queue_loss(b);
    TRY(does->recorded(q->queue, &q->loss, why));
done:
    return status;
}

void baseline_queue_close(baseline_queue *q)
{
    if (q->queue != NULL) {
        q->queue->does->forget(q->loss);
        q->queue->on.release(&q->queue->on, &q->there);
        q->queue->does->close(q->queue);
    }
    arena_close(&q->here);
}

/* ---- A step ---- */

network_batch_f32 baseline_queue_batch(const baseline *b, size_t parameter, size_t running,
                                       const float *input, float *input_gradient)
{
    const baseline_queue *q = &b->far;
    return (network_batch_f32){.parameters = q->parameter + parameter,
                               .running = q->running + running,
                               .n = b->rows.batch,
                               .input = input,
                               .gradient = q->gradient + parameter,
                               .input_gradient = input_gradient};
}

void baseline_queue_decode(const baseline *b, size_t parameter, size_t running)
{
    const baseline_queue *q = &b->far;
    const dense_machine *does = q->queue->does;
    size_t n = b->rows.batch;
    const network_batch_f32 to_x = baseline_queue_batch(b, parameter, running, q->z, q->slope);
    float *y = network_f32_forward(&q->decode, &to_x);
    does->misfit(q->queue, &(dense_misfit){.rows = n,
                                           .cols = b->D,
                                           .factor = 1,
                                           .target = q->batch,
                                           .y = y,
                                           .squares = q->squares});
    does->latents->likelihood(q->queue, &(latent_likelihood){.rows = n,
                                                             .cols = b->D,
                                                             .given = b->noise.given,
                                                             .floor = b->noise.floor,
                                                             .squares = q->squares,
                                                             .kl = q->kl,
                                                             .terms = q->terms});
    does->latents->scale(q->queue, n * b->D, q->terms, y);
    network_f32_backward(&q->decode, &to_x);
}

lscm_status baseline_queue_loss(baseline *b, training_terms *terms, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const double two_pi = 6.283185307179586;
    baseline_queue *q = &b->far;
    const dense_machine *does = q->queue->does;
    latent_terms came = {0};
    size_t batch = b->rows.batch;
    minibatch_rows(&b->rows, baseline_stream(b, STREAM_BASELINE_ROWS, 0), b->step, q->row_here);
    does->put(q->queue, batch * sizeof(uint32_t), q->row_here, q->row);
    does->put(q->queue, batch * b->d * sizeof(double), b->eps, q->eps);
    does->put(q->queue, b->gates != NULL ? (pairs_of(b) + 1) * sizeof(double) : 0, b->gates,
              q->gates);
    does->replay(q->queue, q->loss);
    does->get(q->queue, sizeof came, q->terms, &came);
    TRY(does->wait(q->queue, why));
    double s = came.x_noise;
    *terms = (training_terms){.error = came.error, .kl = came.kl, .x_noise = s};
    terms->loss = (double)b->D / 2 * (came.error / (s * s) + log(two_pi * s * s)) + came.kl;
done:
    return status;
}

void baseline_queue_step(baseline *b, double rate)
{
    baseline_queue *q = &b->far;
    b->descent.steps++;
    const backend_dial dial = optimiser_f32_dial(&b->descent, rate);
    q->queue->does->put(q->queue, sizeof dial, &dial, q->dial);
    optimiser_f32_descend(&q->descent, 0, b->count, q->dial, q->parameter, q->gradient);
}

/* ---- What moves ---- */

void baseline_queue_put(baseline *b)
{
    const baseline_queue *q = &b->far;
    const dense_machine *does = q->queue->does;
    does->put(q->queue, b->count * sizeof(float), b->parameter, q->parameter);
    does->put(q->queue, b->running_count * sizeof(float), b->running, q->running);
    does->put(q->queue, 2 * b->count * sizeof(float), b->descent.state, q->descent.state);
}

lscm_status baseline_queue_get(baseline *b, lscm_error *why)
{
    const baseline_queue *q = &b->far;
    const dense_machine *does = q->queue->does;
    does->get(q->queue, b->count * sizeof(float), q->parameter, b->parameter);
    does->get(q->queue, b->running_count * sizeof(float), q->running, b->running);
    does->get(q->queue, 2 * b->count * sizeof(float), q->descent.state, b->descent.state);
    return does->wait(q->queue, why);
}
