/* Data, settings and runs for the tests of the baselines. */
#ifndef LSCM_TESTS_BASELINE_TESTING_H
#define LSCM_TESTS_BASELINE_TESTING_H

#include "infer/baselines/baselines.h"
#include "infer/run/run.h"
#include "on_cpu.h"
#include "testing.h"

static lscm_error why;

static inline lscm_dataset *small_data(void)
{
    lscm_dataset *data = NULL;
    lscm_simulation s;
    assert_ok(lscm_simulation_preset(&s, "paper-linear", 3, &why));
    s.features = 6;
    s.observational = 40;
    s.sets = 4;
    s.per_set = 20;
    s.noise_scale = 0.5;
    s.value_scale = 2;
    s.seed = 3;
    assert_ok(lscm_simulate(&data, &s, NULL, &why));
    return data;
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
static inline void check_training_helps(const baseline_kind *kind, lscm_method method)
{
    lscm_dataset *data = small_data();
    fit f = small_fit(data, method);
    baseline *b = NULL;
    assert_ok(baseline_open(&b, &f, kind, &why));
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
static inline void check_state_continues(const baseline_kind *kind, lscm_method method)
{
    lscm_dataset *data = small_data();
    fit f = small_fit(data, method);
    baseline *whole = NULL;
    baseline *other = NULL;
    training_terms terms;
    assert_ok(baseline_open(&whole, &f, kind, &why));
    assert_ok(baseline_open(&other, &f, kind, &why));
    const trainee one = baseline_trainee(whole);
    const trainee two = baseline_trainee(other);
    size_t bytes = trainee_bytes(&one);
    char *first = test_malloc(2 * bytes);
    one.begin(whole, 1);
    two.begin(other, 7);
    for (int step = 0; step < 20; step++) {
        if (step == 7) {
            trainee_get(&one, first);
            trainee_set(&two, first);
        }
        assert_ok(one.step(whole, 1e-2, &terms, &why));
        if (step >= 7) {
            assert_ok(two.step(other, 1e-2, &terms, &why));
        }
    }
    trainee_get(&one, first);
    trainee_get(&two, first + bytes);
    assert_memory_equal(first, first + bytes, bytes);
    test_free(first);
    baseline_close(whole);
    baseline_close(other);
    lscm_dataset_free(data);
}

/* A parameter or a row that is no number is said. */
static inline void check_nan_fails(const baseline_kind *kind, lscm_method method)
{
    lscm_dataset *data = small_data();
    fit f = small_fit(data, method);
    baseline *b = NULL;
    training_terms terms;
    assert_ok(baseline_open(&b, &f, kind, &why));
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
