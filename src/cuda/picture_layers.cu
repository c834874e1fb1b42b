#include "cuda/picture_layers.h"

#include "cuda/picture_head_forward.h"

void picture_maps_lay_out(picture_maps *m, device_pool *pool, const picture_shape *s, size_t group,
                          bool back)
{
    pool_take(pool, &m->value[0], group * s->height * s->width * s->conv[0].in);
    for (size_t l = 1; l <= s->convs; l++) {
        const conv *c = &s->conv[l - 1];
        size_t count = group * conv_high(c) * conv_wide(c) * c->out;
        pool_take(pool, &m->value[l], count);
        m->slope[l] = m->back[l] = NULL;
        if (back) {
            pool_take(pool, &m->slope[l], count);
            pool_take(pool, &m->back[l], count);
        }
    }
    pool_take(pool, &m->key, group * s->high * s->wide * s->keys);
    pool_take(pool, &m->top, group * HEAD_MAPS);
}

head_shape picture_head_of(const picture_shape *s)
{
    head_shape h;
    h.high = (int)s->high;
    h.wide = (int)s->wide;
    h.keys = (int)s->keys;
    h.features = (int)s->features;
    h.columns = (int)tile_columns(s->d);
    h.d = (int)s->d;
    h.at_keys = picture_part_at(s, PICTURE_KEYS);
    h.at_first = picture_part_at(s, PICTURE_FIRST);
    h.at_second = picture_part_at(s, PICTURE_SECOND);
    h.at_direct = picture_part_at(s, PICTURE_DIRECT);
    return h;
}

conv_layer picture_layer(const picture_shape *s, const picture_maps *m, size_t l,
                         const float *parameters)
{
    const conv *c = &s->conv[l - 1];
    conv_layer out;
    out.x = m->value[l - 1];
    out.height = (int)c->height;
    out.width = (int)c->width;
    out.high = (int)conv_high(c);
    out.wide = (int)conv_wide(c);
    out.weights = parameters + picture_conv_at(s, l - 1);
    out.y = m->value[l];
    out.slope = m->slope[l];
    out.back = m->back[l];
    return out;
}

static size_t tiles_of(size_t rows, size_t cols)
{
    return ((rows + CONV_HIGH - 1) / CONV_HIGH) * ((cols + CONV_WIDE - 1) / CONV_WIDE);
}

/* ---- One kind of convolution ---- */

/* What is done with a convolution of these sizes; slope and back are of the map before. */
struct conv_work {
    conv_layer layer;
    size_t pictures;
    const float *slope;
    float *back;
    picture_slots slots;
    size_t slots_here;
    float *gradient;
    size_t pitch;
    cudaStream_t stream;
};

typedef void (*conv_step)(const conv_work *w);

struct conv_kind {
    int in, out, stride;
    conv_step forward, by_input, by_weights;
    cudaError_t (*allow)(void);
};

template <int IN, int OUT, int STRIDE> static void forward(const conv_work *w)
{
    dim3 blocks((unsigned)tiles_of(w->layer.high, w->layer.wide), (unsigned)w->pictures);
    LAUNCH((conv_forward<IN, OUT, STRIDE>), blocks, CONV_GROUPS * OUT / 4,
           (conv_forward_bytes<IN, OUT, STRIDE>()), w->stream, w->layer);
}

template <int IN, int OUT, int STRIDE> static void by_input(const conv_work *w)
{
    size_t high = ((size_t)w->layer.height + STRIDE - 1) / STRIDE;
    size_t wide = ((size_t)w->layer.width + STRIDE - 1) / STRIDE;
    dim3 blocks((unsigned)tiles_of(high, wide), (unsigned)w->pictures, STRIDE * STRIDE);
    LAUNCH((conv_by_input<IN, OUT, STRIDE>), blocks, CONV_GROUPS * IN / 4,
           (conv_by_input_bytes<IN, OUT, STRIDE>()), w->stream, w->layer, w->slope, w->back);
}

template <int IN, int OUT, int STRIDE> static void by_weights(const conv_work *w)
{
    typedef conv_outer<IN, OUT, STRIDE> outer;
    dim3 blocks((unsigned)w->slots_here, 3);
    LAUNCH((conv_by_weights<IN, OUT, STRIDE>), blocks, outer::threads, (size_t)outer::bytes,
           w->stream, w->layer, w->slots, w->gradient, w->pitch);
}

template <int IN, int OUT, int STRIDE> static cudaError_t allow(void)
{
    typedef conv_outer<IN, OUT, STRIDE> outer;
    cudaError_t error = cudaFuncSetAttribute(conv_forward<IN, OUT, STRIDE>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             (int)conv_forward_bytes<IN, OUT, STRIDE>());
    return error != cudaSuccess
               ? error
               : cudaFuncSetAttribute(conv_by_weights<IN, OUT, STRIDE>,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, outer::bytes);
}

/* Of the first layer there is no way further back. */
#define FIRST(in, stride)                                                                          \
    {                                                                                              \
        in, 16, stride, forward<in, 16, stride>, NULL, by_weights<in, 16, stride>,                 \
            allow<in, 16, stride>                                                                  \
    }
#define LATER(in, out, stride)                                                                     \
    {                                                                                              \
        in, out, stride, forward<in, out, stride>, by_input<in, out, stride>,                      \
            by_weights<in, out, stride>, allow<in, out, stride>                                    \
    }

static const conv_kind kinds[] = {
    FIRST(3, 1),      FIRST(4, 1),      FIRST(5, 1),      FIRST(6, 1),
    FIRST(3, 2),      FIRST(4, 2),      FIRST(5, 2),      FIRST(6, 2),
    LATER(16, 32, 1), LATER(16, 32, 2), LATER(32, 32, 1), LATER(32, 32, 2),
};

static const conv_kind *kind_of(const conv *c)
{
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if (kinds[k].in == (int)c->in && kinds[k].out == (int)c->out &&
            kinds[k].stride == (int)c->stride) {
            return &kinds[k];
        }
    }
    return NULL;
}

lscm_status picture_allow(const picture_shape *s, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t l = 0; l < s->convs; l++) {
        const conv_kind *kind = kind_of(&s->conv[l]);
        if (kind == NULL) {
            return fail(why, LSCM_USAGE,
                        "the CUDA plug-in has no convolution of %zu to %zu channels; it was built "
                        "from other sources than this library",
                        s->conv[l].in, s->conv[l].out);
        }
        TRY(cuda_done(kind->allow(), "asking for shared memory", why));
    }
    TRY(cuda_done(cudaFuncSetAttribute(head_forward, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       (int)head_forward_bytes(picture_head_of(s))),
                  "asking for shared memory", why));
done:
    return status;
}

enum { SHOW = 256 };

/* A number of x~ a thread: picture blockIdx.y, (height, width, channels + 2). */
static __global__ void __launch_bounds__(SHOW)
    show(conv_source from, int height, int width, float *x)
{
    int in = from.channels + 2;
    int n = (int)(blockIdx.x * SHOW + threadIdx.x);
    if (n >= height * width * in) {
        return;
    }
    size_t b = blockIdx.y;
    int k = n % in;
    int at = n / in;
    float value =
        k == from.channels ? conv_place(at / width, height) : conv_place(at % width, width);
    if (k < from.channels) {
        size_t one = (size_t)at * from.channels + k;
        size_t count = (size_t)height * width * from.channels;
        size_t pixel = (from.picture != NULL ? from.picture[b] : b) * count + one;
        value = from.bytes != NULL ? (float)from.bytes[pixel] : from.floats[pixel];
        value = from.backdrop != NULL ? (value - from.backdrop[one]) * from.inverse : value;
    }
    x[b * height * width * in + n] = value;
}

void picture_see(const picture_shape *s, const picture_maps *m, const conv_source *from,
                 const head_arrays *a, size_t first, size_t count, cudaStream_t stream)
{
    size_t numbers = s->height * s->width * s->conv[0].in;
    dim3 blocks((unsigned)((numbers + SHOW - 1) / SHOW), (unsigned)count);
    LAUNCH(show, blocks, SHOW, 0, stream, *from, (int)s->height, (int)s->width, m->value[0]);
    for (size_t l = 1; l <= s->convs; l++) {
        conv_work w = conv_work();
        w.layer = picture_layer(s, m, l, a->parameters);
        w.pictures = count;
        w.stream = stream;
        kind_of(&s->conv[l - 1])->forward(&w);
    }
    LAUNCH(head_forward, count, HEAD_THREADS, head_forward_bytes(picture_head_of(s)), stream,
           picture_head_of(s), *a, (int)first);
}

void picture_see_back(const picture_shape *s, const picture_maps *m, const float *parameters,
                      picture_slots slots, size_t slots_here, size_t count, float *gradient,
                      size_t pitch, cudaStream_t stream)
{
    for (size_t l = s->convs; l > 0; l--) {
        const conv_kind *kind = kind_of(&s->conv[l - 1]);
        conv_work w = conv_work();
        w.layer = picture_layer(s, m, l, parameters);
        w.pictures = count;
        w.slope = m->slope[l - 1];
        w.back = m->back[l - 1];
        w.slots = slots;
        w.slots_here = slots_here;
        w.gradient = gradient + picture_conv_at(s, l - 1);
        w.pitch = pitch;
        w.stream = stream;
        kind->by_weights(&w);
        if (l > 1) {
            kind->by_input(&w);
        }
    }
}
