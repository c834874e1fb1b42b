/* What all rows have wrong alike, in the sd of z: against rows misread by hand, over and over; and
 * of a fit to single targets, whose labels say nothing of rows in which another node was set. */
#include "infer/anchored/anchored.h"
#include "infer/evidence/evidence.h"

#include "design_testing.h"
#include "lcg.h"
#include "on_cpu.h"
#include "read_all.h"
#include "simulated.h"

static lscm_error why;

enum { D = 3, TIMES = 40000 };

/* Whatever the leaks and the gain are, rows err as much as is said. */
static void sd_is_that_of_misreadings(void **state)
{
    (void)state;
    static const double leak[D * D] = {[1] = 0.3, [2] = 0.1, [3] = 0.05, [7] = 0.4};
    static const double middle[D] = {1, -2, 0.5};
    static const double z[2 * D] = {3, -1, 2, 1, 4, -1};
    static const uint8_t mask[2 * D] = {0, 0, 0, 0, 1, 0};
    static const double own[D] = {0.2, 0.1, 0.5};
    const double gain = 0.25;
    double alike[(D + 1) * D];
    double sd[2 * D] = {0.2, 0.1, 0.5, 0.2, 0, 0.5};
    double squares[2 * D] = {0};
    lcg g = {7};
    design by = {0};
    design_again(&by, 2, D, mask, NULL);
    alike_errors(D, leak, gain, middle, alike);
    alike_errors_add(alike, &by, z, sd);
    for (size_t t = 0; t < TIMES; t++) {
        double slope[D * D];
        for (size_t e = 0; e < D * D; e++) {
            slope[e] = (e / D == e % D ? gain : leak[e]) * lcg_normal(&g);
        }
        for (size_t k = 0; k < 2 * D; k++) {
            double error = own[k % D] * lcg_normal(&g);
            for (size_t p = 0; p < D; p++) {
                error += slope[p * D + k % D] * (z[k / D * D + p] - middle[p]);
            }
            squares[k] += mask[k] != 0 ? 0 : error * error / TIMES;
        }
    }
    for (size_t k = 0; k < 2 * D; k++) {
        assert_near(sd[k], sqrt(squares[k]), 0.02 * sqrt(squares[k]));
    }
    design_close(&by);
}

static lscm_dataset *single(void)
{
    return simulated_as("paper-nonlinear", 4,
                        "targets=cycle sets=16 per_set=40 observational=200 features=30 seed=1");
}

/* A network of few steps to its end. */
static void train(nonlinear *n, const lscm_dataset *data, lscm_fit_settings *s, anchored *a)
{
    const anchored_input in = {.settings = s, .draws = 50};
    training_terms terms;
    assert_ok(features_of(&n->x, data, NULL, &why));
    assert_ok(nonlinear_encode(n, s, NULL, &why));
    assert_ok(nonlinear_begin(n, &in, &why));
    trainee learner = nonlinear_trainee(n);
    learner.begin(learner.self, 0);
    while (!learner.course->over(learner.self)) {
        assert_ok(learner.step(learner.self, 0, &terms, &why));
    }
    nonlinear_settle(n);
    assert_ok(nonlinear_finish(n, a, &in, &why));
}

static double covered(const nonlinear *n, const double *truth, const double *sd)
{
    double inside = 0;
    double count = 0;
    for (size_t k = 0; k < n->x.rows * n->x.d; k++) {
        if (!design_is_set(&n->x.design, k / n->x.d, k % n->x.d)) {
            inside += fabs(n->off.told[k] - truth[k]) <= 1.645 * sd[k] ? 1 : 0;
            count += 1;
        }
    }
    return inside / count;
}

/* By the rows alone most z lie outside of what is said of them. */
static void single_targets_are_told_honestly(void **state)
{
    (void)state;
    lscm_fit_settings s;
    nonlinear n = {.device = on_cpu()};
    anchored a = {0};
    double leak[4 * 4];
    double size = 0;
    lscm_dataset *data = single();
    double *truth = read_all(data, LSCM_Z, NULL);
    lscm_settings_defaults(lscm_fit_table(), &s);
    s.steps = 300;
    s.width = 16;
    s.noise = LSCM_NOISE_UNEQUAL;
    lscm_set_threads(1);
    train(&n, data, &s, &a);
    assert_ok(leaks_both_ways(leak, &size, &n.x.design, n.off.z, &why));
    /* up to rounding: BLAS may have more threads here than in a fit */
    assert_true(size > 0.01 && n.off.gain >= (1 - 1e-9) * size);
    assert_true(covered(&n, truth, n.off.told_sd) > 0.75);
    assert_true(covered(&n, truth, n.off.sd) < 0.6);
    free(truth);
    anchored_close(&a);
    nonlinear_close(&n);
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sd_is_that_of_misreadings),
        cmocka_unit_test(single_targets_are_told_honestly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
