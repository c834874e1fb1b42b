/* Some pixels of each picture drawn again (net/vision/pixel_decoder.h), what they miss, and what
 * that tells z and the decoder:
 *
 *     h_1 = gelu([u^, q] W_0 + b_0),  h_{k+1} = h_k + gelu(h_k W_k + b_k),  colour = h W + b
 *
 * A block has a part of the pixels of a slot's pictures, some at a time, whose values it keeps in
 * shared memory from the way forward to the way back; weights come there layer by layer. A thread
 * has 4 pixels and 4 of 64 columns.
 */
#ifndef LSCM_CUDA_PICTURE_PIXELS_H
#define LSCM_CUDA_PICTURE_PIXELS_H

#include "cuda/picture_conv.h"

enum {
    PIXELS_WIDE = 64,
    PIXELS_HIDDEN = 4, /* layers but the last */
    PIXELS_PITCH = PIXELS_WIDE + 4,
    PIXELS_COLOURS = 4, /* at most */
    PIXELS_PARTS = 4    /* blocks for the pixels of a picture */
};

struct pixels_shape {
    int d, in, out; /* columns: u^ and place, filled up; colours, filled up */
    int height, width, channels;
    int pixels, together;         /* of a picture; at a time: 32 or 16 */
    size_t at[PIXELS_HIDDEN + 1]; /* where a layer begins */
    size_t count;
};

struct pixels_arrays {
    const float *parameters; /* of the decoder */
    conv_source from;
    const double *reach;     /* (height width) */
    const double *start;     /* (batch) */
    const float *labels;     /* (kept, d) */
    const uint32_t *picture; /* (batch) */
    const float *z;          /* (batch, columns) */
    int columns;
    const float *factor; /* 1: of a pixel's error */
    float *by_pixels;    /* (batch, PIXELS_PARTS, columns): dloss/du^ */
    double *loss;        /* (batch, PIXELS_PARTS) */
    float *gradient;     /* (slots, PIXELS_PARTS, count) */
};

/* Shared memory of a block. */
struct pixels_desk {
    float *value[PIXELS_HIDDEN]; /* (together, PIXELS_WIDE) */
    float *slope[PIXELS_HIDDEN];
    float *d, *before; /* dloss/dh, and of what a layer takes */
    float *weight;     /* (PIXELS_WIDE, PIXELS_PITCH) */
    float *input;      /* (together, in) */
    float *colour;     /* (together, PIXELS_COLOURS) */
    int *pixel;        /* (together) */
    double *squares;   /* (together) */
};

static size_t pixels_bytes(const pixels_shape &s)
{
    size_t rows = s.together;
    size_t most = s.in > PIXELS_WIDE ? s.in : PIXELS_WIDE;
    return rows * sizeof(double) +
           (rows * ((2 * PIXELS_HIDDEN + 2) * PIXELS_WIDE + s.in + PIXELS_COLOURS + 1) +
            most * PIXELS_PITCH) *
               sizeof(float);
}

static __device__ pixels_desk pixels_lay_out(const pixels_shape &s, float *at)
{
    pixels_desk k;
    int rows = s.together;
    k.squares = (double *)(void *)at;
    at += 2 * rows;
    for (int l = 0; l < PIXELS_HIDDEN; l++) {
        k.value[l] = at + (size_t)2 * l * rows * PIXELS_WIDE;
        k.slope[l] = k.value[l] + rows * PIXELS_WIDE;
    }
    k.d = at + (size_t)2 * PIXELS_HIDDEN * rows * PIXELS_WIDE;
    k.before = k.d + rows * PIXELS_WIDE;
    k.weight = k.before + rows * PIXELS_WIDE;
    k.input = k.weight + (s.in > PIXELS_WIDE ? s.in : PIXELS_WIDE) * PIXELS_PITCH;
    k.colour = k.input + rows * s.in;
    k.pixel = (int *)(void *)(k.colour + rows * PIXELS_COLOURS);
    return k;
}

/* Weights (in, out) of a layer, of whose columns `used` count. */
static __device__ void pixels_fetch(const float *from, int in, int out, int used, float *weight)
{
    for (int n = threadIdx.x; n < in * used; n += blockDim.x) {
        weight[n / used * PIXELS_PITCH + n % used] = from[n / used * out + n % used];
    }
}

/* Which pixels, by the distribution function, and what goes in: u^, place. */
static __device__ void pixels_choose(const pixels_shape &s, const pixels_arrays &a,
                                     const pixels_desk &k, size_t b, int first)
{
    int t = threadIdx.x;
    const float *label = a.labels + (size_t)a.picture[b] * s.d;
    if (t < s.together) {
        double at = ((double)(first + t) + a.start[b]) / (double)s.pixels;
        int low = 0;
        int high = s.height * s.width - 1;
        while (low < high) {
            int middle = (low + high) / 2;
            bool below = a.reach[middle] < at;
            low = below ? middle + 1 : low;
            high = below ? high : middle;
        }
        k.pixel[t] = low;
    }
    __syncthreads();
    for (int n = t; n < s.together * s.in; n += blockDim.x) {
        int j = n % s.in;
        int pixel = k.pixel[n / s.in];
        float x = 0;
        if (j < s.d) {
            x = label[j] == label[j] ? label[j] : a.z[b * a.columns + j];
        } else if (j == s.d) {
            x = 2 * ((float)(pixel / s.width) + 0.5f) / (float)s.height - 1;
        } else if (j == s.d + 1) {
            x = 2 * ((float)(pixel % s.width) + 0.5f) / (float)s.width - 1;
        }
        k.input[n] = x;
    }
}

/* sum (4 pixels, 4 columns) <- bias + x W */
static __device__ void pixels_product(const float *x, int in, const float *weight,
                                      const float *bias, int row, int col, float sum[4][4])
{
    for (int a = 0; a < 4; a++) {
        for (int c = 0; c < 4; c++) {
            sum[a][c] = bias[col + c];
        }
    }
    for (int i = 0; i < in; i += 4) {
        float4 at[4];
        UNROLL
        for (int a = 0; a < 4; a++) {
            at[a] = *(const float4 *)(x + (row + a) * in + i);
        }
        UNROLL
        for (int m = 0; m < 4; m++) {
            float4 w = *(const float4 *)(weight + (i + m) * PIXELS_PITCH + col);
            UNROLL
            for (int a = 0; a < 4; a++) {
                float v = m == 0 ? at[a].x : m == 1 ? at[a].y : m == 2 ? at[a].z : at[a].w;
                sum[a][0] += v * w.x;
                sum[a][1] += v * w.y;
                sum[a][2] += v * w.z;
                sum[a][3] += v * w.w;
            }
        }
    }
}

/* Values and slopes of all layers but the last. */
static __device__ void pixels_forward(const pixels_shape &s, const pixels_arrays &a,
                                      const pixels_desk &k)
{
    int row = (int)threadIdx.x / 16 * 4;
    int col = (int)threadIdx.x % 16 * 4;
    for (int l = 0; l < PIXELS_HIDDEN; l++) {
        const float *from = a.parameters + s.at[l];
        int in = l == 0 ? s.in : PIXELS_WIDE;
        const float *x = l == 0 ? k.input : k.value[l - 1];
        float sum[4][4];
        pixels_fetch(from, in, PIXELS_WIDE, PIXELS_WIDE, k.weight);
        __syncthreads();
        pixels_product(x, in, k.weight, from + in * PIXELS_WIDE, row, col, sum);
        for (int n = 0; n < 4; n++) {
            for (int c = 0; c < 4; c++) {
                int at = (row + n) * PIXELS_WIDE + col + c;
                float2 f = dense_gelu(sum[n][c]);
                k.value[l][at] = f.x + (l > 0 ? x[at] : 0);
                k.slope[l][at] = f.y;
            }
        }
        __syncthreads();
    }
}

/* What the first `left` colours miss, times the factor; their squares. The last layer's gradient,
 * and d of h. */
static __device__ void pixels_meet(const pixels_shape &s, const pixels_arrays &a,
                                   const pixels_desk &k, size_t b, int left, float *gradient,
                                   bool anew)
{
    const float *from = a.parameters + s.at[PIXELS_HIDDEN];
    const float *h = k.value[PIXELS_HIDDEN - 1];
    size_t count = (size_t)s.height * s.width * s.channels;
    int t = threadIdx.x;
    pixels_fetch(from, PIXELS_WIDE, s.out, s.channels, k.weight);
    __syncthreads();
    for (int n = t; n < s.together * s.channels; n += blockDim.x) {
        int c = n % s.channels;
        int p = n / s.channels;
        float sum = from[PIXELS_WIDE * s.out + c];
        for (int i = 0; i < PIXELS_WIDE; i++) {
            sum += h[p * PIXELS_WIDE + i] * k.weight[i * PIXELS_PITCH + c];
        }
        size_t in = (size_t)k.pixel[p] * s.channels + c;
        size_t at = (size_t)a.picture[b] * count + in;
        float x = a.from.bytes != NULL ? (float)a.from.bytes[at] : a.from.floats[at];
        float error = sum - (x - a.from.backdrop[in]) * a.from.inverse;
        k.colour[p * PIXELS_COLOURS + c] = p < left ? error : 0;
    }
    __syncthreads();
    if (t < s.together) {
        double squares = 0;
        for (int c = 0; c < s.channels; c++) {
            float error = k.colour[t * PIXELS_COLOURS + c];
            squares += (double)error * (double)error;
            k.colour[t * PIXELS_COLOURS + c] = *a.factor * error;
        }
        k.squares[t] = squares;
    }
    __syncthreads();
    float *to = gradient + s.at[PIXELS_HIDDEN];
    for (int n = t; n < (PIXELS_WIDE + 1) * s.out; n += blockDim.x) {
        int i = n / s.out;
        int c = n % s.out;
        float sum = anew ? 0 : to[n];
        for (int p = 0; p < s.together && c < s.channels; p++) {
            sum +=
                (i < PIXELS_WIDE ? h[p * PIXELS_WIDE + i] : 1) * k.colour[p * PIXELS_COLOURS + c];
        }
        to[n] = sum;
    }
    for (int n = t; n < s.together * PIXELS_WIDE; n += blockDim.x) {
        float sum = 0;
        for (int c = 0; c < s.channels; c++) {
            sum += k.colour[n / PIXELS_WIDE * PIXELS_COLOURS + c] *
                   k.weight[n % PIXELS_WIDE * PIXELS_PITCH + c];
        }
        k.d[n] = sum;
    }
    __syncthreads();
}

/* gradient (in + 1, PIXELS_WIDE) <- or += (x, 1)' d */
static __device__ void pixels_outer(const pixels_shape &s, const float *x, int in, const float *d,
                                    float *gradient, bool anew)
{
    int rows = (int)blockDim.x / 16;
    int col = (int)threadIdx.x % 16 * 4;
    for (int i = (int)threadIdx.x / 16 * 4; i < in; i += rows * 4) {
        float sum[4][4];
        float *to = gradient + (size_t)i * PIXELS_WIDE + col;
        for (int n = 0; n < 16; n++) {
            sum[n / 4][n % 4] = anew ? 0 : to[n / 4 * PIXELS_WIDE + n % 4];
        }
        for (int p = 0; p < s.together; p++) {
            float4 v = *(const float4 *)(x + p * in + i);
            float4 w = *(const float4 *)(d + p * PIXELS_WIDE + col);
            float from[4] = {v.x, v.y, v.z, v.w};
            UNROLL
            for (int n = 0; n < 4; n++) {
                sum[n][0] += from[n] * w.x;
                sum[n][1] += from[n] * w.y;
                sum[n][2] += from[n] * w.z;
                sum[n][3] += from[n] * w.w;
            }
        }
        for (int n = 0; n < 16; n++) {
            to[n / 4 * PIXELS_WIDE + n % 4] = sum[n / 4][n % 4];
        }
    }
    for (int c = threadIdx.x; c < PIXELS_WIDE; c += blockDim.x) {
        float *to = gradient + (size_t)in * PIXELS_WIDE + c;
        float sum = anew ? 0 : *to;
        for (int p = 0; p < s.together; p++) {
            sum += d[p * PIXELS_WIDE + c];
        }
        *to = sum;
    }
}

/* before (together, in) (+)= d W' */
static __device__ void pixels_behind(const pixels_shape &s, const float *d, const float *weight,
                                     int in, float *before, bool add)
{
    int lanes = 16;
    int row = (int)threadIdx.x / lanes * 4;
    for (int first = (int)threadIdx.x % lanes; first < in; first += 4 * lanes) {
        float sum[4][4];
        for (int n = 0; n < 16; n++) {
            sum[n / 4][n % 4] = 0;
        }
        for (int c = 0; c < PIXELS_WIDE; c += 4) {
            float4 v[4];
            UNROLL
            for (int n = 0; n < 4; n++) {
                v[n] = *(const float4 *)(d + (row + n) * PIXELS_WIDE + c);
            }
            UNROLL
            for (int m = 0; m < 4; m++) { /* columns 16 apart: their rows lie in different banks */
                int i = first + m * lanes < in ? first + m * lanes : first;
                float4 w = *(const float4 *)(weight + i * PIXELS_PITCH + c);
                UNROLL
                for (int n = 0; n < 4; n++) {
                    sum[n][m] += v[n].x * w.x + v[n].y * w.y + v[n].z * w.z + v[n].w * w.w;
                }
            }
        }
        for (int n = 0; n < 16; n++) {
            int i = first + n % 4 * lanes;
            if (i < in) {
                float *to = before + (row + n / 4) * in + i;
                *to = sum[n / 4][n % 4] + (add ? *to : 0);
            }
        }
    }
    (void)s;
}

static __device__ void pixels_backward(const pixels_shape &s, const pixels_arrays &a,
                                       const pixels_desk &k, float *gradient, bool anew)
{
    int t = threadIdx.x;
    for (int l = PIXELS_HIDDEN - 1; l >= 0; l--) {
        const float *from = a.parameters + s.at[l];
        int in = l == 0 ? s.in : PIXELS_WIDE;
        for (int n = t; n < s.together * PIXELS_WIDE; n += blockDim.x) {
            k.before[n] = k.d[n] * k.slope[l][n];
        }
        pixels_fetch(from, in, PIXELS_WIDE, PIXELS_WIDE, k.weight);
        __syncthreads();
        pixels_outer(s, l == 0 ? k.input : k.value[l - 1], in, k.before, gradient + s.at[l], anew);
        if (l == 0) {
            __syncthreads(); /* the input is not needed any more */
        }
        pixels_behind(s, k.before, k.weight, in, l == 0 ? k.input : k.d, l > 0);
        __syncthreads();
    }
}

/* Block (slot, part). */
static __global__ void pixels_draw(pixels_shape s, pixels_arrays a, picture_slots slots, int first)
{
    EXTERN_SHARED(float, shared);
    pixels_desk k = pixels_lay_out(s, shared);
    int t = threadIdx.x;
    int slot = slots.slot + (int)blockIdx.x;
    int part = blockIdx.y;
    float *gradient = a.gradient + ((size_t)slot * PIXELS_PARTS + part) * s.count;
    bool anew = true;
    for (int own = picture_begin(slots, slot); own < picture_begin(slots, slot + 1); own++) {
        size_t b = (size_t)first + own;
        size_t at = b * PIXELS_PARTS + part;
        double loss = 0;
        for (int j = t; j < a.columns; j += blockDim.x) {
            a.by_pixels[at * a.columns + j] = 0;
        }
        for (int p = part * s.together; p < s.pixels; p += PIXELS_PARTS * s.together) {
            pixels_choose(s, a, k, b, p);
            __syncthreads();
            pixels_forward(s, a, k);
            pixels_meet(s, a, k, b, s.pixels - p, gradient, anew);
            pixels_backward(s, a, k, gradient, anew);
            anew = false;
            for (int j = t; j < s.d; j += blockDim.x) {
                float sum = a.by_pixels[at * a.columns + j];
                for (int n = 0; n < s.together; n++) {
                    sum += k.input[n * s.in + j];
                }
                a.by_pixels[at * a.columns + j] = sum;
            }
            for (int n = 0; n < s.together && t == 0; n++) {
                loss += k.squares[n];
            }
            __syncthreads();
        }
        if (t == 0) {
            a.loss[at] = loss;
        }
    }
    for (size_t n = t; n < s.count && anew; n += blockDim.x) {
        gradient[n] = 0;
    }
}

#endif
