/* Random numbers against Random123's published known answers, libm and the laws they should follow.
 */
#include "base/rng.h"
#include "testing.h"

static const rng R = {20, 7};
enum { MANY = 1 << 20 };

static void known_answers(void **state)
{
    (void)state;
    uint64_t out[2];
    rng_block((rng){0, 0}, 0, out);
    assert_true(out[0] == 0xe169c58d6627e8d5U && out[1] == 0x9b00dbd8bc57ac4cU);
    rng_block((rng){UINT64_MAX, UINT64_MAX}, UINT64_MAX, out);
    assert_true(out[0] == 0x41c83b0e408f276dU && out[1] == 0x6d5451fda20bc7c6U);
    rng_block((rng){0x299f31d0a4093822U, 0x0370734413198a2eU}, 0x85a308d3243f6a88U, out);
    assert_true(out[0] == 0x94fdccebd16cfe09U && out[1] == 0x24126ea15001e420U);
}

static void uniforms_are_the_upper_bits(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t bits[2];
        rng_block(R, i / 2, bits);
        assert_true(rng_uniform(R, i) == ldexp((double)(bits[i % 2] >> 12) + 0.5, -52));
    }
}

static void transforms_agree_with_libm(void **state)
{
    (void)state;
    const double pi = acos(-1);
    for (uint64_t i = 0; i < 200000; i += 2) {
        double u = rng_uniform(R, i);
        double v = rng_uniform(R, i + 1);
        double radius = sqrt(-2 * log(u));
        assert_near(rng_normal(R, i), radius * cos(2 * pi * v), 1e-14);
        assert_near(rng_normal(R, i + 1), radius * sin(2 * pi * v), 1e-14);
        assert_near(rng_gumbel(R, i), -log(-log(u)), 1e-13);
    }
}

static void bulk_equals_single(void **state)
{
    (void)state;
    static double bulk[1000];
    const uint64_t starts[] = {0, 1, 2, 127, 128, 1000003};
    const size_t counts[] = {1, 2, 3, 127, 128, 129, 1000};
    for (size_t s = 0; s < 6; s++) {
        for (size_t c = 0; c < 7; c++) {
            rng_uniforms(R, starts[s], counts[c], bulk);
            for (size_t i = 0; i < counts[c]; i++) {
                assert_true(bulk[i] == rng_uniform(R, starts[s] + i));
            }
            rng_normals(R, starts[s], counts[c], bulk);
            for (size_t i = 0; i < counts[c]; i++) {
                assert_true(bulk[i] == rng_normal(R, starts[s] + i));
            }
        }
    }
}

static void same_for_any_thread_count(void **state)
{
    (void)state;
    static double one[MANY];
    static double many[MANY];
    rng_normals(R, 0, MANY, one);
#pragma omp parallel for num_threads(3) schedule(dynamic)
    for (int block = 0; block < MANY / 1024; block++) {
        rng_normals(R, (uint64_t)block * 1024, 1024, many + block * 1024);
    }
    assert_memory_equal(one, many, sizeof one);
}

/* Mean, variance, skewness and kurtosis within five standard errors. */
static void moments_of_normals(void **state)
{
    (void)state;
    static double x[MANY];
    rng_normals(R, 0, MANY, x);
    double power[5] = {0};
    double lag = 0;
    for (size_t i = 0; i < MANY; i++) {
        power[1] += x[i];
        power[2] += x[i] * x[i];
        power[3] += x[i] * x[i] * x[i];
        power[4] += x[i] * x[i] * x[i] * x[i];
        lag += i > 0 ? x[i] * x[i - 1] : 0;
    }
    double n = MANY;
    assert_near(power[1] / n, 0, 5 / sqrt(n));
    assert_near(power[2] / n, 1, 5 * sqrt(2 / n));
    assert_near(power[3] / n, 0, 5 * sqrt(15 / n));
    assert_near(power[4] / n, 3, 5 * sqrt(96 / n));
    assert_near(lag / n, 0, 5 / sqrt(n));
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Kolmogorov-Smirnov: n^(1/2) sup |F_n - F| stays below 1.95 with probability .999. */
static double ks(double *sample, size_t n, double (*cdf)(double))
{
    double worst = 0;
    qsort(sample, n, sizeof *sample, ascending);
    for (size_t i = 0; i < n; i++) {
        double f = cdf(sample[i]);
        worst = fmax(worst, fmax(f - (double)i / (double)n, ((double)i + 1) / (double)n - f));
    }
    return worst * sqrt((double)n);
}

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static double uniform_cdf(double x)
{
    return x;
}

static double gumbel_cdf(double x)
{
    return exp(-exp(-x));
}

static void laws(void **state)
{
    (void)state;
    static double x[100000];
    const size_t n = sizeof x / sizeof x[0];
    rng_normals(R, 5, n, x);
    assert_true(ks(x, n, normal_cdf) < 1.95);
    rng_uniforms((rng){20, 8}, 5, n, x);
    assert_true(ks(x, n, uniform_cdf) < 1.95);
    for (size_t i = 0; i < n; i++) {
        x[i] = rng_gumbel((rng){20, 9}, i);
    }
    assert_true(ks(x, n, gumbel_cdf) < 1.95);
}

/* All 24 orders of 4 things, and all 10 pairs out of 5, equally often (chi-square, p > .001). */
static void permutations_and_choices(void **state)
{
    (void)state;
    size_t seen[256] = {0};
    size_t pairs[25] = {0};
    const size_t trials = 48000;
    for (size_t t = 0; t < trials; t++) {
        size_t p[5];
        rng_permutation((rng){1, t}, 0, 4, p);
        seen[p[0] * 64 + p[1] * 16 + p[2] * 4 + p[3]]++;
        rng_choose((rng){2, t}, 0, 5, 2, p);
        assert_true(p[0] != p[1] && p[0] < 5 && p[1] < 5);
        pairs[p[0] < p[1] ? p[0] * 5 + p[1] : p[1] * 5 + p[0]]++;
    }
    double chi2 = 0;
    size_t kinds = 0;
    for (size_t i = 0; i < 256; i++) {
        double expected = (double)trials / 24;
        kinds += seen[i] > 0 ? 1 : 0;
        chi2 += seen[i] > 0 ? ((double)seen[i] - expected) * ((double)seen[i] - expected) / expected
                            : 0;
    }
    assert_int_equal(kinds, 24);
    assert_true(chi2 < 49.7);
    chi2 = 0;
    for (size_t i = 0; i < 25; i++) {
        double expected = (double)trials / 10;
        chi2 += pairs[i] > 0
                    ? ((double)pairs[i] - expected) * ((double)pairs[i] - expected) / expected
                    : 0;
    }
    assert_true(chi2 < 27.9);
}

static void below_stays_below(void **state)
{
    (void)state;
    size_t count[3] = {0};
    for (uint64_t i = 0; i < 30000; i++) {
        uint64_t k = rng_below(R, i, 3);
        assert_true(k < 3);
        count[k]++;
        assert_int_equal(rng_below(R, i, 1), 0);
    }
    for (int k = 0; k < 3; k++) {
        assert_near((double)count[k], 10000, 5 * sqrt(30000 * 2.0 / 9));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(uniforms_are_the_upper_bits),
        cmocka_unit_test(transforms_agree_with_libm),
        cmocka_unit_test(bulk_equals_single),
        cmocka_unit_test(same_for_any_thread_count),
        cmocka_unit_test(moments_of_normals),
        cmocka_unit_test(laws),
        cmocka_unit_test(permutations_and_choices),
        cmocka_unit_test(below_stays_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
