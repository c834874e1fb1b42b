/* What a CUDA device keeps of itself: device.self. */
#ifndef LSCM_CUDA_CUDA_DEVICE_H
#define LSCM_CUDA_CUDA_DEVICE_H

#include "cuda/pool.h"

extern "C" {
#include "backend/backend.h"
}

struct cuda_device {
    int index;
    size_t shared_most; /* bytes of shared memory that a block may have */
};

/* Calls of this thread are of this device from now on. */
static inline lscm_status cuda_use(const device *on, lscm_error *why)
{
    const cuda_device *self = (const cuda_device *)on->self;
    return cuda_told(cudaSetDevice(self->index), "being chosen", why);
}

#endif
