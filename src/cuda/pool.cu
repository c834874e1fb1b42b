#include "cuda/pool.h"

lscm_status pool_open(device_pool *p, lscm_error *why)
{
    size_t asked = p->used;
    size_t left = 0;
    size_t all = 0;
    p->used = 0;
    void *base = NULL;
    if (cudaMalloc(&base, asked) != cudaSuccess) {
        (void)cudaGetLastError();
        (void)cudaMemGetInfo(&left, &all);
        return fail(why, LSCM_MEMORY,
                    "the CUDA device has %.0f MB of its %.0f MB left, and %.0f MB are needed; "
                    "take a smaller --batch, or --device cpu",
                    1e-6 * (double)left, 1e-6 * (double)all, 1e-6 * (double)asked);
    }
    p->base = (char *)base;
    return LSCM_OK;
}

void pool_close(device_pool *p)
{
    (void)cudaFree(p->base);
    p->base = NULL;
}

lscm_status cuda_put(void *to, const void *from, size_t bytes, cudaStream_t stream, lscm_error *why)
{
    return cuda_done(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream),
                     "copying to it", why);
}

lscm_status cuda_get(void *to, const void *from, size_t bytes, cudaStream_t stream, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(cuda_done(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream),
                  "copying from it", why));
    TRY(cuda_done(cudaStreamSynchronize(stream), "working", why));
done:
    return status;
}
