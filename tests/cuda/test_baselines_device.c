/* VAE and GraphVAE on a device: terms and gradients of a step as on the CPU, steps, a state that
 * goes on anywhere with the same bits, and a number that is none. */
#include "on_device.h"

#include "baseline_testing.h"

static baseline *begun(const lscm_dataset *data, const tested_baseline *tested, const device *on,
                       fit *f)
{
    baseline *b = NULL;
    *f = small_fit(data, tested->method);
    f->device = *on;
    f->device_taken = true;
    assert_ok(baseline_open(&b, f, tested->kind, &why));
    baseline_trainee(b).begin(b, 0);
    return b;
}

static void assert_alike(const float *x, const float *y, size_t n, double tolerance)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)y[i]));
    }
    for (size_t i = 0; i < n; i++) {
        assert_near(x[i], y[i], tolerance * most);
    }
}

static void steps_match_the_cpu(void **state)
{
    enum { STEPS = 4 };
    const tested_baseline *tested = *state;
    lscm_dataset *data = small_data();
    fit f[2];
    baseline *there = begun(data, tested, on_device(), &f[0]);
    baseline *here = begun(data, tested, on_cpu(), &f[1]);
    const trainee one = baseline_trainee(there);
    const trainee two = baseline_trainee(here);
    for (int step = 0; step < STEPS; step++) {
        training_terms a = {0};
        training_terms b = {0};
        assert_ok(one.step(there, 1e-4, &a, &why));
        assert_ok(two.step(here, 1e-4, &b, &why));
        assert_near(a.loss, b.loss, 1e-4 * fabs(b.loss));
        assert_near(a.kl, b.kl, 1e-3 * b.kl);
        assert_near(a.error, b.error, 1e-4 * b.error);
        assert_near(a.x_noise, b.x_noise, 1e-4 * b.x_noise);
        if (step == 0) { /* before the steps of Adam make much of what is next to 0 */
            const baseline_queue *q = &there->far;
            q->queue->does->get(q->queue, here->count * sizeof(float), q->gradient,
                                there->gradient);
            assert_ok(q->queue->does->wait(q->queue, &why));
            assert_alike(there->gradient, here->gradient, here->count, 1e-4);
        }
    }
    assert_ok(baseline_collect(there, &why));
    assert_alike(there->parameter, here->parameter, here->count, 1e-3);
    assert_alike(there->running, here->running, here->running_count, 1e-3);
    baseline_close(there);
    baseline_close(here);
    lscm_dataset_free(data);
}

static void a_state_goes_on(void **state)
{
    const tested_baseline *tested = *state;
    lscm_dataset *data = small_data();
    fit f[2];
    baseline *whole = begun(data, tested, on_device(), &f[0]);
    baseline *other = begun(data, tested, on_device(), &f[1]);
    const trainee one = baseline_trainee(whole);
    const trainee two = baseline_trainee(other);
    training_terms terms;
    size_t bytes = trainee_bytes(&one);
    char *first = test_malloc(2 * bytes);
    for (int step = 0; step < 4; step++) {
        if (step == 2) {
            assert_ok(trainee_get(&one, first, &why));
            trainee_set(&two, first);
        }
        assert_ok(one.step(whole, 1e-2, &terms, &why));
        if (step >= 2) {
            assert_ok(two.step(other, 1e-2, &terms, &why));
        }
    }
    assert_ok(trainee_get(&one, first, &why));
    assert_ok(trainee_get(&two, first + bytes, &why));
    assert_memory_equal(first, first + bytes, bytes);
    two.begin(other, 0);
    assert_ok(two.step(other, 1e-2, &terms, &why));
    other->parameter[other->count / 3] = NAN;
    two.restored(other);
    assert_fails(two.step(other, 1e-2, &terms, &why), LSCM_VALUE, "no longer finite");
    test_free(first);
    baseline_close(whole);
    baseline_close(other);
    lscm_dataset_free(data);
}

int main(void)
{
    static tested_baseline vae = {&vae_kind, LSCM_METHOD_VAE};
    static tested_baseline graph = {&graphvae_kind, LSCM_METHOD_GRAPHVAE};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(steps_match_the_cpu, &vae),
        cmocka_unit_test_prestate(a_state_goes_on, &vae),
        cmocka_unit_test_prestate(steps_match_the_cpu, &graph),
        cmocka_unit_test_prestate(a_state_goes_on, &graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
