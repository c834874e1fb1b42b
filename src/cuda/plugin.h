/* Between the files of the plug-in: what a CUDA device of a fit keeps for itself (device.self), and
 * failures of the runtime as statuses and sentences. Every entry from the library begins with
 * cuda_enter: the device that is current is a thread's own, and the caller may have another. */
#ifndef LSCM_CUDA_PLUGIN_H
#define LSCM_CUDA_PLUGIN_H

#include "cuda/cuda.h"

extern "C" {
#include "backend/plugin.h"
}

struct cusolverDnContext;

typedef struct cuda_self {
    int index;
    size_t shared_most;               /* bytes of shared memory that a block can have */
    struct cusolverDnContext *solver; /* NULL until a matrix is factored */
} cuda_self;

/* `doing`: "copying a picture"; LSCM_OK for cudaSuccess. What was wrong is forgotten by CUDA where
 * it can be. */
lscm_status cuda_done(cudaError_t code, const char *doing, lscm_error *why);
lscm_status cuda_enter(const device *on, lscm_error *why);

/* ---- cholesky.cu ---- */

extern const struct cholesky_machine CUDA_CHOLESKY;
void cuda_cholesky_close(cuda_self *self);

#endif
