/* exp and log of eight numbers against libm in long double, the normal law against erfc; NaN and
 * the ends of the range. */
#include "base/lanes_math.h"

#include "lcg.h"
#include "testing.h"

static void exp_and_log_match_libm(void **state)
{
    (void)state;
    lcg g = {3};
    double worst_exp = 0;
    double worst_log = 0;
    for (size_t round = 0; round < 20000; round++) {
        double size = round % 3 == 0 ? 1400 : round % 3 == 1 ? 4 : 1e-3;
        lanes x;
        for (size_t k = 0; k < LANES; k++) {
            x[k] = (lcg_uniform(&g) - 0.5) * size;
        }
        lanes e = lanes_exp(x);
        lanes y = round % 3 == 0 ? e : 1.0 + 0.4 * x; /* all sizes, and around 1 */
        y = lanes_max(y, lanes_of(1e-300));
        lanes l = lanes_log(y);
        for (size_t k = 0; k < LANES; k++) {
            long double true_exp = expl((long double)x[k]);
            long double true_log = logl((long double)y[k]);
            worst_exp = fmax(worst_exp, (double)fabsl((long double)e[k] / true_exp - 1));
            worst_log = fmax(worst_log, (double)fabsl(((long double)l[k] - true_log) / true_log));
            assert_false(isnan(e[k]) || isnan(l[k]));
        }
    }
    assert_near(worst_exp, 0, 3e-16);
    assert_near(worst_log, 0, 5e-16);
}

static void the_ends_of_the_range_are_right(void **state)
{
    (void)state;
    lanes x = {-INFINITY, -1e300, -745.2, -744.4, -720, 709.7, 709.8, INFINITY};
    lanes e = lanes_exp(x);
    for (size_t k = 0; k < LANES; k++) {
        /* subnormal results differ by their last bit at most */
        assert_true(e[k] == exp(x[k]) || fabs(e[k] - exp(x[k])) <= 5e-324 || isfinite(e[k]));
        assert_true(isinf(e[k]) == isinf(exp(x[k])));
        assert_true((e[k] == 0) == (exp(x[k]) == 0));
    }
    assert_near(e[4], exp(-720), 5e-324);
    assert_near(e[5] / exp(709.7), 1, 3e-16);
    lanes outside = {0, -0.0, -1, 1e-310, INFINITY, -INFINITY, NAN, -NAN};
    lanes l = lanes_log(outside);
    for (size_t k = 0; k < LANES; k++) {
        assert_true(isnan(l[k]));
    }
    assert_true(lanes_log(lanes_of(1))[0] == 0 && lanes_exp(lanes_of(0))[0] == 1);
}

static void nan_stays_in_its_lane(void **state)
{
    (void)state;
    lanes a = {NAN, 1, 2, 3, 4, 5, 6, 7};
    lanes b = {0, NAN, 3, 2, 4, -5, 6, 8};
    lanes results[] = {lanes_exp(a), lanes_log(a), lanes_max(a, b), lanes_min(a, b), lanes_abs(a)};
    for (size_t r = 0; r < sizeof results / sizeof *results; r++) {
        assert_true(isnan(results[r][0]));
        assert_true(isnan(results[r][1]) == (r == 2 || r == 3));
        for (size_t k = 2; k < LANES; k++) {
            assert_true(isfinite(results[r][k]));
        }
    }
    for (size_t k = 2; k < LANES; k++) {
        assert_true(results[2][k] == fmax(a[k], b[k]) && results[3][k] == fmin(a[k], b[k]));
    }
    assert_true(lanes_abs(b)[5] == 5);
    assert_true(lanes_larger(a, b)[0] == 0 && lanes_larger(a, b)[5] == 5);
    assert_true(lanes_smaller(a, b)[0] == 0 && lanes_smaller(a, b)[5] == -5);
    assert_true(isnan(lanes_largest(a)) && isnan(lanes_largest(b)));
    assert_true(lanes_largest(lanes_of(2)) == 2);
}

static void masks_select_and_reduce(void **state)
{
    (void)state;
    lanes a = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int bound = 0; bound <= LANES; bound++) {
        lanes_mask below = (lanes_mask)(a < (double)bound);
        assert_true(lanes_any(below) == (bound > 0));
        assert_true(lanes_all(below) == (bound == LANES));
        lanes chosen = lanes_select(below, a, lanes_of(-1));
        for (int k = 0; k < LANES; k++) {
            assert_true(chosen[k] == (k < bound ? k : -1));
        }
    }
}

static void normal_below_matches_erfc(void **state)
{
    (void)state;
    for (size_t round = 0; round < 4000; round++) {
        lanes u;
        for (size_t k = 0; k < LANES; k++) {
            u[k] = -12 + 24 * (double)(round * LANES + k) / (4000 * LANES);
        }
        lanes below = lanes_normal_below(u);
        for (size_t k = 0; k < LANES; k++) {
            assert_near(below[k], 0.5 * erfc(-u[k] * sqrt(0.5)), 1e-7);
        }
    }
    lanes ends = {-INFINITY, INFINITY, NAN, -1e300, 1e300, 0, -0.0, 1};
    lanes below = lanes_normal_below(ends);
    assert_true(below[0] == 0 && below[1] == 1 && isnan(below[2]) && below[3] == 0 &&
                below[4] == 1);
    assert_near(below[5], 0.5, 1e-7);
    assert_near(below[6], 0.5, 1e-7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_and_log_match_libm),
        cmocka_unit_test(the_ends_of_the_range_are_right),
        cmocka_unit_test(nan_stays_in_its_lane),
        cmocka_unit_test(masks_select_and_reduce),
        cmocka_unit_test(normal_below_matches_erfc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
