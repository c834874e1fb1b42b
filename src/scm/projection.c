#include "scm/projection.h"

#include "base/rng.h"
#include "scm/streams.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { SQUARE = 10, GRID = 5 };

/* c (m, n) = a (m, k) b (k, n) */
static void multiply(size_t m, size_t n, size_t k, const double *a, const double *b, double *c)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1, a, (int)k, b,
                (int)n, 0, c, (int)n);
}

static void relu(double *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        h[i] = h[i] > 0 ? h[i] : 0;
    }
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

/* Numbers beyond 2 sd are drawn again, each from the next index of its own arithmetic sequence. */
static void draw_layer(rng r, uint64_t first, uint64_t step, size_t fan_in, size_t n, double *w)
{
    double scale = 1 / sqrt((double)fan_in);
    for (size_t i = 0; i < n; i++) {
        uint64_t index = first + i;
        double value = rng_normal(r, index);
        while (fabs(value) > 2) {
            index += step;
            value = rng_normal(r, index);
        }
        w[i] = scale * value;
    }
}

static void draw_mlp(const projection *p, const lscm_simulation *s)
{
    rng r = {(uint64_t)s->seed, STREAM_PROJECTION};
    size_t first = p->d * p->features;
    size_t square = p->features * p->features;
    uint64_t step = first + 2 * square;
    draw_layer(r, 0, step, p->d, first, p->matrix[0]);
    draw_layer(r, first, step, p->features, square, p->matrix[1]);
    draw_layer(r, first + square, step, p->features, square, p->matrix[2]);
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
        multiply(d, d, d, term, k, next);
        for (size_t i = 0; i < d * d; i++) {
            term[i] = next[i] / n;
            out[i] += term[i];
        }
    }
    for (; squarings > 0; squarings--) {
        multiply(d, d, d, out, out, next);
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
    exponential(d, k, k + d * d, k + 2 * d * d, p->matrix[0]);
done:
    arena_close(&scratch);
    return status;
}

/* The paper's ten cells first, then the free ones in reading order. */
static void place_squares(const projection *p)
{
    static const size_t paper[10][2] = {{0, 0}, {0, 4}, {4, 0}, {4, 4}, {2, 2},
                                        {1, 1}, {1, 3}, {3, 1}, {3, 3}, {0, 2}};
    size_t cells = p->side / SQUARE;
    size_t node = 0;
    for (; node < p->d && node < 10; node++) {
        p->square[node] = (paper[node][0] * p->side + paper[node][1]) * SQUARE;
    }
    for (size_t cell = 0; node < p->d; cell++) {
        size_t pixel = ((cell / cells) * p->side + cell % cells) * SQUARE;
        bool taken = false;
        for (size_t k = 0; k < 10; k++) {
            taken = taken || p->square[k] == pixel;
        }
        if (!taken) {
            p->square[node++] = pixel;
        }
    }
}

static void measure(projection *p, const lscm_simulation *s)
{
    p->features = (size_t)s->features;
    if (p->kind == PROJECTION_SON || p->kind == PROJECTION_IDENTITY) {
        p->features = p->d;
    } else if (p->kind == PROJECTION_IMAGE) {
        size_t cells = GRID;
        while (cells * cells < p->d) {
            cells++;
        }
        p->side = cells * SQUARE;
        p->features = p->side * p->side;
    }
}

static void lay_out(projection *p, arena *a)
{
    if (p->kind == PROJECTION_IMAGE) {
        p->square = arena_take(a, p->d, sizeof *p->square);
    } else if (p->kind != PROJECTION_IDENTITY) {
        p->matrix[0] = arena_take(a, p->d * p->features, sizeof(double));
    }
    for (int layer = 1; layer < PROJECTION_LAYERS && p->kind == PROJECTION_MLP; layer++) {
        p->matrix[layer] = arena_take(a, p->features * p->features, sizeof(double));
    }
}

lscm_status projection_random(projection *out, const lscm_simulation *settings, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    projection p = {.kind = (projection_kind)settings->projection, .d = (size_t)settings->nodes};
    measure(&p, settings);
    if (p.features < p.d) {
        return fail(
            why, LSCM_USAGE,
            "'features' is %zu but there are %zu nodes; x needs at least as many dimensions as z",
            p.features, p.d);
    }
    lay_out(&p, &p.memory);
    TRY(arena_open(&p.memory, why));
    lay_out(&p, &p.memory);
    switch (p.kind) {
    case PROJECTION_LINEAR:
        draw_linear(&p, settings);
        break;
    case PROJECTION_MLP:
        draw_mlp(&p, settings);
        break;
    case PROJECTION_SON:
        TRY(draw_son(&p, settings, why));
        break;
    case PROJECTION_IMAGE:
        place_squares(&p);
        break;
    case PROJECTION_IDENTITY:
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
    return p->kind == PROJECTION_MLP ? n * p->features : 0;
}

static void paint(const projection *p, size_t n, const double *z, double *x)
{
    memset(x, 0, n * p->features * sizeof *x);
    for (size_t r = 0; r < n; r++) {
        for (size_t i = 0; i < p->d; i++) {
            double light = z[r * p->d + i] / 16 + 0.5;
            double *corner = x + r * p->features + p->square[i];
            for (size_t pixel = 0; pixel < (size_t)SQUARE * SQUARE; pixel++) {
                corner[pixel / SQUARE * p->side + pixel % SQUARE] = light;
            }
        }
    }
}

void projection_apply(const projection *p, size_t n, const double *z, double *scratch, double *x)
{
    size_t D = p->features;
    switch (p->kind) {
    case PROJECTION_IMAGE:
        paint(p, n, z, x);
        break;
    case PROJECTION_IDENTITY:
        memcpy(x, z, n * D * sizeof *x);
        break;
    case PROJECTION_MLP:
        multiply(n, D, p->d, z, p->matrix[0], x);
        relu(x, n * D);
        multiply(n, D, D, x, p->matrix[1], scratch);
        relu(scratch, n * D);
        multiply(n, D, D, scratch, p->matrix[2], x);
        break;
    case PROJECTION_LINEAR:
    case PROJECTION_SON:
        multiply(n, D, p->d, z, p->matrix[0], x);
        break;
    }
}
