/* The orthogonal factor against singular values: with X = U diag(s) V', the five steps leave U and
 * V and take each s/|X| through an odd polynomial five times. Steps of the optimiser against the
 * formulas of muon.h on that, float against double, and stored and taken up again. */
#include "net/muon.h"

#include "lcg.h"
#include "on_cpu.h"
#include "testing.h"

#include <lapacke.h>

enum { MOST = 40 }; /* of any side */

static lscm_error why;

static double five_times(double s)
{
    for (int k = 0; k < 5; k++) {
        s = 3.4445 * s - 4.7750 * pow(s, 3) + 2.0315 * pow(s, 5);
    }
    return s;
}

/* Singular values of x (rows, cols), x kept; u (rows, n), v (n, cols), or NULL both. */
static void singular(size_t rows, size_t cols, const double *x, double *s, double *u, double *v)
{
    double copy[MOST * MOST];
    double left[MOST * MOST];
    double right[MOST * MOST];
    double rest[MOST];
    size_t n = rows < cols ? rows : cols;
    memcpy(copy, x, rows * cols * sizeof *x);
    assert_int_equal(LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'S', 'S', (int)rows, (int)cols, copy,
                                    (int)cols, s, left, (int)n, right, (int)cols, rest),
                     0);
    if (u != NULL) {
        memcpy(u, left, rows * n * sizeof *u);
        memcpy(v, right, n * cols * sizeof *v);
    }
}

/* U p(s/|X|) V' of x (rows, cols), into out. */
static void plain_orthogonal(size_t rows, size_t cols, const double *x, double *out)
{
    double s[MOST];
    double u[MOST * MOST];
    double v[MOST * MOST];
    size_t n = rows < cols ? rows : cols;
    double norm = 0;
    singular(rows, cols, x, s, u, v);
    for (size_t k = 0; k < n; k++) {
        norm += s[k] * s[k];
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < cols; j++) {
            out[i * cols + j] = 0;
            for (size_t k = 0; k < n; k++) {
                out[i * cols + j] += u[i * n + k] * five_times(s[k] / sqrt(norm)) * v[k * cols + j];
            }
        }
    }
}

/* A random matrix whose singular values fall from 1 to `least`. */
static void matrix_of(lcg *g, size_t rows, size_t cols, double least, double *x)
{
    double u[MOST * MOST];
    double v[MOST * MOST];
    double s[MOST];
    size_t n = rows < cols ? rows : cols;
    for (size_t k = 0; k < rows * cols; k++) {
        x[k] = lcg_normal(g);
    }
    singular(rows, cols, x, s, u, v);
    memset(x, 0, rows * cols * sizeof *x);
    for (size_t k = 0; k < n; k++) {
        double size = pow(least, (double)k / (double)n);
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < cols; j++) {
                x[i * cols + j] += u[i * n + k] * size * v[k * cols + j];
            }
        }
    }
}

static const size_t sides[][2] = {{1, 1},   {1, 7},   {7, 1},   {3, 40}, {40, 3},
                                  {20, 40}, {40, 20}, {32, 31}, {30, 30}};
enum { SIDES = sizeof sides / sizeof sides[0] };

static void test_orthogonal(void **state)
{
    (void)state;
    lcg g = {3};
    for (size_t c = 0; c < SIDES; c++) {
        size_t rows = sides[c][0];
        size_t cols = sides[c][1];
        size_t n = rows < cols ? rows : cols;
        double x[MOST * MOST];
        double u[MOST * MOST];
        double v[MOST * MOST];
        double s[MOST];
        double work[3 * MOST * MOST];
        matrix_of(&g, rows, cols, 0.05, x); /* s/|X| of at least 0.05/sqrt(n) */
        singular(rows, cols, x, s, u, v);
        muon_f64_orthogonal(on_cpu(), rows, cols, x, work);
        double inner = 0; /* with U V', the nearest matrix of orthonormal rows or columns */
        double squares = 0;
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < cols; j++) {
                for (size_t k = 0; k < n; k++) {
                    inner += x[i * cols + j] * u[i * n + k] * v[k * cols + j];
                }
                squares += x[i * cols + j] * x[i * cols + j];
            }
        }
        assert_true(inner / sqrt(squares * (double)n) > 0.95);
        singular(rows, cols, x, s, NULL, NULL);
        assert_true(s[0] < 1.3);
        assert_true(s[n - 1] > 0.6);
    }
}

/* Whatever the singular values: U and V stay, s goes through the polynomial. */
static void test_polynomial(void **state)
{
    (void)state;
    lcg g = {4};
    for (size_t c = 0; c < SIDES; c++) {
        size_t rows = sides[c][0];
        size_t cols = sides[c][1];
        double x[MOST * MOST];
        double expected[MOST * MOST];
        double work[3 * MOST * MOST];
        float x32[MOST * MOST];
        float work32[3 * MOST * MOST];
        matrix_of(&g, rows, cols, 1e-6, x);
        for (size_t k = 0; k < rows * cols; k++) {
            x[k] *= 1e-9; /* the size does not matter */
            x32[k] = (float)x[k];
        }
        plain_orthogonal(rows, cols, x, expected);
        muon_f64_orthogonal(on_cpu(), rows, cols, x, work);
        muon_f32_orthogonal(on_cpu(), rows, cols, x32, work32);
        for (size_t k = 0; k < rows * cols; k++) {
            assert_near(x[k], expected[k], 1e-9);
            assert_near((double)x32[k], expected[k], 2e-3); /* rounding grows 500 times at most */
        }
    }
}

/* No gradient: no step, and nothing that is not a number. */
static void test_zero(void **state)
{
    (void)state;
    float x[12] = {0};
    float work[12 + 18];
    muon_f32_orthogonal(on_cpu(), 3, 4, x, work);
    for (size_t k = 0; k < 12; k++) {
        assert_near((double)x[k], 0, 0);
    }
}

/* ---- Steps ---- */

static network_shape shape_of(bool bias)
{
    return network_dense(
        &(network_stack){.layers = 3,
                         .width = bias ? (size_t[]){4, 9, 9, 30} : (size_t[]){3, 12, 12, 8},
                         .between = bias ? ACTIVATION_GELU : ACTIVATION_RELU,
                         .last = ACTIVATION_IDENTITY,
                         .bias = bias});
}

typedef struct bench {
    arena memory;
    muon_f64 o;
    muon_f32 o32;
    double *p, *g, *m, *s, *plain; /* (parameters): m, s of the formulas, which move `plain` */
    float *p32, *g32;
} bench;

static void lay_out(bench *b, const network_shape *shape)
{
    size_t n = network_count(shape);
    double **all[] = {&b->p, &b->g, &b->m, &b->s, &b->plain};
    const muon_plan plan = muon_plan_of(shape);
    muon_f64_lay_out(&b->o, &b->memory, &plan, on_cpu());
    muon_f32_lay_out(&b->o32, &b->memory, &plan, on_cpu());
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        *all[k] = arena_take(&b->memory, n, sizeof(double));
    }
    b->p32 = arena_take(&b->memory, n, sizeof(float));
    b->g32 = arena_take(&b->memory, n, sizeof(float));
}

static void open_bench(bench *b, const network_shape *shape)
{
    *b = (bench){0};
    lay_out(b, shape);
    assert_ok(arena_open(&b->memory, &why));
    lay_out(b, shape);
    muon_f64_draw(shape, (rng){5, 1}, b->p);
    muon_f32_draw(shape, (rng){5, 1}, b->p32);
    memcpy(b->plain, b->p, network_count(shape) * sizeof *b->p);
}

static void plain_step(bench *b, const network_shape *shape, double rate, int t)
{
    const double *g = b->g;
    for (size_t l = 0; l < shape->layers; l++) {
        size_t in = shape->layer[l].in;
        size_t out = shape->layer[l].out;
        size_t at = network_offset(shape, l);
        double size = sqrt((l == 0 ? 1.0 : 2.0) / (double)in);
        double ahead[MOST * MOST];
        double turn[MOST * MOST];
        for (size_t k = 0; k < in * out; k++) {
            b->m[at + k] = 0.95 * b->m[at + k] + g[at + k];
            ahead[k] = g[at + k] + 0.95 * b->m[at + k];
        }
        plain_orthogonal(in, out, ahead, turn);
        for (size_t k = 0; k < in * out; k++) {
            b->plain[at + k] -= rate * size * sqrt((double)(in > out ? in : out)) * turn[k];
        }
        for (size_t k = at + in * out; k < network_offset(shape, l + 1); k++) {
            b->m[k] = 0.9 * b->m[k] + 0.1 * g[k];
            b->s[k] = 0.99 * b->s[k] + 0.01 * g[k] * g[k];
            b->plain[k] -=
                rate * b->m[k] / (1 - pow(0.9, t)) / (sqrt(b->s[k] / (1 - pow(0.99, t))) + 1e-8);
        }
    }
}

static void test_steps(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        const network_shape own = shape_of(c == 1);
        const network_shape *shape = &own;
        size_t n = network_count(shape);
        lcg g = {8 + c};
        bench b;
        open_bench(&b, shape);
        for (int t = 1; t <= 5; t++) {
            double rate = 0.02 / t;
            for (size_t k = 0; k < n; k++) {
                b.g[k] = 1e-3 * lcg_normal(&g);
                b.g32[k] = (float)b.g[k];
            }
            muon_f64_step(&b.o, rate, b.p, b.g);
            muon_f32_step(&b.o32, rate, b.p32, b.g32);
            plain_step(&b, shape, rate, t);
            for (size_t k = 0; k < n; k++) {
                assert_near(b.p[k], b.plain[k], 1e-9);
                assert_near((double)b.p32[k], b.p[k], 1e-3 * rate);
            }
        }
        assert_int_equal(b.o.steps, 5);
        arena_close(&b.memory);
    }
}

/* Weights of the promised sizes, zero biases, and a step changes a matrix by about `rate` of its
 * size. */
static void test_sizes(void **state)
{
    (void)state;
    const network_shape shape = network_dense(&(network_stack){.layers = 2,
                                                               .width = (size_t[]){30, 40, 30},
                                                               .between = ACTIVATION_RELU,
                                                               .last = ACTIVATION_IDENTITY,
                                                               .bias = true});
    lcg g = {2};
    bench b;
    open_bench(&b, &shape);
    for (size_t k = 0; k < network_count(&shape); k++) {
        b.g32[k] = (float)lcg_normal(&g);
    }
    muon_f32_step(&b.o32, 0.01, b.p32, b.g32);
    for (size_t l = 0; l < 2; l++) {
        size_t at = network_offset(&shape, l);
        size_t n = shape.layer[l].in * shape.layer[l].out;
        double squares = 0;
        double moved = 0;
        for (size_t k = at; k < at + n; k++) {
            squares += b.p[k] * b.p[k] / (double)n;
            moved += pow((double)b.p32[k] - b.p[k], 2) / (double)n;
        }
        assert_near(squares * (double)shape.layer[l].in, l == 0 ? 1 : 2, 0.25);
        assert_near(sqrt(moved / squares), 0.01, 0.004);
        for (size_t k = at + n; k < network_offset(&shape, l + 1); k++) {
            assert_near(b.p[k], 0, 0);
            assert_near(fabs((double)b.p32[k]), 0.01, 1e-4);
        }
    }
    arena_close(&b.memory);
}

/* Half of the steps, the state carried to another optimiser, the other half. */
static void test_continue(void **state)
{
    (void)state;
    const network_shape own = shape_of(true);
    const network_shape *shape = &own;
    size_t n = network_count(shape);
    lcg g = {6};
    bench a;
    bench b;
    open_bench(&a, shape);
    open_bench(&b, shape);
    for (int t = 0; t < 8; t++) {
        for (size_t k = 0; k < n; k++) {
            a.g32[k] = (float)lcg_normal(&g);
        }
        if (t == 4) {
            memcpy(b.p32, a.p32, n * sizeof(float));
            memcpy(b.o32.state, a.o32.state, 2 * n * sizeof(float));
            b.o32.steps = a.o32.steps;
        }
        muon_f32_step(&a.o32, 0.01, a.p32, a.g32);
        if (t >= 4) {
            muon_f32_step(&b.o32, 0.01, b.p32, a.g32);
        }
    }
    assert_memory_equal(a.p32, b.p32, n * sizeof(float));
    arena_close(&a.memory);
    arena_close(&b.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orthogonal), cmocka_unit_test(test_polynomial),
        cmocka_unit_test(test_zero),       cmocka_unit_test(test_steps),
        cmocka_unit_test(test_sizes),      cmocka_unit_test(test_continue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
