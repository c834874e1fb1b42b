/* The queue of net/dense_machine.h as a CUDA stream: its memory, copies by way of pages that the
 * device can read, and steps taken down as CUDA graphs (dense_queue.cu); the operations
 * (dense_operations.cu), a launch or two each.
 */
#ifndef LSCM_CUDA_DENSE_QUEUE_H
#define LSCM_CUDA_DENSE_QUEUE_H

#include "cuda/dense_gemm.h"

extern "C" {
#include "backend/batch_norm.h"
#include "net/latent_machine.h"
}

enum {
    DENSE_THREADS = 256,
    DENSE_BLOCKS = 2048, /* of a loop over elements, at most */
    DENSE_SUMS = 64,     /* blocks of a sum over everything, at most */
    DENSE_NORM = 128,    /* threads of a column that is normalised */
    DENSE_SIDE = 32      /* columns of a block that adds rows up, and rows it has at a time */
};

typedef struct cuda_queue {
    dense_queue head; /* first: it is a queue */
    int index;        /* of the device */
    cudaStream_t stream;
    dense_gemm gemm;
    char *staging;     /* pages for what is put */
    size_t staged;     /* bytes of them in use */
    double *part;      /* (DENSE_SUMS) */
    cudaError_t wrong; /* the first since the last wait */
} cuda_queue;

/* The device's operations, of a device that begins a cuda_queue. */
extern const backend_f32 dense_f32;

/* What dense_machine has beyond those. */
void dense_rows_gather(dense_queue *q, size_t n, size_t cols, const uint32_t *row,
                       const float *from, float *to);
void dense_rows_misfit(dense_queue *q, const dense_misfit *m);
void dense_rows_tally(dense_queue *q, size_t n, double factor, const double *squares,
                      dense_tally *t);

static inline cuda_queue *cuda_queue_of(const device *on)
{
    return (cuda_queue *)(void *)on;
}

/* To be called after launches: the first error is kept for `wait`. */
static inline void cuda_queue_check(cuda_queue *q, cudaError_t last)
{
    q->wrong = q->wrong == cudaSuccess ? last : q->wrong;
}

static inline size_t dense_blocks(size_t n)
{
    size_t blocks = (n + DENSE_THREADS - 1) / DENSE_THREADS;
    return blocks < (size_t)DENSE_BLOCKS ? blocks : (size_t)DENSE_BLOCKS;
}

/* One kernel over n elements, where there are any. */
#define DENSE_OVER(q, n, kernel, ...)                                                              \
    do {                                                                                           \
        if ((n) > 0) {                                                                             \
            LAUNCH(kernel, dense_blocks(n), DENSE_THREADS, 0, (q)->stream, (n), __VA_ARGS__);      \
            cuda_queue_check(q, cudaGetLastError());                                               \
        }                                                                                          \
    } while (0)

extern const latent_machine dense_latents;
/* For device.dense. */
extern "C" const dense_machine dense_cuda;

#endif
