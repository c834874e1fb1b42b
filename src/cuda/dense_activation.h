/* f(a) and its slope as backend/activation_body.h has them, in float32. */
#ifndef LSCM_CUDA_DENSE_ACTIVATION_H
#define LSCM_CUDA_DENSE_ACTIVATION_H

#include "cuda/cuda.h"

extern "C" {
#include "net/dense_machine.h"
}

/* Within what exp has a normal number for; NaN stays. */
static __device__ __forceinline__ float dense_exponent(float x)
{
    x = x < -87 ? -87 : x;
    return x > 87 ? 87 : x;
}

static __device__ __forceinline__ float2 dense_pair(float value, float slope)
{
    float2 p = {value, slope};
    return p;
}

static __device__ __forceinline__ float2 dense_gelu(float a)
{
    const float c = 0.7978845608028654f; /* sqrt(2/pi) */
    const float k = 0.044715f;
    a = a < -12 ? -12 : a;
    float near = a > 12 ? 12 : a;
    float square = near * near;
    float e = expf(dense_exponent(-2 * c * near * (1 + k * square)));
    float s = 1 / (1 + e);
    return dense_pair(a * s, s + near * s * (e * s) * (2 * c) * (1 + 3 * k * square));
}

static __device__ __forceinline__ float2 dense_elu(float a)
{
    float x = dense_exponent(a);
    return dense_pair(a > 0 ? a : expm1f(x), a > 0 ? 1 : expf(x));
}

static __device__ __forceinline__ float2 dense_sigmoid(float a)
{
    float e = expf(dense_exponent(-a));
    float s = 1 / (1 + e);
    return dense_pair(s, e * s * s);
}

static __device__ __forceinline__ float2 dense_tanh(float a)
{
    float m = expm1f(dense_exponent(2 * fabsf(a)));
    float inverse = 1 / (m + 2);
    return dense_pair(copysignf(m * inverse, a), 4 * (m + 1) * inverse * inverse);
}

/* value, slope */
static __device__ __forceinline__ float2 dense_activation(activation f, float a)
{
    switch (f) {
    case ACTIVATION_GELU:
        return dense_gelu(a);
    case ACTIVATION_RELU:
        return dense_pair(a < 0 ? 0 : a, a > 0 ? 1 : 0);
    case ACTIVATION_ELU:
        return dense_elu(a);
    case ACTIVATION_SIGMOID:
        return dense_sigmoid(a);
    case ACTIVATION_TANH:
        return dense_tanh(a);
    default:
        return dense_pair(a, 1);
    }
}

#endif
