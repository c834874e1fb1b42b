/* See layer.h. With X, A = op(X), Y = f(A) and D = dloss/dY: D <- D f'(A), and for a dense layer
 *
 *   dW += X' D,   db += column sums of D,   dloss/dX = D W'.
 *
 * f'(A) is found together with f(A) and kept. */
#include <math.h>

static void dense_forward(const LAYER_RUN *r)
{
    const layer *at = r->at;
    const BACKEND *backend = r->on->BACKEND;
    backend->gemm(r->on, &(PRODUCT){.m = r->rows,
                                    .n = at->out,
                                    .k = at->in,
                                    .alpha = 1,
                                    .a = r->x,
                                    .b = r->parameters,
                                    .c = r->y});
    backend->activate(r->on, at->f, r->rows, at->out,
                      at->bias ? r->parameters + at->in * at->out : NULL, r->y, r->slope);
}

static void dense_back(const LAYER_RUN *r)
{
    const layer *at = r->at;
    r->on->BACKEND->activate_back(r->on, r->rows, at->out, r->slope, r->d, r->beta,
                                  at->bias ? r->gradient + at->in * at->out : NULL);
}

static void dense_by_parameters(const LAYER_RUN *r)
{
    r->on->BACKEND->gemm(r->on, &(PRODUCT){.flip_a = true,
                                           .m = r->at->in,
                                           .n = r->at->out,
                                           .k = r->rows,
                                           .alpha = 1,
                                           .beta = r->beta,
                                           .a = r->x,
                                           .b = r->d,
                                           .c = r->gradient});
}

static void dense_by_input(const LAYER_RUN *r)
{
    r->on->BACKEND->gemm(r->on, &(PRODUCT){.flip_b = true,
                                           .m = r->rows,
                                           .n = r->at->in,
                                           .k = r->at->out,
                                           .alpha = 1,
                                           .a = r->d,
                                           .b = r->parameters,
                                           .c = r->dx});
}

/* Weights N(0, 1/fan_in) cut at two standard deviations, zero biases. */
static void dense_draw(const layer *at, rng r, size_t first, size_t stride, REAL *parameters,
                       REAL *running) /* NOLINT(readability-non-const-parameter): as the table */
{
    size_t weights = at->in * at->out;
    double scale = 1 / sqrt((double)at->in);
    (void)running;
    for (size_t i = 0; i < weights; i++) {
        /* each parameter has its own arithmetic sequence of numbers to draw again from */
        uint64_t index = first + i;
        double value = rng_normal(r, index);
        while (fabs(value) > 2) {
            index += stride;
            value = rng_normal(r, index);
        }
        parameters[i] = (REAL)(scale * value);
    }
    for (size_t i = weights; i < layer_count(at); i++) {
        parameters[i] = 0;
    }
}

static void norm_forward(const LAYER_RUN *r)
{
    r->on->BACKEND->norm(r->on, r->norm, r->rows, r->parameters, r->u, r->y, r->running);
    r->on->BACKEND->activate(r->on, r->at->f, r->rows, r->at->out, NULL, r->y, r->slope);
}

static void norm_back(const LAYER_RUN *r)
{
    r->on->BACKEND->activate_back(r->on, r->rows, r->at->out, r->slope, r->d, 0, NULL);
    r->on->BACKEND->norm_back(r->on, r->norm, r->rows, r->parameters, r->d, r->u, r->gradient);
}

/* Shift 0, scale 1; averages 0 and 1. */
static void norm_draw(const layer *at, rng r, size_t first, size_t stride, REAL *parameters,
                      REAL *running)
{
    (void)r;
    (void)first;
    (void)stride;
    for (size_t c = 0; c < at->out; c++) {
        parameters[c] = 0;
        parameters[at->out + c] = 1;
        running[c] = 0;
        running[at->out + c] = 1;
    }
}

static const LAYER_STEPS steps[LAYER_COUNT] = {
    [LAYER_DENSE] = {.forward = dense_forward,
                     .back = dense_back,
                     .by_parameters = dense_by_parameters,
                     .by_input = dense_by_input,
                     .draw = dense_draw},
    [LAYER_NORM] = {.whole = true, .forward = norm_forward, .back = norm_back, .draw = norm_draw},
};

const LAYER_STEPS *NAMED(layer, steps)(const layer *at)
{
    return &steps[at->kind];
}
