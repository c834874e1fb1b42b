/* F of uneven_slopes for residuals whose law is known. Given X, with p parents and a constant,
 * and residuals e = noise of variance s^2 plus b_k x_1, b_k ~ N(0, t^2) for each set k,
 *
 *     E tr((X'X)^-1 sum_k g_k g_k') = s^2 p + t^2 sum_k c_k' (X'X)^-1 c_k,   c_k = X_k' x_1k,
 *     E mean(e^2) = s^2 + t^2 mean(x_1^2),
 *
 * so F is about their ratio over p, and 1 where t = 0. x_1 may be the constant. */
#include "infer/evidence/evidence.h"

#include "design_testing.h"
#include "lcg.h"
#include "testing.h"

#include <lapacke.h>

static lscm_error why;

enum { D = 3, SETS = 48, PER_SET = 40, ROWS = SETS * PER_SET, SEEDS = 12 };

/* 0 and 1 cause 2. Node 2 is set in a quarter of the sets, to values that its mechanism would not
 * give; the masks of sets are made different by the nodes from 3 on, which have no other part. */
enum { WIDE = D + 6 };
static double z[ROWS * WIDE];
static uint8_t mask[ROWS * WIDE];
static linear_view view;
static uint8_t keep[ROWS];
static const double w[WIDE * WIDE] = {[0 * WIDE + 2] = 1.5, [1 * WIDE + 2] = -0.7};
static const double intercept[WIDE] = {[2] = 0.4};

typedef enum varies { NOTHING, SLOPE, LEVEL } varies;

static void make(uint64_t seed, varies what, double t)
{
    lcg g = {seed};
    memset(mask, 0, sizeof mask);
    for (size_t k = 0; k < SETS; k++) {
        double b = t * lcg_normal(&g);
        double wide = 0.3 + 3 * lcg_uniform(&g); /* sets differ in how far node 0 goes */
        for (size_t r = 0; r < PER_SET; r++) {
            size_t row = r * SETS + k; /* sets are not together */
            double *at = z + row * WIDE;
            at[0] = 1 + wide * lcg_normal(&g);
            at[1] = at[0] + lcg_normal(&g);
            double x = what == SLOPE ? at[0] : what == LEVEL ? 1 : 0;
            at[2] = 0.4 + 1.5 * at[0] - 0.7 * at[1] + 0.5 * lcg_normal(&g) + b * x;
            for (size_t j = D; j < WIDE; j++) {
                mask[row * WIDE + j] = (uint8_t)(k >> (j - D) & 1);
                at[j] = lcg_normal(&g);
            }
            if (k % 4 == 3) {
                mask[row * WIDE + 2] = 1;
                at[2] = 100 * lcg_normal(&g);
            }
        }
    }
    design_again(&view.design, ROWS, WIDE, mask, NULL);
}

static void slopes(double *out, const uint8_t *kept)
{
    const anchored_input in = {.view = &view, .keep = kept};
    double variance[WIDE];
    double squares = 0;
    double rows = 0;
    assert_ok(uneven_slopes(out, variance, &in, NULL, z,
                            &(mechanism_model){.d = WIDE, .w = w, .intercept = intercept}, &why));
    for (size_t row = 0; row < ROWS; row++) {
        const double *at = z + row * WIDE;
        if (mask[row * WIDE + 2] == 0 && (kept == NULL || kept[row] != 0)) {
            squares += pow(at[2] - 0.4 - 1.5 * at[0] + 0.7 * at[1], 2);
            rows += 1;
        }
    }
    assert_near(variance[2], squares / fmax(rows, 1), 1e-9 * (1 + squares / fmax(rows, 1)));
    for (size_t j = 0; j < WIDE; j++) {
        assert_true(out[j] >= 1);
        assert_true(variance[j] >= 0);
    }
}

/* What F of node 2 should be. */
static double expected(varies what, double t)
{
    double v[9] = {0};
    double c[SETS][3] = {{0}};
    double rows = 0;
    double squares = 0;
    double sum = 0;
    for (size_t row = 0; row < ROWS; row++) {
        const double x[3] = {1, z[row * WIDE], z[row * WIDE + 1]};
        double by = what == SLOPE ? x[1] : 1;
        if (mask[row * WIDE + 2] == 0) {
            for (size_t a = 0; a < 3; a++) {
                c[row % SETS][a] += x[a] * by;
                for (size_t b = 0; b < 3; b++) {
                    v[a * 3 + b] += x[a] * x[b];
                }
            }
            rows += 1;
            squares += by * by;
        }
    }
    assert_int_equal(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', 3, v, 3), 0);
    for (size_t k = 0; k < SETS; k++) {
        double y[3];
        memcpy(y, c[k], sizeof y);
        (void)LAPACKE_dpotrs(LAPACK_ROW_MAJOR, 'L', 3, 1, v, 3, y, 1);
        sum += y[0] * c[k][0] + y[1] * c[k][1] + y[2] * c[k][2];
    }
    return (0.25 * 3 + t * t * sum) / (0.25 + t * t * squares / rows) / 3;
}

static void test_independent(void **state)
{
    (void)state;
    double mean = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double f[WIDE];
        make(seed, NOTHING, 0);
        slopes(f, NULL);
        assert_true(f[2] < 1.7); /* sd about sqrt(2/(3 36)) and more as sets differ */
        mean += f[2] / SEEDS;
    }
    assert_true(mean < 1.2);
}

static void check(varies what, double t)
{
    double mean = 0;
    double should = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double f[WIDE];
        make(100 + seed, what, t);
        slopes(f, NULL);
        mean += f[2] / SEEDS;
        should += expected(what, t) / SEEDS;
    }
    assert_true(should > 1.5); /* otherwise nothing is tested */
    assert_near(mean / should, 1, 0.2);
}

static void test_slopes_vary(void **state)
{
    (void)state;
    check(SLOPE, 0.1);
    check(SLOPE, 0.3);
}

static void test_levels_vary(void **state)
{
    (void)state;
    check(LEVEL, 0.2);
    check(LEVEL, 1);
}

/* A node without parents: n_k rows in set k, F = (s^2 + t^2 sum n_k^2/n)/(s^2 + t^2). */
static void test_root(void **state)
{
    (void)state;
    double mean = 0;
    double none[WIDE * WIDE] = {0};
    double zero[WIDE] = {0};
    const anchored_input in = {.view = &view};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double f[WIDE];
        double variance[WIDE];
        lcg g = {seed};
        make(seed, NOTHING, 0);
        for (size_t k = 0; k < SETS; k++) {
            double level = 0.3 * lcg_normal(&g);
            for (size_t row = k; row < ROWS; row += SETS) {
                z[row * WIDE + 1] = 2 * (level + lcg_normal(&g)); /* in any units */
            }
        }
        assert_ok(uneven_slopes(f, variance, &in, NULL, z,
                                &(mechanism_model){.d = WIDE, .w = none, .intercept = zero}, &why));
        mean += f[1] / SEEDS;
    }
    assert_near(mean / ((1 + 0.09 * PER_SET) / 1.09), 1, 0.15);
}

/* F of node 2 by its definition: x = (1, z_0, z_1), weights in every sum. */
static double by_definition(const double *weight)
{
    double v[9] = {0};
    double g[SETS][3] = {{0}};
    double between[9] = {0};
    double squares = 0;
    double rows = 0;
    double trace = 0;
    for (size_t row = 0; row < ROWS; row++) {
        const double *at = z + row * WIDE;
        const double x[3] = {1, at[0], at[1]};
        double e = at[2] - 0.4 - 1.5 * at[0] + 0.7 * at[1];
        if (mask[row * WIDE + 2] == 0) {
            rows += 1;
            squares += weight[row] * e * e;
            for (size_t k = 0; k < 9; k++) {
                v[k] += weight[row] * x[k / 3] * x[k % 3];
            }
            for (size_t k = 0; k < 3; k++) {
                g[row % SETS][k] += weight[row] * e * x[k];
            }
        }
    }
    for (size_t s = 0; s < SETS; s++) {
        for (size_t k = 0; k < 9; k++) {
            between[k] += g[s][k / 3] * g[s][k % 3];
        }
    }
    assert_int_equal(LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', 3, 3, v, 3, between, 3), 0);
    for (size_t k = 0; k < 3; k++) {
        trace += between[4 * k];
    }
    return trace / 3 / (squares / rows);
}

static void test_weights(void **state)
{
    (void)state;
    double f[WIDE];
    double again[WIDE];
    double variance[WIDE];
    double weight[ROWS];
    const anchored_input in = {.view = &view};
    lcg g = {17};
    make(6, SLOPE, 0.2);
    for (size_t row = 0; row < ROWS; row++) {
        weight[row] = 0.1 + lcg_uniform(&g);
    }
    assert_ok(uneven_slopes(f, variance, &in, weight, z,
                            &(mechanism_model){.d = WIDE, .w = w, .intercept = intercept}, &why));
    assert_near(f[2] / by_definition(weight), 1, 1e-6);
    for (size_t row = 0; row < ROWS; row++) {
        weight[row] *= 3;
    }
    assert_ok(uneven_slopes(again, variance, &in, weight, z,
                            &(mechanism_model){.d = WIDE, .w = w, .intercept = intercept}, &why));
    assert_near(again[2] / f[2], 1, 1e-9);
}

/* Rows that are left out do not count; nor do units. */
static void test_keep_and_units(void **state)
{
    (void)state;
    double all[WIDE];
    double kept[WIDE];
    double scaled[WIDE];
    double variance[WIDE];
    double weights[WIDE * WIDE];
    double level[WIDE];
    const anchored_input in = {.view = &view};
    make(5, SLOPE, 0.2);
    slopes(all, NULL);
    memcpy(weights, w, sizeof w);
    memcpy(level, intercept, sizeof level);
    for (size_t row = 0; row < ROWS; row++) {
        z[row * WIDE] *= 1000;
        z[row * WIDE + 2] *= 1e-3;
    }
    weights[0 * WIDE + 2] *= 1e-6;
    weights[1 * WIDE + 2] *= 1e-3;
    level[2] *= 1e-3;
    assert_ok(uneven_slopes(scaled, variance, &in, NULL, z,
                            &(mechanism_model){.d = WIDE, .w = weights, .intercept = level}, &why));
    assert_near(scaled[2] / all[2], 1, 1e-6);
    make(5, SLOPE, 0.2);
    for (size_t row = 0; row < ROWS; row++) { /* spoil every fifth row of each set */
        keep[row] = row / SETS % 5 != 0;
        z[row * WIDE + 2] += keep[row] != 0 ? 0 : 1e6;
    }
    slopes(kept, keep);
    assert_true(kept[2] < 1.3 * all[2]);
    assert_true(kept[2] > 0.5 * all[2]);
}

/* Four sets are too few to tell; one of them spoils nothing. */
static void test_few_sets(void **state)
{
    (void)state;
    double f[WIDE];
    make(6, LEVEL, 5);
    for (size_t row = 0; row < ROWS; row++) {
        keep[row] = row % SETS < 4;
    }
    slopes(f, keep);
    assert_near(f[2], 1, 0);
    memset(keep, 0, sizeof keep);
    slopes(f, keep);
    for (size_t j = 0; j < WIDE; j++) {
        assert_near(f[j], 1, 0);
    }
}

/* Constant and doubled parents, residuals of nothing: numbers all the same. */
static void test_degenerate(void **state)
{
    (void)state;
    double f[WIDE];
    make(7, SLOPE, 0.2);
    for (size_t row = 0; row < ROWS; row++) {
        z[row * WIDE + 1] = z[row * WIDE];
    }
    slopes(f, NULL);
    for (size_t row = 0; row < ROWS; row++) {
        z[row * WIDE] = z[row * WIDE + 1] = 0;
        z[row * WIDE + 2] = 0.4;
    }
    slopes(f, NULL);
    assert_near(f[2], 1, 0);
    for (size_t j = 0; j < WIDE; j++) {
        assert_true(isfinite(f[j]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_independent), cmocka_unit_test(test_slopes_vary),
        cmocka_unit_test(test_levels_vary), cmocka_unit_test(test_root),
        cmocka_unit_test(test_weights),     cmocka_unit_test(test_keep_and_units),
        cmocka_unit_test(test_few_sets),    cmocka_unit_test(test_degenerate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
