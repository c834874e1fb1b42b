/* Networks on batches: float agrees with double, batches may be cut, and the bits are the same for
 * any number of threads. */
#include "net_bench.h"
#include "on_cpu.h"

#include <omp.h>

static lscm_error why;

static double loss_f32(void *self, size_t first, size_t n, float *y)
{
    size_t out = *(const size_t *)self;
    double loss = 0;
    for (size_t i = 0; i < n * out; i++) {
        float c = (float)coefficient(first + i / out, i % out);
        loss += (double)(c * y[i] + y[i] * y[i] / 2);
        y[i] = c + y[i];
    }
    return loss;
}

static network_shape decoder(activation between)
{
    return network_dense(&(network_stack){
        .layers = 4, .width = (size_t[]){5, 16, 64, 33, 50}, .between = between, .bias = true});
}

typedef struct bench_f32 {
    arena memory;
    network_f32 net;
    float *parameters, *gradient, *input, *input_gradient;
} bench_f32;

static void lay_out_f32(bench_f32 *f, const bench *b)
{
    network_f32_lay_out(&f->net, &f->memory, &b->net.shape, b->n, on_cpu());
    f->parameters = arena_take(&f->memory, b->count, sizeof(float));
    f->gradient = arena_take(&f->memory, b->count, sizeof(float));
    f->input = arena_take(&f->memory, b->n * b->in, sizeof(float));
    f->input_gradient = arena_take(&f->memory, b->n * b->in, sizeof(float));
}

static void open_f32(bench_f32 *f, const bench *b)
{
    *f = (bench_f32){0};
    lay_out_f32(f, b);
    assert_ok(arena_open(&f->memory, &why));
    lay_out_f32(f, b);
    for (size_t i = 0; i < b->count; i++) {
        f->parameters[i] = (float)b->parameters[i];
    }
    for (size_t i = 0; i < b->n * b->in; i++) {
        f->input[i] = (float)b->input[i];
    }
}

static double pass_f32(bench_f32 *f, const bench *b)
{
    size_t out = b->out;
    const network_batch_f32 batch = {.parameters = f->parameters,
                                     .n = b->n,
                                     .input = f->input,
                                     .gradient = f->gradient,
                                     .input_gradient = f->input_gradient};
    return network_f32_pass(&f->net, &batch, loss_f32, &out);
}

static void assert_close(const float *x, const double *y, size_t n, double tolerance)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(y[i]));
    }
    for (size_t i = 0; i < n; i++) {
        assert_near(x[i], y[i], tolerance * most);
    }
}

static void float_agrees_with_double(void **state)
{
    (void)state;
    for (int f = 0; f < ACTIVATION_COUNT; f++) {
        const network_shape shape = decoder((activation)f);
        bench b;
        bench_f32 single;
        open_bench(&b, &shape, 1000, 11);
        open_f32(&single, &b);
        double loss = pass(&b, b.gradient);
        assert_near(pass_f32(&single, &b), loss, 1e-5 * fabs(loss));
        assert_close(single.gradient, b.gradient, b.count, 1e-5);
        assert_close(single.input_gradient, b.input_gradient, b.n * b.in, 1e-4);
        arena_close(&b.memory);
        arena_close(&single.memory);
    }
}

/* One pass, two halves, and the caller's own pieces added up. */
static void a_batch_may_be_cut(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 31, 32, 33, 64, 129, 1023, 5000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        bench b;
        const network_shape shape = decoder(ACTIVATION_GELU);
        open_bench(&b, &shape, sizes[k], 12);
        double *whole = test_malloc(b.count * sizeof(double));
        double *inputs = test_malloc(b.n * b.in * sizeof(double));
        double loss = pass(&b, b.gradient);
        memcpy(whole, b.gradient, b.count * sizeof(double));
        memcpy(inputs, b.input_gradient, b.n * b.in * sizeof(double));

        memset(b.gradient, 0xff, b.count * sizeof(double)); /* NaN */
        memset(b.input_gradient, 0xff, b.n * b.in * sizeof(double));
        const network_batch_f64 all = {.parameters = b.parameters,
                                       .n = b.n,
                                       .input = b.input,
                                       .gradient = b.gradient,
                                       .input_gradient = b.input_gradient};
        double *y = network_f64_forward(&b.net, &all);
        assert_near(loss_f64(&b.out, 0, b.n, y), loss, 1e-9 * fabs(loss));
        network_f64_backward(&b.net, &all);
        assert_memory_equal(b.gradient, whole, b.count * sizeof(double));
        assert_memory_equal(b.input_gradient, inputs, b.n * b.in * sizeof(double));

        for (size_t first = 0; first < b.n; first += 300) {
            size_t rows = b.n - first < 300 ? b.n - first : 300;
            const network_batch_f64 some = {.parameters = b.parameters,
                                            .n = rows,
                                            .input = b.input + first * b.in,
                                            .gradient = b.gradient,
                                            .add = first > 0};
            y = network_f64_forward(&b.net, &some);
            (void)loss_f64(&b.out, first, rows, y);
            network_f64_backward(&b.net, &some);
        }
        for (size_t i = 0; i < b.count; i++) {
            assert_near(b.gradient[i], whole[i], 1e-11 * fmax(1, fabs(whole[i])));
        }
        test_free(whole);
        test_free(inputs);
        arena_close(&b.memory);
    }
}

static void an_empty_batch_has_no_gradient(void **state)
{
    (void)state;
    bench b;
    const network_shape shape = decoder(ACTIVATION_GELU);
    open_bench(&b, &shape, 3, 13);
    (void)pass(&b, b.gradient);
    double kept = b.gradient[7];
    network_batch_f64 none = {
        .parameters = b.parameters, .input = b.input, .gradient = b.gradient, .add = true};
    assert_near(network_f64_pass(&b.net, &none, loss_f64, &b.out), 0, 0);
    assert_near(b.gradient[7], kept, 0);
    none.add = false;
    (void)network_f64_pass(&b.net, &none, loss_f64, &b.out);
    assert_near(on_cpu()->backend_f64->sum_squares(on_cpu(), b.count, b.gradient), 0, 0);
    arena_close(&b.memory);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    int before = omp_get_max_threads();
    bench b;
    const network_shape shape = decoder(ACTIVATION_GELU);
    open_bench(&b, &shape, 3001, 14);
    float *gradient = test_malloc(b.count * sizeof(float));
    float *inputs = test_malloc(b.n * b.in * sizeof(float));
    double loss = 0;
    for (int threads = 1; threads <= 5; threads++) {
        bench_f32 f;
        lscm_set_threads(threads);
        open_f32(&f, &b);
        double now = pass_f32(&f, &b);
        if (threads == 1) {
            loss = now;
            memcpy(gradient, f.gradient, b.count * sizeof(float));
            memcpy(inputs, f.input_gradient, b.n * b.in * sizeof(float));
        }
        assert_near(now, loss, 0);
        assert_memory_equal(gradient, f.gradient, b.count * sizeof(float));
        assert_memory_equal(inputs, f.input_gradient, b.n * b.in * sizeof(float));
        arena_close(&f.memory);
    }
    lscm_set_threads(before);
    test_free(gradient);
    test_free(inputs);
    arena_close(&b.memory);
}

/* Wider than what is kept 32 times over: few partial gradients, large chunks. */
static void a_wide_network_works_too(void **state)
{
    (void)state;
    network_shape shape = network_dense(&(network_stack){.layers = 2,
                                                         .width = (size_t[]){9, 2000, 301},
                                                         .between = ACTIVATION_RELU,
                                                         .last = ACTIVATION_SIGMOID,
                                                         .bias = true});
    bench b;
    bench_f32 f;
    open_bench(&b, &shape, 300, 15);
    open_f32(&f, &b);
    assert_true(b.net.slots < 32 && b.net.chunk_least == 128);
    double loss = pass(&b, b.gradient);
    assert_near(pass_f32(&f, &b), loss, 1e-5 * fabs(loss));
    assert_close(f.gradient, b.gradient, b.count, 1e-4);
    assert_close(f.input_gradient, b.input_gradient, b.n * b.in, 1e-4);
    arena_close(&b.memory);
    arena_close(&f.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float_agrees_with_double),       cmocka_unit_test(a_batch_may_be_cut),
        cmocka_unit_test(an_empty_batch_has_no_gradient), cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_wide_network_works_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
