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
    const mlp_shape from_x = vae_encoder(b->d, b->D);
    const mlp_shape to_x = vae_decoder(b->d, b->D);
    vae_f32_lay_out(&b->vae, a, &from_x, &to_x, b->rows.batch, b->device);
    b->count = mlp_count(&from_x) + mlp_count(&to_x);
}

static void begin(baseline *b)
{
    const mlp_shape *encoder = &b->vae.encode.shape;
    mlp_f32_draw(encoder, baseline_stream(b, BASELINE_NET, 0), b->parameter);
    mlp_f32_draw(&b->vae.decode.shape, baseline_stream(b, BASELINE_NET, 1),
                 b->parameter + mlp_count(encoder));
}

static void loss(baseline *b, const float *x, training_terms *terms)
{
    vae_f32_loss(&b->vae, b->parameter, b->rows.batch, x, b->eps, &b->noise, terms, b->gradient);
}

static void plain(const baseline *b, float *out)
{
    memcpy(out, b->parameter + mlp_count(&b->vae.encode.shape),
           mlp_count(&b->vae.decode.shape) * sizeof *out);
}

static lscm_status encode(const baseline *b, double *z, double *sd, lscm_error *why)
{
    size_t d = b->d;
    (void)why;
    for (size_t first = 0; first < b->rows.rows; first += b->rows.batch) {
        size_t left = b->rows.rows - first;
        size_t n = left < b->rows.batch ? left : b->rows.batch;
        const float *q = mlp_f32_forward(&b->vae.encode, b->parameter, n,
                                         b->rows.x + first * b->D); /* (n, 2d) */
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
                                .encode = encode};

lscm_status vae_fit(fit *f, lscm_posterior **out, lscm_error *why)
{
    return baseline_fit(f, &vae_kind, out, why);
}
