/* vae_body.h on a queue. */
#include "infer/baselines/baseline.h"

void vae_queue_lay_out(baseline *b, arena *a)
{
    baseline_queue *q = &b->far;
    const network_shape from_x = vae_encoder(b->d, b->D);
    const network_shape to_x = vae_decoder(b->d, b->D);
    network_f32_lay_out(&q->encode, a, &from_x, b->rows.batch, &q->queue->on);
    network_f32_lay_out(&q->decode, a, &to_x, b->rows.batch, &q->queue->on);
}

void vae_queue_loss(const baseline *b)
{
    const baseline_queue *q = &b->far;
    const latent_machine *latents = q->queue->does->latents;
    const network_batch_f32 from_x = baseline_queue_batch(b, 0, 0, q->batch, NULL);
    const latent_normal z = {.rows = b->rows.batch,
                             .d = b->d,
                             .q = network_f32_forward(&q->encode, &from_x),
                             .eps = q->eps,
                             .z = q->z,
                             .by_z = q->slope,
                             .kl = q->kl};
    latents->draw(q->queue, &z);
    baseline_queue_decode(b, network_count(&q->encode.shape), 0);
    latents->draw_back(q->queue, &z);
    network_f32_backward(&q->encode, &from_x);
}
