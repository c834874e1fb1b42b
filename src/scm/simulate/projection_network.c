/* x = f(f(z A + a) B + b) C: see projection.h. */
#include "base/rng.h"
#include "base/streams.h"
#include "scm/simulate/projection_parts.h"

#include <math.h>

static const double LEAK = 0.2;
static const double CUBIC = 8; /* in units: where h and h^3/(8u)^2 are alike */

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

void network_draw(const projection *p, const lscm_simulation *s)
{
    rng r = {(uint64_t)s->seed, STREAM_PROJECTION};
    rng biases = {(uint64_t)s->seed, STREAM_BIASES};
    size_t first = p->d * p->features;
    size_t square = p->features * p->features;
    uint64_t step = first + 2 * square;
    draw_layer(r, 0, step, p->d, first, p->matrix[0]);
    draw_layer(r, first, step, p->features, square, p->matrix[1]);
    draw_layer(r, first + square, step, p->features, square, p->matrix[2]);
    for (size_t layer = 0; layer < PROJECTION_LAYERS - 1 && s->biases; layer++) {
        rng_normals(biases, layer * p->features, p->features, p->bias[layer]);
        for (size_t i = 0; i < p->features; i++) {
            p->bias[layer][i] *= p->unit;
        }
    }
}

/* h (count) of hidden layer 0 or 1 becomes f(h). */
static void activate(const projection *p, size_t layer, size_t count, double *h)
{
    double unit = p->unit;
    double per_unit = 1 / unit;
    double cubic = 1 / (CUBIC * unit * CUBIC * unit);
    switch (p->activation) {
    case LSCM_ACTIVATION_RELU:
        for (size_t i = 0; i < count; i++) {
            h[i] = h[i] > 0 ? h[i] : 0;
        }
        break;
    case LSCM_ACTIVATION_LEAKY:
        for (size_t i = 0; i < count; i++) {
            h[i] = h[i] > 0 ? h[i] : LEAK * h[i];
        }
        break;
    case LSCM_ACTIVATION_TANH:
        for (size_t i = 0; i < count; i++) {
            h[i] += unit * tanh(h[i] * per_unit);
        }
        break;
    case LSCM_ACTIVATION_SILU:
        for (size_t i = 0; i < count; i++) {
            h[i] /= 1 + exp(-h[i] * per_unit);
        }
        break;
    case LSCM_ACTIVATION_POLYNOMIAL:
        for (size_t i = 0; i < count && layer == 0; i++) {
            h[i] += cubic * h[i] * h[i] * h[i];
        }
        break;
    }
}

/* Rows h (n, D) of a hidden layer, before f, become f(h + bias). */
static void finish_layer(const projection *p, size_t layer, size_t n, double *h)
{
    for (size_t r = 0; r < n && p->bias[layer] != NULL; r++) {
        for (size_t i = 0; i < p->features; i++) {
            h[r * p->features + i] += p->bias[layer][i];
        }
    }
    activate(p, layer, n * p->features, h);
}

void network_apply(const projection *p, size_t n, const double *z, double *hidden, double *x)
{
    size_t D = p->features;
    projection_multiply(n, D, p->d, z, p->matrix[0], x);
    finish_layer(p, 0, n, x);
    projection_multiply(n, D, D, x, p->matrix[1], hidden);
    finish_layer(p, 1, n, hidden);
    projection_multiply(n, D, D, hidden, p->matrix[2], x);
}
