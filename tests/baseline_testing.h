/* Data, settings and runs for the tests of the baselines. */
#ifndef LSCM_TESTS_BASELINE_TESTING_H
#define LSCM_TESTS_BASELINE_TESTING_H

#include "infer/baselines/baselines.h"
#include "infer/run/run.h"
#include "lcg.h"
#include "on_cpu.h"
#include "simulated.h"
#include "slope.h"
#include "testing.h"

static lscm_error why;

/* What is tested: tests that baselines share have it as their state. */
typedef struct tested_baseline {
    const baseline_kind *kind;
    lscm_method method;
} tested_baseline;

static inline lscm_dataset *small_data(void)
{
    return simulated_as("paper-linear", 3,
                        "features=6 observational=40 sets=4 per_set=20 noise_scale=0.5 "
                        "value_scale=2 seed=3");
}

static inline fit small_fit(const lscm_dataset *data, lscm_method method)
{
    static const lscm_run_options alone = {0};
    fit f = {.data = data, .run = &alone, .device = *on_cpu()};
    lscm_settings_defaults(lscm_fit_table(), &f.settings);
    f.settings.method = method;
    f.settings.batch = 32;
    f.settings.steps = 100;
    lscm_set_threads(1);
    return f;
}

/* The loss of the last steps lies well below that of the first. */
static inline void training_helps(void **state)
{
    const tested_baseline *tested = *state;
    lscm_dataset *data = small_data();
    fit f = small_fit(data, tested->method);
    baseline *b = NULL;
    assert_ok(baseline_open(&b, &f, tested->kind, &why));
    const trainee t = baseline_trainee(b);
    training_terms terms;
    double first = 0;
    double last = 0;
    t.begin(b, 0);
    for (int step = 0; step < 100; step++) {
        assert_ok(t.step(b, 1e-3, &terms, &why));
        first += step < 10 ? terms.loss / 10 : 0;
        last += step >= 90 ? terms.loss / 10 : 0;
    }
    assert_true(last < first - 100); /* nats, of 120 rows of 6 numbers */
    baseline_close(b);
    lscm_dataset_free(data);
}

/* 20 steps at once, or 7, the state out and into another estimator, and 13: the same bits. */
static inline void a_state_continues_bit_for_bit(void **state)
{
    const tested_baseline *tested = *state;
    lscm_dataset *data = small_data();
    fit f = small_fit(data, tested->method);
    baseline *whole = NULL;
    baseline *other = NULL;
    training_terms terms;
    assert_ok(baseline_open(&whole, &f, tested->kind, &why));
    assert_ok(baseline_open(&other, &f, tested->kind, &why));
    const trainee one = baseline_trainee(whole);
    const trainee two = baseline_trainee(other);
    size_t bytes = trainee_bytes(&one);
    char *first = test_malloc(2 * bytes);
    one.begin(whole, 1);
    two.begin(other, 7);
    for (int step = 0; step < 20; step++) {
        if (step == 7) {
            assert_ok(trainee_get(&one, first, &why));
            trainee_set(&two, first);
        }
        assert_ok(one.step(whole, 1e-2, &terms, &why));
        if (step >= 7) {
            assert_ok(two.step(other, 1e-2, &terms, &why));
        }
    }
    assert_ok(trainee_get(&one, first, &why));
    assert_ok(trainee_get(&two, first + bytes, &why));
    assert_memory_equal(first, first + bytes, bytes);
    test_free(first);
    baseline_close(whole);
    baseline_close(other);
    lscm_dataset_free(data);
}

/* A parameter or a row that is no number is said. */
static inline void nan_fails(void **state)
{
    const tested_baseline *tested = *state;
    lscm_dataset *data = small_data();
    fit f = small_fit(data, tested->method);
    baseline *b = NULL;
    training_terms terms;
    assert_ok(baseline_open(&b, &f, tested->kind, &why));
    const trainee t = baseline_trainee(b);
    t.begin(b, 0);
    b->parameter[b->count / 3] = NAN;
    assert_fails(t.step(b, 1e-3, &terms, &why), LSCM_VALUE, "no longer finite");
    t.begin(b, 0);
    b->rows.x[5] = NAN; /* a row that comes sooner or later */
    lscm_status status = LSCM_OK;
    for (int step = 0; step < 20 && status == LSCM_OK; step++) {
        status = t.step(b, 1e-3, &terms, &why);
    }
    assert_int_equal(status, LSCM_VALUE);
    baseline_close(b);
    lscm_dataset_free(data);
}

#define BASELINE_TESTS(tested)                                                                     \
    cmocka_unit_test_prestate(training_helps, tested),                                             \
        cmocka_unit_test_prestate(a_state_continues_bit_for_bit, tested),                          \
        cmocka_unit_test_prestate(nan_fails, tested)

static inline void draw_normals(lcg *g, size_t count, double sd, double *out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = sd * lcg_normal(g);
    }
}

/* The gradient at the parameters, which the loss leaves behind, is that of differences. slopes
 * (count) are for the caller. */
static inline void check_slopes(double (*loss)(void *self), void *self, double *parameters,
                                const double *gradient, size_t count, double *slopes)
{
    for (size_t i = 0; i < count; i++) {
        slopes[i] = slope_by_differences(loss, self, &parameters[i], 1e-4);
    }
    (void)loss(self);
    for (size_t i = 0; i < count; i++) {
        assert_near(gradient[i], slopes[i], 1e-6 * fmax(1, fabs(slopes[i])));
    }
}

/* A whole fit of the data, and its scores. */
static inline lscm_posterior *fitted(const lscm_dataset *data, lscm_method method, int64_t steps,
                                     lscm_scores *scores)
{
    lscm_posterior *p = NULL;
    lscm_fit_settings s;
    lscm_settings_defaults(lscm_fit_table(), &s);
    s.method = method;
    s.steps = steps;
    s.draws = 8;
    assert_ok(lscm_fit(&p, data, &s, NULL, NULL, &why));
    assert_ok(lscm_posterior_evaluate(scores, p, data, &why));
    return p;
}

/* The variance of x, mean over its columns. */
static inline double x_variance(const lscm_dataset *data)
{
    size_t n = lscm_dataset_rows(data);
    size_t D = lscm_dataset_features(data);
    double *x = test_calloc(n * D, sizeof *x);
    double variance = 0;
    assert_ok(lscm_dataset_read(data, LSCM_X, 0, n, x, &why));
    for (size_t k = 0; k < D; k++) {
        double sum = 0;
        double squares = 0;
        for (size_t r = 0; r < n; r++) {
            sum += x[r * D + k];
            squares += x[r * D + k] * x[r * D + k];
        }
        double mean = sum / (double)n;
        variance += (squares / (double)n - mean * mean) / (double)D;
    }
    test_free(x);
    return variance;
}

#endif
