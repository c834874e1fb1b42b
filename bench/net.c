/* One training step of the paper's decoder, 5-16-64-64-64-100 with GELU and without biases, on 16
 * 384 rows in float: forward, squared error, back to parameters and input, Adam. Prints one line of
 * JSON: seconds, best of 60; the products alone (the same GEMMs, chunk by chunk, on one core, over
 * the threads); the threads used. bench/net_torch.py is the peer. */
#include "base/rng.h"
#include "base/threads.h"
#include "clock.h"
#include "net/network.h"
#include "net/optimiser.h"

#include <stdio.h>

enum { ROWS = 16384, CHUNK = 128, IN = 5, OUT = 100, RUNS = 60 };

typedef struct decoder {
    network_f32 net;
    optimiser_f32 adam;
    float *parameters, *gradient;
    float *z, *dz; /* (ROWS, IN) */
    float *x;      /* (ROWS, OUT) */
} decoder;

static network_shape shape;

static device cpu;

static void lay_out(decoder *d, arena *a)
{
    size_t count = network_count(&shape);
    optimiser_settings settings = optimiser_adam();
    network_f32_lay_out(&d->net, a, &shape, 0, &cpu);
    optimiser_f32_lay_out(&d->adam, a, count, &settings, &cpu);
    d->parameters = arena_take(a, count, sizeof(float));
    d->gradient = arena_take(a, count, sizeof(float));
    d->z = arena_take(a, ROWS * (size_t)IN, sizeof(float));
    d->dz = arena_take(a, ROWS * (size_t)IN, sizeof(float));
    d->x = arena_take(a, ROWS * (size_t)OUT, sizeof(float));
}

static double squared_error(void *self, size_t first, size_t n, float *y)
{
    const decoder *d = self;
    return cpu.backend_f32->residual(&cpu, n * OUT, 2, d->x + first * OUT, y);
}

static void step(decoder *d)
{
    optimiser_group all = {network_count(&shape), 8e-4};
    const network_batch_f32 batch = {.parameters = d->parameters,
                                     .n = ROWS,
                                     .input = d->z,
                                     .gradient = d->gradient,
                                     .input_gradient = d->dz};
    (void)network_f32_pass(&d->net, &batch, squared_error, d);
    optimiser_f32_step(&d->adam, &all, 1, d->parameters, d->gradient);
}

/* The GEMMs of one chunk: forward, weights, input. */
static void products(const decoder *d)
{
    const backend_f32 *b = cpu.backend_f32;
    for (size_t l = 0; l < shape.layers; l++) {
        size_t in = shape.layer[l].in;
        size_t out = shape.layer[l].out;
        const float *w = d->parameters + network_offset(&shape, l);
        const float *h = l > 0 ? d->net.value[l - 1] : d->z;
        b->gemm(
            &cpu,
            &(product_f32){
                .m = CHUNK, .n = out, .k = in, .alpha = 1, .a = h, .b = w, .c = d->net.value[l]});
        b->gemm(&cpu, &(product_f32){.flip_a = true,
                                     .m = in,
                                     .n = out,
                                     .k = CHUNK,
                                     .alpha = 1,
                                     .a = h,
                                     .b = d->net.value[l],
                                     .c = d->gradient + network_offset(&shape, l)});
        b->gemm(&cpu, &(product_f32){.flip_b = true,
                                     .m = CHUNK,
                                     .n = in,
                                     .k = out,
                                     .alpha = 1,
                                     .a = d->net.value[l],
                                     .b = w,
                                     .c = d->dz});
    }
}

int main(void)
{
    decoder d = {0};
    arena memory = {0};
    double whole = 0;
    double one = 0;
    shape = network_dense(&(network_stack){.layers = 5,
                                           .width = (size_t[]){IN, 16, 64, 64, 64, OUT},
                                           .between = ACTIVATION_GELU,
                                           .last = ACTIVATION_IDENTITY});
    (void)device_open(&cpu, LSCM_DEVICE_CPU, NULL, NULL);
    lay_out(&d, &memory);
    if (arena_open(&memory, NULL) != LSCM_OK) {
        return 1;
    }
    lay_out(&d, &memory);
    network_f32_draw(&shape, (rng){1, 1}, d.parameters, NULL);
    for (size_t i = 0; i < ROWS * (size_t)IN; i++) {
        d.z[i] = (float)rng_normal((rng){1, 2}, i);
    }
    for (size_t i = 0; i < ROWS * (size_t)OUT; i++) {
        d.x[i] = (float)rng_normal((rng){1, 3}, i);
    }
    BEST_OF(whole, RUNS, step(&d));
    threads_blas_single();
    BEST_OF(one, 10 * RUNS, products(&d));
    threads_blas_restore();
    double threads = (double)d.net.workers;
    (void)printf("{\"step\": %.6f, \"products\": %.6f, \"threads\": %.0f}\n", whole,
                 one * ROWS / CHUNK / threads, threads);
    arena_close(&memory);
    device_close(&cpu);
    return 0;
}
