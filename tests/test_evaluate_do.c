/* Scores of what a model says of do(): the energy distance by a plain double sum and in closed form
 * for normal laws; the error of means against closed forms; a posterior that is the truth. */
#include "lcg.h"
#include "made.h"
#include "made_posterior.h"
#include "scm/metrics/metrics.h"
#include "scm/recipe/recipe.h"

#include "read_all.h"
#include "simulated.h"

#include "home.h"

static lscm_error why;

/* ---- The parts */

enum { N = 60, D = 4, MANY = 1500 };

/* E|a_r - b_s| over all pairs, of a and itself over different rows, by columns that count. */
static double pairs(const double *a, const double *b, const bool *keep, const double *sd)
{
    double sum = 0;
    double count = 0;
    for (size_t r = 0; r < N; r++) {
        for (size_t s = 0; s < N; s++) {
            double square = 0;
            for (size_t i = 0; i < D; i++) {
                square += keep[i] ? pow((a[r * D + i] - b[s * D + i]) / sd[i], 2) : 0;
            }
            sum += a == b && r == s ? 0 : sqrt(square);
            count += a == b && r == s ? 0 : 1;
        }
    }
    return sum / count;
}

static void energy_is_a_double_sum(void **state)
{
    lcg random = {7};
    double model[N * D];
    double truth[N * D];
    double scratch[2 * N * D];
    const double sd[D] = {0.5, 2, 0, 3};
    const uint8_t set[D] = {0, 0, 0, 1};
    const bool keep[D] = {true, true, false, false};
    (void)state;
    for (size_t k = 0; k < (size_t)N * D; k++) {
        model[k] = 1 + 2 * lcg_normal(&random);
        truth[k] = lcg_uniform(&random);
    }
    do_rows rows = {N, D, model, truth, sd, set};
    double apart = pairs(model, truth, keep, sd);
    double scale = pairs(truth, truth, keep, sd);
    double wanted = (2 * apart - pairs(model, model, keep, sd) - scale) / scale;
    assert_near(do_energy(&rows, scratch), wanted, 1e-12 * wanted);
    memset(truth, 0, sizeof truth);
    assert_true(isnan(do_energy(&rows, scratch)));
}

/* E|N(m, s^2)| */
static double folded(double m, double s)
{
    double pi = acos(-1);
    return s * sqrt(2 / pi) * exp(-m * m / (2 * s * s)) + m * erf(m / (s * sqrt(2)));
}

/* N(m, s^2) against N(0, 1). */
static double normal_energy(double m, double s)
{
    double scale = folded(0, sqrt(2));
    return (2 * folded(m, sqrt(1 + s * s)) - folded(0, s * sqrt(2)) - scale) / scale;
}

static void energy_of_normal_laws(void **state)
{
    static double model[MANY];
    static double truth[MANY];
    static double scratch[2 * MANY];
    lcg random = {3};
    const double sd = 2;
    const uint8_t set = 0;
    const double cases[][2] = {{0, 1}, {1, 1}, {0, 2}, {-0.7, 0.4}};
    (void)state;
    for (size_t c = 0; c < 4; c++) {
        for (size_t r = 0; r < MANY; r++) {
            model[r] = sd * (cases[c][0] + cases[c][1] * lcg_normal(&random));
            truth[r] = sd * lcg_normal(&random);
        }
        do_rows rows = {MANY, 1, model, truth, &sd, &set};
        assert_near(do_energy(&rows, scratch), normal_energy(fabs(cases[c][0]), cases[c][1]), 0.05);
    }
}

/* Over many small samples the square error is that of the expectations: what chance adds to the
 * difference of two means is taken off. */
static void square_error_is_not_biased(void **state)
{
    enum { FEW = 5, REPEATS = 20000 };
    lcg random = {5};
    const double sd[2] = {2, 1};
    const uint8_t set[2] = {0, 1};
    double sum = 0;
    size_t count = 0;
    (void)state;
    for (size_t k = 0; k < REPEATS; k++) {
        double model[2 * FEW];
        double truth[2 * FEW];
        for (size_t r = 0; r < 2 * (size_t)FEW; r++) {
            model[r] = 3 * lcg_normal(&random) + 0.6;
            truth[r] = 2 * lcg_normal(&random);
        }
        do_rows rows = {FEW, 2, model, truth, sd, set};
        sum += do_square_error(&rows, &count) / REPEATS;
        assert_int_equal(count, 1);
    }
    /* 0.09; variance of one: 2 V^2 + 4 V 0.36, V = 13/5, over sd^4, and a little for the v's */
    assert_near(sum, 0.36 / 4, 5 * sqrt(3 * (2 * 2.6 * 2.6 + 4 * 2.6 * 0.36) / 16 / REPEATS));
}

/* ---- Settings read back */

static void recipes_are_read_back(void **state)
{
    const char *const files[] = {"bent.nc", "bent.npz", "bent"};
    lscm_simulation s = simulation_of("revised-linear", 3,
                                      "mechanism=process noise_law=student noise_scale=0.3 "
                                      "paired=true sets=3 per_set=4 seed=9007199254740991");
    lscm_simulation back;
    lscm_dataset *data = NULL;
    (void)state;
    assert_ok(lscm_simulate(&data, &s, NULL, &why));
    for (size_t f = 0; f < 3; f++) {
        lscm_dataset *stored = NULL;
        char one[64];
        char other[64];
        const lscm_setting *row = NULL;
        assert_ok(lscm_dataset_save(data, at(files[f]), false, NULL, &why));
        assert_ok(lscm_dataset_open(&stored, at(files[f]), NULL, &why));
        assert_true(recipe_read(lscm_dataset_recipe(stored), lscm_simulation_table(), &back));
        for (size_t i = 0; (row = lscm_settings_row(lscm_simulation_table(), i)) != NULL; i++) {
            lscm_settings_get(row, &s, one, sizeof one);
            lscm_settings_get(row, &back, other, sizeof other);
            assert_string_equal(one, other);
        }
        lscm_dataset_free(stored);
    }
    lscm_dataset_free(data);
    const char *const none[] = {NULL,
                                "",
                                "[1]",
                                "{\"nodes\": 5}",
                                "{\"preset\": 5}",
                                "{\"preset\": \"custom\", \"nodes\": 0}",
                                "{\"preset\": \"custom\", \"graph\": \"ring\"}"};
    for (size_t k = 0; k < sizeof none / sizeof none[0]; k++) {
        assert_false(recipe_read(none[k], lscm_simulation_table(), &back));
    }
    assert_true(recipe_read("{\"preset\": \"custom\"}", lscm_simulation_table(), &back));
    assert_true(back.nodes == 5 && back.mechanism == LSCM_MECHANISM_LAW_LINEAR);
}

/* ---- The scores */

/* Draws that are all the truth of the data, each node's intercept as given (d). */
static lscm_posterior *told(const lscm_dataset *data, const double *intercept)
{
    enum { DRAWS = 10 };
    static const size_t none[] = {0};
    size_t d = lscm_dataset_nodes(data);
    const decoder g = made_decoder(DECODER_IDENTITY, d, none, d);
    lscm_posterior *p = made_posterior(DRAWS, lscm_dataset_rows(data), &g);
    double *w = read_all(data, LSCM_W, NULL);
    double *sigma = read_all(data, LSCM_SIGMA, NULL);
    double *order = read_all(data, LSCM_ORDER, NULL);
    for (size_t s = 0; s < DRAWS; s++) {
        memcpy(p->w + s * d * d, w, d * d * sizeof *w);
        memcpy(p->sigma + s * d, sigma, d * sizeof *sigma);
        for (size_t i = 0; i < d; i++) {
            p->intercept[s * d + i] = intercept[i];
            p->effect[s * d + i] = 0;
            p->order[s * d + i] = (size_t)order[i];
        }
    }
    free(w);
    free(sigma);
    free(order);
    return p;
}

static lscm_scores scores_of(const lscm_dataset *data, const double *intercept)
{
    lscm_scores scores;
    lscm_posterior *p = told(data, intercept);
    assert_ok(lscm_posterior_evaluate(&scores, p, data, &why));
    lscm_posterior_free(p);
    return scores;
}

static const char OBSERVED[] = "projection=identity degree=2 noise_scale=1 value_scale=2 seed=3 "
                               "observational=50 sets=2 per_set=10";

static void the_truth_has_no_error(void **state)
{
    const double nothing[8] = {0};
    (void)state;
    lscm_dataset *data = simulated_as("paper-linear", 8, OBSERVED);
    lscm_scores scores = scores_of(data, nothing);
    assert_true(scores.do_mean_error >= 0 && scores.do_mean_error < 0.01);
    assert_near(scores.do_energy, 0, 0.01);
    lscm_set_threads(1);
    lscm_scores again = scores_of(data, nothing);
    lscm_set_threads(2);
    assert_near(again.do_mean_error, scores.do_mean_error, 0);
    assert_near(again.do_energy, scores.do_energy, 0);
    lscm_dataset_free(data);
}

/* Two nodes: one is set, the other free, so its mean is off by its own intercept, and that is as
 * many sds: of the cause sigma, of the other sigma sqrt(1 + w^2). */
static void shifts_are_counted_in_sds(void **state)
{
    (void)state;
    for (int64_t seed = 0; seed < 3; seed++) {
        lscm_simulation s = simulation_of("paper-linear", 2, OBSERVED);
        lscm_dataset *data = NULL;
        double intercept[2];
        s.graph = LSCM_GRAPH_FULL;
        s.seed = seed;
        assert_ok(lscm_simulate(&data, &s, NULL, &why));
        double *w = read_all(data, LSCM_W, NULL);
        for (size_t i = 0; i < 2; i++) {
            double in = w[(1 - i) * 2 + i];
            intercept[i] = 0.7 * sqrt(1 + in * in);
        }
        lscm_scores scores = scores_of(data, intercept);
        assert_near(scores.do_mean_error, 0.7, 0.04);
        assert_true(scores.do_energy > 0.1);
        free(w);
        lscm_dataset_free(data);
    }
}

/* Without edges every free node is off by the same, and with one free node the law is N(0.5, 1)
 * against N(0, 1). */
static void laws_are_compared(void **state)
{
    const double half[2] = {0.5, -0.5};
    lscm_simulation s = simulation_of("paper-linear", 2, OBSERVED);
    lscm_dataset *data = NULL;
    (void)state;
    s.degree = 0;
    assert_ok(lscm_simulate(&data, &s, NULL, &why));
    lscm_scores scores = scores_of(data, half);
    assert_near(scores.do_mean_error, 0.5, 0.02);
    assert_near(scores.do_energy, normal_energy(0.5, 1), 0.03);
    lscm_dataset_free(data);
}

/* A linear model of a bent truth misses something; what is no simulation, or not this one, or has
 * no free node, is not scored. */
static void what_is_scored(void **state)
{
    const double nothing[8] = {0};
    (void)state;
    lscm_simulation s = simulation_of("paper-linear", 4, OBSERVED);
    lscm_dataset *data = NULL;
    s.mechanism = LSCM_MECHANISM_LAW_NETWORK;
    s.noise_law = LSCM_NOISE_SHAPE_LAPLACE;
    assert_ok(lscm_simulate(&data, &s, NULL, &why));
    lscm_scores scores = scores_of(data, nothing);
    assert_true(scores.do_mean_error > 0.1 && scores.do_energy > 0.02);

    assert_ok(lscm_dataset_save(data, at("stored.nc"), false, NULL, &why));
    lscm_dataset_free(data);
    assert_ok(lscm_dataset_open(&data, at("stored.nc"), NULL, &why));
    lscm_scores stored = scores_of(data, nothing);
    assert_near(stored.do_mean_error, scores.do_mean_error, 0);
    lscm_dataset_free(data);

    data = simulated_as("paper-linear", 4, OBSERVED);
    ((double *)data->whole[LSCM_SIGMA])[1] *= 1.001; /* no longer that of the recipe */
    assert_true(isnan(scores_of(data, nothing).do_mean_error));
    lscm_dataset_free(data);
    data = simulated_as("paper-linear", 1, "projection=identity targets=single");
    scores = scores_of(data, nothing);
    assert_true(isnan(scores.do_mean_error) && isnan(scores.do_energy));
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_is_a_double_sum),     cmocka_unit_test(energy_of_normal_laws),
        cmocka_unit_test(square_error_is_not_biased), TEST_AT_HOME(recipes_are_read_back),
        cmocka_unit_test(the_truth_has_no_error),     cmocka_unit_test(shifts_are_counted_in_sds),
        cmocka_unit_test(laws_are_compared),          TEST_AT_HOME(what_is_scored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
