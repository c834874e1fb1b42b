/* A network in double with random parameters and input, and a loss with known slopes. */
#ifndef LSCM_TESTS_NET_BENCH_H
#define LSCM_TESTS_NET_BENCH_H

#include "lcg.h"
#include "net/network.h"
#include "on_cpu.h"
#include "testing.h"

/* loss = sum of c_k y_k + y_k^2/2, with c of row r and column j = cos(r + 2 j + 1) */
static inline double coefficient(size_t row, size_t j)
{
    return cos((double)row + 2 * (double)j + 1);
}

static inline double loss_f64(void *self, size_t first, size_t n, double *y)
{
    size_t out = *(const size_t *)self;
    double loss = 0;
    for (size_t i = 0; i < n * out; i++) {
        double c = coefficient(first + i / out, i % out);
        loss += c * y[i] + y[i] * y[i] / 2;
        y[i] = c + y[i];
    }
    return loss;
}

/* A network in double with everything around it. */
typedef struct bench {
    arena memory;
    network_f64 net;
    size_t n, in, out, count;
    double *parameters, *gradient;  /* (count) */
    double *input, *input_gradient; /* (n, in) */
} bench;

static inline void lay_out_bench(bench *b, const network_shape *shape)
{
    network_f64_lay_out(&b->net, &b->memory, shape, b->n, on_cpu());
    b->parameters = arena_take(&b->memory, b->count, sizeof(double));
    b->gradient = arena_take(&b->memory, b->count, sizeof(double));
    b->input = arena_take(&b->memory, b->n * b->in, sizeof(double));
    b->input_gradient = arena_take(&b->memory, b->n * b->in, sizeof(double));
}

static inline void open_bench(bench *b, const network_shape *shape, size_t n, uint64_t seed)
{
    lcg g = {seed};
    *b = (bench){.n = n, .in = network_in(shape), .out = network_out(shape)};
    b->count = network_count(shape);
    lscm_error why;
    assert_ok(network_check(shape, &why));
    lay_out_bench(b, shape);
    assert_ok(arena_open(&b->memory, &why));
    lay_out_bench(b, shape);
    network_f64_draw(shape, (rng){seed, 1}, b->parameters, NULL);
    for (size_t i = 0; i < b->count; i++) {
        b->parameters[i] += 0.1 * lcg_normal(&g); /* biases too */
    }
    for (size_t i = 0; i < n * b->in; i++) {
        b->input[i] = lcg_normal(&g);
    }
}

static inline double pass(bench *b, double *gradient)
{
    network_batch_f64 batch = {.parameters = b->parameters, .n = b->n, .input = b->input};
    batch.gradient = gradient;
    batch.input_gradient = gradient != NULL ? b->input_gradient : NULL;
    return network_f64_pass(&b->net, &batch, loss_f64, &b->out);
}

#endif
