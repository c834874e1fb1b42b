/* Convolutions by 3 x 3 (net/vision/conv.h) of many pictures, maps (pictures, rows, columns,
 * channels) without a border, in float32:
 *
 *     conv_forward    y, f'(y) of x: gelu(b + sum x w)
 *     conv_by_input   D of the map before: (sum over taps and o of d w) f'
 *     conv_by_weights dw, db of a slot of pictures, one row p of the taps a block
 *
 * A block has 8 x 16 positions of a picture, whose surroundings it keeps in shared memory, some
 * channels at a time. A thread has four positions side by side and a quarter of the channels, so
 * that what it loads serves many products. The first layer's input is the pictures themselves, with
 * coordinates for the last two channels.
 */
#ifndef LSCM_CUDA_PICTURE_CONV_H
#define LSCM_CUDA_PICTURE_CONV_H

#include "cuda/dense_activation.h"

#include <stdint.h>

/* Pictures as a network sees them, number `picture[b]` of those kept. */
struct conv_source {
    const uint8_t *bytes;
    const float *floats;
    const float *backdrop; /* NULL: they are as they are to be seen */
    float inverse;
    const uint32_t *picture; /* NULL: in their order */
    int channels;
};

/* One layer: x (height, width), y (high, wide). */
struct conv_layer {
    struct conv_source from; /* of the first one, else: */
    const float *x;
    int height, width, high, wide;
    const float *weights; /* (3, 3, in, out), then the bias (out) */
    float *y, *slope;     /* slope NULL: there is no way back */
    const float *back;    /* D of y */
};

/* A batch is cut into slots, whose gradients are added in their order; as many of them as fit in
 * memory are worked on together: from `slot` on, whose pictures begin at 0. */
struct picture_slots {
    int batch, slots, slot;
};

/* Where a slot's pictures begin. */
static __device__ __forceinline__ int picture_begin(picture_slots s, int slot)
{
    return (int)((long long)slot * s.batch / s.slots - (long long)s.slot * s.batch / s.slots);
}

enum {
    CONV_HIGH = 8,
    CONV_WIDE = 16,
    CONV_POSITIONS = CONV_HIGH * CONV_WIDE,
    CONV_THREADS = 128,
    CONV_TOGETHER = 16 /* channels in shared memory at a time */
};

static __device__ __forceinline__ float conv_place(int i, int count)
{
    return (2 * (float)i + 1) / (float)count - 1;
}

/* x of a position, 0 beyond the border. */
template <int IN>
static __device__ __forceinline__ float conv_input(const conv_layer &l, size_t b, int i, int j,
                                                   int k)
{
    if (i < 0 || j < 0 || i >= l.height || j >= l.width) {
        return 0;
    }
    size_t at = (size_t)i * l.width + j;
    if (IN >= CONV_TOGETHER) {
        return l.x[(b * l.height * l.width + at) * IN + k];
    }
    if (k >= l.from.channels) {
        return k == l.from.channels ? conv_place(i, l.height) : conv_place(j, l.width);
    }
    size_t count = (size_t)l.height * l.width * l.from.channels;
    size_t in = at * l.from.channels + k;
    size_t from = (l.from.picture != NULL ? l.from.picture[b] : b) * count + in;
    float x = l.from.bytes != NULL ? (float)l.from.bytes[from] : l.from.floats[from];
    return l.from.backdrop != NULL ? (x - l.from.backdrop[in]) * l.from.inverse : x;
}

/* ---- Forward ---- */

template <int IN, int STRIDE> struct conv_patch {
    static const int rows = (CONV_HIGH - 1) * STRIDE + 3;
    static const int cols = (CONV_WIDE - 1) * STRIDE + 3;
    static const int plane = (rows * cols) | 1; /* odd: channels lie in different banks */
    static const int together = IN < CONV_TOGETHER ? IN : CONV_TOGETHER;
};

template <int IN, int OUT, int STRIDE> static size_t conv_forward_bytes(void)
{
    typedef conv_patch<IN, STRIDE> patch;
    return (size_t)patch::together * (patch::plane + 9 * OUT) * sizeof(float) + 16;
}

template <int IN, int OUT, int STRIDE>
static __global__ void __launch_bounds__(CONV_THREADS) conv_forward(conv_layer l)
{
    typedef conv_patch<IN, STRIDE> patch;
    const int G = OUT / 4;
    const int SPAN = 3 * STRIDE + 3;
    EXTERN_SHARED(float, weight); /* (9, together, OUT) */
    float *x = weight + 9 * patch::together * OUT;
    int t = threadIdx.x;
    int across = (l.wide + CONV_WIDE - 1) / CONV_WIDE;
    int row0 = (int)blockIdx.x / across * CONV_HIGH;
    int col0 = (int)blockIdx.x % across * CONV_WIDE;
    size_t b = blockIdx.y;
    int group = t % 4;
    int row = t / 16;
    int col = t / 4 % 4 * 4;
    float sum[4][G];
    for (int a = 0; a < 4; a++) {
        for (int o = 0; o < G; o++) {
            sum[a][o] = 0;
        }
    }
    for (int first = 0; first < IN; first += patch::together) {
        for (int n = t; n < patch::rows * patch::cols * patch::together; n += CONV_THREADS) {
            int k = n % patch::together;
            int at = n / patch::together;
            int i = row0 * STRIDE - 1 + at / patch::cols;
            int j = col0 * STRIDE - 1 + at % patch::cols;
            x[k * patch::plane + at] = conv_input<IN>(l, b, i, j, first + k);
        }
        for (int n = t; n < 9 * patch::together * OUT; n += CONV_THREADS) {
            int tap = n / (patch::together * OUT);
            weight[n] = l.weights[tap * IN * OUT + first * OUT + n % (patch::together * OUT)];
        }
        __syncthreads();
        for (int k = 0; k < patch::together; k++) {
            UNROLL
            for (int p = 0; p < 3; p++) {
                float span[SPAN];
                const float *from =
                    x + k * patch::plane + (row * STRIDE + p) * patch::cols + col * STRIDE;
                UNROLL
                for (int n = 0; n < SPAN; n++) {
                    span[n] = from[n];
                }
                UNROLL
                for (int q = 0; q < 3; q++) {
                    const float4 *w =
                        (const float4 *)(weight + ((3 * p + q) * patch::together + k) * OUT +
                                         group * G);
                    UNROLL
                    for (int o = 0; o < G / 4; o++) {
                        float4 v = w[o];
                        UNROLL
                        for (int a = 0; a < 4; a++) {
                            float at = span[a * STRIDE + q];
                            sum[a][4 * o] += at * v.x;
                            sum[a][4 * o + 1] += at * v.y;
                            sum[a][4 * o + 2] += at * v.z;
                            sum[a][4 * o + 3] += at * v.w;
                        }
                    }
                }
            }
        }
        __syncthreads();
    }
    int i = row0 + row;
    for (int a = 0; a < 4; a++) {
        int j = col0 + col + a;
        if (i < l.high && j < l.wide) {
            size_t to = ((b * l.high + i) * l.wide + j) * OUT + group * G;
            for (int o = 0; o < G; o++) {
                float2 f = dense_gelu(sum[a][o] + l.weights[9 * IN * OUT + group * G + o]);
                l.y[to + o] = f.x;
                if (l.slope != NULL) {
                    l.slope[to + o] = f.y;
                }
            }
        }
    }
}

/* ---- By the input ----
 *
 * Position (u, v) of the map before is of class (u mod S, v mod S); within a class rows u = S i' +
 * a are reached by taps r = 0 .. from d's rows i' + r - (S = 1), with weights p = S = 1: 2 - r; a =
 * 0: 1; a = 1: 2, 0. */

template <int STRIDE> static __device__ __forceinline__ int conv_taps(int parity)
{
    return STRIDE == 1 ? 3 : parity + 1;
}

template <int STRIDE> static __device__ __forceinline__ int conv_tap(int parity, int r)
{
    return STRIDE == 1 ? 2 - r : parity == 0 ? 1 : 2 - 2 * r;
}

template <int IN, int STRIDE> struct conv_fan {
    static const int rows = CONV_HIGH + (STRIDE == 1 ? 2 : 1);
    static const int cols = CONV_WIDE + (STRIDE == 1 ? 2 : 1);
    static const int plane = (rows * cols) | 1;
    static const int pitch = IN + 4; /* weights of an output channel */
};

template <int IN, int OUT, int STRIDE> static size_t conv_by_input_bytes(void)
{
    typedef conv_fan<IN, STRIDE> fan;
    return (size_t)CONV_TOGETHER * (fan::plane + 9 * fan::pitch) * sizeof(float) + 16;
}

/* back (pictures, height, width, IN) <- (..) f', of the map before. */
template <int IN, int OUT, int STRIDE>
static __global__ void __launch_bounds__(CONV_THREADS)
    conv_by_input(conv_layer l, const float *slope, float *back)
{
    typedef conv_fan<IN, STRIDE> fan;
    const int G = IN / 4;
    EXTERN_SHARED(float, weight); /* (9, together of OUT, pitch) */
    float *d = weight + 9 * CONV_TOGETHER * fan::pitch;
    int t = threadIdx.x;
    int a = STRIDE == 1 ? 0 : (int)blockIdx.z / 2;
    int c = STRIDE == 1 ? 0 : (int)blockIdx.z % 2;
    int wide = (l.width + STRIDE - 1) / STRIDE;
    int across = (wide + CONV_WIDE - 1) / CONV_WIDE;
    int row0 = (int)blockIdx.x / across * CONV_HIGH;
    int col0 = (int)blockIdx.x % across * CONV_WIDE;
    size_t b = blockIdx.y;
    int group = t % 4;
    int row = t / 16;
    int col = t / 4 % 4 * 4;
    float sum[4][G];
    for (int n = 0; n < 4; n++) {
        for (int k = 0; k < G; k++) {
            sum[n][k] = 0;
        }
    }
    for (int first = 0; first < OUT; first += CONV_TOGETHER) {
        for (int n = t; n < fan::rows * fan::cols * CONV_TOGETHER; n += CONV_THREADS) {
            int o = n % CONV_TOGETHER;
            int at = n / CONV_TOGETHER;
            int i = row0 - (STRIDE == 1 ? 1 : 0) + at / fan::cols;
            int j = col0 - (STRIDE == 1 ? 1 : 0) + at % fan::cols;
            bool in = i >= 0 && j >= 0 && i < l.high && j < l.wide;
            d[o * fan::plane + at] =
                in ? l.back[((b * l.high + i) * l.wide + j) * OUT + first + o] : 0;
        }
        for (int n = t; n < 9 * IN * CONV_TOGETHER; n += CONV_THREADS) {
            int o = n % CONV_TOGETHER;
            int k = n / CONV_TOGETHER % IN;
            int tap = n / CONV_TOGETHER / IN;
            weight[(tap * CONV_TOGETHER + o) * fan::pitch + k] =
                l.weights[(tap * IN + k) * OUT + first + o];
        }
        __syncthreads();
        for (int o = 0; o < CONV_TOGETHER; o++) {
            for (int r = 0; r < conv_taps<STRIDE>(a); r++) {
                float span[6];
                const float *from = d + o * fan::plane + (row + r) * fan::cols + col;
                UNROLL
                for (int n = 0; n < (STRIDE == 1 ? 6 : 5); n++) {
                    span[n] = from[n];
                }
                UNROLL
                for (int s = 0; s < 3; s++) {
                    if (s < conv_taps<STRIDE>(c)) {
                        int tap = 3 * conv_tap<STRIDE>(a, r) + conv_tap<STRIDE>(c, s);
                        const float4 *w =
                            (const float4 *)(weight + (tap * CONV_TOGETHER + o) * fan::pitch +
                                             group * G);
                        UNROLL
                        for (int k = 0; k < G / 4; k++) {
                            float4 v = w[k];
                            UNROLL
                            for (int n = 0; n < 4; n++) {
                                float at = span[n + s];
                                sum[n][4 * k] += at * v.x;
                                sum[n][4 * k + 1] += at * v.y;
                                sum[n][4 * k + 2] += at * v.z;
                                sum[n][4 * k + 3] += at * v.w;
                            }
                        }
                    }
                }
            }
        }
        __syncthreads();
    }
    int u = (row0 + row) * STRIDE + a;
    for (int n = 0; n < 4; n++) {
        int v = (col0 + col + n) * STRIDE + c;
        if (u < l.height && v < l.width) {
            size_t to = ((b * l.height + u) * l.width + v) * IN + group * G;
            for (int k = 0; k < G; k++) {
                back[to + k] = sum[n][k] * slope[to + k];
            }
        }
    }
}

/* ---- By the weights ---- */

template <int IN, int OUT, int STRIDE> struct conv_outer {
    static const int cols = (CONV_WIDE - 1) * STRIDE + 3;
    static const int mine = IN < CONV_TOGETHER ? 1 : 4;             /* input channels of a thread */
    static const int parts = 3 * (IN / mine) * (OUT / 4);           /* of taps and channels */
    static const int shares = parts > 128 ? 1 : parts > 64 ? 2 : 4; /* of positions */
    static const int threads = parts * shares;
    static const int patch = CONV_HIGH * cols * IN;
    static const int bytes = (patch + CONV_POSITIONS * OUT) * (int)sizeof(float) + 16;
    static const int sums = parts * mine * 4 * (shares - 1);
    static_assert(sums <= patch + CONV_POSITIONS * OUT, "shares are added in the same memory");
};

/* gradient of a slot (at a distance of `pitch` from the next), row blockIdx.y of taps. */
template <int IN, int OUT, int STRIDE>
static __global__ void conv_by_weights(conv_layer l, picture_slots slots, float *gradient,
                                       size_t pitch)
{
    typedef conv_outer<IN, OUT, STRIDE> outer;
    const int M = outer::mine;
    EXTERN_SHARED(float, d); /* (positions, OUT) */
    float *x = d + CONV_POSITIONS * OUT;
    int t = threadIdx.x;
    int p = blockIdx.y;
    int part = t % outer::parts;
    int share = t / outer::parts;
    int o = part % (OUT / 4) * 4;
    int k = part / (OUT / 4) % (IN / M) * M;
    int q = part / (OUT / 4) / (IN / M);
    int across = (l.wide + CONV_WIDE - 1) / CONV_WIDE;
    int down = (l.high + CONV_HIGH - 1) / CONV_HIGH;
    int slot = slots.slot + (int)blockIdx.x;
    float sum[M][4];
    float bias = 0;
    for (int n = 0; n < M; n++) {
        for (int c = 0; c < 4; c++) {
            sum[n][c] = 0;
        }
    }
    for (int b = picture_begin(slots, slot); b < picture_begin(slots, slot + 1); b++) {
        for (int tile = 0; tile < across * down; tile++) {
            int row0 = tile / across * CONV_HIGH;
            int col0 = tile % across * CONV_WIDE;
            for (int n = t; n < CONV_POSITIONS * OUT; n += outer::threads) {
                int i = row0 + n / OUT / CONV_WIDE;
                int j = col0 + n / OUT % CONV_WIDE;
                bool in = i < l.high && j < l.wide;
                d[n] = in ? l.back[(((size_t)b * l.high + i) * l.wide + j) * OUT + n % OUT] : 0;
            }
            for (int n = t; n < outer::patch; n += outer::threads) {
                int i = (row0 + n / IN / outer::cols) * STRIDE - 1 + p;
                int j = col0 * STRIDE - 1 + n / IN % outer::cols;
                x[n] = conv_input<IN>(l, b, i, j, n % IN);
            }
            __syncthreads();
            for (int n = share; n < CONV_POSITIONS; n += outer::shares) {
                const float *at =
                    x + ((n / CONV_WIDE) * outer::cols + n % CONV_WIDE * STRIDE + q) * IN;
                float4 v = *(const float4 *)(d + n * OUT + o);
                float in[M];
                if (M == 4) {
                    float4 four = *(const float4 *)(at + k);
                    in[0] = four.x;
                    in[1 % M] = four.y;
                    in[2 % M] = four.z;
                    in[3 % M] = four.w;
                } else {
                    in[0] = at[k];
                }
                UNROLL
                for (int m = 0; m < M; m++) {
                    sum[m][0] += in[m] * v.x;
                    sum[m][1] += in[m] * v.y;
                    sum[m][2] += in[m] * v.z;
                    sum[m][3] += in[m] * v.w;
                }
            }
            if (p == 0 && t < OUT) {
                for (int n = 0; n < CONV_POSITIONS; n++) {
                    bias += d[n * OUT + t];
                }
            }
            __syncthreads();
        }
    }
    for (int m = 0; m < M && share > 0; m++) {
        for (int c = 0; c < 4; c++) {
            d[(((share - 1) * M + m) * 4 + c) * outer::parts + part] = sum[m][c];
        }
    }
    __syncthreads();
    float *to = gradient + slot * pitch;
    for (int m = 0; m < M && share == 0; m++) {
        for (int c = 0; c < 4; c++) {
            float all = sum[m][c];
            for (int s = 1; s < outer::shares; s++) {
                all += d[(((s - 1) * M + m) * 4 + c) * outer::parts + part];
            }
            size_t at = (size_t)((3 * p + q) * IN + k + m) * OUT + o + c;
            to[at] = all;
        }
    }
    if (p == 0 && t < OUT) {
        size_t at = (size_t)9 * IN * OUT + t;
        to[at] = bias;
    }
}

#endif
