/* Keys, their points, means and maxima, and z of a picture (picture_head.h): a block each. */
#ifndef LSCM_CUDA_PICTURE_HEAD_FORWARD_H
#define LSCM_CUDA_PICTURE_HEAD_FORWARD_H

#include "cuda/picture_head.h"

/* W_k and b_k in shared memory. */
static size_t head_forward_bytes(const head_shape &s)
{
    return (size_t)(HEAD_MAPS + 1) * s.keys * sizeof(float);
}

/* k of all positions, a position a thread, HEAD_KEYS keys at a time. */
static __device__ void head_scores(const head_shape &s, const float *weight, const float *map,
                                   float *key)
{
    for (int n = threadIdx.x; n < s.high * s.wide; n += HEAD_THREADS) {
        const float4 *m = (const float4 *)(map + (size_t)n * HEAD_MAPS);
        for (int first = 0; first < s.keys; first += HEAD_KEYS) {
            float sum[HEAD_KEYS];
            UNROLL
            for (int k = 0; k < HEAD_KEYS; k++) {
                sum[k] = weight[HEAD_MAPS * s.keys + first + k];
            }
            UNROLL
            for (int c = 0; c < HEAD_MAPS / 4; c++) {
                float4 v = m[c];
                float in[4] = {v.x, v.y, v.z, v.w};
                UNROLL
                for (int i = 0; i < 4; i++) {
                    UNROLL
                    for (int k = 0; k < HEAD_KEYS; k++) {
                        sum[k] += in[i] * weight[(4 * c + i) * s.keys + first + k];
                    }
                }
            }
            UNROLL
            for (int k = 0; k < HEAD_KEYS; k++) {
                key[(size_t)n * s.keys + first + k] = sum[k];
            }
        }
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
    float high = map[(size_t)best * HEAD_MAPS + c];
    UNROLL_BY(8)
    for (int n = lane; n < positions; n += LANES) {
        float value = map[(size_t)n * HEAD_MAPS + c];
        bool above = value > high;
        sum += value;
        best = above ? n : best;
        high = above ? value : high;
    }
    sums[lane][c] = sum;
    most[lane][c] = high;
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

/* gelu(f W_1 + b_1): two threads a column. */
static __device__ void head_hidden(const head_shape &s, const head_arrays &a, size_t b,
                                   const float *feature, float *hidden)
{
    __shared__ float half[HEAD_HIDDEN];
    int h = threadIdx.x % HEAD_HIDDEN;
    bool second = threadIdx.x >= HEAD_HIDDEN;
    const float *w = a.parameters + s.at_first;
    int middle = s.features / 2;
    float sum = second ? w[s.features * HEAD_HIDDEN + h] : 0;
    UNROLL_BY(8)
    for (int k = second ? middle : 0; k < (second ? s.features : middle); k++) {
        sum += feature[k] * w[k * HEAD_HIDDEN + h];
    }
    if (second) {
        half[h] = sum;
    }
    __syncthreads();
    if (!second) {
        float2 f = dense_gelu(sum + half[h]);
        hidden[h] = f.x;
        a.hidden[b * HEAD_HIDDEN + h] = f.x;
        a.hidden_slope[b * HEAD_HIDDEN + h] = f.y;
    }
    __syncthreads();
}

/* z: 16 threads a column, 16 columns at a time. */
static __device__ void head_read(const head_shape &s, const head_arrays &a, size_t b,
                                 const float *feature, const float *hidden)
{
    enum { COLUMNS = 16, LANES = HEAD_THREADS / COLUMNS };
    __shared__ float part[LANES][COLUMNS];
    int lane = threadIdx.x / COLUMNS;
    const float *w = a.parameters + s.at_second;
    const float *direct = a.parameters + s.at_direct;
    for (int first = 0; first < s.columns; first += COLUMNS) {
        int j = first + threadIdx.x % COLUMNS;
        float sum = lane == 0 ? w[HEAD_HIDDEN * s.columns + j] : 0;
        for (int k = lane; k < 2 * s.keys; k += LANES) {
            sum += feature[k] * direct[k * s.columns + j];
        }
        UNROLL
        for (int k = 0; k < HEAD_HIDDEN / LANES; k++) {
            int h = lane + k * LANES;
            sum += hidden[h] * w[h * s.columns + j];
        }
        part[lane][threadIdx.x % COLUMNS] = sum;
        __syncthreads();
        if (lane == 0) {
            for (int other = 1; other < LANES; other++) {
                sum += part[other][threadIdx.x];
            }
            a.z[b * s.columns + j] = sum;
        }
        __syncthreads();
    }
}

/* Picture blockIdx.x of the group, number first + blockIdx.x of the batch. */
static __global__ void __launch_bounds__(HEAD_THREADS)
    head_forward(head_shape s, head_arrays a, int first)
{
    __shared__ float hidden[HEAD_HIDDEN];
    EXTERN_SHARED(float, weight);
    size_t positions = (size_t)s.high * s.wide;
    size_t own = blockIdx.x;
    size_t b = first + own;
    const float *map = a.map + own * positions * HEAD_MAPS;
    float *key = a.key + own * positions * s.keys;
    float *feature = a.feature + b * s.features;
    for (int n = threadIdx.x; n < (HEAD_MAPS + 1) * s.keys; n += HEAD_THREADS) {
        weight[n] = a.parameters[s.at_keys + n];
    }
    __syncthreads();
    head_scores(s, weight, map, key);
    __syncthreads();
    for (int k = 0; k < s.keys; k += HEAD_KEYS) {
        head_keys(s, k, key, feature);
    }
    head_pool(s, map, feature, a.top + own * HEAD_MAPS);
    head_hidden(s, a, b, feature, hidden);
    head_read(s, a, b, feature, hidden);
}

#endif
