/* Correlations of z: by hand, and against long-double sums tried over every permutation. */
#include "lcg.h"
#include "testing.h"

enum { MOST = 6 };

static lscm_error why;
static const double NO_EDGES[MOST * MOST];

static lscm_scores score(const double *z, const double *true_z, const uint8_t *targets, size_t rows,
                         size_t d)
{
    lscm_estimate estimate = {.draws = 1, .nodes = d, .rows = rows, .w = NO_EDGES, .z = z};
    lscm_truth truth = {.w = NO_EDGES, .z = true_z, .targets = targets};
    lscm_scores s;
    assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
    return s;
}

static void latents_by_hand(void **state)
{
    (void)state;
    /* truth: columns 1 2 3 4 and 1 -1 -1 1, which do not correlate; the estimate swaps them */
    const double true_z[8] = {1, 1, 2, -1, 3, -1, 4, 1};
    const double z[8] = {4, 2, 10, 4, 10, 6, 4, 8};
    lscm_scores s = score(z, true_z, NULL, 4, 2);
    assert_near(s.mcc, 1, 1e-15);
    assert_near(s.mcc_named, 0, 1e-15);
    assert_near(s.mcc_free, 0, 1e-15);
    /* 1 2 3 4 against 1 3 2 4: covariance 4, squares 5 and 5; column 1 is turned round */
    const double near[8] = {1, -1, 3, 1, 2, 1, 4, -1};
    s = score(near, true_z, NULL, 4, 2);
    assert_near(s.mcc, (0.8 + 1) / 2, 1e-15);
    assert_near(s.mcc_named, (0.8 + 1) / 2, 1e-15);
    /* free rows of node 0: 0, 1, 3 with 1 2 4 against 1 3 4; node 1 has
     * one free row and does not count */
    const uint8_t targets[8] = {0, 0, 0, 1, 1, 1, 0, 1};
    s = score(near, true_z, targets, 4, 2);
    assert_near(s.mcc_free, (13.0 / 3) / (14.0 / 3), 1e-15);
    const uint8_t all[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    s = score(near, true_z, all, 4, 2);
    assert_true(isnan(s.mcc_free));
    assert_near(s.mcc_named, 0.9, 1e-15);
}

static void constants_correlate_with_nothing(void **state)
{
    (void)state;
    enum { ROWS = 1000 };
    double z[ROWS * 2];
    double true_z[ROWS * 2];
    uint8_t targets[ROWS * 2] = {0};
    lcg g = {11};
    for (size_t r = 0; r < ROWS; r++) {
        true_z[2 * r] = lcg_normal(&g);
        true_z[2 * r + 1] = lcg_normal(&g);
        z[2 * r] = 0.1; /* its sum is not 1000 * 0.1, and its mean not 0.1, when rounded */
        targets[2 * r + 1] = r % 3 == 0 ? 1 : 0;
        z[2 * r + 1] = targets[2 * r + 1] != 0 ? true_z[2 * r + 1] : 0.3;
    }
    lscm_scores s = score(z, true_z, targets, ROWS, 2);
    assert_near(s.mcc_named, s.mcc, 1e-15);
    assert_true(s.mcc > 0.1);
    assert_near(s.mcc_free, 0, 0);
    for (size_t r = 0; r < ROWS; r++) {
        z[2 * r + 1] = -7.7;
    }
    s = score(z, true_z, targets, ROWS, 2);
    assert_near(s.mcc, 0, 0);
    assert_near(s.mcc_named, 0, 0);
}

/* |Pearson| over the rows with keep, in long double. */
static double correlation(const double *a, const double *b, const uint8_t *targets, size_t i,
                          size_t j, size_t rows, size_t d)
{
    long double n = 0;
    long double ma = 0;
    long double mb = 0;
    long double saa = 0;
    long double sbb = 0;
    long double sab = 0;
    for (size_t r = 0; r < rows; r++) {
        if (targets == NULL || targets[r * d + j] == 0) {
            n += 1;
            ma += a[r * d + i];
            mb += b[r * d + j];
        }
    }
    for (size_t r = 0; r < rows; r++) {
        if (targets == NULL || targets[r * d + j] == 0) {
            long double x = a[r * d + i] - ma / n;
            long double y = b[r * d + j] - mb / n;
            saa += x * x;
            sbb += y * y;
            sab += x * y;
        }
    }
    return (double)fabsl(sab / sqrtl(saa * sbb));
}

static double best_match(const double *r, size_t d, size_t row, unsigned used)
{
    double best = 0;
    for (size_t j = 0; row < d && j < d; j++) {
        if ((used >> j & 1) == 0) {
            double total = r[row * d + j] + best_match(r, d, row + 1, used | 1U << j);
            best = total > best ? total : best;
        }
    }
    return best;
}

/* Offsets far from 0 and scales far from 1 must not matter; rows fill several blocks. */
static void latents_against_every_permutation(void **state)
{
    (void)state;
    enum { ROWS = 5000 };
    static double z[ROWS * MOST];
    static double true_z[ROWS * MOST];
    static uint8_t targets[ROWS * MOST];
    lcg g = {12};
    for (int round = 0; round < 12; round++) {
        size_t d = 1 + lcg_below(&g, MOST);
        size_t rows = round % 2 == 0 ? ROWS : 3 + lcg_below(&g, 40);
        double scale = round % 3 == 0 ? 1e200 : 1;
        double offset = round % 3 == 1 ? 1e6 : 0;
        double r[MOST * MOST];
        size_t order[MOST];
        double named = 0;
        double free_mean = 0;
        lcg_order(&g, d, order);
        for (size_t k = 0; k < rows * d; k++) {
            true_z[k] = lcg_normal(&g);
            targets[k] = k >= 3 * d && lcg_uniform(&g) < 0.4 ? 1 : 0;
        }
        for (size_t k = 0; k < rows * d; k++) {
            double from = true_z[k / d * d + order[k % d]] - 0.5 * true_z[k];
            z[k] = scale * (from + 0.3 * lcg_normal(&g)) + offset;
        }
        for (size_t i = 0; i < d; i++) {
            for (size_t j = 0; j < d; j++) {
                r[i * d + j] = correlation(z, true_z, NULL, i, j, rows, d);
            }
            named += r[i * d + i] / (double)d;
            free_mean += correlation(z, true_z, targets, i, i, rows, d) / (double)d;
        }
        lscm_scores s = score(z, true_z, targets, rows, d);
        double tolerance = offset > 0 ? 1e-9 : 1e-13;
        assert_near(s.mcc, best_match(r, d, 0, 0) / (double)d, tolerance);
        assert_near(s.mcc_named, named, tolerance);
        assert_near(s.mcc_free, free_mean, tolerance);
    }
}

/* The closed form against draws: z + sd e for many e, each matched by itself. */
static void drawn_z_correlates_less(void **state)
{
    (void)state;
    enum { ROWS = 4000, NODES = 3, DRAWS = 20 };
    static double z[ROWS * NODES];
    static double sd[ROWS * NODES];
    static double true_z[ROWS * NODES];
    static double drawn[ROWS * NODES];
    static const double w[NODES * NODES] = {0};
    lcg g = {21};
    double mean = 0;
    for (size_t k = 0; k < (size_t)ROWS * NODES; k++) {
        size_t j = k % NODES;
        true_z[k] = (double)(j + 1) * lcg_normal(&g);
        /* nodes swapped round, one of them turned over */
        z[k - j + (j + 1) % NODES] = (j == 1 ? -2 : 1) * true_z[k] + 0.5 * lcg_normal(&g);
        sd[k] = 0.3 + (double)j * fabs(lcg_normal(&g));
    }
    for (int draw = 0; draw < DRAWS; draw++) {
        for (size_t k = 0; k < (size_t)ROWS * NODES; k++) {
            drawn[k] = z[k] + sd[k] * lcg_normal(&g);
        }
        mean += score(drawn, true_z, NULL, ROWS, NODES).mcc / DRAWS;
    }
    lscm_scores s;
    lscm_estimate estimate = {
        .draws = 1, .nodes = NODES, .rows = ROWS, .w = w, .z = z, .z_sd = sd, .threshold = 0.3};
    lscm_truth truth = {.w = w, .z = true_z};
    assert_int_equal(lscm_evaluate(&s, &estimate, &truth, NULL), LSCM_OK);
    assert_near(s.mcc_drawn, mean, 0.004);
    assert_true(s.mcc_drawn < s.mcc - 0.02);
    assert_true(isnan(score(z, true_z, NULL, ROWS, NODES).mcc_drawn));
}

/* Rounding alone takes one of a few hundred perfect correlations over 1. */
static void never_over_one(void **state)
{
    (void)state;
    enum { ROWS = 17 };
    lcg g = {13};
    for (int round = 0; round < 500; round++) {
        double z[ROWS];
        double true_z[ROWS];
        for (size_t k = 0; k < ROWS; k++) {
            true_z[k] = lcg_normal(&g);
            z[k] = -3.3 * true_z[k] + 0.7;
        }
        lscm_scores s = score(z, true_z, NULL, ROWS, 1);
        assert_near(s.mcc, 1, 1e-14);
        assert_true(s.mcc <= 1 && s.mcc_named <= 1 && s.mcc_free <= 1);
    }
}

static void without_z_there_is_no_score(void **state)
{
    (void)state;
    const double z[2] = {1, 2};
    lscm_scores s = score(NULL, z, NULL, 1, 2);
    assert_true(isnan(s.mcc) && isnan(s.mcc_named) && isnan(s.mcc_free));
    s = score(z, NULL, NULL, 1, 2);
    assert_true(isnan(s.mcc) && isnan(s.mcc_named) && isnan(s.mcc_free));
    /* one row has no correlation */
    s = score(z, z, NULL, 1, 2);
    assert_true(isnan(s.mcc) && isnan(s.mcc_named) && isnan(s.mcc_free));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latents_by_hand),
        cmocka_unit_test(constants_correlate_with_nothing),
        cmocka_unit_test(latents_against_every_permutation),
        cmocka_unit_test(drawn_z_correlates_less),
        cmocka_unit_test(never_over_one),
        cmocka_unit_test(without_z_there_is_no_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
