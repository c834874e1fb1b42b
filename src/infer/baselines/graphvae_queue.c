/* graphvae_body.h on a queue. */
#include "infer/baselines/baseline.h"

void graphvae_queue_lay_out(baseline *b, arena *a)
{
    baseline_queue *q = &b->far;
    const graphvae_layout *at = &b->graph.at;
    size_t n = b->rows.batch;
    size_t d = b->d;
    network_f32_lay_out(&q->encode, a, &at->encoder, n, &q->queue->on);
    network_f32_lay_out(&q->decode, a, &at->decoder, n, &q->queue->on);
    for (size_t k = 0; k + 1 < d; k++) {
        network_f32 net;
        network_f32_lay_out(&net, a, &at->top_down, n, &q->queue->on);
        q->top[k] = net;
    }
    q->graph = (latent_graph){.rows = n, .d = d};
    q->graph.order = arena_take(a, d, sizeof(uint32_t));
    q->graph.gate = arena_take(a, d * d, sizeof(double));
    q->graph.by = arena_take(a, d * d, sizeof(double));
    q->graph.seen = arena_take(a, (d - 1) * n * d, sizeof(float));
    q->graph.back = arena_take(a, n * d, sizeof(float));
}

void graphvae_queue_begin(baseline *b)
{
    baseline_queue *q = &b->far;
    for (size_t k = 0; k < b->d; k++) {
        const uint32_t node = (uint32_t)b->order[k];
        q->queue->does->put(q->queue, sizeof node, &node, q->graph.order + k);
    }
    q->graph.logits = q->parameter + b->graph.at.gates;
    q->graph.by_logits = q->gradient + b->graph.at.gates;
    q->graph.drawn = q->gates;
    q->graph.eps = q->eps;
    q->graph.z = q->z;
    q->graph.by_z = q->slope;
    q->graph.kl = q->kl;
}

/* What the network of the node at position k > 0 sees, and its gradient. */
static network_batch_f32 top_of(const baseline *b, size_t k)
{
    const graphvae_layout *at = &b->graph.at;
    const latent_graph *g = &b->far.graph;
    return baseline_queue_batch(b, at->top + (k - 1) * network_count(&at->top_down),
                                at->top_running + (k - 1) * network_running(&at->top_down),
                                g->seen + (k - 1) * g->rows * g->d, g->back);
}

void graphvae_queue_loss(const baseline *b)
{
    const baseline_queue *q = &b->far;
    const latent_machine *latents = q->queue->does->latents;
    const network_batch_f32 from_x = baseline_queue_batch(b, 0, 0, q->batch, NULL);
    latent_graph g = q->graph;
    g.below = network_f32_forward(&q->encode, &from_x);
    latents->graph_open(q->queue, &g);
    latents->graph_draw(q->queue, &g, 0, NULL);
    for (size_t k = 1; k < b->d; k++) {
        const network_batch_f32 top = top_of(b, k);
        latents->graph_see(q->queue, &g, k);
        latents->graph_draw(q->queue, &g, k, network_f32_forward(&q->top[k - 1], &top));
    }
    baseline_queue_decode(b, b->graph.at.decode, b->graph.at.decode_running);
    for (size_t k = b->d; k-- > 1;) {
        const network_f32 *net = &q->top[k - 1];
        const network_batch_f32 top = top_of(b, k);
        latents->graph_draw_back(q->queue, &g, k, net->value[net->shape.layers - 1]);
        network_f32_backward(net, &top);
        latents->graph_see_back(q->queue, &g, k);
    }
    latents->graph_draw_back(q->queue, &g, 0, NULL);
    latents->graph_close(q->queue, &g);
    network_f32_backward(&q->encode, &from_x);
}
