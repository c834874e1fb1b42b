/* The paper's estimator with its network on a device: errors and steps as on the CPU, the same bits
 * again, and a state that goes on anywhere. */
#include "infer/biols/biols.h"
#include "on_device.h"
#include "simulated.h"

static lscm_error why;

enum { STEPS = 4 };

static lscm_dataset *small_data(void)
{
    return simulated_as("paper-linear", 4,
                        "features=6 degree=1.5 observational=80 sets=4 per_set=20 noise_scale=0.5 "
                        "value_scale=2 projection_low=-1 projection_high=1 seed=3");
}

static lscm_fit_settings settings_of(lscm_decoder kind, int64_t batch)
{
    lscm_fit_settings s;
    lscm_settings_defaults(lscm_fit_table(), &s);
    s.decoder = kind;
    s.batch = batch;
    s.samples = 8;
    s.steps = 100;
    s.rate = 1e-3;
    return s;
}

static biols *begun(const device *on, const lscm_dataset *data, lscm_decoder kind, int64_t batch)
{
    lscm_fit_settings s = settings_of(kind, batch);
    biols *b = NULL;
    assert_ok(biols_open(&b, on, data, &s, NULL, NULL, &why));
    biols_begin(b, 0);
    return b;
}

/* All rows, and batches; errors with and without slopes; parameters after some steps. */
static void steps_match_the_cpu(void **state)
{
    (void)state;
    for (int64_t batch = 0; batch <= 45; batch += 45) {
        lscm_dataset *data = small_data();
        lscm_decoder kind = batch == 0 ? LSCM_DECODER_MLP : LSCM_DECODER_IMAGE;
        biols *there = begun(on_device(), data, kind, batch);
        biols *here = begun(on_cpu(), data, kind, batch);
        for (int k = 0; k < STEPS; k++) {
            training_terms a = {0};
            training_terms b = {0};
            assert_ok(biols_step(there, 1e-3, &a, &why));
            assert_ok(biols_step(here, 1e-3, &b, &why));
            assert_near(a.loss, b.loss, 1e-4 * fabs(b.loss));
            assert_near(a.error, b.error, 1e-4 * b.error);
        }
        assert_ok(biols_collect(there, &why));
        for (size_t i = 0; i < network_count(&here->shape); i++) {
            assert_near(there->weight[i], here->weight[i], 1e-3);
        }
        for (size_t i = 0; i < 2 * here->inputs; i++) {
            assert_near(there->parameter[i], here->parameter[i], 1e-3);
        }
        assert_ok(biols_error(there, (rng){1, 2}, false, &why));
        assert_ok(biols_error(here, (rng){1, 2}, false, &why));
        for (size_t s = 0; s < here->S; s++) {
            assert_near(there->error[s], here->error[s], 1e-3 * here->error[s]);
        }
        biols_close(there);
        biols_close(here);
        lscm_dataset_free(data);
    }
}

/* Stopped half way and gone on with by another: the same bits as without. */
static void a_state_goes_on(void **state)
{
    (void)state;
    lscm_dataset *data = small_data();
    biols *b[2] = {begun(on_device(), data, LSCM_DECODER_MLP, 45),
                   begun(on_device(), data, LSCM_DECODER_MLP, 45)};
    trainee one = biols_trainee(b[0]);
    trainee two = biols_trainee(b[1]);
    size_t bytes = trainee_bytes(&one);
    char *first = test_malloc(bytes);
    char *second = test_malloc(bytes);
    training_terms terms;
    for (int k = 0; k < STEPS; k++) {
        if (k == STEPS / 2) {
            assert_ok(trainee_get(&one, first, &why));
            trainee_set(&two, first);
        }
        assert_ok(one.step(one.self, 1e-3, &terms, &why));
        if (k >= STEPS / 2) {
            assert_ok(two.step(two.self, 1e-3, &terms, &why));
        }
    }
    assert_ok(trainee_get(&one, first, &why));
    assert_ok(trainee_get(&two, second, &why));
    assert_memory_equal(first, second, bytes);
    test_free(first);
    test_free(second);
    biols_close(b[0]);
    biols_close(b[1]);
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_match_the_cpu),
        cmocka_unit_test(a_state_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
