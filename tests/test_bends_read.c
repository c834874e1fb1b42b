/* Mechanisms that bend where z is read off x: graphs, F and draws against what is known of rows
 * that were made, and whole fits of data that a network made. */
#include "infer/anchored/anchored.h"
#include "infer/encoder/encoder.h"

#include "simulated.h" /* before those that have a `why` for all */

#include "anchored_testing.h"
#include "design_testing.h"
#include "lcg.h"

enum { D = 4, SETS = 16, PER_SET = 60, ROWS = SETS * PER_SET };

typedef struct rows_read {
    linear_view view;
    double z[ROWS * D], spectrum[D], mean[D], leak[D * D];
    uint8_t mask[ROWS * D];
} rows_read;

/* 0 -> 1 a valley, 1 -> 2 a wave on a slope, and 0 -> 3 a line; or lines all of them. */
static void make(rows_read *x, bool bent, double leak, uint64_t seed)
{
    lcg g = {seed};
    static double values[ROWS * D];
    memset(values, 0, sizeof values);
    *x = (rows_read){.view = {.kind = VIEW_READ_OFF, .rows = ROWS, .d = D, .D = D, .rank = D}};
    for (size_t r = 0; r < ROWS; r++) {
        double *z = x->z + r * D;
        for (size_t i = 0; i < D; i++) {
            double e = 0.5 * lcg_normal(&g);
            bool hit = (r / PER_SET >> i & 1) != 0;
            x->mask[r * D + i] = hit ? 1 : 0;
            z[i] = i == 0   ? 3 * e
                   : i == 3 ? 0.8 * z[0] + e
                   : !bent  ? (i == 1 ? 1 : -1) * z[i - 1] + e
                   : i == 1 ? z[0] * z[0] - 2 + e
                            : z[1] + 2 * sin(z[1]) + e;
            z[i] = hit ? 4 * lcg_uniform(&g) - 2 : z[i];
            values[r * D + i] = hit ? z[i] : 0;
        }
    }
    for (size_t e = 0; e < D * D; e++) {
        x->leak[e] = e / D != e % D ? leak : 0;
    }
    for (size_t j = 0; j < D; j++) {
        x->spectrum[j] = 1;
    }
    x->view.y = x->z;
    x->view.spectrum = x->spectrum;
    x->view.mean = x->mean;
    design_again(&x->view.design, ROWS, D, x->mask, values);
}

static void infer(anchored *a, rows_read *x, lscm_mechanism how, bool leaks)
{
    lscm_fit_settings settings = defaults();
    anchored_input in = {.view = &x->view,
                         .settings = &settings,
                         .draws = 400,
                         .mechanism = how,
                         .leak = leaks ? x->leak : NULL};
    *a = (anchored){0};
    assert_ok(anchored_infer(a, &in, &why));
    check_finite(a, &x->view);
}

static double edge(const anchored *a, size_t from, size_t to)
{
    return a->edge_prob[from * D + to];
}

/* A valley that no line sees is found, F is no larger for slopes that bend, and lines stay. */
static void bends_are_found(void **state)
{
    static rows_read x;
    anchored straight;
    anchored a;
    (void)state;
    make(&x, true, 0.01, 3);
    infer(&straight, &x, LSCM_MECHANISM_LINEAR, true);
    infer(&a, &x, LSCM_MECHANISM_AUTO, true);
    assert_false(straight.bends);
    assert_true(a.bends);
    assert_true(straight.dispersion > 2 * a.dispersion);
    assert_true(straight.edge_prob[1] < 0.5);
    assert_true(edge(&a, 0, 1) > 0.95 && edge(&a, 1, 2) > 0.95 && edge(&a, 0, 3) > 0.95);
    assert_true(edge(&a, 0, 2) < 0.5 && edge(&a, 1, 3) < 0.5 && edge(&a, 2, 3) < 0.5);
    size_t curved[D] = {0};
    for (size_t k = 0; k < a.draws; k++) {
        for (size_t i = 0; i < D; i++) {
            curved[i] += bent_bends(&a.bent, k, i) ? 1 : 0;
        }
    }
    assert_true(curved[1] > 390 && curved[2] > 390 && curved[3] < 200);
    anchored_close(&straight);
    anchored_close(&a);
    design_close(&x.view.design);
}

/* Lines stay lines: the very same numbers as where nothing may bend. */
static void lines_stay(void **state)
{
    static rows_read x;
    (void)state;
    for (uint64_t seed = 10; seed < 14; seed++) {
        anchored straight;
        anchored a;
        make(&x, false, 0.01, seed);
        infer(&straight, &x, LSCM_MECHANISM_LINEAR, true);
        infer(&a, &x, LSCM_MECHANISM_AUTO, true);
        assert_false(a.bends);
        assert_memory_equal(a.w, straight.w, a.draws * D * D * sizeof(double));
        assert_true(a.dispersion == straight.dispersion);
        anchored_close(&straight);
        anchored_close(&a);
        design_close(&x.view.design);
    }
}

/* With leaks that could hide any edge draws lose edges, with their curves: what is left has a mean
 * residual of 0 all the same, and terms where it has edges alone. */
static void leaks_take_curves(void **state)
{
    static rows_read x;
    anchored a;
    size_t lost = 0;
    (void)state;
    make(&x, true, 0.5, 5);
    infer(&a, &x, LSCM_MECHANISM_JOINT, true);
    for (size_t k = 0; k < a.draws; k++) {
        mechanism_model m = {.d = D,
                             .w = a.w + k * D * D,
                             .intercept = a.intercept + k * D,
                             .bent = &a.bent,
                             .draw = k};
        for (size_t i = 0; i < D; i++) {
            double rows = 0;
            double sum = 0;
            double square = 0;
            for (uint64_t t = a.bent.first[k * D + i]; t < a.bent.first[k * D + i + 1]; t++) {
                int32_t p = a.bent.parent[2 * t];
                int32_t q = a.bent.parent[2 * t + 1];
                assert_true(m.w[(size_t)p * D + i] != 0);
                assert_true(q == BENT_ALONE || m.w[(size_t)q * D + i] != 0);
            }
            for (size_t r = 0; r < ROWS; r++) {
                double e = mechanism_residual(&m, i, x.z + r * D);
                bool is_free = x.mask[r * D + i] == 0;
                rows += is_free ? 1 : 0;
                sum += is_free ? e : 0;
                square += is_free ? e * e : 0;
            }
            /* s/sqrt(n/F), 6 of them */
            assert_near(sum / rows, 0, 6 * sqrt(square / rows * a.dispersion / rows));
            lost += i == 3 && m.w[i] == 0 ? 1 : 0;
        }
    }
    assert_true(lost > 0 && lost < a.draws);
    anchored_close(&a);
    design_close(&x.view.design);
}

/* ---- Whole fits ---- */

static lscm_posterior *fit_of(const lscm_dataset *data, lscm_mechanism how)
{
    lscm_fit_settings s = defaults();
    lscm_posterior *p = NULL;
    s.decoder = LSCM_DECODER_MLP;
    s.mechanism = how;
    s.holdout = 0;
    s.width = 32;
    s.steps = 1200;
    s.draws = 200;
    lscm_set_threads(1);
    assert_ok(lscm_fit(&p, data, &s, NULL, NULL, &why));
    return p;
}

static lscm_dataset *made(const char *how, bool biases)
{
    char changes[160];
    (void)snprintf(
        changes, sizeof changes,
        "features=20 observational=200 sets=20 per_set=50 seed=8 degree=1.5 mechanism=%s%s", how,
        biases ? " activation=tanh biases=1" : "");
    return simulated_as("revised-nonlinear", D, changes);
}

/* Edges of the truth that have a probability above 1/2, and others that have. */
static void count(const lscm_dataset *data, const lscm_posterior *p, size_t *right, size_t *wrong,
                  size_t *missed)
{
    double w[D * D];
    assert_ok(lscm_dataset_read(data, LSCM_W, 0, D, w, &why));
    *right = *wrong = *missed = 0;
    for (size_t e = 0; e < D * D; e++) {
        bool found = lscm_posterior_edge_prob(p)[e] > 0.5;
        *right += found && w[e] != 0 ? 1 : 0;
        *wrong += found && w[e] == 0 ? 1 : 0;
        *missed += !found && w[e] != 0 ? 1 : 0;
    }
}

static void fits(void **state)
{
    (void)state;
    for (int biases = 0; biases < 2; biases++) {
        lscm_dataset *bent = made("additive", biases == 1);
        lscm_dataset *straight = made("linear", biases == 1);
        lscm_posterior *lines = fit_of(bent, LSCM_MECHANISM_LINEAR);
        lscm_posterior *curves = fit_of(bent, LSCM_MECHANISM_AUTO);
        lscm_posterior *none = fit_of(straight, LSCM_MECHANISM_AUTO);
        size_t n[3][3];
        count(bent, lines, &n[0][0], &n[0][1], &n[0][2]);
        count(bent, curves, &n[1][0], &n[1][1], &n[1][2]);
        count(straight, none, &n[2][0], &n[2][1], &n[2][2]);
        assert_true(n[0][1] + n[0][2] > 0);
        assert_int_equal(n[1][1], 0);
        assert_true(n[1][2] <= 1); /* one of them is hardly there: BLAS's kernels decide */
        assert_true(n[1][2] < n[0][1] + n[0][2]);
        assert_int_equal(n[2][1], 0);
        assert_true(lscm_posterior_any_bends(curves));
        assert_false(lscm_posterior_any_bends(none));
        lscm_posterior_free(lines);
        lscm_posterior_free(curves);
        lscm_posterior_free(none);
        lscm_dataset_free(bent);
        lscm_dataset_free(straight);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bends_are_found),
        cmocka_unit_test(lines_stay),
        cmocka_unit_test(leaks_take_curves),
        cmocka_unit_test(fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
