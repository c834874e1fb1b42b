/* Networks that read pictures: all members see a group of pictures before the next one comes. */
#include "cuda/picture_machine.h"

#include <stdlib.h>

enum { TOGETHER = 512 };

struct picture_eyes {
    const device *on;
    picture_shape eye;
    size_t members, group;
    device_pool pool;
    cudaStream_t stream;
    picture_maps maps;
    head_arrays head;
    float *parameters; /* (members, picture_count) */
    float *x;          /* (group, pixels and channels) */
    float *host;       /* (group, columns): z, on the host */
};

static size_t numbers_of(const picture_shape *s)
{
    return s->height * s->width * s->channels;
}

static void lay_out(picture_eyes *e)
{
    const picture_shape *s = &e->eye;
    size_t columns = tile_columns(s->d);
    pool_take(&e->pool, &e->parameters, e->members * picture_count(s));
    pool_take(&e->pool, &e->x, e->group * numbers_of(s));
    picture_maps_lay_out(&e->maps, &e->pool, s, e->group, false);
    pool_take(&e->pool, &e->head.feature, e->group * s->features);
    pool_take(&e->pool, &e->head.hidden, e->group * HEAD_HIDDEN);
    pool_take(&e->pool, &e->head.hidden_slope, e->group * HEAD_HIDDEN);
    pool_take(&e->pool, &e->head.z, e->group * columns);
    e->head.map = e->maps.value[s->convs];
    e->head.key = e->maps.key;
    e->head.top = e->maps.top;
}

static lscm_status take_memory(picture_eyes *e, lscm_error *why)
{
    lscm_status status = LSCM_MEMORY;
    for (e->group = TOGETHER; status == LSCM_MEMORY && e->group > 0;) {
        e->pool.used = 0;
        lay_out(e);
        status = pool_open(&e->pool, why);
        e->group = status == LSCM_MEMORY ? e->group / 2 : e->group;
    }
    if (status == LSCM_OK) {
        lay_out(e);
    }
    return status;
}

lscm_status picture_eyes_look(picture_eyes **out, const device *on, const picture_shape *eye,
                              size_t members, const float *parameters, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    picture_eyes *e = (picture_eyes *)calloc(1, sizeof *e);
    if (e == NULL) {
        return fail_memory(why, sizeof *e);
    }
    e->on = on;
    e->eye = *eye;
    e->members = members;
    TRY(cuda_enter(on, why));
    TRY(cuda_done(cudaStreamCreateWithFlags(&e->stream, cudaStreamNonBlocking), "beginning", why));
    TRY(picture_allow(eye, why));
    TRY(take_memory(e, why));
    e->host = (float *)malloc(e->group * tile_columns(eye->d) * sizeof *e->host);
    if (e->host == NULL) {
        TRY(fail_memory(why, e->group * tile_columns(eye->d) * sizeof *e->host));
    }
    TRY(cuda_put(e->parameters, parameters, members * picture_count(eye) * sizeof(float), e->stream,
                 why));
    TRY(cuda_done(cudaStreamSynchronize(e->stream), "working", why));
    *out = e;
    e = NULL;
done:
    picture_eyes_rest(e);
    return status;
}

void picture_eyes_rest(picture_eyes *e)
{
    if (e != NULL) {
        if (e->stream != NULL) {
            (void)cudaStreamDestroy(e->stream);
        }
        pool_close(&e->pool);
        free(e->host);
        free(e);
    }
}

lscm_status picture_eyes_read(picture_eyes *e, size_t count, const float *x, float *u,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const picture_shape *s = &e->eye;
    size_t d = s->d;
    size_t columns = tile_columns(d);
    size_t numbers = numbers_of(s);
    conv_source from = {NULL, e->x, NULL, 1, NULL, (int)s->channels};
    TRY(cuda_enter(e->on, why));
    for (size_t k = 0; k < count; k += e->group) {
        size_t n = count - k < e->group ? count - k : e->group;
        TRY(cuda_put(e->x, x + k * numbers, n * numbers * sizeof *x, e->stream, why));
        for (size_t m = 0; m < e->members; m++) {
            e->head.parameters = e->parameters + m * picture_count(s);
            picture_see(s, &e->maps, &from, &e->head, 0, n, e->stream);
            TRY(cuda_get(e->host, e->head.z, n * columns * sizeof *e->host, e->stream, why));
            for (size_t i = 0; i < n * d; i++) {
                u[(m * count + k) * d + i] = e->host[i / d * columns + i % d];
            }
        }
    }
    TRY(cuda_done(cudaGetLastError(), "reading pictures", why));
done:
    return status;
}
