/* GraphVAE as a baseline: 252 epochs in batches of 128 rows, the temperature of the gates 0.99 to
 * the power of epochs done. Gates of at least 1/2 are edges, of weight 1; z are the means of q(z |
 * x) with their parents at theirs, only edges open and running averages for statistics. See
 * graphvae.h for the mathematics. */
#include "infer/baselines/baseline.h"

#include <math.h>
#include <string.h>

enum { EPOCHS = 252 };

static size_t steps(const minibatch *rows)
{
    return EPOCHS * minibatch_per_epoch(rows);
}

static graphvae_layout layout_of(const baseline *b)
{
    const network_shape from_x = graphvae_encoder(b->d, b->D);
    const network_shape to_x = graphvae_decoder(b->d, b->D);
    const network_shape top_down = graphvae_top_down(b->d);
    return graphvae_lay_out_parameters(&from_x, &to_x, &top_down);
}

static void lay_out(baseline *b, arena *a)
{
    const graphvae_layout at = layout_of(b);
    graphvae_f32_lay_out(&b->graph, a, &at, b->order, b->rows.batch, b->device);
    b->gates = arena_take(a, b->d * (b->d - 1) / 2 + 1, sizeof(double));
    b->count = at.count;
    b->running_count = at.running;
}

static void begin(baseline *b)
{
    enum { STREAMS = 8 }; /* of a network, one for each matrix */
    const graphvae_layout *at = &b->graph.at;
    size_t each = network_count(&at->top_down);
    size_t averages = network_running(&at->top_down);
    network_f32_draw_apart(&at->encoder, baseline_stream(b, STREAM_BASELINE_NET, 0), b->parameter,
                           b->running);
    network_f32_draw_apart(&at->decoder, baseline_stream(b, STREAM_BASELINE_NET, STREAMS),
                           b->parameter + at->decode, b->running + at->decode_running);
    for (size_t k = 0; k + 1 < b->d; k++) {
        network_f32_draw_apart(
            &at->top_down, baseline_stream(b, STREAM_BASELINE_NET, (k + 2) * STREAMS),
            b->parameter + at->top + k * each, b->running + at->top_running + k * averages);
    }
    /* mu = 1/2: an edge stays unless the data close its gate */
    memset(b->parameter + at->gates, 0, (at->count - at->gates) * sizeof(float));
}

/* Fewer or more steps than the usual are taken for as many epochs. */
static double temperature_at(const baseline *b)
{
    double epochs = EPOCHS * (double)b->step / (double)b->settings->steps;
    return pow(0.99, floor(epochs));
}

static void draws(baseline *b)
{
    rng r = baseline_stream(b, STREAM_BASELINE_GATES, b->step);
    size_t pairs = b->d * (b->d - 1) / 2;
    for (size_t k = 0; k < pairs; k++) {
        b->gates[k] = rng_gumbel(r, 2 * k) - rng_gumbel(r, 2 * k + 1);
    }
    b->gates[pairs] = temperature_at(b);
}

static void loss(baseline *b, const float *x, training_terms *terms)
{
    const graphvae_drawn drawn = {b->eps, b->gates, b->gates[b->d * (b->d - 1) / 2]};
    const network_batch_f32 batch = baseline_batch(b, x);
    graphvae_f32_loss(&b->graph, &batch, &drawn, &b->noise, terms);
}

static void graph(const baseline *b, double *w)
{
    const float *logit = b->parameter + b->graph.at.gates;
    for (size_t k = 1; k < b->d; k++) {
        for (size_t a = 0; a < k; a++) {
            w[b->order[a] * b->d + b->order[k]] = *logit++ >= 0 ? 1 : 0;
        }
    }
}

static network_shape plain_decoder(size_t d, size_t D)
{
    const network_shape normed = graphvae_decoder(d, D);
    return network_plain(&normed);
}

static void plain(const baseline *b, float *out)
{
    const graphvae_layout *at = &b->graph.at;
    network_f32_fold(&at->decoder, b->parameter + at->decode, b->running + at->decode_running, out);
}

/* ---- z of all rows ---- */

enum { BLOCK = 256 };

typedef struct encoding {
    const baseline *b;
    network_f32 below, above;
    float *encoder;  /* parameters as a plain network */
    float *top_down; /* (d - 1, parameters of one) */
    double *w;       /* (d, d) */
    float *seen;     /* (BLOCK, d) */
} encoding;

static void lay_out_encoding(encoding *e, arena *a)
{
    const network_shape below = network_plain(&e->b->graph.at.encoder);
    const network_shape above = network_plain(&e->b->graph.at.top_down);
    size_t d = e->b->d;
    network_f32_lay_out(&e->below, a, &below, BLOCK, e->b->device);
    network_f32_lay_out(&e->above, a, &above, BLOCK, e->b->device);
    e->encoder = arena_take(a, network_count(&below), sizeof(float));
    e->top_down = arena_take(a, (d - 1) * network_count(&above), sizeof(float));
    e->w = arena_take(a, d * d, sizeof(double));
    e->seen = arena_take(a, BLOCK * d, sizeof(float));
}

static void fold(const encoding *e)
{
    const baseline *b = e->b;
    const graphvae_layout *at = &b->graph.at;
    network_f32_fold(&at->encoder, b->parameter, b->running, e->encoder);
    for (size_t k = 0; k + 1 < b->d; k++) {
        network_f32_fold(&at->top_down, b->parameter + at->top + k * network_count(&at->top_down),
                         b->running + at->top_running + k * network_running(&at->top_down),
                         e->top_down + k * network_count(&e->above.shape));
    }
}

static void encode_block(const encoding *e, size_t n, const float *x, double *z, double *sd)
{
    const baseline *b = e->b;
    size_t d = b->d;
    size_t each = network_count(&e->above.shape);
    const network_batch_f32 rows = {.parameters = e->encoder, .n = n, .input = x};
    const float *below = network_f32_forward(&e->below, &rows); /* (n, 2d) */
    for (size_t k = 0; k < d; k++) {
        size_t i = b->order[k];
        const float *above = NULL; /* (n, 2) */
        for (size_t at = 0; at < n * d && k > 0; at++) {
            e->seen[at] = (float)(e->w[at % d * d + i] * z[at]);
        }
        if (k > 0) {
            const network_batch_f32 seen = {
                .parameters = e->top_down + (k - 1) * each, .n = n, .input = e->seen};
            above = network_f32_forward(&e->above, &seen);
        }
        for (size_t r = 0; r < n; r++) {
            const float *own = below + r * 2 * d + i;
            double top[2] = {0, 0};
            for (size_t c = 0; c < 2 && above != NULL; c++) {
                top[c] = (double)above[2 * r + c];
            }
            graphvae_fusion f =
                graphvae_fuse((double)own[0], (double)own[d], above != NULL ? top : NULL);
            z[r * d + i] = f.m;
            sd[r * d + i] = f.s;
        }
    }
}

static lscm_status encode(const baseline *b, double *z, double *sd, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena memory = {0};
    encoding e = {.b = b};
    lay_out_encoding(&e, &memory);
    TRY(b->device->claim(b->device, &memory, why));
    lay_out_encoding(&e, &memory);
    fold(&e);
    graph(b, e.w);
    for (size_t first = 0; first < b->rows.rows; first += BLOCK) {
        size_t n = b->rows.rows - first < BLOCK ? b->rows.rows - first : BLOCK;
        encode_block(&e, n, b->rows.x + first * b->D, z + first * b->d, sd + first * b->d);
    }
done:
    b->device->release(b->device, &memory);
    return status;
}

const baseline_kind graphvae_kind = {.batch = 128,
                                     .steps = steps,
                                     .decoder = plain_decoder,
                                     .between = DECODER_ELU,
                                     .lay_out = lay_out,
                                     .begin = begin,
                                     .draws = draws,
                                     .loss = loss,
                                     .graph = graph,
                                     .plain = plain,
                                     .encode = encode,
                                     .queue_lay_out = graphvae_queue_lay_out,
                                     .queue_begin = graphvae_queue_begin,
                                     .queue_loss = graphvae_queue_loss};

lscm_status graphvae_fit(fit *f, lscm_posterior **out, lscm_error *why)
{
    return baseline_fit(f, &graphvae_kind, out, why);
}
