/* Mechanisms that bend from data to posterior: valleys and products are found and what they look
 * like is right, straight data give the same bits as if nothing may bend, and hopeless data end in
 * a sentence or in numbers. */
#include "lcg.h"
#include "testing.h"

enum { ROWS = 600, MOST = 4 };

static lscm_error why;
static const lscm_mechanism ALL[] = {LSCM_MECHANISM_AUTO, LSCM_MECHANISM_LINEAR,
                                     LSCM_MECHANISM_ADDITIVE, LSCM_MECHANISM_JOINT};
static const size_t KINDS = sizeof ALL / sizeof *ALL;

typedef struct rows_of {
    size_t rows, d;
    double x[ROWS * MOST];
    uint8_t targets[ROWS * MOST];
} rows_of;

/* A sentence, or a posterior. */
static lscm_posterior *try_fit(const rows_of *r, lscm_mechanism mechanism)
{
    lscm_arrays arrays = {
        .rows = r->rows, .nodes = r->d, .features = r->d, .x = r->x, .targets = r->targets};
    lscm_fit_settings *s = lscm_fit_settings_new();
    lscm_dataset *data = NULL;
    lscm_posterior *p = NULL;
    assert_non_null(s);
    s->decoder = LSCM_DECODER_IDENTITY;
    s->mechanism = mechanism;
    s->holdout = 0;
    s->draws = 400;
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    why.text[0] = '\0';
    lscm_status status = lscm_fit(&p, data, s, NULL, NULL, &why);
    assert_true(status == LSCM_OK ? p != NULL : p == NULL && strlen(why.text) > 20);
    lscm_dataset_free(data);
    lscm_fit_settings_free(s);
    return p;
}

static lscm_posterior *fit(const rows_of *r, lscm_mechanism mechanism)
{
    lscm_posterior *p = try_fit(r, mechanism);
    if (p == NULL) {
        print_error("%s\n", why.text);
        fail();
    }
    return p;
}

static double edge(const lscm_posterior *p, size_t from, size_t to)
{
    return lscm_posterior_edge_prob(p)[from * lscm_posterior_nodes(p) + to];
}

/* ---- A valley -------------------------------------------------------------------------------- */

/* Returns the slope that was taken off. */
static double valley(rows_of *r)
{
    lcg g = {21};
    *r = (rows_of){.rows = ROWS, .d = 2};
    for (size_t k = 0; k < ROWS; k++) {
        double z = lcg_normal(&g);
        r->x[2 * k] = z;
        r->x[2 * k + 1] = z * z + 0.5 * lcg_normal(&g);
    }
    /* nothing that a line could see */
    double with = 0;
    double square = 0;
    for (size_t k = 0; k < ROWS; k++) {
        double z = r->x[2 * k];
        with += z * r->x[2 * k + 1];
        square += z * z;
    }
    for (size_t k = 0; k < ROWS; k++) {
        r->x[2 * k + 1] -= with / square * r->x[2 * k];
    }
    return with / square;
}

static void check_valley(const lscm_posterior *p, const rows_of *r, double slope)
{
    enum { PLACES = 21 };
    double at[PLACES];
    double low[PLACES];
    double mean[PLACES];
    double high[PLACES];
    double exact[PLACES];
    double average = 0;
    double residual = 0;
    size_t inside = 0;
    lscm_curve curve = {.count = PLACES, .at = at, .low = low, .mean = mean, .high = high};
    for (size_t k = 0; k < ROWS; k++) {
        average += (r->x[2 * k] - slope) * r->x[2 * k] / ROWS;
    }
    for (size_t k = 0; k < PLACES; k++) {
        at[k] = -2 + 0.2 * (double)k;
        exact[k] = (at[k] - slope) * at[k] - average;
    }
    assert_ok(lscm_posterior_curve(&curve, p, 0, 1, &why));
    assert_true(curve.seen[0] < -2 && curve.seen[1] > 2);
    for (size_t k = 0; k < PLACES; k++) {
        assert_true(low[k] <= mean[k] && mean[k] <= high[k]);
        assert_near(mean[k], exact[k], 0.25);
        inside += low[k] <= exact[k] && exact[k] <= high[k] ? 1 : 0;
        residual += (mean[k] - exact[k]) * (mean[k] - exact[k]) / PLACES;
    }
    assert_true(sqrt(residual) < 0.12 && inside >= PLACES / 2);
    const double *sigma = lscm_posterior_sigma(p);
    assert_near(sigma[1], 0.5, 0.06);
}

static void a_valley_is_found(void **state)
{
    static rows_of r;
    (void)state;
    double slope = valley(&r);
    for (size_t k = 0; k < KINDS; k++) {
        lscm_posterior *p = fit(&r, ALL[k]);
        if (ALL[k] == LSCM_MECHANISM_LINEAR) {
            assert_true(!lscm_posterior_any_bends(p));
            assert_true(edge(p, 0, 1) + edge(p, 1, 0) < 0.5);
        } else {
            assert_true(lscm_posterior_any_bends(p));
            assert_true(edge(p, 0, 1) > 0.99 && edge(p, 1, 0) < 0.01);
            assert_true(lscm_posterior_bends(p, 0, 1) > 0.99);
            assert_true(isnan(lscm_posterior_bends(p, 1, 0)) || edge(p, 1, 0) > 0);
            check_valley(p, &r, slope);
        }
        lscm_posterior_free(p);
    }
}

/* ---- Straight -------------------------------------------------------------------------------- */

static void same(const double *a, const double *b, size_t count)
{
    assert_memory_equal(a, b, count * sizeof *a);
}

static void straight(rows_of *r, uint64_t seed)
{
    lcg g = {seed};
    *r = (rows_of){.rows = ROWS, .d = 4};
    for (size_t k = 0; k < ROWS; k++) {
        double *z = r->x + 4 * k;
        for (size_t i = 0; i < 4; i++) {
            bool set = k % 6 == i;
            double effect = i == 1 ? 0.9 * z[0] : i == 2 ? z[0] - 0.7 * z[1] : 0;
            r->targets[4 * k + i] = set ? 1 : 0;
            z[i] = set ? 2 * lcg_normal(&g) : 1 + effect + 0.6 * lcg_normal(&g);
        }
    }
}

static void straight_data_have_the_same_bits(void **state)
{
    static rows_of r;
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        straight(&r, seed);
        lscm_posterior *p = fit(&r, LSCM_MECHANISM_AUTO);
        lscm_posterior *q = fit(&r, LSCM_MECHANISM_LINEAR);
        size_t draws = lscm_posterior_draws(p);
        assert_int_equal(draws, lscm_posterior_draws(q));
        assert_true(!lscm_posterior_any_bends(p) && !lscm_posterior_any_bends(q));
        same(lscm_posterior_weights(p), lscm_posterior_weights(q), draws * 16);
        same(lscm_posterior_sigma(p), lscm_posterior_sigma(q), draws * 4);
        same(lscm_posterior_intercept(p), lscm_posterior_intercept(q), draws * 4);
        same(lscm_posterior_log_p(p), lscm_posterior_log_p(q), draws);
        same(lscm_posterior_log_q(p), lscm_posterior_log_q(q), draws);
        same(lscm_posterior_edge_prob(p), lscm_posterior_edge_prob(q), 16);
        same(lscm_posterior_z(p), lscm_posterior_z(q), ROWS * 4);
        same(lscm_posterior_z_sd(p), lscm_posterior_z_sd(q), ROWS * 4);
        assert_memory_equal(lscm_posterior_order(p), lscm_posterior_order(q),
                            draws * 4 * sizeof(size_t));
        assert_true(edge(p, 0, 1) > 0.99 && edge(p, 0, 2) > 0.99 && edge(p, 1, 2) > 0.99);
        lscm_posterior_free(q);
        /* asked for, curves do no harm: the same edges, average slopes that are the slopes */
        for (int k = 0; k < 2; k++) {
            q = fit(&r, k == 0 ? LSCM_MECHANISM_ADDITIVE : LSCM_MECHANISM_JOINT);
            const double *w = lscm_posterior_weights(q);
            double mean[16] = {0};
            for (size_t e = 0; e < draws * 16; e++) {
                mean[e % 16] += w[e] / (double)draws;
            }
            assert_near(mean[1], 0.9, 0.1);
            assert_near(mean[2], 1, 0.15);
            assert_near(mean[6], -0.7, 0.15);
            for (size_t e = 0; e < 16; e++) {
                assert_near(edge(q, e / 4, e % 4), edge(p, e / 4, e % 4), 0.15);
            }
            lscm_posterior_free(q);
        }
        lscm_posterior_free(p);
    }
}

/* ---- A product ------------------------------------------------------------------------------- */

/* Neither parent alone tells anything of the mean of node 2. */
static void product(rows_of *r)
{
    lcg g = {5};
    *r = (rows_of){.rows = ROWS, .d = 3};
    for (size_t k = 0; k < ROWS; k++) {
        double *z = r->x + 3 * k;
        for (size_t i = 0; i < 3; i++) {
            bool set = k % 5 == i;
            double effect = i == 2 ? z[0] * z[1] : 0;
            r->targets[3 * k + i] = set ? 1 : 0;
            z[i] = set ? 1.5 * lcg_normal(&g) : effect + (i == 2 ? 0.3 : 1) * lcg_normal(&g);
        }
    }
}

static void a_product_is_found(void **state)
{
    static rows_of r;
    (void)state;
    product(&r);
    for (size_t k = 0; k < KINDS; k++) {
        lscm_posterior *p = fit(&r, ALL[k]);
        bool sees = ALL[k] == LSCM_MECHANISM_JOINT || ALL[k] == LSCM_MECHANISM_AUTO;
        const double *sigma = lscm_posterior_sigma(p);
        double mean = 0;
        for (size_t draw = 0; draw < lscm_posterior_draws(p); draw++) {
            mean += sigma[draw * 3 + 2] / (double)lscm_posterior_draws(p);
        }
        for (size_t i = 0; i < 2; i++) {
            /* what does not add up is not seen by those for whom it must */
            assert_true(sees ? edge(p, i, 2) > 0.99 : edge(p, i, 2) < 0.5);
            assert_true(sees ? edge(p, 2, i) < 0.01 : edge(p, 2, i) < 0.5);
            assert_true(!sees || lscm_posterior_bends(p, i, 2) > 0.99);
        }
        if (sees) {
            assert_near(mean, 0.3, 0.05);
        } else {
            assert_true(mean > 1);
        }
        lscm_posterior_free(p);
    }
}

/* ---- Hopeless -------------------------------------------------------------------------------- */

static void check_numbers(const double *x, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        assert_true(isfinite(x[k]));
    }
}

static void check_finite(const lscm_posterior *p)
{
    size_t d = lscm_posterior_nodes(p);
    size_t draws = lscm_posterior_draws(p);
    size_t rows = lscm_posterior_rows(p);
    check_numbers(lscm_posterior_weights(p), draws * d * d);
    check_numbers(lscm_posterior_sigma(p), draws * d);
    check_numbers(lscm_posterior_intercept(p), draws * d);
    check_numbers(lscm_posterior_edge_prob(p), d * d);
    check_numbers(lscm_posterior_log_p(p), draws);
    check_numbers(lscm_posterior_z(p), rows * d);
    for (size_t e = 0; e < d * d; e++) {
        double at[5];
        double low[5];
        double mean[5];
        double high[5];
        lscm_curve curve = {.count = 5, .at = at, .low = low, .mean = mean, .high = high};
        double bends = lscm_posterior_bends(p, e / d, e % d);
        if (e / d != e % d && !isnan(bends)) {
            assert_true(bends >= 0 && bends <= 1);
            lscm_posterior_places(p, e / d, 5, at);
            assert_ok(lscm_posterior_curve(&curve, p, e / d, e % d, &why));
            check_numbers(low, 5);
            check_numbers(mean, 5);
            check_numbers(high, 5);
        }
    }
}

enum { CONSTANT, DUPLICATE, FEW, ALONE, TWO_NODES, VALUES, EXACT, LARGE, SMALL, ONE_ROW, HOPELESS };

static void hopeless_rows(rows_of *r, int how)
{
    lcg g = {77};
    size_t d = how == ALONE ? 1 : how == TWO_NODES ? 2 : 4;
    size_t rows = how == FEW ? 9 : how == ONE_ROW ? 1 : 120;
    *r = (rows_of){.rows = rows, .d = d};
    for (size_t k = 0; k < rows; k++) {
        double *z = r->x + k * d;
        for (size_t i = 0; i < d; i++) {
            double before = i > 0 ? z[i - 1] : 0;
            bool set = k % 6 == i;
            double e = how == EXACT && i > 0 ? 0 : lcg_normal(&g);
            r->targets[k * d + i] = set && how != EXACT ? 1 : 0;
            z[i] = set && how != EXACT ? 2 * lcg_normal(&g) : sin(2 * before) + e;
            z[i] = how == CONSTANT && i == 1    ? 3
                   : how == DUPLICATE && i == 2 ? z[0]
                   : how == VALUES              ? (z[i] > 0 ? 1 : 0)
                                                : z[i];
        }
        for (size_t i = 0; i < d; i++) {
            z[i] *= how == LARGE ? 1e9 : how == SMALL ? 1e-9 : 1;
        }
    }
}

static void hopeless_data(void **state)
{
    static rows_of r;
    size_t fitted = 0;
    (void)state;
    for (int how = 0; how < HOPELESS; how++) {
        hopeless_rows(&r, how);
        for (size_t k = 0; k < KINDS; k++) {
            lscm_posterior *p = try_fit(&r, ALL[k]);
            if (p != NULL) {
                check_finite(p);
                fitted++;
            }
            lscm_posterior_free(p);
        }
    }
    assert_true(fitted >= KINDS * 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_valley_is_found),
        cmocka_unit_test(straight_data_have_the_same_bits),
        cmocka_unit_test(a_product_is_found),
        cmocka_unit_test(hopeless_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
