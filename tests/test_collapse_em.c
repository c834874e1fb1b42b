/* EM on the collapsed likelihood: it only climbs, it ends where the gradient vanishes, and it gives
 * the same numbers on any number of threads. */
#include "collapse_testing.h"

#include "base/threads.h"
#include "infer/marginal/marginal.h"

/* Noise of x from none to large, exact and inexact do(), as many directions as nodes or fewer,
 * a node that is never a target. */
static const case_of cases[] = {
    {3, 3, 60, 0.3, 0, 0.5, 3, 1},    {4, 3, 90, 0.1, 0.2, 0.5, 4, 2},
    {4, 4, 200, 0, 0, 0.5, 4, 3},     {5, 5, 150, 1e-3, 0, 0.3, 2, 4},
    {5, 3, 120, 0.5, 0.3, 0.2, 0, 5}, {4, 4, 80, 0, 0.1, 0.5, 1, 6},
    {5, 5, 2000, 2, 0.5, 0.5, 5, 7},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void check_climb(collapse *c, const made_case *m, collapse_settings s, uint64_t seed)
{
    collapse_parameters p;
    collapse_report report;
    assert_ok(collapse_parameters_open(&p, m->s.d, m->s.rank, &why));
    random_start(m, seed, &p);
    for (size_t i = 1; i < m->s.d && s.equal; i++) {
        p.sigma[i] = p.sigma[0];
    }
    p.x_noise = fmax(p.x_noise, collapse_floor(c));
    double before = objective(c, m, &s, &p);
    s.steps = 1;
    for (int step = 0; step < 15; step++) {
        double rounding = 1e-9 * (1 + fabs(before));
        assert_ok(collapse_em(c, &m->graph, &s, &p, &report, NULL, &why));
        assert_true(report.objective >= before - rounding);
        assert_near(report.objective, objective(c, m, &s, &p), rounding);
        before = report.objective;
    }
    collapse_parameters_close(&p);
}

static void test_climbs(void **state)
{
    (void)state;
    for (size_t n = 0; n < CASES; n++) {
        made_case m;
        collapse *c = NULL;
        make_case(&m, &cases[n]);
        assert_ok(collapse_open(&c, &m.s, &why));
        for (uint64_t seed = 0; seed < 12; seed++) {
            check_climb(c, &m,
                        (collapse_settings){.prior = &m.prior,
                                            .equal = seed % 3 == 1,
                                            .learn_x_noise = seed % 2 == 0,
                                            .learn_actuator_noise = seed % 4 < 2},
                        seed);
        }
        collapse_close(c);
        end_case(&m);
    }
}

/* Without extrapolation and its guard: every single M-step climbs. */
static void test_every_m_step_climbs(void **state)
{
    (void)state;
    for (size_t n = 0; n < CASES; n++) {
        made_case m;
        collapse *c = NULL;
        collapse_parameters p;
        make_case(&m, &cases[n]);
        collapse_settings s = {.prior = &m.prior, .learn_x_noise = true};
        assert_ok(collapse_open(&c, &m.s, &why));
        assert_ok(collapse_parameters_open(&p, m.s.d, m.s.rank, &why));
        random_start(&m, n, &p);
        p.x_noise = fmax(p.x_noise, collapse_floor(c));
        double before = -INFINITY;
        for (int step = 0; step < 40; step++) {
            double now = collapse_expect(c, &m.graph, &p, true);
            now += collapse_penalty(&m.graph, &s, &p, NULL);
            assert_true(now >= before - 1e-9 * fabs(now));
            before = now;
            collapse_maximise(c, &m.graph, &s, &p);
        }
        collapse_parameters_close(&p);
        collapse_close(c);
        end_case(&m);
    }
}

static void test_gradient_vanishes(void **state)
{
    (void)state;
    for (size_t n = 0; n < CASES; n++) {
        made_case m;
        collapse *c = NULL;
        collapse_parameters p;
        collapse_parameters slope;
        collapse_report report;
        if (cases[n].x_noise < 0.1) { /* then the slope of A has no scale to compare with */
            continue;
        }
        make_case(&m, &cases[n]);
        collapse_settings s = {.prior = &m.prior, .steps = 20000, .tolerance = 1e-15};
        assert_ok(collapse_open(&c, &m.s, &why));
        assert_ok(collapse_parameters_open(&p, m.s.d, m.s.rank, &why));
        assert_ok(collapse_parameters_open(&slope, m.s.d, m.s.rank, &why));
        collapse_parameters_copy(&p, &m.truth);
        assert_ok(collapse_em(c, &m.graph, &s, &p, &report, NULL, &why));
        assert_true(report.converged);
        (void)collapse_log_likelihood(c, &m.graph, &p, &slope);
        (void)collapse_penalty(&m.graph, &s, &p, &slope);
        slope.actuator_noise = slope.x_noise = 0; /* were not learned */
        for (size_t k = 0; nudge(&slope, k, 0); k++) {
            if (!is_off_graph(&m, k)) {
                assert_near(slope_at(&slope, k), 0, 1e-4 * (double)m.s.rows);
            }
        }
        collapse_parameters_close(&p);
        collapse_parameters_close(&slope);
        collapse_close(c);
        end_case(&m);
    }
}

static void test_gauge_keeps_likelihood(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        made_case m;
        collapse *c = NULL;
        make_case(&m, &(case_of){5, 4, 50, 0.3, seed % 2 == 0 ? 0 : 0.2, 0.5, seed % 5, seed});
        collapse_settings s = {.prior = &m.prior, .equal = seed % 3 == 0};
        assert_ok(collapse_open(&c, &m.s, &why));
        assert_int_equal(c->targeted[seed % 5], 0);
        double likelihood = collapse_log_likelihood(c, &m.graph, &m.truth, NULL);
        double penalty = collapse_penalty(&m.graph, &s, &m.truth, NULL);
        collapse_gauge(c, &m.graph, &s, &m.truth);
        double after = collapse_log_likelihood(c, &m.graph, &m.truth, NULL);
        assert_near(after, likelihood, 1e-10 * fabs(likelihood));
        assert_true(collapse_penalty(&m.graph, &s, &m.truth, NULL) >= penalty - 1e-12);
        collapse_close(c);
        end_case(&m);
    }
}

/* The same numbers for one thread and for several. */
static void test_threads(void **state)
{
    (void)state;
    made_case m;
    double *z[2];
    collapse_report report[2];
    make_case(&m, &(case_of){6, 6, 9000, 0.3, 0, 0.5, 6, 71});
    for (int k = 0; k < 2; k++) {
        collapse *c = NULL;
        collapse_parameters p;
        int before = threads_use(k == 0 ? 1 : 3);
        z[k] = zeros(m.s.rows * 6, sizeof(double));
        assert_ok(collapse_open(&c, &m.s, &why));
        assert_ok(collapse_parameters_open(&p, 6, 6, &why));
        collapse_parameters_copy(&p, &m.truth);
        assert_ok(collapse_em(c, &m.graph, &(collapse_settings){.prior = &m.prior, .steps = 3}, &p,
                              &report[k], NULL, &why));
        collapse_draw_z(c, &m.graph, &p, (rng){1, 1}, 3, z[k]);
        collapse_draw_decoder(c, z[k], &p, (rng){1, 2}, 3);
        collapse_draw_z(c, &m.graph, &p, (rng){1, 1}, 4, z[k]);
        collapse_parameters_close(&p);
        collapse_close(c);
        (void)threads_use(before);
    }
    assert_true(report[0].objective == report[1].objective);
    assert_memory_equal(z[0], z[1], m.s.rows * 6 * sizeof(double));
    free(z[0]);
    free(z[1]);
    end_case(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_climbs),
        cmocka_unit_test(test_every_m_step_climbs),
        cmocka_unit_test(test_gradient_vanishes),
        cmocka_unit_test(test_gauge_keeps_likelihood),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
