/* Networks: every gradient against central differences in double, and against plain loops. */
#include "activations.h"
#include "net_bench.h"

static lscm_error why;

/* Fourth-order central difference of the loss in *at; so near that no corner of ReLU or ELU lies
 * between, where there are corners. */
static double slope_at(bench *b, double *at)
{
    activation f = b->net.shape.between;
    double h = f == ACTIVATION_RELU || f == ACTIVATION_ELU ? 1e-6 : 1e-3;
    double from = *at;
    double loss[4];
    for (int k = 0; k < 4; k++) {
        *at = from + h * (k < 2 ? k - 2 : k - 1);
        loss[k] = pass(b, NULL);
    }
    *at = from;
    return (loss[0] - 8 * loss[1] + 8 * loss[2] - loss[3]) / (12 * h);
}

static void check_gradients(const mlp_shape *shape, size_t n, uint64_t seed)
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
            mlp_shape shape = {.layers = 3,
                               .width = {3, 5, 7, 2},
                               .between = (activation)f,
                               .last = (kind & 1) != 0 ? (activation)f : ACTIVATION_IDENTITY,
                               .bias = (kind & 2) != 0};
            check_gradients(&shape, rows[(kind + f) % 4], 7 + (uint64_t)kind);
        }
    }
    check_gradients(&(mlp_shape){.layers = 1, .width = {1, 1}, .bias = true}, 1, 5);
    check_gradients(&(mlp_shape){.layers = 2, .width = {1, 17, 1}, .between = ACTIVATION_TANH}, 33,
                    6);
}

/* The gradient by hand, layer by layer, in plain loops; for batches of several chunks. */
static void plain_gradients(const bench *b, double *gradient, double *input_gradient)
{
    const mlp_shape *s = &b->net.shape;
    double pre[MLP_LAYERS][16];
    double h[MLP_LAYERS + 1][16];
    double d[MLP_LAYERS + 1][16];
    memset(gradient, 0, b->count * sizeof *gradient);
    for (size_t r = 0; r < b->n; r++) {
        memcpy(h[0], b->input + r * b->in, b->in * sizeof(double));
        for (size_t l = 0; l < s->layers; l++) {
            const double *w = b->parameters + mlp_offset(s, l);
            for (size_t j = 0; j < s->width[l + 1]; j++) {
                double sum = s->bias ? w[s->width[l] * s->width[l + 1] + j] : 0;
                for (size_t i = 0; i < s->width[l]; i++) {
                    sum += h[l][i] * w[i * s->width[l + 1] + j];
                }
                pre[l][j] = sum;
                h[l + 1][j] = f_of(l + 1 < s->layers ? s->between : s->last, sum);
            }
        }
        for (size_t j = 0; j < b->out; j++) {
            d[s->layers][j] = h[s->layers][j] + coefficient(r, j);
        }
        for (size_t l = s->layers; l-- > 0;) {
            size_t out = s->width[l + 1];
            const double *w = b->parameters + mlp_offset(s, l);
            double *dw = gradient + mlp_offset(s, l);
            memset(d[l], 0, sizeof d[l]);
            for (size_t j = 0; j < out; j++) {
                double e =
                    d[l + 1][j] * slope_of(l + 1 < s->layers ? s->between : s->last, pre[l][j]);
                for (size_t i = 0; i < s->width[l]; i++) {
                    dw[i * out + j] += h[l][i] * e;
                    d[l][i] += w[i * out + j] * e;
                }
                if (s->bias) {
                    dw[s->width[l] * out + j] += e;
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
        mlp_shape shape = {.layers = 3,
                           .width = {3, 13, 5, 7},
                           .between = (activation)(kind / 4),
                           .last = (kind & 1) != 0 ? (activation)(kind / 4) : ACTIVATION_IDENTITY,
                           .bias = (kind & 2) != 0};
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
    mlp_shape shape = {.layers = 2, .width = {50, 200, 30}, .bias = true};
    size_t count = mlp_count(&shape);
    assert_int_equal(count, 50 * 200 + 200 + 200 * 30 + 30);
    double *p = test_malloc(count * sizeof(double));
    float *single = test_malloc(count * sizeof(float));
    mlp_f64_draw(&shape, (rng){3, 4}, p);
    mlp_f32_draw(&shape, (rng){3, 4}, single);
    for (size_t l = 0; l < 2; l++) {
        const double *w = p + mlp_offset(&shape, l);
        size_t n = shape.width[l] * shape.width[l + 1];
        double bound = 2 / sqrt((double)shape.width[l]);
        double sum = 0;
        double squares = 0;
        for (size_t i = 0; i < n; i++) {
            assert_true(fabs(w[i]) <= bound);
            sum += w[i];
            squares += w[i] * w[i];
        }
        /* variance of a normal cut at 2 sd: 1 - 4 phi(2)/(2 Phi(2) - 1) = 0.77374 */
        assert_near(sum / (double)n, 0, 4 * bound / sqrt((double)n));
        assert_near(squares / (double)n * (double)shape.width[l], 0.77374, 0.04);
        for (size_t i = n; i < n + shape.width[l + 1]; i++) {
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
    mlp_shape shape = {.layers = 0, .width = {3, 4}};
    assert_fails(mlp_check(&shape, &why), LSCM_USAGE, "0 layers");
    shape.layers = 9;
    assert_fails(mlp_check(&shape, &why), LSCM_USAGE, "9 layers");
    shape.layers = 2;
    assert_fails(mlp_check(&shape, &why), LSCM_USAGE, "layer 2");
    shape.width[2] = (size_t)1 << 30;
    assert_fails(mlp_check(&shape, &why), LSCM_USAGE, "layer 2");
    shape.width[2] = (size_t)1 << 40;
    assert_fails(mlp_check(&shape, &why), LSCM_USAGE, "layer 2");
    shape.width[2] = 5;
    shape.last = ACTIVATION_COUNT;
    assert_fails(mlp_check(&shape, &why), LSCM_USAGE, "activation");
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
