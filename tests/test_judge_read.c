/* Targets left out whole where z is read off x: as if z, which is read without error here, had been
 * observed. Baselines see z alone and must be the same; the model is another's draws. */
#include "infer/anchored/anchored.h"
#include "made_linear_view.h"

#include "testing.h"

static lscm_error why;

static const made_design STRONG = {.d = 4,
                                   .observational = 200,
                                   .sets = 24,
                                   .per_set = 20,
                                   .plain = true,
                                   .value = 3,
                                   .ridge = 0.1,
                                   .dof = 3,
                                   .edge = 0.6};

static void test_read(void **state)
{
    (void)state;
    lcg g = {21};
    lscm_fit_settings settings;
    lscm_settings_defaults(lscm_fit_table(), &settings);
    for (size_t round = 0; round < 3; round++) {
        made_signal m = made_signal_of(&STRONG, &g);
        double spectrum[MADE_MOST];
        anchored a = {0};
        read_again read = {0};
        left_out one;
        left_out other;
        anchored_input in = {.view = &m.s, .settings = &settings, .draws = 100};
        assert_ok(anchored_infer(&a, &in, &why));
        assert_ok(read_again_open(&read, &in, &a, &why));
        for (size_t k = 0; k < m.s.rows * m.s.d; k++) {
            assert_near(read.view.y[k], m.z[k], 1e-6 * (1 + fabs(m.z[k])));
        }
        judged by = read_again_judged(&read);
        assert_ok(judge_targets(&one, &by, m.s.d, &why));

        memcpy(spectrum, read.view.spectrum, m.s.d * sizeof *spectrum);
        linear_view seen = {.kind = VIEW_OBSERVED,
                            .rows = m.s.rows,
                            .d = m.s.d,
                            .D = m.s.d,
                            .rank = m.s.d,
                            .y = m.z,
                            .spectrum = spectrum,
                            .design = m.s.design};
        in.view = &seen;
        by = anchored_judged(&in);
        assert_ok(judge_targets(&other, &by, m.s.d, &why));
        assert_int_equal(one.targets, m.s.d);
        assert_int_equal(one.targets, other.targets);
        assert_int_equal(one.pairs, other.pairs);
        assert_near(one.others.r2, other.others.r2, 1e-4);
        assert_near(one.correlation.r2, other.correlation.r2, 1e-4);
        assert_near(one.model.r2, other.model.r2, 0.02);
        assert_true(one.model.r2 > 0.9 && !left_out_beaten(&one));
        read_again_close(&read);
        anchored_close(&a);
        made_signal_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
