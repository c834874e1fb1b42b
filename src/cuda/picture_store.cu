#include "cuda/picture_machine.h"

#include <stdlib.h>

static void lay_out(picture_store *s)
{
    const picture_plates *p = &s->plates;
    size_t pixels = p->height * p->width;
    size_t numbers = p->count * pixels * p->channels;
    uint8_t *bytes = NULL;
    float *floats = NULL;
    float *backdrop = NULL;
    if (p->bytes != NULL) {
        pool_take(&s->pool, &bytes, numbers);
    } else {
        pool_take(&s->pool, &floats, numbers);
    }
    pool_take(&s->pool, &backdrop, pixels * p->channels);
    pool_take(&s->pool, &s->reach, pixels);
    conv_source source = {bytes, floats, backdrop, (float)(1 / p->scale), NULL, (int)p->channels};
    s->source = source;
}

static lscm_status fill(const picture_store *s, const picture_plates *p, cudaStream_t stream,
                        lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t pixels = p->height * p->width;
    size_t numbers = p->count * pixels * p->channels;
    TRY(p->bytes != NULL
            ? cuda_put((void *)s->source.bytes, p->bytes, numbers, stream, why)
            : cuda_put((void *)s->source.floats, p->floats, numbers * sizeof(float), stream, why));
    TRY(cuda_put((void *)s->source.backdrop, p->backdrop, pixels * p->channels * sizeof(float),
                 stream, why));
    TRY(cuda_put(s->reach, p->reach, pixels * sizeof(double), stream, why));
    TRY(cuda_done(cudaStreamSynchronize(stream), "working", why));
done:
    return status;
}

lscm_status picture_store_keep(picture_store **out, const device *on, const picture_plates *p,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    cudaStream_t stream = NULL;
    picture_store *s = (picture_store *)calloc(1, sizeof *s);
    if (s == NULL) {
        return fail_memory(why, sizeof *s);
    }
    s->on = on;
    s->plates = *p;
    TRY(cuda_enter(on, why));
    TRY(cuda_done(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "beginning", why));
    lay_out(s);
    TRY(pool_open(&s->pool, why));
    lay_out(s);
    TRY(fill(s, p, stream, why));
    *out = s;
    s = NULL;
done:
    if (stream != NULL) {
        (void)cudaStreamDestroy(stream);
    }
    picture_store_drop(s);
    return status;
}

void picture_store_drop(picture_store *s)
{
    if (s != NULL) {
        pool_close(&s->pool);
        free(s);
    }
}
