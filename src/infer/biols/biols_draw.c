/* What comes out of the estimator: draws, its decoder, and its state as bytes. */
#include "infer/biols/biols_state.h"

#include <math.h>
#include <string.h>

static const double LOG_TWO_PI = 1.8378770664093453;

/* log q(L, S) of draw s. */
static double log_density(const biols *b, size_t s)
{
    double sum = 0;
    for (size_t i = 0; i < b->inputs; i++) {
        double slope = 0;
        double eps = b->eps[s * b->inputs + i];
        sum -= 0.5 * (eps * eps + LOG_TWO_PI) + weights_log_sd(b->parameter[b->inputs + i], &slope);
    }
    return sum + (b->law != NULL ? b->log_q[s] : 0);
}

/* E_z log p(x | z) + log p(L) + log p(S) + log p(P) of draw s. */
static double log_joint(const biols *b, size_t s)
{
    const double *theta = b->theta + s * b->inputs;
    double variance = b->x_noise * b->x_noise;
    double numbers = (double)b->N * (double)b->D;
    double inflate = b->closed ? 1 : (double)b->N / (double)b->batch.rows;
    double sum = -inflate * b->error[s] / (2 * variance) -
                 numbers / 2 * (LOG_TWO_PI + log(variance)) - b->log_factorial;
    for (size_t i = 0; i < b->entries; i++) {
        sum += horseshoe_log_density(&b->prior, theta[i], NULL);
    }
    for (size_t i = b->entries; i < b->inputs; i++) {
        double scaled = theta[i] / WEIGHTS_NOISE_PRIOR_SD;
        sum -= 0.5 * (scaled * scaled + LOG_TWO_PI) + log(WEIGHTS_NOISE_PRIOR_SD);
    }
    return sum;
}

static void put_draw(const biols *b, size_t s, size_t at, const model_sample *out)
{
    size_t d = b->d;
    const size_t *order = b->order + s * d;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            out->w[at * d * d + order[j] * d + order[i]] = b->lower[(s * d + i) * d + j];
        }
    }
    memcpy(out->sigma + at * d, b->sigma + s * d, d * sizeof(double));
    memcpy(out->order + at * d, order, d * sizeof *order);
    if (out->log_p != NULL) {
        out->log_p[at] = log_joint(b, s);
        out->log_q[at] = log_density(b, s);
    }
}

lscm_status biols_draw(biols *b, size_t count, uint64_t stream, const model_sample *out,
                       lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double last =
        b->settings.final_temperature > 0 ? b->settings.final_temperature : b->settings.temperature;
    uint64_t block = stream;
    for (size_t first = 0; first < count; first += b->S, block++) {
        TRY(biols_sample_q(b, biols_stream(b, STREAM_BIOLS_DRAW_EPS, block),
                           biols_stream(b, STREAM_BIOLS_DRAW_GUMBEL, block), last, why));
        if (out->log_p != NULL) {
            TRY(biols_error(b, biols_stream(b, STREAM_BIOLS_DRAW_Z, block), false, why));
        }
        for (size_t s = 0; s < b->S && first + s < count; s++) {
            put_draw(b, s, first + s, out);
        }
    }
done:
    return status;
}

decoder biols_decoder_shape(const biols *b)
{
    decoder g = {.kind = b->linear                                   ? DECODER_LINEAR
                         : b->settings.decoder == LSCM_DECODER_IMAGE ? DECODER_IMAGE
                                                                     : DECODER_MLP,
                 .biases = b->D < b->features ? BIASES_LAST : BIASES_NONE,
                 .layers = b->linear ? 1 : b->shape.layers,
                 .x_noise = b->x_noise};
    g.sizes[0] = b->d;
    for (size_t l = 1; l < g.layers; l++) {
        g.sizes[l] = b->shape.layer[l].in;
    }
    g.sizes[g.layers] = b->features;
    return g;
}

void biols_decoder(const biols *b, decoder *out)
{
    double *matrices = out->weights;
    double *bias = out->bias;
    *out = biols_decoder_shape(b);
    out->weights = matrices;
    out->bias = bias;
    if (b->linear) {
        memcpy(matrices, b->parameter + 2 * b->inputs, b->d * b->D * sizeof *matrices);
        return;
    }
    size_t last = network_offset(&b->shape, b->shape.layers - 1);
    for (size_t i = 0; i < last; i++) {
        matrices[i] = (double)b->weight[i];
    }
    biols_put_last(b, b->weight + last, matrices + last, bias);
}

/* ---- As the loop sees it ---- */

lscm_status biols_collect(biols *b, lscm_error *why)
{
    return b->queued ? tile_queue_get(&b->far, b->weight, b->step_net.state, why) : LSCM_OK;
}

void biols_hand_out(biols *b)
{
    if (b->queued) {
        tile_queue_put(&b->far, b->weight, b->step_net.state);
    }
}

static lscm_status collect(void *self, lscm_error *why)
{
    return biols_collect(self, why);
}

static void restored(void *self)
{
    biols_hand_out(self);
}

static size_t pieces(void *self, piece out[PIECES])
{
    biols *b = self;
    size_t n = 0;
    out[n++] = (piece){&b->step, sizeof b->step};
    out[n++] = (piece){&b->restart, sizeof b->restart};
    out[n++] = (piece){&b->x_noise, sizeof b->x_noise};
    size_t doubles = 2 * b->inputs + (b->linear ? b->d * b->D : 0);
    out[n++] = (piece){b->parameter, doubles * sizeof(double)};
    out[n++] = (piece){b->step64.state, 2 * b->step64.n * sizeof(double)};
    out[n++] = (piece){&b->step64.steps, sizeof b->step64.steps};
    if (!b->linear) {
        out[n++] = (piece){b->weight, b->step_net.n * sizeof(float)};
        out[n++] = (piece){b->step_net.state, 2 * b->step_net.n * sizeof(float)};
        out[n++] = (piece){&b->step_net.steps, sizeof b->step_net.steps};
    }
    if (b->law != NULL) {
        out[n++] = (piece){order_parameter(b->law), b->step_order.n * sizeof(float)};
        out[n++] = (piece){b->step_order.state, 2 * b->step_order.n * sizeof(float)};
        out[n++] = (piece){&b->step_order.steps, sizeof b->step_order.steps};
    }
    return n;
}

static void begin(void *self, size_t restart)
{
    biols_begin(self, restart);
}

static lscm_status step(void *self, double rate, training_terms *terms, lscm_error *why)
{
    return biols_step(self, rate, terms, why);
}

static lscm_status draw(void *self, size_t count, uint64_t stream, const model_sample *out,
                        lscm_error *why)
{
    return biols_draw(self, count, stream, out, why);
}

trainee biols_trainee(biols *b)
{
    return (trainee){.self = b,
                     .begin = begin,
                     .step = step,
                     .pieces = pieces,
                     .draw = draw,
                     .restored = restored,
                     .collect = collect};
}
