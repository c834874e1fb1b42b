#include "base/streams.h"
#include "base/tuned.h"
#include "infer/generator/generator_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void generator_choose(generator_settings *s, const generator_rows *rows)
{
    size_t d = rows->d;
    bool few = d <= tuned_network_few_nodes();
    bool some = d <= tuned_network_some_nodes();
    s->hidden = s->hidden > 0                       ? s->hidden
                : d <= tuned_network_narrow_nodes() ? tuned_network_hidden_narrow()
                                                    : tuned_network_hidden_wide();
    s->batch = s->batch > 0 ? s->batch : tuned_network_batch();
    s->first = s->first > 0 ? s->first
               : few        ? tuned_network_first_few()
               : some       ? tuned_network_first_some()
                            : tuned_network_first_many();
    s->each = s->each > 0 ? s->each : few ? tuned_network_each_few() : tuned_network_each();
    s->rounds = s->rounds > 0 ? s->rounds
                : few         ? tuned_network_rounds_few()
                : some        ? tuned_network_rounds_some()
                              : tuned_network_rounds_many();
    s->rate = s->rate > 0 ? s->rate : tuned_network_rate();
}

static void lay_out(generator *g)
{
    arena *a = &g->memory;
    const generator_rows *r = &g->rows;
    size_t n = r->rows * r->d;
    float **entries[] = {&g->u, &g->prior, &g->weight};
    g->t = arena_take(a, n, sizeof(float));
    float **counted[] = {&g->parameters, &g->gradient, &g->best};
    network_f32_lay_out(&g->net, a, &g->shape, 0, g->settings.device);
    const muon_plan plan = muon_plan_of(&g->shape);
    muon_f32_lay_out(&g->optimiser, a, &plan, g->settings.device);
    for (size_t k = 0; k < sizeof entries / sizeof entries[0]; k++) {
        *entries[k] = arena_take(a, n, sizeof(float));
        *counted[k] = arena_take(a, g->count, sizeof(float));
    }
    g->unit = arena_take(a, r->rows, sizeof(double));
    g->offset = arena_take(a, r->d, sizeof(double));
    g->centre = arena_take(a, r->R, sizeof(double));
    g->wrong = arena_take(a, r->d, sizeof(double));
    g->y = arena_take(a, r->rows * r->R, sizeof(float));
    g->input = arena_take(a, g->settings.batch * r->d, sizeof(float));
    g->target = arena_take(a, g->settings.batch * r->R, sizeof(float));
    g->workers = g->settings.device->workers(g->settings.device);
    g->scratch = generator_block_floats(g);
    g->work = arena_take(a, g->workers * g->scratch, sizeof(float));
    g->solve = arena_take(a, g->workers * (3 * r->d * r->d + 4 * r->d), sizeof(double));
    g->node = arena_take(a, g->workers * r->d, sizeof *g->node);
    g->sums = arena_take(a, 2 * (r->rows / GENERATOR_BLOCK + 1), sizeof(double));
}

/* ---- Units ---- */

/* a of each row; rows of (almost) nothing count as a thousandth of the rest. */
static void find_units(generator *g)
{
    const generator_rows *r = &g->rows;
    double total = 0;
    for (size_t n = 0; n < r->rows; n++) {
        double sum = 0;
        for (size_t k = 0; k < r->R; k++) {
            sum += (double)r->f[n * r->R + k] * (double)r->f[n * r->R + k];
        }
        g->unit[n] = sqrt(sum / (double)r->R);
        total += isfinite(g->unit[n]) ? g->unit[n] : 0;
    }
    for (size_t n = 0; n < r->rows; n++) {
        double least = total > 0 ? tuned_network_unit_floor() * total / (double)r->rows : 1;
        g->unit[n] = g->settings.homogeneous ? fmax(g->unit[n], least) : 1;
    }
}

/* o, c: means; k, q: sd, over everything. */
static void find_scales(generator *g)
{
    const generator_rows *r = &g->rows;
    double scale = 0;
    double spread = 0;
    for (size_t n = 0; n < r->rows && !g->settings.homogeneous; n++) {
        for (size_t j = 0; j < r->d; j++) {
            g->offset[j] += r->z[n * r->d + j] / (double)r->rows;
        }
        for (size_t k = 0; k < r->R; k++) {
            g->centre[k] += (double)r->f[n * r->R + k] / (double)r->rows;
        }
    }
    for (size_t n = 0; n < r->rows; n++) {
        for (size_t j = 0; j < r->d; j++) {
            double away = (r->z[n * r->d + j] - g->offset[j]) / g->unit[n];
            scale += away * away;
        }
        for (size_t k = 0; k < r->R; k++) {
            double away = ((double)r->f[n * r->R + k] - g->centre[k]) / g->unit[n];
            spread += away * away;
        }
    }
    g->scale = sqrt(scale / (double)(r->rows * r->d));
    g->spread = sqrt(spread / (double)(r->rows * r->R));
    g->scale = g->scale > 0 ? g->scale : 1;
    g->spread = g->spread > 0 ? g->spread : 1;
}

double generator_u_of(const generator *g, size_t row, size_t j, double z)
{
    return (z - g->offset[j]) / (g->unit[row] * g->scale);
}

double generator_z_of(const generator *g, size_t row, size_t j, double u)
{
    return u * g->unit[row] * g->scale + g->offset[j];
}

static void fill(generator *g)
{
    const generator_rows *r = &g->rows;
    for (size_t n = 0; n < r->rows; n++) {
        for (size_t k = 0; k < r->R; k++) {
            g->y[n * r->R + k] =
                (float)(((double)r->f[n * r->R + k] - g->centre[k]) / (g->unit[n] * g->spread));
        }
        for (size_t j = 0; j < r->d; j++) {
            size_t at = n * r->d + j;
            bool set = design_is_set(r->design, n, j) && (r->held == NULL || r->held[at] == 0);
            double sd = fmax(r->sd[at] / (g->unit[n] * g->scale), tuned_network_prior_floor());
            g->prior[at] = (float)generator_u_of(g, n, j, r->z[at]);
            g->weight[at] = (float)(1 / (sd * sd));
            g->u[at] =
                set ? (float)generator_u_of(g, n, j, design_value(r->design, n, j)) : g->prior[at];
            g->free += set ? 0 : 1;
        }
    }
    g->free = g->free < r->rows * r->R / 2 ? g->free : r->rows * r->R / 2;
    memcpy(g->t, g->u, r->rows * r->d * sizeof(float));
}

network_shape generator_layers(size_t d, size_t hidden, size_t R, bool homogeneous)
{
    return network_dense(
        &(network_stack){.layers = 3,
                         .width = (size_t[]){d, hidden, hidden, R},
                         .between = homogeneous ? ACTIVATION_RELU : ACTIVATION_GELU,
                         .last = ACTIVATION_IDENTITY,
                         .bias = !homogeneous});
}

static lscm_status begin(generator **out, const generator_rows *rows,
                         const generator_settings *settings, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    generator *g = calloc(1, sizeof *g);
    if (g == NULL) {
        status = fail_memory(why, sizeof *g);
        goto done;
    }
    g->rows = *rows;
    g->settings = *settings;
    g->shape = generator_layers(rows->d, settings->hidden, rows->R, settings->homogeneous);
    TRY(network_check(&g->shape, why));
    g->count = network_count(&g->shape);
    g->now.best = INFINITY;
    lay_out(g);
    TRY(settings->device->claim(settings->device, &g->memory, why));
    lay_out(g);
    find_units(g);
    *out = g;
    g = NULL;
done:
    generator_close(g);
    return status;
}

lscm_status generator_open(generator **out, const generator_rows *rows,
                           const generator_settings *settings, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(begin(out, rows, settings, why));
    find_scales(*out);
    fill(*out);
    muon_f32_draw(&(*out)->shape, stream_of(settings->seed, STREAM_GENERATOR), (*out)->parameters);
done:
    return status;
}

lscm_status generator_open_with(generator **out, const generator_rows *rows,
                                const generator_settings *settings, const generator_inverse *i,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(begin(out, rows, settings, why));
    generator *g = *out;
    g->scale = i->scale;
    g->spread = i->spread;
    g->now.noise2 = i->noise2;
    memcpy(g->offset, i->offset, rows->d * sizeof(double));
    memcpy(g->centre, i->centre, rows->R * sizeof(double));
    memcpy(g->wrong, i->wrong, rows->d * sizeof(double));
    memcpy(g->parameters, i->parameters, g->count * sizeof(float));
    fill(g);
done:
    return status;
}

void generator_close(generator *g)
{
    if (g != NULL) {
        generator_queue_close(&g->far);
        g->settings.device->release(g->settings.device, &g->memory);
        free(g);
    }
}

/* ---- Steps ---- */

size_t generator_total(const generator *g)
{
    return g->settings.first + g->settings.each * g->settings.rounds;
}

size_t generator_rounds(const generator *g)
{
    return (size_t)g->now.rounds;
}

size_t generator_done(const generator *g)
{
    return (size_t)g->now.steps;
}

bool generator_due(const generator *g)
{
    const generator_settings *s = &g->settings;
    return s->rounds > 0 && g->now.rounds <= s->rounds &&
           g->now.steps >= s->first + s->each * g->now.rounds;
}

static double loss(void *self, size_t first, size_t n, float *y)
{
    generator *g = self;
    size_t R = g->rows.R;
    const device *on = g->settings.device;
    return on->backend_f32->residual(on, n * R, 1 / (float)(g->settings.batch * R),
                                     g->target + first * R, y);
}

lscm_status generator_diverged(const generator *g, uint64_t step, lscm_error *why)
{
    return fail(why, LSCM_VALUE,
                "the network diverged at step %llu; try a smaller --rate (it was %g)",
                (unsigned long long)step, g->settings.rate);
}

lscm_status generator_step(generator *g, lscm_error *why)
{
    const generator_rows *r = &g->rows;
    size_t batch = g->settings.batch;
    rng pick = stream_of(g->settings.seed, STREAM_GENERATOR_BATCH);
    double left = 1 - (double)g->now.steps / (double)generator_total(g);
    double rate = g->settings.rate * fmin(1, tuned_network_fall() * left);
    if (g->settings.device->dense != NULL) {
        return generator_queue_step(g, rate, why);
    }
    for (size_t b = 0; b < batch; b++) {
        size_t row = (size_t)rng_below(pick, g->now.steps * batch + b, r->rows);
        memcpy(g->input + b * r->d, g->t + row * r->d, r->d * sizeof(float));
        memcpy(g->target + b * r->R, g->y + row * r->R, r->R * sizeof(float));
    }
    const network_batch_f32 drawn = {
        .parameters = g->parameters, .n = batch, .input = g->input, .gradient = g->gradient};
    double squares = network_f32_pass(&g->net, &drawn, loss, g);
    if (!isfinite(squares)) {
        return generator_diverged(g, g->now.steps, why);
    }
    muon_f32_step(&g->optimiser, rate, g->parameters, g->gradient);
    g->now.sum += squares / (double)(batch * r->R);
    g->now.batches += 1;
    g->now.steps++;
    return LSCM_OK;
}

/* ---- Rounds ---- */

/* 1 - R2 of node j's held-out values; NaN without any. */
double generator_missed(const generator *g, size_t j)
{
    const generator_rows *r = &g->rows;
    double rest = 0;
    double sum = 0;
    double squares = 0;
    double count = 0;
    double held = 0;
    for (size_t n = 0; n < r->rows; n++) {
        size_t at = n * r->d + j;
        double v = design_value(r->design, n, j);
        if (r->held[at] != 0) {
            double away = generator_z_of(g, n, j, (double)g->u[at]) - v;
            rest += away * away;
            held += 1;
        }
        if (design_is_set(r->design, n, j)) {
            sum += v;
            squares += v * v;
            count += 1;
        }
    }
    double variance = count > 0 ? (squares - sum * sum / count) / count : 0;
    return held > 0 && variance > 0 ? rest / (held * variance) : NAN;
}

lscm_status generator_refine(generator *g, generator_round *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double sum = 0;
    double nodes = 0;
    TRY(generator_collect(g, why));
    generator_renew(g);
    double misfit = g->now.batches > 0 ? g->now.sum / g->now.batches : 1;
    g->now.noise2 = fmax(misfit, tuned_network_noise_floor());
    generator_sweep(g, false, false, NULL, NULL);
    /* rows fit their own noise too */
    g->now.noise2 = fmax(g->now.noise2, tuned_network_own_noise() * misfit);
    generator_sweep(g, false, false, NULL, NULL);
    if (g->model.w != NULL) {
        double noise2 = g->now.noise2;
        generator_sweep(g, true, false, NULL, NULL);
        g->now.noise2 = noise2;
        generator_sweep(g, true, false, NULL, NULL);
        g->now.noise2 = noise2;
    } else {
        memcpy(g->t, g->u, g->rows.rows * g->rows.d * sizeof(float));
    }
    for (size_t j = 0; j < g->rows.d; j++) {
        double share = generator_missed(g, j);
        sum += isnan(share) ? 0 : share;
        nodes += isnan(share) ? 0 : 1;
    }
    out->misfit = sqrt(misfit);
    out->held_out = nodes > 0 ? sum / nodes : NAN;
    g->now.rounds++;
    if (!isfinite(misfit) || isinf(out->held_out)) {
        status = fail(why, LSCM_VALUE, "the network diverged in round %llu; try a smaller --rate",
                      (unsigned long long)g->now.rounds);
        goto done;
    }
    if (!(out->held_out >= g->now.best)) { /* without held-out values: the last */
        g->now.best = isnan(out->held_out) ? INFINITY : out->held_out;
        g->now.best_round = g->now.rounds;
        memcpy(g->best, g->parameters, g->count * sizeof(float));
    }
    g->now.sum = g->now.batches = 0;
done:
    return status;
}

void generator_use(generator *g, const mechanism_model *model)
{
    g->model = *model;
}

void generator_z(const generator *g, double *z)
{
    const generator_rows *r = &g->rows;
    for (size_t at = 0; at < r->rows * r->d; at++) {
        z[at] = generator_z_of(g, at / r->d, at % r->d, (double)g->u[at]);
    }
    design_put(r->design, z, NULL);
}

lscm_status generator_collect(generator *g, lscm_error *why)
{
    return generator_queue_collect(g, why);
}

void generator_renew(generator *g)
{
    g->far.ahead = false;
}

size_t generator_pieces(generator *g, piece out[GENERATOR_PIECES])
{
    size_t vector = g->count * sizeof(float);
    size_t entries = g->rows.rows * g->rows.d * sizeof(float);
    size_t n = 0;
    out[n++] = (piece){&g->now, sizeof g->now};
    out[n++] = (piece){g->parameters, vector};
    out[n++] = (piece){g->best, vector};
    out[n++] = (piece){g->optimiser.state, 2 * vector};
    out[n++] = (piece){&g->optimiser.steps, sizeof g->optimiser.steps};
    out[n++] = (piece){g->u, entries};
    out[n++] = (piece){g->t, entries};
    return n;
}
