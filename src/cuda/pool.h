/* All memory of an object on the device in one allocation, laid out twice, as base/arena.h: to
 * measure, then to place; and copies.
 */
#ifndef LSCM_CUDA_POOL_H
#define LSCM_CUDA_POOL_H

#include "cuda/plugin.h"

struct device_pool {
    char *base; /* NULL while measuring */
    size_t used;
};

/* `count` items, aligned for any load; NULL while measuring. */
template <class T> void pool_take(device_pool *p, T **out, size_t count)
{
    *out = p->base != NULL ? (T *)(void *)(p->base + p->used) : NULL;
    p->used += (count * sizeof(T) + 255) / 256 * 256;
}

/* What was measured; LSCM_MEMORY says how much was asked for and how much there is. */
lscm_status pool_open(device_pool *p, lscm_error *why);
void pool_close(device_pool *p);

lscm_status cuda_put(void *to, const void *from, size_t bytes, cudaStream_t stream,
                     lscm_error *why);
/* Waits until it is there. */
lscm_status cuda_get(void *to, const void *from, size_t bytes, cudaStream_t stream,
                     lscm_error *why);

#endif
