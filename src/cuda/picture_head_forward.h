/* Keys, their points, means and maxima, and z of a picture (picture_head.h): a block each. */
#ifndef LSCM_CUDA_PICTURE_HEAD_FORWARD_H
#define LSCM_CUDA_PICTURE_HEAD_FORWARD_H

#include "cuda/picture_head.h"

/* k of all positions. */
static __device__ void head_scores(const head_shape &s, const head_arrays &a, const float *map,
                                   float *key)
{
    const float *weight = a.parameters + s.at_keys;
    for (int n = threadIdx.x; n < s.high * s.wide * s.keys; n += HEAD_THREADS) {
        int k = n % s.keys;
        const float *m = map + (size_t)(n / s.keys) * HEAD_MAPS;
        float sum = weight[HEAD_MAPS * s.keys + k];
        for (int c = 0; c < HEAD_MAPS; c++) {
            sum += m[c] * weight[c * s.keys + k];
        }
        key[n] = sum;
    }
}

/* p, e and the log of the sum of HEAD_KEYS keys from `first` on; 16 threads a key. */
static __device__ void head_keys(const head_shape &s, int first, float *key, float *feature)
{
    enum { LANES = HEAD_THREADS / HEAD_KEYS };
    __shared__ float part[3][LANES][HEAD_KEYS];
    int k = threadIdx.x % HEAD_KEYS;
    int lane = threadIdx.x / HEAD_KEYS;
    int positions = s.high * s.wide;
    float most = key[first + k];
    for (int n = lane; n < positions; n += LANES) {
        float score = key[(size_t)n * s.keys + first + k];
        most = score > most ? score : most;
    }
    part[0][lane][k] = most;
    __syncthreads();
    for (int other = 0; other < LANES; other++) {
        most = part[0][other][k] > most ? part[0][other][k] : most;
    }
    __syncthreads();
    float sum = 0;
    float down = 0;
    float right = 0;
    for (int n = lane; n < positions; n += LANES) {
        float p = expf(key[(size_t)n * s.keys + first + k] - most);
        key[(size_t)n * s.keys + first + k] = p;
        sum += p;
        down += p * conv_place(n / s.wide, s.high);
        right += p * conv_place(n % s.wide, s.wide);
    }
    part[0][lane][k] = sum;
    part[1][lane][k] = down;
    part[2][lane][k] = right;
    __syncthreads();
    sum = down = right = 0;
    for (int other = 0; other < LANES; other++) {
        sum += part[0][other][k];
        down += part[1][other][k];
        right += part[2][other][k];
    }
    for (int n = lane; n < positions; n += LANES) {
        key[(size_t)n * s.keys + first + k] /= sum;
    }
    if (lane == 0) {
        feature[first + k] = down / sum;
        feature[s.keys + first + k] = right / sum;
        feature[2 * s.keys + 2 * HEAD_MAPS + first + k] = most + logf(sum);
    }
    __syncthreads();
}

/* Means and maxima of the map; of equal ones the first. */
static __device__ void head_pool(const head_shape &s, const float *map, float *feature, int *top)
{
    enum { LANES = HEAD_THREADS / HEAD_MAPS };
    __shared__ float sums[LANES][HEAD_MAPS];
    __shared__ float most[LANES][HEAD_MAPS];
    __shared__ int where[LANES][HEAD_MAPS];
    int c = threadIdx.x % HEAD_MAPS;
    int lane = threadIdx.x / HEAD_MAPS;
    int positions = s.high * s.wide;
    float sum = 0;
    int best = lane < positions ? lane : 0;
    for (int n = lane; n < positions; n += LANES) {
        float value = map[(size_t)n * HEAD_MAPS + c];
        sum += value;
        best = value > map[(size_t)best * HEAD_MAPS + c] ? n : best;
    }
    sums[lane][c] = sum;
    most[lane][c] = map[(size_t)best * HEAD_MAPS + c];
    where[lane][c] = best;
    __syncthreads();
    if (lane == 0) {
        int first = 0;
        sum = 0;
        for (int other = 0; other < LANES; other++) {
            bool better = most[other][c] > most[first][c] ||
                          (most[other][c] == most[first][c] && where[other][c] < where[first][c]);
            first = better ? other : first;
            sum += sums[other][c];
        }
        feature[2 * s.keys + c] = sum / (float)positions;
        feature[2 * s.keys + HEAD_MAPS + c] = most[first][c];
        top[c] = where[first][c];
    }
    __syncthreads();
}

/* Picture blockIdx.x of the group, number first + blockIdx.x of the batch. */
static __global__ void __launch_bounds__(HEAD_THREADS)
    head_forward(head_shape s, head_arrays a, int first)
{
    __shared__ float hidden[HEAD_HIDDEN];
    int t = threadIdx.x;
    size_t positions = (size_t)s.high * s.wide;
    size_t own = blockIdx.x;
    size_t b = first + own;
    const float *map = a.map + own * positions * HEAD_MAPS;
    float *key = a.key + own * positions * s.keys;
    float *feature = a.feature + b * s.features;
    head_scores(s, a, map, key);
    __syncthreads();
    for (int k = 0; k < s.keys; k += HEAD_KEYS) {
        head_keys(s, k, key, feature);
    }
    head_pool(s, map, feature, a.top + own * HEAD_MAPS);
    const float *w = a.parameters + s.at_first;
    if (t < HEAD_HIDDEN) {
        float sum = w[s.features * HEAD_HIDDEN + t];
        for (int k = 0; k < s.features; k++) {
            sum += feature[k] * w[k * HEAD_HIDDEN + t];
        }
        float2 f = dense_gelu(sum);
        hidden[t] = f.x;
        a.hidden[b * HEAD_HIDDEN + t] = f.x;
        a.hidden_slope[b * HEAD_HIDDEN + t] = f.y;
    }
    __syncthreads();
    w = a.parameters + s.at_second;
    const float *direct = a.parameters + s.at_direct;
    for (int j = t; j < s.columns; j += HEAD_THREADS) {
        float sum = w[HEAD_HIDDEN * s.columns + j];
        for (int k = 0; k < 2 * s.keys; k++) {
            sum += feature[k] * direct[k * s.columns + j];
        }
        for (int k = 0; k < HEAD_HIDDEN; k++) {
            sum += hidden[k] * w[k * s.columns + j];
        }
        a.z[b * s.columns + j] = sum;
    }
}

#endif
