/* GELU and its slope as backend/activation_body.h has them: a s(2u), u = c (a + k a^3). */
#ifndef LSCM_CUDA_GELU_H
#define LSCM_CUDA_GELU_H

#include "cuda/cuda.h"

static __device__ __forceinline__ float2 gelu_of(float a)
{
    const float c = 0.7978845608028654f; /* sqrt(2/pi) */
    const float k = 0.044715f;
    a = a < -12 ? -12 : a; /* NaN stays */
    float near = a > 12 ? 12 : a;
    float square = near * near;
    float e = expf(-2 * c * near * (1 + k * square));
    float s = 1 / (1 + e);
    float2 out = {a * s, s + near * s * (e * s) * (2 * c) * (1 + 3 * k * square)};
    return out;
}

#endif
