/* Batch normalisation against its formula and its gradient against central differences, alone and
 * inside networks; the plain network that running averages make of one. */
#include "lcg.h"
#include "net/network.h"
#include "on_cpu.h"
#include "slope.h"
#include "testing.h"

static lscm_error why;

/* loss = sum of c_k a_k + a_k^2/2 with known c */
static double coefficient(size_t k)
{
    return cos(2 * (double)k + 1);
}

static double loss_of(size_t n, double *a)
{
    double loss = 0;
    for (size_t k = 0; k < n; k++) {
        double c = coefficient(k);
        loss += c * a[k] + a[k] * a[k] / 2;
        a[k] = c + a[k];
    }
    return loss;
}

enum { ROWS = 7, COLS = 3 };

static void the_layer_is_its_formula(void **state)
{
    (void)state;
    lcg g = {5};
    arena memory = {0};
    batch_norm_f64 b;
    double y[ROWS * COLS];
    double u[ROWS * COLS];
    double a[ROWS * COLS];
    const double parameters[2 * COLS] = {0.5, -1, 2, 1.5, 0.25, -3}; /* shift, scale */
    double running[2 * COLS] = {1, 1, 1, 2, 2, 2};
    batch_norm_f64_lay_out(&b, &memory, COLS);
    assert_ok(arena_open(&memory, &why));
    batch_norm_f64_lay_out(&b, &memory, COLS);
    for (size_t k = 0; k < ROWS * COLS; k++) {
        y[k] = 10 * (double)(k % COLS) + (1 + (double)(k % COLS)) * lcg_normal(&g);
        y[k] = k % COLS == 1 ? 4 : y[k]; /* a column that never changes */
    }
    memcpy(u, y, sizeof u);
    on_cpu()->backend_f64->norm(on_cpu(), &b, ROWS, parameters, u, a, running);
    for (size_t c = 0; c < COLS; c++) {
        double mean = 0;
        double variance = 0;
        for (size_t r = 0; r < ROWS; r++) {
            mean += y[r * COLS + c] / ROWS;
        }
        for (size_t r = 0; r < ROWS; r++) {
            variance += (y[r * COLS + c] - mean) * (y[r * COLS + c] - mean) / ROWS;
        }
        for (size_t r = 0; r < ROWS; r++) {
            double expected = (y[r * COLS + c] - mean) / sqrt(variance + 1e-5);
            assert_near(u[r * COLS + c], expected, 1e-12);
            assert_near(a[r * COLS + c], parameters[c] + parameters[COLS + c] * expected, 1e-12);
        }
        assert_near(running[c], 0.9 + 0.1 * mean, 1e-12);
        assert_near(running[COLS + c], 1.8 + 0.1 * variance * ROWS / (ROWS - 1), 1e-12);
        double factor = 0;
        double offset = 0;
        batch_norm_linear(parameters[c], parameters[COLS + c], mean, variance, &factor, &offset);
        assert_near(offset + factor * y[c], a[c], 1e-11);
    }
    arena_close(&memory);
}

/* A network in double with a batch. */
typedef struct bench {
    arena memory;
    network_f64 net;
    size_t n, count;
    double *parameters, *gradient, *running;
    double *input, *input_gradient;
} bench;

static void lay_out(bench *b, const network_shape *shape)
{
    network_f64_lay_out(&b->net, &b->memory, shape, b->n, on_cpu());
    b->parameters = arena_take(&b->memory, b->count, sizeof(double));
    b->gradient = arena_take(&b->memory, b->count, sizeof(double));
    b->running = arena_take(&b->memory, network_running(shape), sizeof(double));
    b->input = arena_take(&b->memory, b->n * network_in(shape), sizeof(double));
    b->input_gradient = arena_take(&b->memory, b->n * network_in(shape), sizeof(double));
}

static void open_bench(bench *b, const network_shape *shape, size_t n)
{
    lcg g = {3};
    *b = (bench){.n = n, .count = network_count(shape)};
    lay_out(b, shape);
    assert_ok(arena_open(&b->memory, &why));
    lay_out(b, shape);
    network_f64_draw_apart(shape, (rng){1, 2}, b->parameters, b->running);
    for (size_t i = 0; i < b->count; i++) {
        b->parameters[i] += 0.1 * lcg_normal(&g); /* shifts, scales and b too */
    }
    for (size_t i = 0; i < n * network_in(shape); i++) {
        b->input[i] = lcg_normal(&g);
    }
}

static network_batch_f64 batch_of(const bench *b, double *running)
{
    return (network_batch_f64){.parameters = b->parameters,
                               .running = running,
                               .n = b->n,
                               .input = b->input,
                               .gradient = b->gradient,
                               .input_gradient = b->input_gradient};
}

static double pass(void *self)
{
    bench *b = self;
    const network_shape *shape = &b->net.shape;
    const network_batch_f64 batch = batch_of(b, NULL);
    double *y = network_f64_forward(&b->net, &batch);
    return loss_of(b->n * network_out(shape), y);
}

static double slope_at(bench *b, double *at)
{
    return slope_by_differences(pass, b, at, 1e-4);
}

static void gradients_are_the_slopes(void **state)
{
    (void)state;
    const network_stack shapes[] = {
        {.layers = 2, .width = (size_t[]){3, 4, 2}, .between = ACTIVATION_TANH, .bias = true},
        {.layers = 3, .width = (size_t[]){2, 5, 3, 4}, .between = ACTIVATION_GELU, .bias = true},
        {.layers = 2, .width = (size_t[]){4, 3, 2}, .between = ACTIVATION_IDENTITY, .bias = true},
        {.layers = 1, .width = (size_t[]){4, 3}, .bias = true},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        bench b;
        const network_shape shape = network_normed(&shapes[s]);
        open_bench(&b, &shape, s == 1 ? 130 : 9); /* several tiles, and one */
        (void)pass(&b);
        const network_batch_f64 batch = batch_of(&b, NULL);
        network_f64_backward(&b.net, &batch);
        for (size_t i = 0; i < b.count; i++) {
            double slope = slope_at(&b, &b.parameters[i]);
            assert_near(b.gradient[i], slope, 1e-6 * fmax(1, fabs(slope)));
        }
        for (size_t i = 0; i < b.n * network_in(&shape) && i < 40; i++) {
            double slope = slope_at(&b, &b.input[i]);
            assert_near(b.input_gradient[i], slope, 1e-6 * fmax(1, fabs(slope)));
        }
        arena_close(&b.memory);
    }
}

/* Once the averages are the statistics of a batch, the plain network gives what this one gives for
 * it, but for the variance, whose average is n/(n - 1) of it. */
static void averages_make_a_plain_network(void **state)
{
    (void)state;
    const size_t N = 2000;
    const network_shape shape = network_normed(&(network_stack){
        .layers = 3, .width = (size_t[]){2, 5, 3, 4}, .between = ACTIVATION_ELU, .bias = true});
    bench b;
    arena memory = {0};
    network_f64 net;
    const network_shape flat = network_plain(&shape);
    open_bench(&b, &shape, N);
    double *y = NULL;
    const network_batch_f64 batch = batch_of(&b, b.running);
    for (int k = 0; k < 300; k++) { /* 0.9^300: nothing is left of the start */
        y = network_f64_forward(&b.net, &batch);
    }
    network_f64_lay_out(&net, &memory, &flat, N, on_cpu());
    assert_ok(arena_open(&memory, &why));
    network_f64_lay_out(&net, &memory, &flat, N, on_cpu());
    double *plain = test_malloc(network_count(&flat) * sizeof(double));
    network_f64_fold(&shape, b.parameters, b.running, plain);
    const network_batch_f64 rows = {.parameters = plain, .n = N, .input = b.input};
    const double *same = network_f64_forward(&net, &rows);
    for (size_t k = 0; k < N * 4; k++) {
        assert_near(same[k], y[k], 1e-3 * fmax(1, fabs(y[k])));
    }
    test_free(plain);
    arena_close(&memory);
    arena_close(&b.memory);
}

static void nan_comes_out(void **state)
{
    (void)state;
    const network_shape shape = network_normed(&(network_stack){
        .layers = 2, .width = (size_t[]){3, 4, 2}, .between = ACTIVATION_ELU, .bias = true});
    bench b;
    open_bench(&b, &shape, 9);
    b.input[5] = NAN;
    assert_true(!isfinite(pass(&b)));
    arena_close(&b.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layer_is_its_formula),
        cmocka_unit_test(gradients_are_the_slopes),
        cmocka_unit_test(averages_make_a_plain_network),
        cmocka_unit_test(nan_comes_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
