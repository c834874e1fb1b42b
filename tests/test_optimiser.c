/* Adam and AdaBelief against the formulas step by step, on functions with known minima, and with
 * their state stored and taken up again. */
#include "net/optimiser.h"

#include "lcg.h"
#include "on_cpu.h"
#include "testing.h"

#include <omp.h>

static lscm_error why;

typedef struct bench {
    arena memory;
    optimiser_f64 o;
    optimiser_f32 o32;
    double *p, *g;     /* (n) */
    float *p32, *g32;  /* (n) */
    double *m, *s, *q; /* (n): of the formulas */
} bench;

static void lay_out(bench *b, size_t n, const optimiser_settings *settings)
{
    optimiser_f64_lay_out(&b->o, &b->memory, n, settings, on_cpu());
    optimiser_f32_lay_out(&b->o32, &b->memory, n, settings, on_cpu());
    b->p = arena_take(&b->memory, n, sizeof(double));
    b->g = arena_take(&b->memory, n, sizeof(double));
    b->p32 = arena_take(&b->memory, n, sizeof(float));
    b->g32 = arena_take(&b->memory, n, sizeof(float));
    b->m = arena_take(&b->memory, n, sizeof(double));
    b->s = arena_take(&b->memory, n, sizeof(double));
    b->q = arena_take(&b->memory, n, sizeof(double));
}

static void open_bench(bench *b, size_t n, optimiser_settings settings)
{
    *b = (bench){0};
    lay_out(b, n, &settings);
    assert_ok(arena_open(&b->memory, &why));
    lay_out(b, n, &settings);
}

/* The formulas with eps where the papers have it. */
static void plain_step(bench *b, size_t i, bool belief, double rate, int t)
{
    const double eps = 1e-8;
    b->m[i] = 0.9 * b->m[i] + 0.1 * b->g[i];
    if (belief) {
        b->s[i] = 0.999 * b->s[i] + 0.001 * pow(b->g[i] - b->m[i], 2) + eps;
    } else {
        b->s[i] = 0.999 * b->s[i] + 0.001 * pow(b->g[i], 2);
    }
    double mean = b->m[i] / (1 - pow(0.9, t));
    double square = b->s[i] / (1 - pow(0.999, t));
    b->q[i] -= rate * mean / (sqrt(square) + eps);
}

static void check_steps(bool belief, size_t n)
{
    bench b;
    lcg g = {n};
    open_bench(&b, n, belief ? optimiser_adabelief() : optimiser_adam());
    size_t first = n / 3;
    optimiser_group groups[3] = {{first, 0.1}, {0, 5}, {n - first, 0.003}};
    for (size_t i = 0; i < n; i++) {
        b.p[i] = b.p32[i] = (float)lcg_normal(&g);
        b.q[i] = b.p[i];
    }
    for (int t = 1; t <= 7; t++) {
        for (size_t i = 0; i < n; i++) {
            b.g[i] = b.g32[i] = (float)(lcg_normal(&g) * pow(10, (double)(i % 5) - 3));
            plain_step(&b, i, belief, i < first ? 0.1 : 0.003, t);
        }
        optimiser_f64_step(&b.o, groups, 3, b.p, b.g);
        optimiser_f32_step(&b.o32, groups, 3, b.p32, b.g32);
        for (size_t i = 0; i < n; i++) {
            assert_near(b.p[i], b.q[i], 1e-13);
            assert_near(b.p32[i], b.q[i], 3e-6);
            assert_near(b.o.state[i], b.m[i], 1e-13 * fmax(1, fabs(b.m[i])));
            assert_near(b.o.state[n + i], b.s[i], 1e-13 * fmax(1, b.s[i]));
        }
    }
    assert_int_equal(b.o.steps, 7);
    arena_close(&b.memory);
}

static void steps_match_the_formulas(void **state)
{
    (void)state;
    for (int belief = 0; belief <= 1; belief++) {
        check_steps(belief == 1, 1);
        check_steps(belief == 1, 37);
        check_steps(belief == 1, 100003); /* enough for threads */
    }
}

/* sum of k (p_k - k/10)^2 / 2 over four scales */
static void quadratic_is_minimised(void **state)
{
    (void)state;
    enum { N = 20 };
    for (int belief = 0; belief <= 1; belief++) {
        bench b;
        open_bench(&b, N, belief == 1 ? optimiser_adabelief() : optimiser_adam());
        for (int t = 0; t < 6000; t++) {
            optimiser_group all = {N, 0.02 * exp(-t / 1000.0)};
            for (int k = 0; k < N; k++) {
                double scale = pow(10, k % 4 - 2);
                b.g[k] = scale * (b.p[k] - k / 10.0);
                b.g32[k] = (float)scale * (b.p32[k] - (float)k / 10);
            }
            optimiser_f64_step(&b.o, &all, 1, b.p, b.g);
            optimiser_f32_step(&b.o32, &all, 1, b.p32, b.g32);
        }
        for (int k = 0; k < N; k++) {
            assert_near(b.p[k], k / 10.0, 1e-3);
            assert_near(b.p32[k], k / 10.0, 1e-3);
        }
        arena_close(&b.memory);
    }
}

/* (1 - x)^2 + 100 (y - x^2)^2, the bent valley, from (-1.2, 1) to (1, 1) */
static void rosenbrock_is_minimised(void **state)
{
    (void)state;
    for (int belief = 0; belief <= 1; belief++) {
        bench b;
        open_bench(&b, 2, belief == 1 ? optimiser_adabelief() : optimiser_adam());
        b.p[0] = -1.2;
        b.p[1] = 1;
        for (int t = 0; t < 20000; t++) {
            optimiser_group all = {2, 0.01};
            double bend = b.p[1] - b.p[0] * b.p[0];
            b.g[0] = -2 * (1 - b.p[0]) - 400 * b.p[0] * bend;
            b.g[1] = 200 * bend;
            optimiser_f64_step(&b.o, &all, 1, b.p, b.g);
        }
        assert_near(b.p[0], 1, 1e-2);
        assert_near(b.p[1], 1, 2e-2);
        arena_close(&b.memory);
    }
}

/* Ten steps at once, and five, a copy of state and count, five more on another thread count. */
static void a_stored_state_continues_bit_for_bit(void **state)
{
    (void)state;
    enum { N = 70001 };
    int before = omp_get_max_threads();
    bench a;
    bench b;
    optimiser_group all = {N, 0.01};
    open_bench(&a, N, optimiser_adabelief());
    open_bench(&b, N, optimiser_adabelief());
    for (int t = 0; t < 10; t++) {
        if (t == 5) {
            memcpy(b.o32.state, a.o32.state, 2 * N * sizeof(float));
            memcpy(b.p32, a.p32, N * sizeof(float));
            b.o32.steps = a.o32.steps;
        }
        for (int i = 0; i < N; i++) {
            a.g32[i] = (float)sin(i + t);
        }
        lscm_set_threads(2);
        optimiser_f32_step(&a.o32, &all, 1, a.p32, a.g32);
        if (t >= 5) {
            lscm_set_threads(3);
            optimiser_f32_step(&b.o32, &all, 1, b.p32, a.g32);
        }
    }
    lscm_set_threads(before);
    assert_memory_equal(a.p32, b.p32, N * sizeof(float));
    assert_memory_equal(a.o32.state, b.o32.state, 2 * N * sizeof(float));
    arena_close(&a.memory);
    arena_close(&b.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_match_the_formulas),
        cmocka_unit_test(quadratic_is_minimised),
        cmocka_unit_test(rosenbrock_is_minimised),
        cmocka_unit_test(a_stored_state_continues_bit_for_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
