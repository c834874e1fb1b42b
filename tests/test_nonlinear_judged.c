/* Where x bends, held-out sets judge the kind of model that is reported, and one that never saw
 * them. */
#include "infer/anchored/anchored.h"

#include "on_cpu.h"
#include "read_all.h"
#include "simulated.h"

static lscm_error why;

enum { D = 3, SETS = 12, PER_SET = 30, ROWS = 60 + SETS * PER_SET, X = 8 };

static lscm_dataset *bent(void)
{
    return simulated_as("paper-nonlinear", D,
                        "features=8 observational=60 sets=12 per_set=30 degree=2 seed=4");
}

static lscm_fit_settings small(void)
{
    lscm_fit_settings s;
    lscm_settings_defaults(lscm_fit_table(), &s);
    s.steps = 300;
    s.width = 16;
    s.draws = (int64_t)200; /* as many as are judged */
    s.decoder = LSCM_DECODER_MLP;
    lscm_set_threads(1); /* steps so small that waiting for threads would take longer */
    return s;
}

/* With nothing left out, what is judged is what is reported: network, errors and all. */
static void it_is_the_reported_model(void **state)
{
    (void)state;
    lscm_fit_settings s = small();
    lscm_dataset *data = bent();
    lscm_posterior *p = NULL;
    nonlinear whole = {.device = on_cpu()};
    judged_fit f = {0};
    in_units units = {0};
    const anchored *a = &f.a;
    static uint8_t keep[ROWS];
    memset(keep, 1, sizeof keep);
    s.holdout = 0;
    assert_ok(lscm_fit(&p, data, &s, NULL, NULL, &why));
    assert_ok(in_units_open(&units, data, ORIGIN_NEAR, &why));
    assert_ok(features_of(&whole.x, &units.data, NULL, &why));
    s.noise = LSCM_NOISE_UNEQUAL;
    anchored_input in = {.settings = &s};
    nonlinear_again again = {&whole, &in};
    judged asked = nonlinear_judged(&again);
    assert_int_equal(asked.design->rows, ROWS);
    assert_ok(asked.fit(asked.self, keep, &f, &why));
    assert_int_equal(a->draws, lscm_posterior_draws(p));
    assert_memory_equal(a->w, lscm_posterior_weights(p), a->draws * D * D * sizeof(double));
    assert_memory_equal(a->sigma, lscm_posterior_sigma(p), a->draws * D * sizeof(double));
    judged_fit_close(&f);
    nonlinear_close(&whole);
    in_units_close(&units);
    lscm_posterior_free(p);
    lscm_dataset_free(data);
}

/* The same x and targets, the values of held-out sets nonsense or not. */
static lscm_posterior *fit_with(const lscm_dataset *data, bool nonsense)
{
    lscm_fit_settings s = small();
    lscm_posterior *p = NULL;
    lscm_dataset *wrapped = NULL;
    design under;
    held_rows held;
    static uint8_t mask[ROWS * D];
    static uint8_t keep[ROWS];
    double *x = read_all(data, LSCM_X, NULL);
    double *values = read_all(data, LSCM_VALUES, NULL);
    double *targets = read_all(data, LSCM_TARGETS, NULL);
    for (size_t k = 0; k < ROWS * D; k++) {
        mask[k] = targets[k] != 0;
    }
    assert_ok(design_of(&under, ROWS, D, mask, values, &why));
    assert_ok(
        hold_out_rows(&under, (uint64_t)s.seed, s.holdout, judged_labels(D), keep, &held, &why));
    assert_true(held.sets > 0);
    for (size_t k = 0; k < ROWS * D && nonsense; k++) {
        values[k] = keep[k / D] == 0 ? 4 - values[(k + 7 * D) % (ROWS * D)] : values[k];
    }
    lscm_arrays arrays = {
        .rows = ROWS, .nodes = D, .features = X, .x = x, .targets = mask, .values = values};
    assert_ok(lscm_dataset_wrap(&wrapped, &arrays, &why));
    assert_ok(lscm_fit(&p, wrapped, &s, NULL, NULL, &why));
    assert_int_equal(lscm_posterior_diagnostics(p)->held_out_rows, held.rows);
    lscm_dataset_free(wrapped);
    design_close(&under);
    free(x);
    free(values);
    free(targets);
    return p;
}

/* z that is judged by, and so how well it is told without edges, knows nothing of those values;
 * what they say of the model shows. */
static void it_never_saw_the_values(void **state)
{
    (void)state;
    lscm_dataset *data = bent();
    lscm_posterior *sound = fit_with(data, false);
    lscm_posterior *spoilt = fit_with(data, true);
    const lscm_diagnostics *one = lscm_posterior_diagnostics(sound);
    const lscm_diagnostics *two = lscm_posterior_diagnostics(spoilt);
    assert_true(one->held_out_log_likelihood_without_edges ==
                two->held_out_log_likelihood_without_edges);
    assert_true(two->held_out_log_likelihood != one->held_out_log_likelihood);
    lscm_posterior_free(sound);
    lscm_posterior_free(spoilt);
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_reported_model),
        cmocka_unit_test(it_never_saw_the_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
