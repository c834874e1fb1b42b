/* What kernels of a queue share: the elements of a thread, and the sum of a block. */
#ifndef LSCM_CUDA_DENSE_BLOCK_H
#define LSCM_CUDA_DENSE_BLOCK_H

#include "cuda/dense_queue.h"

/* for (size_t i ...) over the elements of this thread */
#define DENSE_EACH(i, n)                                                                           \
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n);                        \
         i += (size_t)gridDim.x * blockDim.x)

/* The sum of what the threads of a block have, a power of two of them, to all. */
static __device__ __forceinline__ double dense_block_sum(double mine)
{
    __shared__ double part[DENSE_THREADS];
    __syncthreads(); /* of the sum before this one */
    part[threadIdx.x] = mine;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            part[threadIdx.x] += part[threadIdx.x + half];
        }
    }
    __syncthreads();
    return part[0];
}

#endif
