/* Launches of latent_kernels.h. */
#include "cuda/latent_kernels.h"

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

const latent_machine dense_latents = {draw, draw_back, likelihood, scale};
