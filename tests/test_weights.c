/* KL(q(L, S) || p(L) p(S)): its value against draws, its parts against closed forms, its gradient
 * against central differences. */
#define _DEFAULT_SOURCE /* M_PI */
#include "testing.h"

#include "base/rng.h"
#include "infer/weights/weights.h"

enum { D = 6, EDGES = D * (D - 1) / 2, MOST = EDGES + D };

static void fill(double *mean, double *raw, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        mean[i] = 1.3 * rng_normal((rng){seed, 0}, i);
        raw[i] = -1 + 1.5 * rng_normal((rng){seed, 1}, i);
    }
}

static double log_normal_density(double x, double mean, double sd)
{
    double z = (x - mean) / sd;
    return -z * z / 2 - log(sd) - log(2 * M_PI) / 2;
}

static void test_count(void **state)
{
    (void)state;
    assert_int_equal(weights_count(1, 1), 1);
    assert_int_equal(weights_count(5, 1), 11);
    assert_int_equal(weights_count(5, 5), 15);
}

static void test_squash(void **state)
{
    (void)state;
    for (int i = -150; i <= 150; i++) {
        double raw = 0.37 * i;
        double slope, unused;
        double here = weights_log_sd(raw, &slope);
        double difference =
            (weights_log_sd(raw + 1e-4, &unused) - weights_log_sd(raw - 1e-4, &unused)) / 2e-4;
        assert_true(fabs(here) <= 5);
        assert_near(difference, slope, 1e-9);
    }
    double slope;
    assert_near(weights_log_sd(0, &slope), 0, 0);
    assert_near(slope, 1, 0);
}

/* One node has no edges: what is left is the KL of two Gaussians, 0 where they are equal. */
static void test_noise_alone(void **state)
{
    horseshoe prior;
    double mean[1] = {0}, raw[1] = {5 * atanh(log(3) / 5)};
    double grad_mean[1], grad_raw[1];
    weights q = {1, 1, mean, raw};

    (void)state;
    horseshoe_init(&prior, 1);
    assert_near(weights_kl(&q, &prior, grad_mean, grad_raw), 0, 1e-15);
    assert_near(grad_mean[0], 0, 0);
    assert_near(grad_raw[0], 0, 1e-15);
    mean[0] = 0.8;
    raw[0] = -2;
    double sd = exp(5 * tanh(-2 / 5.0));
    assert_near(weights_kl(&q, &prior, grad_mean, grad_raw),
                log(3 / sd) + (sd * sd + 0.64) / 18 - 0.5, 1e-14);
}

static void test_value_is_the_mean_over_draws(void **state)
{
    enum { DRAWS = 20000 };
    double mean[MOST], raw[MOST], grad_mean[MOST], grad_raw[MOST], sd[MOST];
    horseshoe prior;
    weights q = {D, D, mean, raw};
    double sum = 0, square = 0, slope;

    (void)state;
    horseshoe_init(&prior, horseshoe_scale(200, D, 1));
    fill(mean, raw, MOST, 3);
    for (size_t i = 0; i < MOST; i++) {
        sd[i] = exp(weights_log_sd(raw[i], &slope));
    }
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        double ratio = 0;
        for (size_t i = 0; i < MOST; i++) {
            double x = mean[i] + sd[i] * rng_normal((rng){3, 2}, draw * MOST + i);
            ratio += log_normal_density(x, mean[i], sd[i]);
            ratio -=
                i < EDGES ? horseshoe_log_density(&prior, x, NULL) : log_normal_density(x, 0, 3);
        }
        sum += ratio / DRAWS;
        square += ratio * ratio / DRAWS;
    }
    assert_near(weights_kl(&q, &prior, grad_mean, grad_raw), sum,
                4 * sqrt((square - sum * sum) / DRAWS));
}

static void test_gradient(void **state)
{
    static const size_t noises[] = {1, D};
    static const double scales[] = {8e-4, 0.02, 0.5};
    double grad_mean[MOST], grad_raw[MOST], unused_mean[MOST], unused_raw[MOST];
    double mean[MOST], raw[MOST];
    double *vectors[2] = {mean, raw}, *gradients[2] = {grad_mean, grad_raw};

    (void)state;
    for (size_t c = 0; c < 6; c++) {
        size_t k = noises[c % 2], count = weights_count(D, k);
        horseshoe prior;
        weights q = {D, k, mean, raw};
        horseshoe_init(&prior, scales[c / 2]);
        fill(mean, raw, count, 5 + c);
        weights_kl(&q, &prior, grad_mean, grad_raw);
        for (size_t i = 0; i < 2 * count; i++) {
            double *x = &vectors[i / count][i % count];
            double slope;
            /* a step that the function can be told apart on: by sd for the mean, 1 for raw */
            double step = 1e-3 * (i < count ? exp(weights_log_sd(raw[i], &slope)) : 1);
            double was = *x, at[4];
            static const double moves[] = {-2, -1, 1, 2};
            for (int j = 0; j < 4; j++) {
                *x = was + moves[j] * step;
                at[j] = weights_kl(&q, &prior, unused_mean, unused_raw);
            }
            *x = was;
            double expected = (8 * (at[2] - at[1]) - (at[3] - at[0])) / (12 * step);
            double got = gradients[i / count][i % count];
            assert_near(got, expected, 1e-6 * fmax(fabs(expected), 1e-3));
        }
    }
}

static void test_nan_shows(void **state)
{
    double mean[MOST], raw[MOST], grad_mean[MOST], grad_raw[MOST];
    horseshoe prior;
    weights q = {D, 1, mean, raw};

    (void)state;
    horseshoe_init(&prior, 0.1);
    fill(mean, raw, MOST, 1);
    mean[4] = NAN;
    assert_true(isnan(weights_kl(&q, &prior, grad_mean, grad_raw)));
    assert_true(isnan(grad_mean[4]) && isnan(grad_raw[4]));
    assert_true(isfinite(grad_mean[3]));
    fill(mean, raw, MOST, 1);
    raw[4] = NAN;
    assert_true(isnan(weights_kl(&q, &prior, grad_mean, grad_raw)));
    assert_true(isnan(grad_mean[4]) && isnan(grad_raw[4]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count),       cmocka_unit_test(test_squash),
        cmocka_unit_test(test_noise_alone), cmocka_unit_test(test_value_is_the_mean_over_draws),
        cmocka_unit_test(test_gradient),    cmocka_unit_test(test_nan_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
