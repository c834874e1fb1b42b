/* Sets with intercepts of their own where x is noisy: calibrated on data drawn from
 * the prior, and never sure of edges that only the shifts of sets make. */
#include "anchored_testing.h"
#include "made_linear_view.h"
#include "ranks.h"

#include <omp.h>

/* The prior of made_design: unit 1, no grid. */
static lscm_fit_settings as_made(const made_design *c)
{
    lscm_fit_settings s = defaults();
    s.ridge = c->ridge;
    s.degree = c->edge * ((double)c->d - 1) / 2;
    s.chains = 1;
    return s;
}

static void test_calibrated(void **state)
{
    (void)state;
    enum { SETS = 120 };
    lcg g = {81};
    made_design c = {.d = 3,
                     .observational = 20,
                     .sets = 9,
                     .per_set = 10,
                     .value = 2,
                     .x_noise = 0.05,
                     .ridge = 0.1,
                     .dof = 3,
                     .edge = 0.5,
                     .effects = true};
    tally weights = {0};
    tally noise = {0};
    tally effect = {0};
    size_t noisy = 0;
    for (size_t n = 0; n < SETS; n++) {
        made_signal m = made_signal_of(&c, &g);
        lscm_fit_settings asked = as_made(&c);
        anchored a;
        asked.seed = (int64_t)n;
        anchored_input in = {.view = &m.s, .settings = &asked, .draws = RANKS, .steps = 400};
        assert_ok(anchored_infer(&a, &in, &why));
        noisy += a.sampler == SAMPLER_LATENT || a.sampler == SAMPLER_LIKELIHOOD ? 1 : 0;
        for (size_t e = 0; e < c.d * c.d; e++) {
            if (e % (c.d + 1) != 0) {
                put(&weights, m.w[e], a.w + e, c.d * c.d, &g);
            }
        }
        for (size_t i = 0; i < c.d; i++) {
            put(&noise, m.sigma[i], a.sigma + i, c.d, &g);
            put(&effect, m.tau[i] * m.sigma[i], a.effect + i, c.d, &g);
        }
        anchored_close(&a);
        made_signal_free(&m);
    }
    assert_true(noisy > SETS / 2);
    assert_uniform(&weights, "weights");
    assert_uniform(&noise, "noise");
    assert_uniform(&effect, "effects of sets");
}

/* Without effects of sets such data make a fit sure of edges that are not there. */
static void test_never_sure_and_wrong(void **state)
{
    (void)state;
    lcg g = {82};
    size_t sure = 0;
    for (size_t n = 0; n < 8; n++) {
        made_design c = {.d = 4,
                         .observational = 100,
                         .sets = 14,
                         .per_set = 60,
                         .plain = true,
                         .value = 2,
                         .x_noise = n % 2 == 0 ? 0.3 : 0.02,
                         .ridge = 0.1,
                         .dof = 3,
                         .edge = 0.3,
                         .effects = true,
                         .tau = 1};
        made_signal m = made_signal_of(&c, &g);
        lscm_fit_settings asked = defaults();
        anchored a;
        anchored_input in = {.view = &m.s, .settings = &asked, .draws = 400};
        assert_ok(anchored_infer(&a, &in, &why));
        for (size_t e = 0; e < c.d * c.d; e++) {
            sure += a.edge_prob[e] > 0.99 ? 1 : 0;
            if (a.edge_prob[e] > 0.99 && !(m.w[e] != 0)) {
                print_error("data set %zu: edge %zu -> %zu has p = %.3f\n", n, e / c.d, e % c.d,
                            a.edge_prob[e]);
                fail();
            }
        }
        anchored_close(&a);
        made_signal_free(&m);
    }
    assert_true(sure > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calibrated),
        cmocka_unit_test(test_never_sure_and_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
