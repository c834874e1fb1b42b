/* The Cholesky machine of a CUDA device against LAPACK's factor in double: sizes that are multiples
 * of nothing, matrices that are not positive definite, NaN, and the same bits every time. */
#include "backend/cholesky_machine.h"

#include "../lcg.h"
#include "on_cuda.h"

#include <lapacke.h>

static lscm_error why;

static const size_t SIZES[] = {1, 2, 17, 130, 257, 1000, 4097};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

/* exp(-|x_i - x_j|) + ridge on the diagonal, x on a line; above the diagonal there is scratch. */
static float *kernel_of(size_t n, uint64_t seed)
{
    lcg random = {seed};
    float *a = calloc(n * n, sizeof *a);
    double *x = calloc(n, sizeof *x);
    assert_true(a != NULL && x != NULL);
    for (size_t i = 0; i < n; i++) {
        x[i] = 20 * lcg_uniform(&random);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            a[i * n + j] = j > i ? 1e30F : (float)(exp(-fabs(x[i] - x[j])) + (i == j ? 0.1 : 0));
        }
    }
    free(x);
    return a;
}

static float *copy_of(const float *a, size_t n)
{
    float *out = malloc(n * n * sizeof *out);
    assert_non_null(out);
    memcpy(out, a, n * n * sizeof *out);
    return out;
}

/* L in double, from its own matrix; the order of the minor that is not positive definite. */
static size_t reference(const float *a, size_t n, double *l)
{
    for (size_t i = 0; i < n * n; i++) {
        l[i] = (double)a[i];
    }
    return (size_t)LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', (lapack_int)n, l, (lapack_int)n);
}

static void factors_are_lapack_s(void **state)
{
    device on;
    (void)state;
    if (!on_cuda(&on)) {
        skip();
    }
    for (size_t k = 0; k < SIZE_COUNT; k++) {
        size_t n = SIZES[k];
        size_t minor = 1;
        float *a = kernel_of(n, k);
        float *again = copy_of(a, n);
        double *l = malloc(n * n * sizeof *l);
        assert_non_null(l);
        assert_int_equal(reference(a, n, l), 0);
        assert_ok(on.cholesky->factor(&on, n, a, &minor, &why));
        assert_int_equal(minor, 0);
        assert_ok(on.cholesky->factor(&on, n, again, &minor, &why));
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j <= i; j++) {
                assert_near((double)a[i * n + j], l[i * n + j], 2e-4);
                assert_true(a[i * n + j] == again[i * n + j]);
            }
        }
        free(a);
        free(again);
        free(l);
    }
    device_close(&on);
}

/* A diagonal that fails at one place, the first, one within, the last. */
static void minors_are_lapack_s(void **state)
{
    device on;
    (void)state;
    if (!on_cuda(&on)) {
        skip();
    }
    for (size_t k = 0; k < SIZE_COUNT - 1; k++) {
        size_t n = SIZES[k];
        for (size_t place = 0; place < 3; place++) {
            size_t at = place * (n - 1) / 2;
            size_t minor = 0;
            float *a = kernel_of(n, k);
            double *l = malloc(n * n * sizeof *l);
            assert_non_null(l);
            a[at * n + at] = -0.5F;
            assert_int_equal(reference(a, n, l), at + 1);
            assert_ok(on.cholesky->factor(&on, n, a, &minor, &why));
            assert_int_equal(minor, at + 1);
            free(a);
            free(l);
        }
    }
    device_close(&on);
}

static void nan_is_no_factor(void **state)
{
    device on;
    (void)state;
    if (!on_cuda(&on)) {
        skip();
    }
    for (size_t k = 0; k < SIZE_COUNT - 1; k++) {
        size_t n = SIZES[k];
        size_t row = n / 2;
        size_t minor = 0;
        float *a = kernel_of(n, k);
        a[row * n + row / 2] = NAN; /* which spoils the row's own diagonal, and all after it */
        assert_ok(on.cholesky->factor(&on, n, a, &minor, &why));
        assert_int_equal(minor, row + 1);
        free(a);
    }
    size_t none = 1;
    assert_ok(on.cholesky->factor(&on, 0, NULL, &none, &why));
    assert_int_equal(none, 0);
    device_close(&on);
}

/* More than any device has: a sentence, and the device goes on. */
static void too_large_is_said(void **state)
{
    device on;
    float one = 4;
    size_t minor = 1;
    (void)state;
    if (!on_cuda(&on)) {
        skip();
    }
    assert_fails(on.cholesky->factor(&on, (size_t)1 << 20, &one, &minor, &why), LSCM_MEMORY,
                 "free; end what else runs there, or take --device cpu");
    assert_ok(on.cholesky->factor(&on, 1, &one, &minor, &why));
    assert_int_equal(minor, 0);
    assert_near((double)one, 2, 1e-6);
    device_close(&on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_lapack_s),
        cmocka_unit_test(minors_are_lapack_s),
        cmocka_unit_test(nan_is_no_factor),
        cmocka_unit_test(too_large_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
