/* Networks: every gradient against central differences in double, and against plain loops. */
#include "activations.h"
#include "net_bench.h"
#include "slope.h"

static lscm_error why;

static double loss_now(void *self)
{
    return pass(self, NULL);
}

/* So near that no corner of ReLU or ELU lies between, where there are corners. */
static double slope_at(bench *b, double *at)
{
    activation f = b->net.shape.layer[0].f;
    double h = f == ACTIVATION_RELU || f == ACTIVATION_ELU ? 1e-6 : 1e-3;
    return slope_by_differences(loss_now, b, at, h);
}

static void check_gradients(const network_shape *shape, size_t n, uint64_t seed)
{
    bench b;
    open_bench(&b, shape, n, seed);
    (void)pass(&b, b.gradient);
    for (size_t i = 0; i < b.count; i++) {
        double slope = slope_at(&b, &b.parameters[i]);
        assert_near(b.gradient[i], slope, 1e-6 * fmax(1, fabs(slope)));
    }
    for (size_t i = 0; i < n * b.in && i < 40; i++) {
        size_t k = n * b.in - 1 - i; /* the last rows: the odd chunk */
        double slope = slope_at(&b, &b.input[k]);
        assert_near(b.input_gradient[k], slope, 1e-6 * fmax(1, fabs(slope)));
    }
    arena_close(&b.memory);
}

static void gradients_match_differences(void **state)
{
    (void)state;
    static const size_t rows[] = {1, 2, 7, 70};
    for (int f = 0; f < ACTIVATION_COUNT; f++) {
        for (int kind = 0; kind < 8; kind++) {
            network_shape shape = network_dense(
                &(network_stack){.layers = 3,
                                 .width = (size_t[]){3, 5, 7, 2},
                                 .between = (activation)f,
                                 .last = (kind & 1) != 0 ? (activation)f : ACTIVATION_IDENTITY,
                                 .bias = (kind & 2) != 0});
            check_gradients(&shape, rows[(kind + f) % 4], 7 + (uint64_t)kind);
        }
    }
    const network_shape one =
        network_dense(&(network_stack){.layers = 1, .width = (size_t[]){1, 1}, .bias = true});
    const network_shape thin = network_dense(
        &(network_stack){.layers = 2, .width = (size_t[]){1, 17, 1}, .between = ACTIVATION_TANH});
    check_gradients(&one, 1, 5);
    check_gradients(&thin, 33, 6);
}

/* The gradient by hand, layer by layer, in plain loops; for batches of several chunks. */
static void plain_gradients(const bench *b, double *gradient, double *input_gradient)
{
    const network_shape *s = &b->net.shape;
    double pre[NETWORK_LAYERS][16];
    double h[NETWORK_LAYERS + 1][16];
    double d[NETWORK_LAYERS + 1][16];
    memset(gradient, 0, b->count * sizeof *gradient);
    for (size_t r = 0; r < b->n; r++) {
        memcpy(h[0], b->input + r * b->in, b->in * sizeof(double));
        for (size_t l = 0; l < s->layers; l++) {
            const double *w = b->parameters + network_offset(s, l);
            for (size_t j = 0; j < s->layer[l].out; j++) {
                double sum = s->layer[l].bias ? w[s->layer[l].in * s->layer[l].out + j] : 0;
                for (size_t i = 0; i < s->layer[l].in; i++) {
                    sum += h[l][i] * w[i * s->layer[l].out + j];
                }
                pre[l][j] = sum;
                h[l + 1][j] = f_of(s->layer[l].f, sum);
            }
        }
        for (size_t j = 0; j < b->out; j++) {
            d[s->layers][j] = h[s->layers][j] + coefficient(r, j);
        }
        for (size_t l = s->layers; l-- > 0;) {
            size_t out = s->layer[l].out;
            const double *w = b->parameters + network_offset(s, l);
            double *dw = gradient + network_offset(s, l);
            memset(d[l], 0, sizeof d[l]);
            for (size_t j = 0; j < out; j++) {
                double e = d[l + 1][j] * slope_of(s->layer[l].f, pre[l][j]);
                for (size_t i = 0; i < s->layer[l].in; i++) {
                    dw[i * out + j] += h[l][i] * e;
                    d[l][i] += w[i * out + j] * e;
                }
                if (s->layer[l].bias) {
                    dw[s->layer[l].in * out + j] += e;
                }
            }
        }
        memcpy(input_gradient + r * b->in, d[0], b->in * sizeof(double));
    }
}

static void gradients_match_plain_loops(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4 * ACTIVATION_COUNT; kind++) {
        network_shape shape = network_dense(
            &(network_stack){.layers = 3,
                             .width = (size_t[]){3, 13, 5, 7},
                             .between = (activation)(kind / 4),
                             .last = (kind & 1) != 0 ? (activation)(kind / 4) : ACTIVATION_IDENTITY,
                             .bias = (kind & 2) != 0});
        bench b;
        open_bench(&b, &shape, 301, 1 + (uint64_t)kind);
        double *gradient = test_malloc(b.count * sizeof(double));
        double *input_gradient = test_malloc(b.n * b.in * sizeof(double));
        (void)pass(&b, b.gradient);
        plain_gradients(&b, gradient, input_gradient);
        for (size_t i = 0; i < b.count; i++) {
            assert_near(b.gradient[i], gradient[i], 1e-11 * fmax(1, fabs(gradient[i])));
        }
        for (size_t i = 0; i < b.n * b.in; i++) {
            assert_near(b.input_gradient[i], input_gradient[i], 1e-12);
        }
        test_free(gradient);
        test_free(input_gradient);
        arena_close(&b.memory);
    }
}

static void parameters_are_drawn_as_said(void **state)
{
    (void)state;
    network_shape shape = network_dense(
        &(network_stack){.layers = 2, .width = (size_t[]){50, 200, 30}, .bias = true});
    size_t count = network_count(&shape);
    assert_int_equal(count, 50 * 200 + 200 + 200 * 30 + 30);
    double *p = test_malloc(count * sizeof(double));
    float *single = test_malloc(count * sizeof(float));
    network_f64_draw(&shape, (rng){3, 4}, p, NULL);
    network_f32_draw(&shape, (rng){3, 4}, single, NULL);
    for (size_t l = 0; l < 2; l++) {
        const double *w = p + network_offset(&shape, l);
        size_t n = shape.layer[l].in * shape.layer[l].out;
        double bound = 2 / sqrt((double)shape.layer[l].in);
        double sum = 0;
        double squares = 0;
        for (size_t i = 0; i < n; i++) {
            assert_true(fabs(w[i]) <= bound);
            sum += w[i];
            squares += w[i] * w[i];
        }
        /* variance of a normal cut at 2 sd: 1 - 4 phi(2)/(2 Phi(2) - 1) = 0.77374 */
        assert_near(sum / (double)n, 0, 4 * bound / sqrt((double)n));
        assert_near(squares / (double)n * (double)shape.layer[l].in, 0.77374, 0.04);
        for (size_t i = n; i < n + shape.layer[l].out; i++) {
            assert_near(w[i], 0, 0);
        }
    }
    for (size_t i = 0; i < count; i++) {
        assert_near(single[i], (double)(float)p[i], 0);
    }
    test_free(p);
    test_free(single);
}

static void wrong_shapes_are_refused(void **state)
{
    (void)state;
    size_t width[] = {3, 4, 0};
    const network_stack stack = {.layers = 2, .width = width};
    network_shape shape = network_dense(&stack);
    shape.layers = 0;
    assert_fails(network_check(&shape, &why), LSCM_USAGE, "0 layers");
    shape.layers = NETWORK_LAYERS + 1;
    assert_fails(network_check(&shape, &why), LSCM_USAGE, "17 layers");
    const size_t wrong[] = {0, (size_t)1 << 30, (size_t)1 << 40};
    for (size_t k = 0; k < 3; k++) {
        width[2] = wrong[k];
        shape = network_dense(&stack);
        assert_fails(network_check(&shape, &why), LSCM_USAGE, "layer 2");
    }
    width[2] = 5;
    shape = network_dense(&stack);
    assert_ok(network_check(&shape, &why));
    shape.layer[1].f = ACTIVATION_COUNT;
    assert_fails(network_check(&shape, &why), LSCM_USAGE, "activation");
    shape = network_dense(&stack);
    shape.layer[1].in = 3;
    assert_fails(network_check(&shape, &why), LSCM_USAGE, "does not go with");
    shape = network_normed(&stack);
    assert_int_equal(shape.layers, 3);
    assert_ok(network_check(&shape, &why));
    shape.layer[0] = shape.layer[1];
    assert_fails(network_check(&shape, &why), LSCM_USAGE, "layer 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(gradients_match_plain_loops),
        cmocka_unit_test(parameters_are_drawn_as_said),
        cmocka_unit_test(wrong_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
