/* A step of a baseline, and what is around it. */
#include "infer/baselines/baseline.h"

#include "infer/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

rng baseline_stream(const baseline *b, enum stream use, uint64_t at)
{
    return (rng){(uint64_t)b->settings->seed,
                 (uint64_t)use | (uint64_t)b->restart << 16 | at << 32};
}

static void lay_out(baseline *b)
{
    const optimiser_settings rule = optimiser_adam();
    arena *a = &b->memory;
    b->order = arena_take(a, b->d, sizeof *b->order);
    b->kind->lay_out(b, a);
    b->parameter = arena_take(a, b->count, sizeof(float));
    b->gradient = arena_take(a, b->count, sizeof(float));
    b->running = arena_take(a, b->running_count, sizeof(float));
    optimiser_f32_lay_out(&b->descent, a, b->count, &rule, b->device);
    b->eps = arena_take(a, b->rows.batch * b->d, sizeof(double));
}

/* What has a meaning here and was left open. */
static void choose(lscm_fit_settings *s, const baseline_kind *kind, const minibatch *rows)
{
    s->batch = (int64_t)rows->batch;
    s->decoder = LSCM_DECODER_MLP;
    s->optimiser = 1; /* Adam */
    s->samples = 1;
    s->steps = s->steps > 0 ? s->steps : (int64_t)kind->steps(rows);
    s->rate = s->rate > 0 ? s->rate : 1e-3;
    s->restarts = s->restarts > 0 ? s->restarts : 1;
}

lscm_status baseline_open(baseline **out, fit *f, const baseline_kind *kind, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    baseline *b = calloc(1, sizeof *b);
    if (b == NULL) {
        return fail_memory(why, sizeof *b);
    }
    b->kind = kind;
    b->device = &f->device;
    b->settings = &f->settings;
    b->d = f->data->nodes;
    b->D = lscm_dataset_features(f->data);
    TRY(fit_take_device(f, why));
    TRY(minibatch_open(&b->rows, f->data, (size_t)f->settings.batch, kind->batch, why));
    choose(&f->settings, kind, &b->rows);
    b->noise = (x_noise_rule){.given = f->settings.x_noise / b->rows.scale, .floor = 1e-3};
    lay_out(b);
    TRY(b->device->claim(b->device, &b->memory, why));
    lay_out(b);
    for (size_t k = 0; k < b->d; k++) {
        b->order[k] = f->order != NULL ? f->order[k] : k;
    }
    if (b->device->dense != NULL) {
        TRY(baseline_queue_open(b, why));
    }
    *out = b;
    b = NULL;
done:
    baseline_close(b);
    return status;
}

void baseline_close(baseline *b)
{
    if (b != NULL) {
        baseline_queue_close(&b->far);
        minibatch_close(&b->rows);
        b->device->release(b->device, &b->memory);
        free(b);
    }
}

network_batch_f32 baseline_batch(const baseline *b, const float *x)
{
    return (network_batch_f32){.parameters = b->parameter,
                               .running = b->running,
                               .n = b->rows.batch,
                               .input = x,
                               .gradient = b->gradient};
}

/* ---- As the loop sees it ---- */

static void restored(void *self)
{
    baseline *b = self;
    if (b->far.queue != NULL) {
        baseline_queue_put(b);
    }
}

lscm_status baseline_collect(baseline *b, lscm_error *why)
{
    return b->far.queue != NULL ? baseline_queue_get(b, why) : LSCM_OK;
}

static lscm_status collect(void *self, lscm_error *why)
{
    return baseline_collect(self, why);
}

static void begin(void *self, size_t restart)
{
    baseline *b = self;
    b->restart = restart;
    b->step = 0;
    b->x_noise = 0;
    memset(b->descent.state, 0, 2 * b->count * sizeof(float));
    b->descent.steps = 0;
    b->kind->begin(b);
    restored(b);
}

/* From a batch, in its own units, to all rows and the units of x. */
static void scale_terms(const baseline *b, training_terms *t)
{
    double N = (double)b->rows.rows;
    double scale = b->rows.scale;
    t->loss = N * (t->loss + (double)b->D * log(scale));
    t->kl *= N;
    t->error *= scale * scale;
    t->x_noise *= scale;
}

/* Of the batch of this step: terms, in the units of the rows, and the gradient. */
static lscm_status find_loss(baseline *b, training_terms *terms, lscm_error *why)
{
    rng_normals(baseline_stream(b, STREAM_BASELINE_EPS, b->step), 0, b->rows.batch * b->d, b->eps);
    if (b->kind->draws != NULL) {
        b->kind->draws(b);
    }
    if (b->far.queue != NULL) {
        return baseline_queue_loss(b, terms, why);
    }
    rng r = baseline_stream(b, STREAM_BASELINE_ROWS, 0);
    b->kind->loss(b, minibatch_at(&b->rows, r, b->step), terms);
    return LSCM_OK;
}

static lscm_status step(void *self, double rate, training_terms *terms, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    baseline *b = self;
    optimiser_group all = {b->count, rate};
    TRY(find_loss(b, terms, why));
    scale_terms(b, terms);
    if (!isfinite(terms->loss)) {
        return fail(
            why, LSCM_VALUE,
            "step %zu: the bound is no longer finite (error %g, KL %g); try a smaller --rate",
            b->step, terms->error, terms->kl);
    }
    if (b->far.queue != NULL) {
        baseline_queue_step(b, rate);
    } else {
        optimiser_f32_step(&b->descent, &all, 1, b->parameter, b->gradient);
    }
    b->x_noise = terms->x_noise;
    b->step++;
done:
    return status;
}

static size_t pieces(void *self, piece out[PIECES])
{
    baseline *b = self;
    size_t n = 0;
    out[n++] = (piece){&b->step, sizeof b->step};
    out[n++] = (piece){&b->restart, sizeof b->restart};
    out[n++] = (piece){&b->x_noise, sizeof b->x_noise};
    out[n++] = (piece){b->parameter, b->count * sizeof(float)};
    out[n++] = (piece){b->running, b->running_count * sizeof(float)};
    out[n++] = (piece){b->descent.state, 2 * b->count * sizeof(float)};
    out[n++] = (piece){&b->descent.steps, sizeof b->descent.steps};
    return n;
}

/* All draws are the one graph; z has noise of scale 1. */
static lscm_status draw(void *self, size_t count, uint64_t stream, const model_sample *out,
                        lscm_error *why)
{
    const baseline *b = self;
    size_t d = b->d;
    (void)stream;
    (void)why;
    memset(out->w, 0, count * d * d * sizeof *out->w);
    for (size_t s = 0; s < count; s++) {
        if (b->kind->graph != NULL) {
            b->kind->graph(b, out->w + s * d * d);
        }
        memcpy(out->order + s * d, b->order, d * sizeof *b->order);
        for (size_t i = 0; i < d; i++) {
            out->sigma[s * d + i] = 1;
        }
        if (out->log_p != NULL) {
            out->log_p[s] = NAN;
            out->log_q[s] = 0;
        }
    }
    return LSCM_OK;
}

trainee baseline_trainee(baseline *b)
{
    return (trainee){.self = b,
                     .begin = begin,
                     .step = step,
                     .pieces = pieces,
                     .draw = draw,
                     .restored = restored,
                     .collect = collect};
}
