/* From what labels and pixels say of z back to the last map and to the weights behind it
 * (picture_head.h). head_backward has a block a slot of pictures, head_by_weights a thread for each
 * number that W_1, W_2, W_e and their biases are told by all pictures of a step. A label that may
 * not be seen is NaN.
 */
#ifndef LSCM_CUDA_PICTURE_HEAD_BACK_H
#define LSCM_CUDA_PICTURE_HEAD_BACK_H

#include "cuda/picture_head.h"

enum { HEAD_TILE = 32 };

/* dloss/dz: of labels where they may be seen, else what pixels say; and their loss. */
static __device__ void head_meet(const head_shape &s, const head_arrays &a, size_t b, float factor,
                                 float *z_back)
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
    if (threadIdx.x == 0) {
        double loss = 0;
        for (int j = 0; j < s.d; j++) {
            float error = a.z[b * s.columns + j] - label[j];
            loss += label[j] == label[j] ? (double)error * (double)error : 0;
        }
        a.loss[b] = loss;
    }
}

/* dloss/df into `back` (features). */
static __device__ void head_features(const head_shape &s, const head_arrays &a, size_t b,
                                     const float *z_back, float *hidden, float *back)
{
    int t = threadIdx.x;
    const float *second = a.parameters + s.at_second;
    if (t < HEAD_HIDDEN) {
        float sum = 0;
        for (int j = 0; j < s.d; j++) {
            sum += z_back[j] * second[t * s.columns + j];
        }
        hidden[t] = sum * a.hidden_slope[b * HEAD_HIDDEN + t];
        a.hidden_back[b * HEAD_HIDDEN + t] = hidden[t];
    }
    __syncthreads();
    const float *first = a.parameters + s.at_first;
    const float *direct = a.parameters + s.at_direct;
    for (int k = t; k < s.features; k += HEAD_THREADS) {
        float sum = 0;
        for (int h = 0; h < HEAD_HIDDEN; h++) {
            sum += hidden[h] * first[k * HEAD_HIDDEN + h];
        }
        for (int j = 0; j < s.d && k < 2 * s.keys; j++) {
            sum += z_back[j] * direct[k * s.columns + j];
        }
        back[k] = sum;
    }
    __syncthreads();
}

/* dloss/dk of a tile of positions into `to` (HEAD_TILE, keys). */
static __device__ void head_tile(const head_shape &s, const float *key, const float *feature,
                                 const float *back, int begin, float *to)
{
    const float *sums = back + 2 * s.keys + 2 * HEAD_MAPS;
    for (int n = threadIdx.x; n < HEAD_TILE * s.keys; n += HEAD_THREADS) {
        int k = n % s.keys;
        int at = begin + n / s.keys;
        float y = conv_place(at / s.wide, s.high) - feature[k];
        float x = conv_place(at % s.wide, s.wide) - feature[s.keys + k];
        to[n] = at < s.high * s.wide
                    ? key[(size_t)at * s.keys + k] * (back[k] * y + back[s.keys + k] * x + sums[k])
                    : 0;
    }
}

static size_t head_backward_bytes(const head_shape &s)
{
    return ((size_t)HEAD_TILE * (s.keys + HEAD_MAPS) + (HEAD_MAPS + 1) * s.keys + s.columns +
            HEAD_HIDDEN + s.features) *
           sizeof(float);
}

/* One picture: its D, and what keys' weights are told by it, added to `gradient`. */
static __device__ void head_picture(const head_shape &s, const head_arrays &a, size_t own, size_t b,
                                    float factor, float *shared)
{
    float *keys = shared;                                /* (HEAD_TILE, keys) */
    float *m = keys + HEAD_TILE * s.keys;                /* (HEAD_TILE, HEAD_MAPS) */
    float *gradient = m + HEAD_TILE * HEAD_MAPS;         /* (HEAD_MAPS + 1, keys) */
    float *z_back = gradient + (HEAD_MAPS + 1) * s.keys; /* (columns) */
    float *hidden = z_back + s.columns;
    float *back = hidden + HEAD_HIDDEN; /* (features) */
    int t = threadIdx.x;
    int positions = s.high * s.wide;
    size_t first = own * positions;
    const float *feature = a.feature + b * s.features;
    const float *weight = a.parameters + s.at_keys;
    const int *top = a.top + own * HEAD_MAPS;
    head_meet(s, a, b, factor, z_back);
    __syncthreads();
    head_features(s, a, b, z_back, hidden, back);
    for (int begin = 0; begin < positions; begin += HEAD_TILE) {
        head_tile(s, a.key + first * s.keys, feature, back, begin, keys);
        for (int n = t; n < HEAD_TILE * HEAD_MAPS; n += HEAD_THREADS) {
            bool in = begin + n / HEAD_MAPS < positions;
            m[n] = in ? a.map[(first + begin) * HEAD_MAPS + n] : 0;
        }
        __syncthreads();
        for (int n = t; n < (HEAD_MAPS + 1) * s.keys; n += HEAD_THREADS) {
            int c = n / s.keys;
            float sum = gradient[n];
            for (int at = 0; at < HEAD_TILE; at++) {
                sum += (c < HEAD_MAPS ? m[at * HEAD_MAPS + c] : 1) * keys[at * s.keys + n % s.keys];
            }
            gradient[n] = sum;
        }
        for (int n = t; n < HEAD_TILE * HEAD_MAPS; n += HEAD_THREADS) {
            int c = n % HEAD_MAPS;
            int at = begin + n / HEAD_MAPS;
            float sum = back[2 * s.keys + c] / (float)positions +
                        (at == top[c] ? back[2 * s.keys + HEAD_MAPS + c] : 0);
            for (int k = 0; k < s.keys; k++) {
                sum += keys[n / HEAD_MAPS * s.keys + k] * weight[c * s.keys + k];
            }
            if (at < positions) {
                size_t to = (first + begin) * HEAD_MAPS + n;
                a.back[to] = sum * a.slope[to];
            }
        }
        __syncthreads();
    }
}

/* dials: factor of a label's error first. gradient: of slots, at a distance of `pitch`. */
static __global__ void __launch_bounds__(HEAD_THREADS)
    head_backward(head_shape s, head_arrays a, picture_slots slots, int first, const float *factor,
                  float *gradient, size_t pitch)
{
    EXTERN_SHARED(float, shared);
    float *mine = shared + HEAD_TILE * (s.keys + HEAD_MAPS);
    int slot = slots.slot + (int)blockIdx.x;
    for (int n = threadIdx.x; n < (HEAD_MAPS + 1) * s.keys; n += HEAD_THREADS) {
        mine[n] = 0;
    }
    __syncthreads();
    for (int own = picture_begin(slots, slot); own < picture_begin(slots, slot + 1); own++) {
        head_picture(s, a, own, first + own, *factor, shared);
    }
    for (int n = threadIdx.x; n < (HEAD_MAPS + 1) * s.keys; n += HEAD_THREADS) {
        gradient[slot * pitch + s.at_keys + n] = mine[n];
    }
}

static __host__ __device__ size_t head_weights(const head_shape &s)
{
    return (size_t)(s.features + 1) * HEAD_HIDDEN + (size_t)(HEAD_HIDDEN + 1) * s.columns +
           (size_t)2 * s.keys * s.columns;
}

/* gradient from at_first on: sums over the batch of (f, 1)' dhidden, (hidden, 1)' dz, e' dz. */
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
    float sum = 0;
    for (size_t b = 0; b < (size_t)batch; b++) {
        sum += (i < in ? x[b * pitch + i] : 1) * d[b * out + o];
    }
    gradient[s.at_first + n] = sum;
}

#endif
