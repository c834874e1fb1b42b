/* Normals beyond a bound against their closed-form law, near and very far out. */
#include "base/truncated_normal.h"
#include "testing.h"

static const rng R = {4, 11};
enum { MANY = 100000 };

/* phi(a)/Q(a): by erfc where that is a normal number, else by Laplace's continued fraction. */
static double hazard(double a)
{
    if (a < 20) {
        return exp(-a * a / 2) * sqrt(2 / acos(-1)) / erfc(a / sqrt(2));
    }
    double fraction = a;
    for (int k = 60; k > 0; k--) {
        fraction = a + k / fraction;
    }
    return fraction;
}

/* Mean and variance within five standard errors. (x - bound)/sd has mean h - a and variance
 * 1 - h (h - a); far out that cancels, and both are those of an exponential to O(a^-2). */
static void moments(void **state)
{
    (void)state;
    const double alphas[] = {-1e6, -8, -1.3, -1e-9, 0, 0.2, 1, 3, 7, 19, 40, 1e3, 1e6};
    const double mean = 2.5;
    const double sd = 0.75;
    for (size_t k = 0; k < sizeof alphas / sizeof alphas[0]; k++) {
        double a = alphas[k];
        double bound = mean + sd * a;
        double h = hazard(a);
        double expected = a < 30 ? h - a : 1 / a * (1 - 2 / (a * a));
        double variance = a < 30 ? 1 - h * (h - a) : 1 / (a * a) * (1 - 6 / (a * a));
        double first = 0;
        double second = 0;
        double fourth = 0;
        for (uint64_t i = 0; i < MANY; i++) {
            double x = truncated_normal_above(mean, sd, bound, R, i + k * MANY);
            assert_true(x >= bound && isfinite(x));
            double off = (x - bound) / sd - expected;
            first += off / MANY;
            second += off * off / MANY;
            fourth += off * off * off * off / MANY;
        }
        assert_near(first, 0, 5 * sqrt(variance / MANY));
        assert_near(second, variance, 5 * sqrt((fourth - second * second) / MANY));
    }
}

/* P(x > t | x > bound) = Q(t)/Q(bound), and both halves of it, at the deciles: chi-squared. */
static void deciles(void **state)
{
    (void)state;
    const double alphas[] = {-2, -0.1, 0.1, 1.5, 5};
    for (size_t k = 0; k < 5; k++) {
        double counts[10] = {0};
        for (uint64_t i = 0; i < MANY; i++) {
            double x = truncated_normal_above(0, 1, alphas[k], R, i);
            double u = erfc(x / sqrt(2)) / erfc(alphas[k] / sqrt(2));
            assert_true(u >= 0 && u <= 1);
            counts[(size_t)fmin(u * 10, 9)]++;
        }
        double chi2 = 0;
        for (size_t b = 0; b < 10; b++) {
            chi2 += pow(counts[b] - MANY / 10.0, 2) / (MANY / 10.0);
        }
        assert_near(chi2, 0, 35); /* 9 degrees of freedom: 1e-4 are beyond */
    }
}

static void below_mirrors_above(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        double above = truncated_normal_above(-1, 2, 3, R, i);
        double below = truncated_normal_below(1, 2, -3, R, i);
        assert_true(below == -above && below <= -3);
    }
}

/* Draws depend on their own index alone, and neighbours are independent. */
static void indices_do_not_overlap(void **state)
{
    (void)state;
    double before = truncated_normal_above(0, 1, 1, R, 7);
    (void)truncated_normal_above(0, 1, -1, R, 6);
    assert_true(truncated_normal_above(0, 1, 1, R, 7) == before);
    double mean = hazard(0.5);
    double variance = 1 - mean * (mean - 0.5);
    double product = 0;
    for (uint64_t i = 0; i + 1 < MANY; i++) {
        double x = truncated_normal_above(0, 1, 0.5, R, i) - mean;
        double y = truncated_normal_above(0, 1, 0.5, R, i + 1) - mean;
        product += x * y / MANY;
    }
    assert_near(product, 0, 5 * variance / sqrt(MANY));
}

static void extremes_stay_finite(void **state)
{
    (void)state;
    const double means[] = {-1e300, -1e15, -1e6, 0, 1e6, 1e15, 1e300};
    const double sds[] = {0, 1e-300, 1e-6, 1, 1e6};
    for (size_t m = 0; m < 7; m++) {
        for (size_t s = 0; s < 5; s++) {
            for (uint64_t i = 0; i < 100; i++) {
                double x = truncated_normal_above(means[m], sds[s], 8, R, i);
                double y = truncated_normal_below(means[m], sds[s], -8, R, i);
                assert_true(isfinite(x) && x >= 8);
                assert_true(isfinite(y) && y <= -8);
            }
        }
    }
    assert_true(truncated_normal_above(1, 0, 8, R, 0) == 8);
    assert_true(truncated_normal_above(9, 0, 8, R, 0) == 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments),
        cmocka_unit_test(deciles),
        cmocka_unit_test(below_mirrors_above),
        cmocka_unit_test(indices_do_not_overlap),
        cmocka_unit_test(extremes_stay_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
