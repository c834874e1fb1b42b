/* c = alpha op(a) op(b) + beta add in float32 (backend/backend_table.h), by cuBLASLt with its own
 * choice for the shape: products in float32 as they are, the same bits every time on the same
 * device. On the host, where tests run kernels, a loop.
 */
#ifndef LSCM_CUDA_DENSE_GEMM_H
#define LSCM_CUDA_DENSE_GEMM_H

#include "cuda/cuda.h"

extern "C" {
#include "backend/backend.h"
}

typedef struct dense_gemm {
    void *handle, *workspace;
    size_t bytes;      /* of the workspace */
    const char *wrong; /* the last call; NULL: nothing */
} dense_gemm;

lscm_status dense_gemm_open(dense_gemm *g, lscm_error *why);
void dense_gemm_close(dense_gemm *g);
/* Not 0 rows or columns. */
void dense_gemm_run(dense_gemm *g, cudaStream_t stream, const product_f32 *p);

#endif
