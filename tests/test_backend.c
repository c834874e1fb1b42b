/* Every operation of the CPU's tables against its definition. */
#include "backend/backend.h"

#include "activations.h"
#include "lcg.h"
#include "on_cpu.h"
#include "testing.h"

/* Relative where the definition itself is exact to the last digits: not GELU far below 0, where
 * it is a difference. */
static void activations_match_their_definitions(void **state)
{
    (void)state;
    const device *on = on_cpu();
    enum { N = 4001 };
    static float h[N], s[N];
    static double hd[N], sd[N];
    for (int f = ACTIVATION_GELU; f < ACTIVATION_COUNT; f++) {
        for (int i = 0; i < N; i++) {
            hd[i] = h[i] = (float)(i - N / 2) / 100 + 0.001F;
        }
        on->backend_f32->activate(on, (activation)f, 1, N, NULL, h, s);
        on->backend_f64->activate(on, (activation)f, 1, N, NULL, hd, sd);
        for (int i = 0; i < N; i++) {
            double a = (double)((float)(i - N / 2) / 100 + 0.001F);
            double value = f_of((activation)f, a);
            double slope = slope_of((activation)f, a);
            double floor = f == ACTIVATION_GELU ? 1 : 1e-30;
            assert_near(h[i], value, 4e-7 * fmax(fabs(value), floor));
            assert_near(s[i], slope, 4e-7 * fmax(fabs(slope), floor));
            assert_near(hd[i], value, 1e-14 * fmax(fabs(value), floor));
            assert_near(sd[i], slope, 1e-14 * fmax(fabs(slope), floor));
        }
    }
}

static void activations_at_the_ends(void **state)
{
    (void)state;
    const device *on = on_cpu();
    for (int f = ACTIVATION_GELU; f < ACTIVATION_COUNT; f++) {
        float h[5] = {NAN, 1e30F, -1e30F, INFINITY, 0};
        float s[5];
        double hd[5] = {NAN, 1e300, -1e300, INFINITY, 0};
        double sd[5];
        on->backend_f32->activate(on, (activation)f, 1, 5, NULL, h, s);
        on->backend_f64->activate(on, (activation)f, 1, 5, NULL, hd, sd);
        assert_true(isnan(h[0]) && isnan(hd[0]));
        bool bounded = f == ACTIVATION_SIGMOID || f == ACTIVATION_TANH;
        assert_true(bounded ? h[1] == 1 && hd[1] == 1 : h[1] == 1e30F && hd[1] == 1e300);
        assert_true(h[3] == (bounded ? 1 : INFINITY) && hd[3] == (bounded ? 1 : INFINITY));
        double low = f == ACTIVATION_TANH || f == ACTIVATION_ELU ? -1 : 0;
        assert_near(h[2], low, 1e-35);
        assert_near(hd[2], low, 1e-55);
        assert_near(s[1], bounded ? 0 : 1, 1e-35);
        assert_near(sd[1], bounded ? 0 : 1, 1e-55);
        assert_near(s[2], 0, 1e-35);
        assert_near(sd[2], 0, 1e-55);
        assert_near(h[4], f_of((activation)f, 0), 0);
        assert_near(hd[4], f_of((activation)f, 0), 0);
    }
}

/* What is added stays, and may be elsewhere. */
static void products_add_to_what_stays(void **state)
{
    (void)state;
    const device *on = on_cpu();
    const float a[4] = {1, 2, 3, 4};
    const float add[4] = {10, 20, 30, 40};
    float c[4] = {NAN, NAN, NAN, NAN};
    on->backend_f32->gemm(
        on,
        &(product_f32){
            .m = 2, .n = 2, .k = 2, .alpha = 1, .beta = 0.5F, .a = a, .b = a, .add = add, .c = c});
    const double squared[4] = {7, 10, 15, 22};
    for (int i = 0; i < 4; i++) {
        assert_near(c[i], squared[i] + 5 * (i + 1), 0);
        assert_near(add[i], 10 * (i + 1), 0);
    }
}

static void products_match_their_sums(void **state)
{
    (void)state;
    const device *on = on_cpu();
    enum { M = 7, N = 5, K = 11 };
    double a[M * K];
    double b[K * N];
    double c[M * N];
    double from[M * N];
    lcg g = {3};
    for (int kind = 0; kind < 8; kind++) {
        bool flip_a = (kind & 1) != 0;
        bool flip_b = (kind & 2) != 0;
        double beta = (kind & 4) != 0 ? -0.5 : 0;
        for (int i = 0; i < M * K; i++) {
            a[i] = lcg_normal(&g);
        }
        for (int i = 0; i < K * N; i++) {
            b[i] = lcg_normal(&g);
        }
        for (int i = 0; i < M * N; i++) {
            from[i] = lcg_normal(&g);
            c[i] = beta == 0 ? NAN : from[i];
        }
        on->backend_f64->gemm(on, &(product_f64){.flip_a = flip_a,
                                                 .flip_b = flip_b,
                                                 .m = M,
                                                 .n = N,
                                                 .k = K,
                                                 .alpha = 1.5,
                                                 .beta = beta,
                                                 .a = a,
                                                 .b = b,
                                                 .c = c});
        for (int i = 0; i < M; i++) {
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int k = 0; k < K; k++) {
                    sum += a[flip_a ? k * M + i : i * K + k] * b[flip_b ? j * K + k : k * N + j];
                }
                assert_near(c[i * N + j], 1.5 * sum + beta * from[i * N + j], 1e-12);
            }
        }
    }
}

static void vectors_match_their_sums(void **state)
{
    (void)state;
    enum { N = 1003 };
    static float x[N], y[N], z[N];
    const device *on = on_cpu();
    const backend_f32 *b = on->backend_f32;
    lcg g = {4};
    double squares = 0;
    double apart = 0;
    for (int i = 0; i < N; i++) {
        x[i] = (float)lcg_normal(&g);
        y[i] = (float)lcg_normal(&g);
        squares += (double)x[i] * (double)x[i];
        apart += pow((double)y[i] - (double)x[i], 2);
    }
    assert_near(b->sum_squares(on, N, x), squares, 1e-9 * squares);
    b->copy(on, N, y, z);
    assert_near(b->residual(on, N, 0.25F, x, z), apart, 1e-6 * apart);
    for (int i = 0; i < N; i++) {
        assert_near(z[i], 0.25 * ((double)y[i] - (double)x[i]), 1e-6);
    }
    b->fill(on, N, 2, z);
    b->axpy(on, N, 3, x, z);
    b->scale(on, N, 0.5F, z);
    for (int i = 0; i < N; i++) {
        assert_near(z[i], 1 + 1.5 * (double)x[i], 1e-6);
    }
    x[N - 1] = NAN;
    assert_true(isnan(b->sum_squares(on, N, x)));
}

/* Momentum, and steps of a length that a dial gives. */
static void steps_match_their_formulas(void **state)
{
    (void)state;
    enum { N = 1003 };
    static double g[N], m[N], u[N], w[N], before[N], old[N];
    const device *on = on_cpu();
    const backend_f64 *b = on->backend_f64;
    const backend_dial dial = {.rate = 0.1};
    lcg draw = {5};
    double squares = 0;
    for (int i = 0; i < N; i++) {
        g[i] = lcg_normal(&draw);
        before[i] = m[i] = lcg_normal(&draw);
        old[i] = w[i] = lcg_normal(&draw);
        squares += old[i] * old[i];
    }
    b->momentum(on, N, 0.95, g, m, u);
    b->descend(on, N, &dial, 0.5, 3, u, w);
    for (int i = 0; i < N; i++) {
        assert_near(m[i], 0.95 * before[i] + g[i], 1e-14);
        assert_near(u[i], 1.95 * g[i] + 0.9025 * before[i], 1e-13);
        assert_near(w[i], 0.95 * old[i] - 0.3 * u[i], 1e-14);
    }
    b->unit(on, N, old);
    for (int i = 0; i < N; i++) {
        assert_near(old[i] * sqrt(squares), w[i] / 0.95 + 0.3 / 0.95 * u[i], 1e-12);
    }
    double zero[2] = {0, 0};
    b->unit(on, 2, zero);
    assert_near(zero[1], 0, 0);
    g[0] = NAN;
    b->momentum(on, N, 0.95, g, m, u);
    b->descend(on, N, &dial, 0, 3, u, w);
    b->unit(on, N, w);
    assert_true(isnan(m[0]) && isnan(u[0]) && isnan(w[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_match_their_definitions),
        cmocka_unit_test(activations_at_the_ends),
        cmocka_unit_test(products_match_their_sums),
        cmocka_unit_test(products_add_to_what_stays),
        cmocka_unit_test(vectors_match_their_sums),
        cmocka_unit_test(steps_match_their_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
