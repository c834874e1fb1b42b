/* From what labels and pixels say of z back to the last map and to the weights behind it
 * (picture_head.h):
 *
 *     head_meet        dloss/dz, and back to f; a block a picture
 *     head_backward    D of the last map, and what W_k and b_k are told; a block a part of the
 *                      positions of a slot of pictures
 *     head_by_weights  W_1, W_2, W_e and their biases: a thread a number, a part of the batch
 *
 * A label that may not be seen is NaN.
 */
#ifndef LSCM_CUDA_PICTURE_HEAD_BACK_H
#define LSCM_CUDA_PICTURE_HEAD_BACK_H

#include "cuda/picture_head.h"

enum { HEAD_TILE = 32, HEAD_PARTS = 4, HEAD_SHARES = 8 };

/* ---- Labels, pixels, f ---- */

/* dloss/dz: of labels where they may be seen, else what pixels say; and their loss. */
static __device__ void head_labels(const head_shape &s, const head_arrays &a, size_t b,
                                   float factor, float *z_back)
{
    const float *label = a.labels + (size_t)a.picture[b] * s.d;
    for (int j = threadIdx.x; j < s.columns; j += HEAD_THREADS) {
        float sum = 0;
        if (j < s.d && label[j] == label[j]) {
            sum = factor * (a.z[b * s.columns + j] - label[j]);
        } else if (j < s.d) {
            for (int part = 0; part < a.parts; part++) {
                sum += a.by_pixels[(b * a.parts + part) * s.columns + j];
            }
        }
        z_back[j] = sum;
        a.z_back[b * s.columns + j] = sum;
    }
    if (threadIdx.x == HEAD_THREADS - 1) {
        double loss = 0;
        for (int j = 0; j < s.d; j++) {
            float error = a.z[b * s.columns + j] - label[j];
            loss += label[j] == label[j] ? (double)error * (double)error : 0;
        }
        a.loss[b] = loss;
    }
    __syncthreads();
}

static size_t head_meet_bytes(const head_shape &s)
{
    return ((size_t)s.columns + HEAD_HIDDEN + (size_t)s.features * 8) * sizeof(float);
}

/* dloss/df: eight threads a feature, each four of 32 numbers at a time. */
static __global__ void __launch_bounds__(HEAD_THREADS)
    head_meet(head_shape s, head_arrays a, int first, const float *factor)
{
    enum { LANES = 8 };
    EXTERN_SHARED(float, z_back); /* (columns) */
    float *hidden = z_back + s.columns;
    float *part = hidden + HEAD_HIDDEN; /* (features, LANES) */
    int t = threadIdx.x;
    size_t b = first + blockIdx.x;
    head_labels(s, a, b, *factor, z_back);
    if (t < HEAD_HIDDEN) {
        const float *second = a.parameters + s.at_second;
        float sum = 0;
        for (int j = 0; j < s.d; j++) {
            sum += z_back[j] * second[t * s.columns + j];
        }
        hidden[t] = sum * a.hidden_slope[b * HEAD_HIDDEN + t];
        a.hidden_back[b * HEAD_HIDDEN + t] = hidden[t];
    }
    __syncthreads();
    for (int n = t; n < s.features * LANES; n += HEAD_THREADS) {
        const float *w = a.parameters + s.at_first + n / LANES * HEAD_HIDDEN;
        float sum = 0;
        UNROLL
        for (int h = 0; h < HEAD_HIDDEN; h += 4 * LANES) {
            int at = h + n % LANES * 4;
            float4 v = *(const float4 *)(w + at);
            sum += hidden[at] * v.x + hidden[at + 1] * v.y + hidden[at + 2] * v.z +
                   hidden[at + 3] * v.w;
        }
        part[n] = sum;
    }
    __syncthreads();
    for (int k = t; k < s.features; k += HEAD_THREADS) {
        const float *direct = a.parameters + s.at_direct;
        float sum = 0;
        for (int lane = 0; lane < LANES; lane++) {
            sum += part[k * LANES + lane];
        }
        for (int j = 0; j < s.d && k < 2 * s.keys; j++) {
            sum += z_back[j] * direct[k * s.columns + j];
        }
        a.feature_back[b * s.features + k] = sum;
    }
}

/* ---- The last map ---- */

/* Shared memory of a block. */
struct head_desk {
    float *key;      /* (HEAD_TILE, keys): dloss/dk */
    float *map;      /* (HEAD_TILE, HEAD_MAPS) */
    float *gradient; /* (HEAD_MAPS + 1, keys) */
    float *weight;   /* (keys, HEAD_MAPS + 1): W_k, turned */
    float *feature;  /* (features): f .. */
    float *back;     /* .. and dloss/df */
};

static __host__ __device__ size_t head_desk_floats(const head_shape &s)
{
    return (size_t)HEAD_TILE * (s.keys + HEAD_MAPS) + (size_t)2 * (HEAD_MAPS + 1) * s.keys +
           (size_t)2 * s.features;
}

static size_t head_backward_bytes(const head_shape &s)
{
    return head_desk_floats(s) * sizeof(float);
}

static __device__ head_desk head_lay_out(const head_shape &s, float *at)
{
    head_desk k;
    k.key = at;
    k.map = k.key + HEAD_TILE * s.keys;
    k.gradient = k.map + HEAD_TILE * HEAD_MAPS;
    k.weight = k.gradient + (HEAD_MAPS + 1) * s.keys;
    k.feature = k.weight + (HEAD_MAPS + 1) * s.keys;
    k.back = k.feature + s.features;
    return k;
}

/* dloss/dk and the map of a tile of positions. */
static __device__ void head_tile(const head_shape &s, const head_desk &k, const float *key,
                                 const float *map, int begin)
{
    int positions = s.high * s.wide;
    const float *sums = k.back + 2 * s.keys + 2 * HEAD_MAPS;
    for (int n = threadIdx.x; n < HEAD_TILE * s.keys; n += HEAD_THREADS) {
        int i = n % s.keys;
        int at = begin + n / s.keys;
        float y = conv_place(at / s.wide, s.high) - k.feature[i];
        float x = conv_place(at % s.wide, s.wide) - k.feature[s.keys + i];
        float p = at < positions ? key[(size_t)at * s.keys + i] : 0;
        k.key[n] = p * (k.back[i] * y + k.back[s.keys + i] * x + sums[i]);
    }
    for (int n = threadIdx.x; n < HEAD_TILE * HEAD_MAPS; n += HEAD_THREADS) {
        k.map[n] = begin + n / HEAD_MAPS < positions ? map[(size_t)begin * HEAD_MAPS + n] : 0;
    }
    __syncthreads();
}

/* Some positions of a picture: D, and what keys' weights are told by them. */
static __device__ void head_positions(const head_shape &s, const head_arrays &a, const head_desk &k,
                                      size_t own, size_t b, int part)
{
    int t = threadIdx.x;
    int positions = s.high * s.wide;
    size_t first = own * positions;
    const int *top = a.top + own * HEAD_MAPS;
    for (int n = t; n < s.features; n += HEAD_THREADS) {
        k.feature[n] = a.feature[b * s.features + n];
        k.back[n] = a.feature_back[b * s.features + n];
    }
    __syncthreads();
    for (int begin = part * HEAD_TILE; begin < positions; begin += HEAD_PARTS * HEAD_TILE) {
        head_tile(s, k, a.key + first * s.keys, a.map + first * HEAD_MAPS, begin);
        for (int n = t; n < (HEAD_MAPS + 1) * s.keys; n += HEAD_THREADS) {
            int c = n / s.keys;
            float sum = k.gradient[n];
            UNROLL_BY(8)
            for (int at = 0; at < HEAD_TILE; at++) {
                float m = c < HEAD_MAPS ? k.map[at * HEAD_MAPS + c] : 1;
                sum += m * k.key[at * s.keys + n % s.keys];
            }
            k.gradient[n] = sum;
        }
        for (int n = t; n < HEAD_TILE * HEAD_MAPS; n += HEAD_THREADS) {
            int c = n % HEAD_MAPS;
            int at = begin + n / HEAD_MAPS;
            float sum = k.back[2 * s.keys + c] / (float)positions +
                        (at == top[c] ? k.back[2 * s.keys + HEAD_MAPS + c] : 0);
            UNROLL_BY(8)
            for (int i = 0; i < s.keys; i++) {
                sum += k.key[n / HEAD_MAPS * s.keys + i] * k.weight[i * (HEAD_MAPS + 1) + c];
            }
            if (at < positions) {
                size_t to = (first + begin) * HEAD_MAPS + n;
                a.back[to] = sum * a.slope[to];
            }
        }
        __syncthreads();
    }
}

/* Block (slot, part); gradient (slots, HEAD_PARTS, (HEAD_MAPS + 1) keys). */
static __global__ void __launch_bounds__(HEAD_THREADS)
    head_backward(head_shape s, head_arrays a, picture_slots slots, int first, float *gradient)
{
    EXTERN_SHARED(float, shared);
    head_desk k = head_lay_out(s, shared);
    int slot = slots.slot + (int)blockIdx.x;
    int part = blockIdx.y;
    int count = (HEAD_MAPS + 1) * s.keys;
    for (int n = threadIdx.x; n < count; n += HEAD_THREADS) {
        k.gradient[n] = 0;
        k.weight[n % s.keys * (HEAD_MAPS + 1) + n / s.keys] = a.parameters[s.at_keys + n];
    }
    __syncthreads();
    for (int own = picture_begin(slots, slot); own < picture_begin(slots, slot + 1); own++) {
        head_positions(s, a, k, own, (size_t)first + own, part);
    }
    for (int n = threadIdx.x; n < count; n += HEAD_THREADS) {
        gradient[((size_t)slot * HEAD_PARTS + part) * count + n] = k.gradient[n];
    }
}

/* ---- Weights of the head ---- */

static __host__ __device__ size_t head_weights(const head_shape &s)
{
    return (size_t)(s.features + 1) * HEAD_HIDDEN + (size_t)(HEAD_HIDDEN + 1) * s.columns +
           (size_t)2 * s.keys * s.columns;
}

/* gradient (HEAD_SHARES, head_weights): sums over share blockIdx.y of the batch of (f, 1)' dhidden,
 * (hidden, 1)' dz, e' dz. */
static __global__ void head_by_weights(head_shape s, head_arrays a, int batch, float *gradient)
{
    size_t n = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t first = (size_t)(s.features + 1) * HEAD_HIDDEN;
    size_t second = (size_t)(HEAD_HIDDEN + 1) * s.columns;
    if (n >= head_weights(s)) {
        return;
    }
    const float *x = a.feature;
    const float *d = a.hidden_back;
    int in = s.features;
    int out = HEAD_HIDDEN;
    int pitch = s.features;
    size_t at = n;
    if (n >= first) {
        bool direct = n >= first + second;
        at = n - first - (direct ? second : 0);
        x = direct ? a.feature : a.hidden;
        d = a.z_back;
        in = direct ? 2 * s.keys : HEAD_HIDDEN;
        pitch = direct ? s.features : HEAD_HIDDEN;
        out = s.columns;
    }
    int i = (int)(at / out);
    int o = (int)(at % out);
    int begin = (int)((long long)blockIdx.y * batch / HEAD_SHARES);
    int end = (int)((long long)(blockIdx.y + 1) * batch / HEAD_SHARES);
    float sum = 0;
    UNROLL_BY(8)
    for (int b = begin; b < end; b++) {
        sum += (i < in ? x[(size_t)b * pitch + i] : 1) * d[(size_t)b * out + o];
    }
    gradient[blockIdx.y * head_weights(s) + n] = sum;
}

#endif
