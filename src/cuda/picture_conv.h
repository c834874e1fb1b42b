/* Convolutions by 3 x 3 (net/vision/conv.h) of many pictures, maps (pictures, rows, columns,
 * channels) without a border, in float32:
 *
 *     conv_forward    y, f'(y) of x: gelu(b + sum x w)
 *     conv_by_input   D of the map before: (sum over taps and o of d w) f'
 *     conv_by_weights dw, db of a slot of pictures, one row p of the taps a block
 *
 * A block has 8 x 16 positions of a picture, whose surroundings it keeps in shared memory, some
 * channels at a time. A thread has four positions side by side and four channels, so that what it
 * loads serves many products.
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
    CONV_GROUPS = 32,  /* of four positions side by side */
    CONV_TOGETHER = 16 /* channels in shared memory at a time */
};

static __device__ __forceinline__ float conv_place(int i, int count)
{
    return (2 * (float)i + 1) / (float)count - 1;
}

/* Four channels from k on of a position of x (height, width, IN), 0 beyond the border; where there
 * are fewer than CONV_TOGETHER, one. */
template <int IN>
static __device__ __forceinline__ float4 conv_input(const float *x, int height, int width, int i,
                                                    int j, int k)
{
    float4 v = make_float4(0, 0, 0, 0);
    if (i >= 0 && j >= 0 && i < height && j < width) {
        const float *at = x + ((size_t)i * width + j) * IN + k;
        if (IN >= CONV_TOGETHER) {
            v = *(const float4 *)at;
        } else {
            v.x = *at;
        }
    }
    return v;
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

/* Channels from `first` on of the surroundings, each a plane. */
template <int IN, int STRIDE, int THREADS>
static __device__ __forceinline__ void conv_fetch(const float *from, int height, int width, int i0,
                                                  int j0, int first, float *x)
{
    typedef conv_patch<IN, STRIDE> patch;
    const int step = IN < CONV_TOGETHER ? 1 : 4;
    const int groups = patch::together / step;
    UNROLL_BY(6)
    for (int n = threadIdx.x; n < patch::rows * patch::cols * groups; n += THREADS) {
        int k = n % groups * step;
        int at = n / groups;
        float4 v = conv_input<IN>(from, height, width, i0 + at / patch::cols, j0 + at % patch::cols,
                                  first + k);
        x[k * patch::plane + at] = v.x;
        if (step == 4) {
            x[(k + 1) * patch::plane + at] = v.y;
            x[(k + 2) * patch::plane + at] = v.z;
            x[(k + 3) * patch::plane + at] = v.w;
        }
    }
}

template <int IN, int OUT, int STRIDE>
static __global__ void __launch_bounds__(CONV_GROUPS *OUT / 4) conv_forward(conv_layer l)
{
    typedef conv_patch<IN, STRIDE> patch;
    const int THREADS = CONV_GROUPS * OUT / 4;
    const int SPAN = 3 * STRIDE + 3;
    EXTERN_SHARED(float, weight); /* (9, together, OUT) */
    float *x = weight + 9 * patch::together * OUT;
    int t = threadIdx.x;
    int across = (l.wide + CONV_WIDE - 1) / CONV_WIDE;
    int row0 = (int)blockIdx.x / across * CONV_HIGH;
    int col0 = (int)blockIdx.x % across * CONV_WIDE;
    size_t b = blockIdx.y;
    int o = t % (OUT / 4) * 4;
    int row = t / (OUT / 4) / 4;
    int col = t / (OUT / 4) % 4 * 4;
    const float *from = l.x + b * l.height * l.width * IN;
    float sum[4][4];
    for (int a = 0; a < 16; a++) {
        sum[a / 4][a % 4] = 0;
    }
    for (int first = 0; first < IN; first += patch::together) {
        conv_fetch<IN, STRIDE, THREADS>(from, l.height, l.width, row0 * STRIDE - 1,
                                        col0 * STRIDE - 1, first, x);
        UNROLL_BY(6)
        for (int n = t; n < 9 * patch::together * OUT / 4; n += THREADS) {
            int tap = n / (patch::together * OUT / 4);
            int rest = n % (patch::together * OUT / 4);
            ((float4 *)weight)[n] = ((const float4 *)(l.weights + (tap * IN + first) * OUT))[rest];
        }
        __syncthreads();
        for (int k = 0; k < patch::together; k++) {
            UNROLL
            for (int p = 0; p < 3; p++) {
                float span[SPAN];
                const float *at =
                    x + k * patch::plane + (row * STRIDE + p) * patch::cols + col * STRIDE;
                UNROLL
                for (int n = 0; n < SPAN; n++) {
                    span[n] = at[n];
                }
                UNROLL
                for (int q = 0; q < 3; q++) {
                    float4 w =
                        *(const float4 *)(weight + ((3 * p + q) * patch::together + k) * OUT + o);
                    UNROLL
                    for (int a = 0; a < 4; a++) {
                        float v = span[a * STRIDE + q];
                        sum[a][0] += v * w.x;
                        sum[a][1] += v * w.y;
                        sum[a][2] += v * w.z;
                        sum[a][3] += v * w.w;
                    }
                }
            }
        }
        __syncthreads();
    }
    float4 bias = *(const float4 *)(l.weights + 9 * IN * OUT + o);
    int i = row0 + row;
    for (int a = 0; a < 4; a++) {
        int j = col0 + col + a;
        if (i < l.high && j < l.wide) {
            size_t to = ((b * l.high + i) * l.wide + j) * OUT + o;
            float2 f[4] = {dense_gelu(sum[a][0] + bias.x), dense_gelu(sum[a][1] + bias.y),
                           dense_gelu(sum[a][2] + bias.z), dense_gelu(sum[a][3] + bias.w)};
            *(float4 *)(l.y + to) = make_float4(f[0].x, f[1].x, f[2].x, f[3].x);
            if (l.slope != NULL) {
                *(float4 *)(l.slope + to) = make_float4(f[0].y, f[1].y, f[2].y, f[3].y);
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
static __global__ void __launch_bounds__(CONV_GROUPS *IN / 4)
    conv_by_input(conv_layer l, const float *slope, float *back)
{
    typedef conv_fan<IN, STRIDE> fan;
    const int THREADS = CONV_GROUPS * IN / 4;
    const int LANES = CONV_TOGETHER / 4;
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
    int k = t % (IN / 4) * 4;
    int row = t / (IN / 4) / 4;
    int col = t / (IN / 4) % 4 * 4;
    const float *from = l.back + b * l.high * l.wide * OUT;
    float sum[4][4];
    for (int n = 0; n < 16; n++) {
        sum[n / 4][n % 4] = 0;
    }
    for (int first = 0; first < OUT; first += CONV_TOGETHER) {
        UNROLL_BY(6)
        for (int n = t; n < fan::rows * fan::cols * LANES; n += THREADS) {
            int o = n % LANES * 4;
            int at = n / LANES;
            int i = row0 - (STRIDE == 1 ? 1 : 0) + at / fan::cols;
            int j = col0 - (STRIDE == 1 ? 1 : 0) + at % fan::cols;
            float4 v = conv_input<OUT>(from, l.high, l.wide, i, j, first + o);
            d[o * fan::plane + at] = v.x;
            d[(o + 1) * fan::plane + at] = v.y;
            d[(o + 2) * fan::plane + at] = v.z;
            d[(o + 3) * fan::plane + at] = v.w;
        }
        UNROLL_BY(6)
        for (int n = t; n < 9 * IN * LANES; n += THREADS) {
            int o = n % LANES * 4;
            int row_of = n / LANES; /* tap, input channel */
            float4 v = *(const float4 *)(l.weights + row_of * OUT + first + o);
            float *to = weight + (row_of / IN * CONV_TOGETHER + o) * fan::pitch + row_of % IN;
            to[0] = v.x;
            to[fan::pitch] = v.y;
            to[2 * fan::pitch] = v.z;
            to[3 * fan::pitch] = v.w;
        }
        __syncthreads();
        for (int o = 0; o < CONV_TOGETHER; o++) {
            for (int r = 0; r < conv_taps<STRIDE>(a); r++) {
                float span[6];
                const float *at = d + o * fan::plane + (row + r) * fan::cols + col;
                UNROLL
                for (int n = 0; n < (STRIDE == 1 ? 6 : 5); n++) {
                    span[n] = at[n];
                }
                UNROLL
                for (int s = 0; s < 3; s++) {
                    if (s < conv_taps<STRIDE>(c)) {
                        int tap = 3 * conv_tap<STRIDE>(a, r) + conv_tap<STRIDE>(c, s);
                        float4 w =
                            *(const float4 *)(weight + (tap * CONV_TOGETHER + o) * fan::pitch + k);
                        UNROLL
                        for (int n = 0; n < 4; n++) {
                            float v = span[n + s];
                            sum[n][0] += v * w.x;
                            sum[n][1] += v * w.y;
                            sum[n][2] += v * w.z;
                            sum[n][3] += v * w.w;
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
            size_t to = ((b * l.height + u) * l.width + v) * IN + k;
            float4 f = *(const float4 *)(slope + to);
            *(float4 *)(back + to) =
                make_float4(sum[n][0] * f.x, sum[n][1] * f.y, sum[n][2] * f.z, sum[n][3] * f.w);
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
    static_assert(sums <= CONV_POSITIONS * OUT, "shares are added where D was");
    static_assert(threads <= patch, "and the bias where x was");
};

/* D and x of a tile into shared memory; of x those rows that row p of the taps sees. */
template <int IN, int OUT, int STRIDE>
static __device__ __forceinline__ void conv_outer_fetch(const conv_layer &l, size_t b, int row0,
                                                        int col0, int p, float *d, float *x)
{
    typedef conv_outer<IN, OUT, STRIDE> outer;
    const int step = IN < CONV_TOGETHER ? 1 : 4;
    const float *back = l.back + b * l.high * l.wide * OUT;
    const float *from = l.x + b * l.height * l.width * IN;
    UNROLL_BY(6)
    for (int n = threadIdx.x; n < CONV_POSITIONS * OUT / 4; n += outer::threads) {
        int at = n / (OUT / 4);
        ((float4 *)d)[n] = conv_input<OUT>(back, l.high, l.wide, row0 + at / CONV_WIDE,
                                           col0 + at % CONV_WIDE, n % (OUT / 4) * 4);
    }
    UNROLL_BY(6)
    for (int n = threadIdx.x; n < outer::patch / step; n += outer::threads) {
        int at = n / (IN / step);
        float4 v =
            conv_input<IN>(from, l.height, l.width, (row0 + at / outer::cols) * STRIDE - 1 + p,
                           col0 * STRIDE - 1 + at % outer::cols, n % (IN / step) * step);
        if (step == 4) {
            ((float4 *)x)[n] = v;
        } else {
            x[n] = v.x;
        }
    }
}

/* gradient of a slot (at a distance of `pitch` from the next), row blockIdx.y of taps. */
template <int IN, int OUT, int STRIDE>
static __global__ void __launch_bounds__(conv_outer<IN, OUT, STRIDE>::threads)
    conv_by_weights(conv_layer l, picture_slots slots, float *gradient, size_t pitch)
{
    typedef conv_outer<IN, OUT, STRIDE> outer;
    const int M = outer::mine;
    const int LANES = outer::threads / OUT; /* that add the bias */
    EXTERN_SHARED(float, d);                /* (positions, OUT) */
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
    for (int n = 0; n < 4 * M; n++) {
        sum[n / 4][n % 4] = 0;
    }
    for (int b = picture_begin(slots, slot); b < picture_begin(slots, slot + 1); b++) {
        for (int tile = 0; tile < across * down; tile++) {
            conv_outer_fetch<IN, OUT, STRIDE>(l, b, tile / across * CONV_HIGH,
                                              tile % across * CONV_WIDE, p, d, x);
            __syncthreads();
            UNROLL_BY(4)
            for (int n = share; n < CONV_POSITIONS; n += outer::shares) {
                const float *at =
                    x + ((n / CONV_WIDE) * outer::cols + n % CONV_WIDE * STRIDE + q) * IN + k;
                float4 v = *(const float4 *)(d + n * OUT + o);
                float in[M];
                if (M == 4) {
                    float4 four = *(const float4 *)at;
                    in[0] = four.x;
                    in[1 % M] = four.y;
                    in[2 % M] = four.z;
                    in[3 % M] = four.w;
                } else {
                    in[0] = *at;
                }
                UNROLL
                for (int m = 0; m < M; m++) {
                    sum[m][0] += in[m] * v.x;
                    sum[m][1] += in[m] * v.y;
                    sum[m][2] += in[m] * v.z;
                    sum[m][3] += in[m] * v.w;
                }
            }
            for (int n = t / OUT; n < CONV_POSITIONS && p == 0 && t < LANES * OUT; n += LANES) {
                bias += d[n * OUT + t % OUT];
            }
            __syncthreads();
        }
    }
    for (int n = 0; n < 4 * M && share > 0; n++) {
        d[((share - 1) * 4 * M + n) * outer::parts + part] = sum[n / 4][n % 4];
    }
    x[t] = bias;
    __syncthreads();
    float *to = gradient + slot * pitch;
    for (int n = 0; n < 4 * M && share == 0; n++) {
        float all = sum[n / 4][n % 4];
        for (int s = 1; s < outer::shares; s++) {
            all += d[((s - 1) * 4 * M + n) * outer::parts + part];
        }
        to[(size_t)((3 * p + q) * IN + k + n / 4) * OUT + o + n % 4] = all;
    }
    if (p == 0 && t < OUT) {
        for (int lane = 1; lane < LANES; lane++) {
            bias += x[lane * OUT + t];
        }
        to[(size_t)9 * IN * OUT + t] = bias;
    }
}

#endif
