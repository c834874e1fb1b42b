/* Launches of latent_kernels.h and latent_graph.h. */
#include "cuda/latent_graph.h"

static void draw(dense_queue *head, const latent_normal *n)
{
    DENSE_OVER(cuda_queue_of(&head->on), n->rows, latent_draw, *n);
}

static void draw_back(dense_queue *head, const latent_normal *n)
{
    DENSE_OVER(cuda_queue_of(&head->on), n->rows * n->d, latent_draw_back, *n);
}

static void likelihood(dense_queue *head, const latent_likelihood *l)
{
    cuda_queue *q = cuda_queue_of(&head->on);
    LAUNCH(latent_weigh, 1, DENSE_THREADS, 0, q->stream, *l);
    cuda_queue_check(q, cudaGetLastError());
}

static void scale(dense_queue *head, size_t n, const latent_terms *terms, float *x)
{
    DENSE_OVER(cuda_queue_of(&head->on), n, latent_scale, terms, x);
}

static size_t pairs_of(const latent_graph *g)
{
    return g->d * (g->d - 1) / 2;
}

static void graph_open(dense_queue *head, const latent_graph *g)
{
    cuda_queue *q = cuda_queue_of(&head->on);
    size_t numbers = g->rows * g->d;
    cuda_queue_check(q, cudaMemsetAsync(g->z, 0, numbers * sizeof(float), q->stream));
    cuda_queue_check(q, cudaMemsetAsync(g->kl, 0, g->rows * sizeof(double), q->stream));
    cuda_queue_check(q, cudaMemsetAsync(g->gate, 0, g->d * g->d * sizeof(double), q->stream));
    DENSE_OVER(q, pairs_of(g), latent_graph_open, *g);
}

static void graph_see(dense_queue *head, const latent_graph *g, size_t k)
{
    DENSE_OVER(cuda_queue_of(&head->on), g->rows * g->d, latent_graph_see, *g, k);
}

static void graph_draw(dense_queue *head, const latent_graph *g, size_t k, const float *above)
{
    DENSE_OVER(cuda_queue_of(&head->on), g->rows, latent_graph_draw, *g, k, above);
}

static void graph_draw_back(dense_queue *head, const latent_graph *g, size_t k, float *above)
{
    DENSE_OVER(cuda_queue_of(&head->on), g->rows, latent_graph_draw_back, *g, k, above);
}

static void graph_see_back(dense_queue *head, const latent_graph *g, size_t k)
{
    cuda_queue *q = cuda_queue_of(&head->on);
    LAUNCH(latent_graph_see_back, k, DENSE_NORM, 0, q->stream, *g, k);
    cuda_queue_check(q, cudaGetLastError());
}

static void graph_close(dense_queue *head, const latent_graph *g)
{
    DENSE_OVER(cuda_queue_of(&head->on), pairs_of(g), latent_graph_close, *g);
}

const latent_machine dense_latents = {.draw = draw,
                                      .draw_back = draw_back,
                                      .likelihood = likelihood,
                                      .scale = scale,
                                      .graph_open = graph_open,
                                      .graph_see = graph_see,
                                      .graph_draw = graph_draw,
                                      .graph_draw_back = graph_draw_back,
                                      .graph_see_back = graph_see_back,
                                      .graph_close = graph_close};
