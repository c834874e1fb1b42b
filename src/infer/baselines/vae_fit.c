/* The VAE as a baseline: 10 000 steps on batches of 128 rows; its graph is empty, z are the means
 * of q(z | x). See vae.h for the mathematics. */
#include "infer/baselines/baseline.h"
#include "infer/weights/weights.h"

#include <math.h>
#include <string.h>

static size_t steps(const minibatch *rows)
{
    (void)rows;
    return 10000;
}

static void lay_out(baseline *b, arena *a)
{
    const network_shape from_x = vae_encoder(b->d, b->D);
    const network_shape to_x = vae_decoder(b->d, b->D);
    vae_f32_lay_out(&b->vae, a, &from_x, &to_x, b->rows.batch, b->device);
    b->count = network_count(&from_x) + network_count(&to_x);
}

static void begin(baseline *b)
{
    const network_shape *encoder = &b->vae.encode.shape;
    network_f32_draw(encoder, baseline_stream(b, STREAM_BASELINE_NET, 0), b->parameter, NULL);
    network_f32_draw(&b->vae.decode.shape, baseline_stream(b, STREAM_BASELINE_NET, 1),
                     b->parameter + network_count(encoder), NULL);
}

static void loss(baseline *b, const float *x, training_terms *terms)
{
    const network_batch_f32 batch = baseline_batch(b, x);
    vae_f32_loss(&b->vae, &batch, b->eps, &b->noise, terms);
}

static void plain(const baseline *b, float *out)
{
    memcpy(out, b->parameter + network_count(&b->vae.encode.shape),
           network_count(&b->vae.decode.shape) * sizeof *out);
}

static lscm_status encode(const baseline *b, double *z, double *sd, lscm_error *why)
{
    size_t d = b->d;
    (void)why;
    for (size_t first = 0; first < b->rows.rows; first += b->rows.batch) {
        size_t left = b->rows.rows - first;
        size_t n = left < b->rows.batch ? left : b->rows.batch;
        const network_batch_f32 rows = {
            .parameters = b->parameter, .n = n, .input = b->rows.x + first * b->D};
        const float *q = network_f32_forward(&b->vae.encode, &rows); /* (n, 2d) */
        for (size_t k = 0; k < n * d; k++) {
            const float *own = q + k / d * 2 * d + k % d;
            double slope = 0;
            z[first * d + k] = (double)own[0];
            sd[first * d + k] = exp(weights_log_sd((double)own[d], &slope));
        }
    }
    return LSCM_OK;
}

const baseline_kind vae_kind = {.batch = 128,
                                .steps = steps,
                                .decoder = vae_decoder,
                                .between = DECODER_RELU,
                                .lay_out = lay_out,
                                .begin = begin,
                                .loss = loss,
                                .plain = plain,
                                .encode = encode,
                                .queue_lay_out = vae_queue_lay_out,
                                .queue_loss = vae_queue_loss};

lscm_status vae_fit(fit *f, lscm_posterior **out, lscm_error *why)
{
    return baseline_fit(f, &vae_kind, out, why);
}
