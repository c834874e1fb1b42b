/* The dialect of this room: CUDA C that also compiles as C++ for the host, where tests run it
 * without a device (tests/cuda_on_host.h). A kernel knows threadIdx, blockIdx, blockDim, gridDim,
 * __shared__ and __syncthreads() alone, which its threads reach all or none, and is launched by
 *
 *     LAUNCH(scale, blocks, 256, 0, stream, n, factor, x);
 *     LAUNCH((conv_forward<16, 32, 2>), blocks, 256, bytes, stream, p);
 *
 * Dynamic shared memory is EXTERN_SHARED(float, name). Sums have one order, so the same numbers
 * come out every time; nothing is atomic.
 */
#ifndef LSCM_CUDA_CUDA_H
#define LSCM_CUDA_CUDA_H

#ifdef __CUDACC__

#include <cuda_runtime.h>

#define UNROLL _Pragma("unroll")
#define CUDA_TEXT(words) _Pragma(#words)
#define UNROLL_BY(times) CUDA_TEXT(unroll times)
/* clang-format off */
#define LAUNCH(kernel, blocks, threads, bytes, stream, ...)                                        \
    kernel<<<blocks, threads, bytes, stream>>>(__VA_ARGS__)
/* clang-format on */
#define EXTERN_SHARED(type, name)                                                                  \
    extern __shared__ float4 cuda_shared[];                                                        \
    type *name = (type *)cuda_shared

#else

#include "cuda_on_host.h"

#define UNROLL
#define UNROLL_BY(times)

#endif

#endif
