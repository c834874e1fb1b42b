/* Censored causal variables: the list of them, the Gibbs sweeps against brute-force integration,
 * and a regression that the clip would bias. */
#include "infer/sample/sample.h"

#include "design_testing.h"
#include "lcg.h"
#include "testing.h"

#include <omp.h>

static const rng R = {21, 5};

/* censor_find under the design of a mask, which is there until the next one. */
static lscm_status find(censored *c, const double *z, const uint8_t *mask, size_t rows, size_t d,
                        double clip, const double *tolerance, lscm_error *why)
{
    static design under;
    design_again(&under, rows, d, mask, NULL);
    return censor_find(c, &under, z, clip, tolerance, NULL, why);
}

static void finds_what_is_at_the_clip(void **state)
{
    (void)state;
    lscm_error why = {0};
    censored c;
    const double z[] = {8, 1, -8, 7.95, -7.95, 0, 8, 8, 8, 0, 0, 0, -9, 2, 7.9};
    const uint8_t mask[] = {0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0};
    const double tolerance[] = {0, 0.1, 0.2};
    assert_ok(find(&c, z, mask, 5, 3, 8, tolerance, &why));
    const size_t rows[] = {0, 1, 2, 4};
    const size_t first[] = {0, 2, 3, 4, 6};
    const size_t nodes[] = {0, 2, 1, 2, 0, 2};
    const uint8_t high[] = {1, 0, 0, 1, 0, 1};
    assert_int_equal(c.hit, 4);
    assert_int_equal(c.count, 6);
    assert_memory_equal(c.row, rows, sizeof rows);
    assert_memory_equal(c.first, first, sizeof first);
    assert_memory_equal(c.node, nodes, sizeof nodes);
    assert_memory_equal(c.high, high, sizeof high);
    const double share[] = {1. / 4, 1. / 3, 1. / 5, 1. / 4, 0, 2. / 5};
    for (size_t k = 0; k < 6; k++) {
        assert_near(c.share[k], share[k], 1e-15);
    }
    for (size_t j = 0; j < 3; j++) {
        assert_near(c.bound[j], 8 - tolerance[j], 0);
    }
    censor_close(&c);
    censor_close(&c);
}

static void refuses_what_makes_no_sense(void **state)
{
    (void)state;
    lscm_error why = {0};
    censored c;
    const double z[2] = {0};
    const uint8_t mask[2] = {0};
    const double good[] = {0, 0};
    const double wide[] = {0, 8};
    const double bad[] = {0, NAN};
    assert_fails(find(&c, z, mask, 1, 2, 0, good, &why), LSCM_USAGE, "positive");
    assert_fails(find(&c, z, mask, 1, 2, NAN, good, &why), LSCM_USAGE, "positive");
    assert_fails(find(&c, z, mask, 1, 2, INFINITY, good, &why), LSCM_USAGE, "positive");
    assert_fails(find(&c, z, mask, 1, 2, 8, wide, &why), LSCM_VALUE, "node 1");
    assert_fails(find(&c, z, mask, 1, 2, 8, bad, &why), LSCM_VALUE, "node 1");
    assert_ok(find(&c, z, mask, 1, 2, 8, good, &why));
    assert_int_equal(c.count, 0);
    censor_close(&c);
}

/* The start is E[z | beyond] of the normal variable that was clipped, whatever its mean. */
static void start_of_a_normal_variable(void **state)
{
    (void)state;
    enum { N = 30000 };
    static double z[N];
    static const uint8_t mask[N];
    const double tolerance = 0;
    const double means[] = {0, 3, -6};
    const double sd = 5;
    const double clip = 6;
    lcg g = {3};
    for (size_t m = 0; m < 3; m++) {
        lscm_error why = {0};
        censored c;
        double sum[2] = {0};
        double many[2] = {0};
        for (size_t r = 0; r < N; r++) {
            double x = means[m] + sd * lcg_normal(&g);
            if (fabs(x) >= clip) {
                sum[x > 0] += x;
                many[x > 0]++;
            }
            z[r] = fmax(-clip, fmin(clip, x));
        }
        assert_ok(find(&c, z, mask, N, 1, clip, &tolerance, &why));
        censor_start(&c, z);
        for (size_t r = 0; r < N; r++) {
            if (fabs(z[r]) >= clip) {
                size_t side = z[r] > 0 ? 1 : 0;
                assert_near(z[r], sum[side] / many[side], 0.25);
            }
        }
        censor_close(&c);
    }
}

/* A node that is always at the clip: nothing says how far beyond, but numbers stay numbers. */
static void saturated_throughout(void **state)
{
    (void)state;
    enum { N = 50 };
    lscm_error why = {0};
    censored c;
    double z[N * 2];
    static const uint8_t mask[N * 2];
    const double tolerance[] = {0, 0};
    const double w[] = {0, 1e6, 0, 0};
    const double intercept[] = {-1e6, 3};
    const double sigma[] = {1, 1e-3};
    for (size_t r = 0; r < N; r++) {
        z[2 * r] = 8;
        z[2 * r + 1] = r % 2 == 0 ? 8 : -8;
    }
    assert_ok(find(&c, z, mask, N, 2, 8, tolerance, &why));
    assert_int_equal(c.count, N * 2);
    censor_start(&c, z);
    for (size_t k = 0; k < N * 2; k++) {
        assert_true(fabs(z[k]) > 8 && fabs(z[k]) <= 40);
    }
    censor_draw(&c, &(mechanism_model){.d = 2, .w = w, .intercept = intercept, .sigma = sigma}, 20,
                R, 0, z);
    for (size_t k = 0; k < N * 2; k++) {
        assert_true(isfinite(z[k]) && fabs(z[k]) >= 8);
        assert_true((z[k] > 0) == (k % 2 == 0 || (k / 2) % 2 == 0));
    }
    censor_close(&c);
}

/* 0 -> 1 -> 2 and 0 -> 2 */
static const double WEIGHTS[9] = {0, 1.4, -0.8, 0, 0, 0.7, 0, 0, 0};
static const double SHIFTS[3] = {0.5, -0.3, 1};
static const double NOISE[3] = {1.5, 1.1, 2};
static const mechanism_model MODEL = {.d = 3, .w = WEIGHTS, .intercept = SHIFTS, .sigma = NOISE};

static double log_density(const double *z, const uint8_t *mask)
{
    double sum = 0;
    for (size_t i = 0; i < 3; i++) {
        double mean = SHIFTS[i];
        for (size_t j = 0; j < 3; j++) {
            mean += z[j] * WEIGHTS[j * 3 + i];
        }
        double e = (z[i] - mean) / NOISE[i];
        sum -= mask[i] != 0 ? 0 : e * e / 2;
    }
    return sum;
}

enum { MOMENTS = 5 };

static void add_moments(const double *z, size_t a, size_t b, double weight, double *out)
{
    out[0] += weight * z[a];
    out[1] += weight * z[b];
    out[2] += weight * z[a] * z[a];
    out[3] += weight * z[b] * z[b];
    out[4] += weight * z[a] * z[b];
}

/* Moments of the censored nodes a and b (perhaps the same) of one row, on midpoints that crowd at
 * the bound (bound + 18 u^2): beyond a bound far out, all that matters is within 0.1 of it. */
static void integrate(const double *row, const uint8_t *mask, const double *bound, size_t a,
                      size_t b, double *out)
{
    enum { STEPS = 300 };
    double total = 0;
    double z[3] = {row[0], row[1], row[2]};
    memset(out, 0, MOMENTS * sizeof *out);
    for (size_t i = 0; i < STEPS; i++) {
        double u = ((double)i + 0.5) / STEPS;
        for (size_t k = 0; k < (a == b ? 1 : STEPS); k++) {
            double v = ((double)k + 0.5) / STEPS;
            z[b] = copysign(bound[b] + 18 * v * v, row[b]);
            z[a] = copysign(bound[a] + 18 * u * u, row[a]);
            double weight = u * (a == b ? 1 : v) * exp(log_density(z, mask) + 60);
            total += weight;
            add_moments(z, a, b, weight, out);
        }
    }
    for (size_t m = 0; m < MOMENTS; m++) {
        out[m] /= total;
    }
}

/* Many copies of a row, each with its own random numbers, after enough sweeps. */
static void sweeps_follow_the_law(void **state)
{
    (void)state;
    enum { COPIES = 15000, CASES = 5 };
    static double z[COPIES * 3];
    static uint8_t mask[COPIES * 3];
    static const struct {
        double row[3];
        uint8_t mask[3];
        size_t a, b;
    } cases[CASES] = {
        {{4, 4, 1}, {0, 0, 0}, 0, 1},    /* parent and child */
        {{4, -4, 1}, {0, 0, 0}, 0, 1},   /* on opposite sides: far in the tails */
        {{4, 1, -4}, {0, 0, 0}, 0, 2},   /* around a mediator */
        {{-4, 2, -4}, {0, 1, 0}, 0, 2},  /* a child that is a target says nothing */
        {{1, -4, 3.7}, {1, 0, 1}, 1, 1}, /* one alone; its child is a target beyond the clip */
    };
    const double tolerance[] = {0.1, 0.2, 0.3};
    for (size_t k = 0; k < CASES; k++) {
        lscm_error why = {0};
        censored c;
        double expected[MOMENTS];
        double found[MOMENTS] = {0};
        double squares[MOMENTS] = {0};
        for (size_t r = 0; r < COPIES; r++) {
            memcpy(z + r * 3, cases[k].row, sizeof cases[k].row);
            memcpy(mask + r * 3, cases[k].mask, sizeof cases[k].mask);
        }
        assert_ok(find(&c, z, mask, COPIES, 3, 4, tolerance, &why));
        assert_int_equal(c.count, COPIES * (cases[k].a == cases[k].b ? 1 : 2));
        censor_start(&c, z);
        censor_draw(&c, &MODEL, 20, R, 0, z);
        integrate(cases[k].row, cases[k].mask, c.bound, cases[k].a, cases[k].b, expected);
        for (size_t r = 0; r < COPIES; r++) {
            double one[MOMENTS] = {0};
            add_moments(z + r * 3, cases[k].a, cases[k].b, 1, one);
            for (size_t m = 0; m < MOMENTS; m++) {
                found[m] += one[m] / COPIES;
                squares[m] += pow(one[m] - expected[m], 2) / COPIES;
            }
            for (size_t i = 0; i < 3; i++) {
                if (i != cases[k].a && i != cases[k].b) {
                    assert_true(z[r * 3 + i] == cases[k].row[i]);
                }
            }
        }
        for (size_t m = 0; m < MOMENTS; m++) {
            assert_near(found[m], expected[m], 5 * sqrt(squares[m] / COPIES));
        }
        censor_close(&c);
    }
}

/* A chain 0 -> 1 -> 2 under do() of the first or the second node, clipped after sampling. */
enum { ROWS = 4500, CHAIN_SEED = 17 };
static double chain[ROWS * 3];
static uint8_t chain_mask[ROWS * 3];

static void make_chain(double clip)
{
    lcg g = {CHAIN_SEED};
    memset(chain_mask, 0, sizeof chain_mask);
    for (size_t r = 0; r < ROWS; r++) {
        double *z = chain + r * 3;
        size_t target = r % 3; /* 2: none */
        for (size_t i = 0; i < 3; i++) {
            z[i] = (i > 0 ? 1.5 * z[i - 1] : 0) + 1.5 * lcg_normal(&g);
            if (i == target && target < 2) {
                z[i] = 10 * lcg_uniform(&g) - 5;
                chain_mask[r * 3 + i] = 1;
            }
        }
        for (size_t i = 0; i < 3; i++) { /* only after the children have seen it */
            z[i] = fmax(-clip, fmin(clip, z[i]));
        }
    }
}

/* Slope, constant and noise of node i on i - 1 where it is free; drawn when g is not NULL. */
static void regress(size_t i, lcg *g, double *w, double *intercept, double *sigma)
{
    double n = 0;
    double mean[2] = {0};
    double scatter[3] = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t r = 0; r < ROWS; r++) {
            double x = i > 0 ? chain[r * 3 + i - 1] : 0;
            double y = chain[r * 3 + i];
            if (chain_mask[r * 3 + i] != 0) {
                continue;
            }
            if (pass == 0) {
                n++;
                mean[0] += x;
                mean[1] += y;
            } else {
                scatter[0] += (x - mean[0] / n) * (x - mean[0] / n);
                scatter[1] += (x - mean[0] / n) * (y - mean[1] / n);
                scatter[2] += (y - mean[1] / n) * (y - mean[1] / n);
            }
        }
    }
    double slope = i > 0 ? scatter[1] / scatter[0] : 0;
    double rest = scatter[2] - slope * scatter[1];
    double s = sqrt(rest / (n - 2));
    if (g != NULL) { /* chi-squared with many degrees of freedom */
        s = sqrt(rest / (n - 2 + sqrt(2 * n) * lcg_normal(g)));
        slope += i > 0 ? s / sqrt(scatter[0]) * lcg_normal(g) : 0;
    }
    *w = slope;
    *sigma = s;
    *intercept = (mean[1] - slope * mean[0]) / n + (g != NULL ? s / sqrt(n) * lcg_normal(g) : 0);
}

static void clip_no_longer_biases_weights(void **state)
{
    (void)state;
    enum { SWEEPS = 80, WARM = 20 };
    lscm_error why = {0};
    censored c;
    double w[9] = {0};
    double intercept[3];
    double sigma[3];
    double mean[2] = {0};
    double noise = 0;
    const double tolerance[] = {0.05, 0.05, 0.05};
    lcg g = {1};
    make_chain(5);
    regress(1, NULL, &w[1], &intercept[1], &sigma[1]);
    regress(2, NULL, &w[5], &intercept[2], &sigma[2]);
    assert_true(w[1] < 1.35 && w[5] < 1.25); /* the truth is 1.5 */
    assert_ok(find(&c, chain, chain_mask, ROWS, 3, 5, tolerance, &why));
    censor_start(&c, chain);
    for (size_t k = 0; k < SWEEPS; k++) {
        double slope = 0;
        for (size_t i = 0; i < 3; i++) {
            regress(i, &g, &slope, &intercept[i], &sigma[i]);
            if (i > 0) {
                w[(i - 1) * 3 + i] = slope;
            }
        }
        if (k >= WARM) {
            mean[0] += w[1] / (SWEEPS - WARM);
            mean[1] += w[5] / (SWEEPS - WARM);
            noise += sigma[2] / (SWEEPS - WARM);
        }
        censor_draw(&c, &(mechanism_model){.d = 3, .w = w, .intercept = intercept, .sigma = sigma},
                    2, R, 2 * k, chain);
    }
    assert_near(mean[0], 1.5, 0.05);
    assert_near(mean[1], 1.5, 0.05);
    assert_near(noise, 1.5, 0.08);
    censor_close(&c);
}

/* Any number of threads gives the same bits; sweeps may be done in parts. */
static void same_for_any_thread_count(void **state)
{
    (void)state;
    static double result[3][ROWS * 3];
    const double tolerance[] = {0, 0, 0};
    int before = omp_get_max_threads();
    for (int k = 0; k < 3; k++) {
        lscm_error why = {0};
        censored c;
        omp_set_num_threads(k == 0 ? 1 : 3);
        make_chain(4);
        assert_ok(find(&c, chain, chain_mask, ROWS, 3, 4, tolerance, &why));
        omp_set_num_threads(k == 0 ? 4 : 1); /* more, or fewer, than there is scratch for */
        censor_start(&c, chain);
        if (k < 2) {
            censor_draw(&c, &MODEL, 5, R, 100, chain);
        } else {
            censor_draw(&c, &MODEL, 2, R, 100, chain);
            censor_draw(&c, &MODEL, 3, R, 102, chain);
        }
        memcpy(result[k], chain, sizeof chain);
        censor_close(&c);
    }
    omp_set_num_threads(before);
    assert_memory_equal(result[0], result[1], sizeof result[0]);
    for (size_t k = 0; k < (size_t)ROWS * 3; k++) {
        assert_near(result[2][k], result[1][k], 1e-9);
    }
}

/* log of the integral of N(mean, sd) from `from` on, by Simpson's rule over 12 sd. */
static double log_integral(double mean, double sd, double from)
{
    enum { STEPS = 20000 };
    double h = 12 * sd / STEPS;
    double sum = 0;
    for (int k = 0; k <= STEPS; k++) {
        double e = (from + k * h - mean) / sd;
        double weight = k == 0 || k == STEPS ? 1 : k % 2 == 1 ? 4 : 2;
        sum += weight * exp(-e * e / 2 - log(sd * sqrt(2 * acos(-1)))) * h / 3;
    }
    return log(sum);
}

/* Densities of what is seen, probabilities of what is cut off, nothing of what do() set. */
static void fit_is_densities_and_tails(void **state)
{
    (void)state;
    lscm_error why = {0};
    censored c;
    const double w[] = {0, 1.5, 0, 0};
    const double intercept[] = {0.3, -0.2};
    const double sigma[] = {2, 0.7};
    const double tolerance[] = {1, 0.5};
    const uint8_t mask[] = {0, 0, 0, 0, 1, 0, 0, 1, 0, 0};
    double z[] = {1, 2, 4.5, 9, -7, -8, 0.1, 8, -8, 0};
    mechanism_model model = {.d = 2, .w = w, .intercept = intercept, .sigma = sigma};
    assert_ok(find(&c, z, mask, 5, 2, 8, tolerance, &why));
    assert_int_equal(c.count, 3);
    double normal = -log(sqrt(2 * acos(-1)));
    double first =
        3 * (normal - log(2.)) - 0.49 / 8 - 4.2 * 4.2 / 8 - 0.04 / 8 + log_integral(-0.3, 2, 7);
    double seen = 0.7;   /* row 0: 2 - (-0.2 + 1.5) */
    double blown = 12.2; /* row 4: 0 - (-0.2 - 12) */
    double second = 2 * (normal - log(0.7)) - seen * seen / 0.98 - blown * blown / 0.98 +
                    log_integral(6.55, 0.7, 7.5) + log_integral(10.7, 0.7, 7.5);
    assert_near(censor_fit(&c, &model, z), first + second, 1e-8);
    censor_close(&c);
}

/* Where the probability itself is no number any more its logarithm still is. */
static void fit_far_in_the_tail(void **state)
{
    (void)state;
    lscm_error why = {0};
    censored c;
    const double zero[1] = {0};
    const double one[] = {1};
    const uint8_t mask[1] = {0};
    double z[] = {50};
    mechanism_model model = {.d = 1, .w = zero, .intercept = zero, .sigma = one};
    for (int k = 4; k <= 9; k++) {
        double clip = 5 * k;
        double a = clip * clip;
        double tail = -a / 2 - log(clip * sqrt(2 * acos(-1))) + log1p(-1 / a + 3 / (a * a));
        assert_ok(find(&c, z, mask, 1, 1, clip, zero, &why));
        assert_near(censor_fit(&c, &model, z), tail, 2e-3);
        censor_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_is_at_the_clip),
        cmocka_unit_test(refuses_what_makes_no_sense),
        cmocka_unit_test(start_of_a_normal_variable),
        cmocka_unit_test(saturated_throughout),
        cmocka_unit_test(fit_is_densities_and_tails),
        cmocka_unit_test(fit_far_in_the_tail),
        cmocka_unit_test(sweeps_follow_the_law),
        cmocka_unit_test(clip_no_longer_biases_weights),
        cmocka_unit_test(same_for_any_thread_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
