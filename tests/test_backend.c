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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_match_their_definitions),
        cmocka_unit_test(activations_at_the_ends),
        cmocka_unit_test(products_match_their_sums),
        cmocka_unit_test(vectors_match_their_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
