#include "base/rng.h"
#include "base/streams.h"
#include "base/threads.h"
#include "scm/simulate/model.h"
#include "scm/simulate/projection_parts.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

void projection_multiply(size_t m, size_t n, size_t k, const double *a, const double *b, double *c)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1, a, (int)k, b,
                (int)n, 0, c, (int)n);
}

static void draw_linear(const projection *p, const lscm_simulation *s)
{
    size_t n = p->d * p->features;
    rng_uniforms((rng){(uint64_t)s->seed, STREAM_PROJECTION}, 0, n, p->matrix[0]);
    for (size_t i = 0; i < n; i++) {
        p->matrix[0][i] =
            s->projection_low + (s->projection_high - s->projection_low) * p->matrix[0][i];
    }
}

/* out = exp(k) for a small d x d matrix: Taylor series of k/2^s, squared s times. */
static void exponential(size_t d, double *k, double *term, double *next, double *out)
{
    double norm = 0;
    int squarings = 0;
    for (size_t i = 0; i < d * d; i++) {
        norm += k[i] * k[i];
    }
    norm = sqrt(norm);
    while (norm > 0.5) {
        norm /= 2;
        squarings++;
    }
    for (size_t i = 0; i < d * d; i++) {
        k[i] = ldexp(k[i], -squarings);
        term[i] = out[i] = i % (d + 1) == 0 ? 1 : 0;
    }
    /* 0.5^18/18! < 1e-21 */
    for (int n = 1; n <= 18; n++) {
        projection_multiply(d, d, d, term, k, next);
        for (size_t i = 0; i < d * d; i++) {
            term[i] = next[i] / n;
            out[i] += term[i];
        }
    }
    for (; squarings > 0; squarings--) {
        projection_multiply(d, d, d, out, out, next);
        memcpy(out, next, d * d * sizeof *out);
    }
}

static lscm_status draw_son(const projection *p, const lscm_simulation *s, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    rng r = {(uint64_t)s->seed, STREAM_PROJECTION};
    arena scratch = {0};
    size_t d = p->d;
    (void)arena_take(&scratch, 3 * d * d, sizeof(double));
    TRY(arena_open(&scratch, why));
    double *k = arena_take(&scratch, 3 * d * d, sizeof(double));
    for (size_t i = 0; i < d; i++) {
        for (size_t j = i + 1; j < d; j++) {
            k[j * d + i] = 0.05 * rng_normal(r, i * d + j);
            k[i * d + j] = -k[j * d + i];
        }
    }
    threads_blas_single();
    exponential(d, k, k + d * d, k + 2 * d * d, p->matrix[0]);
    threads_blas_restore();
done:
    arena_close(&scratch);
    return status;
}

static void measure(projection *p, const lscm_simulation *s)
{
    p->features = (size_t)s->features;
    if (p->kind == LSCM_PROJECTION_SON || p->kind == LSCM_PROJECTION_IDENTITY) {
        p->features = p->d;
    } else if (p->kind == LSCM_PROJECTION_IMAGE || p->kind == LSCM_PROJECTION_BLOBS) {
        p->height = p->width = picture_side(p->d);
        p->features = p->height * p->width;
    } else if (p->kind == LSCM_PROJECTION_SCENE) {
        p->height = (size_t)s->size;
        p->width = (size_t)(s->width > 0 ? s->width : s->size);
        p->channels = s->grey ? 1 : SCENE_CHANNELS;
        p->features = p->height * p->width * p->channels;
    }
}

static void lay_out(projection *p, const lscm_simulation *s, arena *a)
{
    if (p->kind == LSCM_PROJECTION_SCENE) {
        scene_lay_out(&p->scene, s, a);
        return;
    }
    if (p->height > 0) {
        p->square = arena_take(a, p->d, sizeof *p->square);
    }
    if (p->kind != LSCM_PROJECTION_IMAGE && p->kind != LSCM_PROJECTION_IDENTITY) {
        p->matrix[0] = arena_take(a, p->d * p->features, sizeof(double));
    }
    for (int layer = 1; layer < PROJECTION_LAYERS && p->kind == LSCM_PROJECTION_MLP; layer++) {
        p->matrix[layer] = arena_take(a, p->features * p->features, sizeof(double));
        if (s->biases) {
            p->bias[layer - 1] = arena_take(a, p->features, sizeof(double));
        }
    }
}

lscm_status projection_random(projection *out, const lscm_simulation *settings, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    projection p = {.kind = settings->projection,
                    .activation = settings->activation,
                    .unit = scm_value_unit(settings),
                    .d = (size_t)settings->nodes,
                    .channels = 1};
    measure(&p, settings);
    if (p.features < p.d) {
        return fail(
            why, LSCM_USAGE,
            "'features' is %zu but there are %zu nodes; x needs at least as many dimensions as z",
            p.features, p.d);
    }
    lay_out(&p, settings, &p.memory);
    TRY(arena_open(&p.memory, why));
    lay_out(&p, settings, &p.memory);
    switch (p.kind) {
    case LSCM_PROJECTION_LINEAR:
        draw_linear(&p, settings);
        break;
    case LSCM_PROJECTION_MLP:
        network_draw(&p, settings);
        break;
    case LSCM_PROJECTION_SON:
        TRY(draw_son(&p, settings, why));
        break;
    case LSCM_PROJECTION_IMAGE:
    case LSCM_PROJECTION_BLOBS:
        picture_place(&p);
        break;
    case LSCM_PROJECTION_SCENE:
        scene_draw_up(&p.scene, settings);
        break;
    case LSCM_PROJECTION_IDENTITY:
        break;
    }
    *out = p;
done:
    if (status != LSCM_OK) {
        projection_close(&p);
    }
    return status;
}

void projection_close(projection *p)
{
    arena_close(&p->memory);
}

size_t projection_scratch(const projection *p, size_t n)
{
    return p->kind == LSCM_PROJECTION_MLP ? n * p->features : 0;
}

void projection_apply(const projection *p, size_t n, const double *z, double *scratch, double *x)
{
    size_t D = p->features;
    switch (p->kind) {
    case LSCM_PROJECTION_IMAGE:
        picture_squares(p, n, z, x);
        break;
    case LSCM_PROJECTION_BLOBS:
        picture_blobs(p, n, z, x);
        break;
    case LSCM_PROJECTION_SCENE:
        for (size_t r = 0; r < n; r++) {
            scene_apply(&p->scene, z + r * p->d, x + r * D);
        }
        break;
    case LSCM_PROJECTION_IDENTITY:
        memcpy(x, z, n * D * sizeof *x);
        break;
    case LSCM_PROJECTION_MLP:
        network_apply(p, n, z, scratch, x);
        break;
    case LSCM_PROJECTION_LINEAR:
    case LSCM_PROJECTION_SON:
        projection_multiply(n, D, p->d, z, p->matrix[0], x);
        break;
    }
}
