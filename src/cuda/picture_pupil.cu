/* A network of pictures that learns (infer/sight/sight_net.h). One step is a list of launches,
 * captured once as a graph:
 *
 *     begin     batch, starts and dials of this step to where kernels look for them
 *     of each group of slots that fits in memory: maps, z (picture_layers.h), pixels
 *               (picture_pixels.h), and the way back
 *     gather    gradient of all slots, added in their order
 *     muon_step
 *     end       losses of this step; the next one's number
 */
#include "cuda/muon.h"
#include "cuda/picture_head_back.h"
#include "cuda/picture_machine.h"
#include "cuda/picture_pixels.h"

#include <stdlib.h>

static const size_t SLOTS_MOST = 128;    /* gradients kept apart */
static const size_t STEPS_TOGETHER = 64; /* whose numbers go to the device at once */
enum { SMALL = 256 };

/* Numbers of the steps that come next, and of the one that is on. */
struct pupil_book {
    uint32_t *pictures, *picture; /* (STEPS_TOGETHER, batch), (batch) */
    double *starts, *start;
    picture_dials *dials, *dial;     /* (STEPS_TOGETHER), 1 */
    double *losses;                  /* (STEPS_TOGETHER, 2) */
    double *label_loss, *pixel_loss; /* (batch), (batch, PIXELS_PARTS) */
    int *step;
};

struct picture_pupil {
    const picture_store *store;
    picture_shape eye;
    pixel_shape brush;
    muon_plan plan;
    size_t batch, slots, slots_here; /* slots that are worked on together */
    size_t count, eyes;              /* parameters: all, of the encoder */
    device_pool pool;
    cudaStream_t stream;
    cudaGraphExec_t graph;
    muon_device muon;
    pupil_book book;
    picture_maps maps;
    head_arrays head;
    pixels_shape pixels;
    pixels_arrays drawn;
    conv_source source;
    float *parameters, *gradient, *labels;
    float *partial; /* (slots, at_keys): of convolutions */
    float *by_keys; /* (slots, HEAD_PARTS, (HEAD_MAPS + 1) keys) */
    float *by_head; /* (HEAD_SHARES, head_weights) */
};

/* ---- Beginning ---- */

static pixels_shape pixels_of(const picture_pupil *t, const picture_lesson *l)
{
    const picture_plates *p = &t->store->plates;
    const cuda_self *on = (const cuda_self *)t->store->on->self;
    pixels_shape s = pixels_shape();
    s.d = (int)t->brush.d;
    s.in = (int)t->brush.in[0];
    s.out = (int)t->brush.out[PIXELS_HIDDEN];
    s.height = (int)p->height;
    s.width = (int)p->width;
    s.channels = (int)p->channels;
    s.pixels = (int)l->pixels;
    for (int k = 0; k <= PIXELS_HIDDEN; k++) {
        s.at[k] = t->brush.at[k];
    }
    s.count = pixel_count(&t->brush);
    s.together = 32;
    s.together = pixels_bytes(s) <= on->shared_most ? 32 : 16;
    return s;
}

/* Pictures worked on together: those of the most numerous run of `here` slots. */
static size_t group_of(const picture_pupil *t)
{
    size_t most = 0;
    for (size_t slot = 0; slot < t->slots; slot += t->slots_here) {
        size_t end = slot + t->slots_here < t->slots ? slot + t->slots_here : t->slots;
        size_t count = end * t->batch / t->slots - slot * t->batch / t->slots;
        most = count > most ? count : most;
    }
    return most;
}

static void lay_out_book(pupil_book *b, device_pool *pool, size_t batch)
{
    pool_take(pool, &b->pictures, STEPS_TOGETHER * batch);
    pool_take(pool, &b->picture, batch);
    pool_take(pool, &b->starts, STEPS_TOGETHER * batch);
    pool_take(pool, &b->start, batch);
    pool_take(pool, &b->dials, STEPS_TOGETHER);
    pool_take(pool, &b->dial, 1);
    pool_take(pool, &b->losses, 2 * STEPS_TOGETHER);
    pool_take(pool, &b->label_loss, batch);
    pool_take(pool, &b->pixel_loss, batch * PIXELS_PARTS);
    pool_take(pool, &b->step, 1);
}

static void lay_out_head(picture_pupil *t, const head_shape *s)
{
    head_arrays *a = &t->head;
    device_pool *pool = &t->pool;
    pool_take(pool, &a->feature, t->batch * s->features);
    pool_take(pool, &a->feature_back, t->batch * s->features);
    pool_take(pool, &a->hidden, t->batch * HEAD_HIDDEN);
    pool_take(pool, &a->hidden_slope, t->batch * HEAD_HIDDEN);
    pool_take(pool, &a->hidden_back, t->batch * HEAD_HIDDEN);
    pool_take(pool, &a->z, t->batch * s->columns);
    pool_take(pool, &a->z_back, t->batch * s->columns);
}

static void lay_out(picture_pupil *t)
{
    const picture_shape *eye = &t->eye;
    head_shape s = picture_head_of(eye);
    device_pool *pool = &t->pool;
    float *by_pixels = NULL;
    float *pixel_gradient = NULL;
    pool_take(pool, &t->parameters, t->count);
    pool_take(pool, &t->gradient, t->count);
    pool_take(pool, &t->labels, t->store->plates.count * eye->d);
    pool_take(pool, &t->partial, t->slots * s.at_keys);
    pool_take(pool, &t->by_keys, t->slots * HEAD_PARTS * (HEAD_MAPS + 1) * s.keys);
    pool_take(pool, &t->by_head, HEAD_SHARES * head_weights(s));
    pool_take(pool, &pixel_gradient, t->slots * PIXELS_PARTS * t->pixels.count);
    pool_take(pool, &by_pixels, t->batch * PIXELS_PARTS * s.columns);
    muon_lay_out(&t->muon, pool, &t->plan);
    lay_out_book(&t->book, pool, t->batch);
    picture_maps_lay_out(&t->maps, pool, eye, group_of(t), true);
    lay_out_head(t, &s);
    head_arrays *a = &t->head;
    a->parameters = t->parameters;
    a->map = t->maps.value[eye->convs];
    a->slope = t->maps.slope[eye->convs];
    a->back = t->maps.back[eye->convs];
    a->key = t->maps.key;
    a->top = t->maps.top;
    a->labels = t->labels;
    a->picture = t->book.picture;
    a->by_pixels = by_pixels;
    a->parts = PIXELS_PARTS;
    a->loss = t->book.label_loss;
    pixels_arrays drawn = {t->parameters != NULL ? t->parameters + t->eyes : NULL,
                           t->store->source,
                           t->store->reach,
                           t->book.start,
                           t->labels,
                           t->book.picture,
                           a->z,
                           s.columns,
                           t->book.dial != NULL ? &t->book.dial->pixel : NULL,
                           by_pixels,
                           t->book.pixel_loss,
                           pixel_gradient};
    t->drawn = drawn;
    t->source = t->store->source;
}

/* As many slots together as there is memory for. */
static lscm_status take_memory(picture_pupil *t, lscm_error *why)
{
    lscm_status status = LSCM_MEMORY;
    for (t->slots_here = t->slots; status == LSCM_MEMORY && t->slots_here > 0;) {
        t->pool.used = 0;
        lay_out(t);
        status = pool_open(&t->pool, why);
        t->slots_here = status == LSCM_MEMORY ? t->slots_here / 2 : t->slots_here;
    }
    if (status == LSCM_OK) {
        lay_out(t);
    }
    return status;
}

static lscm_status allow(const picture_pupil *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const cuda_self *on = (const cuda_self *)t->store->on->self;
    head_shape s = picture_head_of(&t->eye);
    size_t head = head_backward_bytes(s);
    size_t meet = head_meet_bytes(s);
    size_t pixels = pixels_bytes(t->pixels);
    if (head > on->shared_most || meet > on->shared_most || pixels > on->shared_most) {
        return fail(why, LSCM_VALUE,
                    "%zu nodes are too many for networks of pictures on this CUDA device; take "
                    "--device cpu",
                    t->eye.d);
    }
    TRY(picture_allow(&t->eye, why));
    TRY(cuda_done(
        cudaFuncSetAttribute(head_backward, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)head),
        "asking for shared memory", why));
    TRY(cuda_done(
        cudaFuncSetAttribute(head_meet, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)meet),
        "asking for shared memory", why));
    TRY(cuda_done(
        cudaFuncSetAttribute(pixels_draw, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)pixels),
        "asking for shared memory", why));
done:
    return status;
}

lscm_status picture_pupil_open(picture_pupil **out, const picture_store *s, const picture_lesson *l,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    picture_pupil *t = (picture_pupil *)calloc(1, sizeof *t);
    if (t == NULL) {
        return fail_memory(why, sizeof *t);
    }
    t->store = s;
    t->eye = *l->eye;
    t->brush = *l->brush;
    t->plan = *l->plan;
    t->batch = l->batch;
    t->slots = l->batch < SLOTS_MOST ? l->batch : SLOTS_MOST;
    t->eyes = picture_count(l->eye);
    t->count = t->eyes + pixel_count(l->brush);
    t->pixels = pixels_of(t, l);
    TRY(cuda_enter(s->on, why));
    TRY(cuda_done(cudaStreamCreateWithFlags(&t->stream, cudaStreamNonBlocking), "beginning", why));
    TRY(allow(t, why));
    TRY(take_memory(t, why));
    TRY(muon_begin(&t->muon, &t->plan, t->stream, why));
    TRY(cuda_put(t->labels, l->labels, s->plates.count * t->eye.d * sizeof(float), t->stream, why));
    TRY(cuda_done(cudaStreamSynchronize(t->stream), "working", why));
    *out = t;
    t = NULL;
done:
    picture_pupil_close(t);
    return status;
}

void picture_pupil_close(picture_pupil *t)
{
    if (t != NULL) {
        if (t->graph != NULL) {
            (void)cudaGraphExecDestroy(t->graph);
        }
        if (t->stream != NULL) {
            (void)cudaStreamDestroy(t->stream);
        }
        pool_close(&t->pool);
        free(t);
    }
}

lscm_status picture_pupil_put(picture_pupil *t, const float *parameters, const float *state,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(cuda_enter(t->store->on, why));
    TRY(cuda_put(t->parameters, parameters, t->count * sizeof(float), t->stream, why));
    TRY(cuda_put(t->muon.state, state, 2 * t->count * sizeof(float), t->stream, why));
    TRY(cuda_done(cudaStreamSynchronize(t->stream), "working", why));
done:
    return status;
}

lscm_status picture_pupil_get(picture_pupil *t, float *parameters, float *state, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(cuda_enter(t->store->on, why));
    TRY(cuda_get(parameters, t->parameters, t->count * sizeof(float), t->stream, why));
    TRY(cuda_get(state, t->muon.state, 2 * t->count * sizeof(float), t->stream, why));
done:
    return status;
}

/* ---- A step ---- */

static __global__ void pupil_begin(pupil_book b, int batch)
{
    size_t step = *b.step;
    for (int k = threadIdx.x; k < batch; k += SMALL) {
        b.picture[k] = b.pictures[step * batch + k];
        b.start[k] = b.starts[step * batch + k];
    }
    if (threadIdx.x == 0) {
        *b.dial = b.dials[step];
    }
}

/* Sums over the batch, in an order of their own. */
static __global__ void pupil_end(pupil_book b, int batch)
{
    __shared__ double sums[2][SMALL];
    int t = threadIdx.x;
    sums[0][t] = sums[1][t] = 0;
    for (int k = t; k < batch; k += SMALL) {
        sums[0][t] += b.label_loss[k];
    }
    for (int k = t; k < batch * PIXELS_PARTS; k += SMALL) {
        sums[1][t] += b.pixel_loss[k];
    }
    __syncthreads();
    for (int half = SMALL / 2; half > 0; half /= 2) {
        if (t < half) {
            sums[0][t] += sums[0][t + half];
            sums[1][t] += sums[1][t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        b.losses[2 * *b.step] = sums[0][0];
        b.losses[2 * *b.step + 1] = sums[1][0];
        *b.step += 1;
    }
}

/* to (count) <- sum over `parts` rows (pitch apart); 32 numbers a block, eight threads each. */
static __global__ void pupil_gather(size_t count, const float *from, int parts, size_t pitch,
                                    float *to)
{
    enum { NUMBERS = 32, LANES = SMALL / NUMBERS };
    __shared__ float sums[LANES][NUMBERS];
    int k = threadIdx.x % NUMBERS;
    int lane = threadIdx.x / NUMBERS;
    size_t n = (size_t)blockIdx.x * NUMBERS + k;
    float sum = 0;
    for (int part = lane; part < parts && n < count; part += LANES) {
        sum += from[part * pitch + n];
    }
    sums[lane][k] = sum;
    __syncthreads();
    if (lane == 0 && n < count) {
        for (int other = 1; other < LANES; other++) {
            sum += sums[other][k];
        }
        to[n] = sum;
    }
}

/* There and back with the pictures of some slots. */
static void launch_group(const picture_pupil *t, size_t slot)
{
    const picture_shape *eye = &t->eye;
    head_shape s = picture_head_of(eye);
    size_t end = slot + t->slots_here < t->slots ? slot + t->slots_here : t->slots;
    size_t first = slot * t->batch / t->slots;
    size_t count = end * t->batch / t->slots - first;
    picture_slots slots = {(int)t->batch, (int)t->slots, (int)slot};
    conv_source from = t->source;
    from.picture = t->book.picture + first;
    picture_see(eye, &t->maps, &from, &t->head, first, count, t->stream);
    dim3 blocks((unsigned)(end - slot), PIXELS_PARTS);
    LAUNCH(pixels_draw, blocks, 4 * t->pixels.together, pixels_bytes(t->pixels), t->stream,
           t->pixels, t->drawn, slots, (int)first);
    LAUNCH(head_meet, count, HEAD_THREADS, head_meet_bytes(s), t->stream, s, t->head, (int)first,
           &t->book.dial->label);
    dim3 parts((unsigned)(end - slot), HEAD_PARTS);
    LAUNCH(head_backward, parts, HEAD_THREADS, head_backward_bytes(s), t->stream, s, t->head, slots,
           (int)first, t->by_keys);
    picture_see_back(eye, &t->maps, t->parameters, slots, end - slot, count, t->partial, s.at_keys,
                     t->stream);
}

/* to (count) <- sum over `parts` rows that stand one after the other. */
static void gather(const picture_pupil *t, size_t count, const float *from, size_t parts, float *to)
{
    LAUNCH(pupil_gather, (count + 31) / 32, SMALL, 0, t->stream, count, from, (int)parts, count,
           to);
}

static void launch_step(const picture_pupil *t)
{
    head_shape s = picture_head_of(&t->eye);
    const picture_dials *dial = t->book.dial;
    muon_dials dials = {&dial->rate, &dial->adam_rate, &dial->adam_correct};
    LAUNCH(pupil_begin, 1, SMALL, 0, t->stream, t->book, (int)t->batch);
    for (size_t slot = 0; slot < t->slots; slot += t->slots_here) {
        launch_group(t, slot);
    }
    dim3 shares((unsigned)((head_weights(s) + SMALL - 1) / SMALL), HEAD_SHARES);
    LAUNCH(head_by_weights, shares, SMALL, 0, t->stream, s, t->head, (int)t->batch, t->by_head);
    gather(t, s.at_keys, t->partial, t->slots, t->gradient);
    gather(t, (HEAD_MAPS + 1) * (size_t)s.keys, t->by_keys, t->slots * HEAD_PARTS,
           t->gradient + s.at_keys);
    gather(t, head_weights(s), t->by_head, HEAD_SHARES, t->gradient + s.at_first);
    gather(t, t->pixels.count, t->drawn.gradient, t->slots * PIXELS_PARTS, t->gradient + t->eyes);
    muon_step(&t->muon, dials, t->parameters, t->gradient, t->stream);
    LAUNCH(pupil_end, 1, SMALL, 0, t->stream, t->book, (int)t->batch);
}

static lscm_status capture(picture_pupil *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    cudaGraph_t graph = NULL;
    TRY(cuda_done(cudaStreamBeginCapture(t->stream, cudaStreamCaptureModeThreadLocal),
                  "capturing a step", why));
    launch_step(t);
    TRY(cuda_done(cudaStreamEndCapture(t->stream, &graph), "capturing a step", why));
    TRY(cuda_done(cudaGetLastError(), "capturing a step", why));
    TRY(cuda_done(cudaGraphInstantiate(&t->graph, graph, 0), "capturing a step", why));
done:
    if (graph != NULL) {
        (void)cudaGraphDestroy(graph);
    }
    return status;
}

static lscm_status train_some(picture_pupil *t, const picture_steps *all, size_t first,
                              size_t count, double *losses, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const pupil_book *b = &t->book;
    size_t at = first * t->batch;
    size_t pictures = count * t->batch;
    TRY(cuda_put(b->pictures, all->picture + at, pictures * sizeof(uint32_t), t->stream, why));
    TRY(cuda_put(b->starts, all->start + at, pictures * sizeof(double), t->stream, why));
    TRY(cuda_put(b->dials, all->dials + first, count * sizeof *all->dials, t->stream, why));
    TRY(cuda_done(cudaMemsetAsync(b->step, 0, sizeof(int), t->stream), "working", why));
    for (size_t k = 0; k < count; k++) {
        TRY(cuda_done(cudaGraphLaunch(t->graph, t->stream), "taking a step", why));
    }
    TRY(cuda_get(losses + 2 * first, b->losses, 2 * count * sizeof(double), t->stream, why));
done:
    return status;
}

lscm_status picture_pupil_train(picture_pupil *t, const picture_steps *steps, double *losses,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(cuda_enter(t->store->on, why));
    if (t->graph == NULL) {
        TRY(capture(t, why));
    }
    for (size_t k = 0; k < steps->count; k += STEPS_TOGETHER) {
        size_t left = steps->count - k;
        TRY(train_some(t, steps, k, left < STEPS_TOGETHER ? left : STEPS_TOGETHER, losses, why));
    }
done:
    return status;
}

/* ---- What it reads ---- */

lscm_status picture_pupil_ask(picture_pupil *t, size_t count, const uint32_t *picture, float *u,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t group = group_of(t);
    size_t columns = tile_columns(t->eye.d);
    conv_source from = t->source;
    from.picture = t->book.picture;
    float *z = (float *)malloc(group * columns * sizeof *z);
    if (z == NULL) {
        return fail_memory(why, group * columns * sizeof *z);
    }
    TRY(cuda_enter(t->store->on, why));
    for (size_t k = 0; k < count; k += group) {
        size_t n = count - k < group ? count - k : group;
        TRY(cuda_put(t->book.picture, picture + k, n * sizeof *picture, t->stream, why));
        picture_see(&t->eye, &t->maps, &from, &t->head, 0, n, t->stream);
        TRY(cuda_get(z, t->head.z, n * columns * sizeof *z, t->stream, why));
        for (size_t i = 0; i < n * t->eye.d; i++) {
            u[k * t->eye.d + i] = z[i / t->eye.d * columns + i % t->eye.d];
        }
    }
done:
    free(z);
    return status;
}
