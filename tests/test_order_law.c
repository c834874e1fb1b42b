/* q(order | theta) against its definition: the network by plain loops in double, the permanent and
 * its marginals as sums over all d! permutations. With the last bias alone the logits are known
 * exactly; with a whole network, to the rounding of its single precision. */
#include "on_cpu.h"
#include "order_testing.h"

static void log_q_is_the_gibbs_law(void **state)
{
    (void)state;
    for (size_t d = 2; d <= 7; d++) {
        double logit[MOST * MOST];
        fixture exact;
        fixture bethe;
        begin(&exact, d, 16, true);
        begin(&bethe, d, 16, false);
        draw(&exact, 0.2, d);
        draw(&bethe, 0.2, d);
        assert_memory_equal(exact.order, bethe.order, 16 * d * sizeof(size_t));
        for (size_t s = 0; s < 16; s++) {
            logits_of(order_parameter(exact.law), d, exact.inputs, exact.theta + s * exact.inputs,
                      logit);
            assert_true(exact.log_q[s] <= 1e-12);
            assert_near(exact.log_q[s], log_q_of(logit, d, exact.order + s * d), 1e-4);
            double above = bethe.log_q[s] - exact.log_q[s];
            assert_true(above >= -1e-9 && above <= (double)d / 2 * log(2) + 1e-9);
        }
        end(&exact);
        end(&bethe);
    }
}

/* With logits known exactly, to the rounding of double. */
static void log_q_of_known_logits(void **state)
{
    (void)state;
    for (size_t d = 2; d <= MOST; d++) {
        for (int k = 0; k < 3; k++) {
            const double scale = k == 0 ? 0.5 : k == 1 ? 2 : 8;
            double logit[MOST * MOST];
            fixture f;
            begin(&f, d, 8, true);
            (void)only_bias(&f, scale, logit);
            draw(&f, 0.2, d);
            double normaliser = log_permanent(logit, d, NULL);
            for (size_t s = 0; s < 8; s++) {
                double wanted = score_of(logit, d, f.order + s * d) - normaliser;
                assert_near(f.log_q[s], wanted, 1e-10);
            }
            end(&f);
        }
    }
}

/* ---- The law of the orders --------------------------------------------------------------------
 */

/* d = 2: the first order wins when the sum of two logistic numbers, differences of Gumbels, exceeds
 * -c, c = T00 + T11 - T01 - T10. That sum is below x with probability u (u - 1 - x)/(u - 1)^2,
 * u = e^x. */
static void orders_follow_gumbel_and_assignment(void **state)
{
    (void)state;
    enum { DRAWS = 4096 };
    for (int k = -2; k <= 2; k++) {
        double logit[4];
        fixture f;
        begin(&f, 2, DRAWS, true);
        float *bias = only_bias(&f, 0, logit);
        bias[0] = (float)(k + 0.5);
        double x = 10 * tanh((double)bias[0] / 10);
        double u = exp(x);
        double wanted = u * (u - 1 - x) / ((u - 1) * (u - 1));
        double share = 0;
        draw(&f, 0.2, 7);
        for (size_t s = 0; s < DRAWS; s++) {
            share += f.order[2 * s] == 0 ? 1.0 / DRAWS : 0;
        }
        assert_near(share, wanted, 5 * sqrt(wanted * (1 - wanted) / DRAWS));
        end(&f);
    }
}

/* Equal logits: all d! orders alike, also in their positions. */
static void equal_logits_are_uniform(void **state)
{
    (void)state;
    enum { DRAWS = 4096, NODES = 4 };
    double logit[NODES * NODES];
    double share[NODES * NODES] = {0};
    fixture f;
    begin(&f, NODES, DRAWS, true);
    (void)only_bias(&f, 0, logit);
    draw(&f, 0.2, 77);
    for (size_t s = 0; s < DRAWS; s++) {
        assert_near(f.log_q[s], -log(24), 1e-12);
        for (size_t k = 0; k < NODES; k++) {
            share[k * NODES + f.order[s * NODES + k]] += 1.0 / DRAWS;
        }
    }
    for (size_t i = 0; i < (size_t)NODES * NODES; i++) {
        assert_near(share[i], 0.25, 5 * sqrt(0.25 * 0.75 / DRAWS));
    }
    end(&f);
}

/* P[k][i] = 1 when node i stands at position k: a logit of 10 against -10 settles it. */
static void rows_are_positions(void **state)
{
    (void)state;
    for (size_t d = 2; d <= MOST; d++) {
        double logit[MOST * MOST];
        size_t wanted[MOST];
        lcg random = {d};
        fixture f;
        begin(&f, d, 8, false);
        float *bias = only_bias(&f, 0, logit);
        lcg_order(&random, d, wanted);
        for (size_t i = 0; i < d * d; i++) {
            bias[i] = wanted[i / d] == i % d ? 50 : -50;
        }
        draw(&f, 0.2, d);
        for (size_t s = 0; s < 8; s++) {
            assert_memory_equal(f.order + s * d, wanted, d * sizeof(size_t));
            assert_near(f.log_q[s], 0, 1e-6);
        }
        end(&f);
    }
}

/* ---- Gradients --------------------------------------------------------------------------------
 */

static void threads_and_repetition_change_nothing(void **state)
{
    (void)state;
    for (size_t d = 2; d <= MOST; d += 3) {
        fixture f[3];
        size_t n = 0;
        for (int k = 0; k < 3; k++) {
            lscm_set_threads(k == 0 ? 1 : 4);
            begin(&f[k], d, 64, d < 5);
            n = order_parameters(f[k].law) * sizeof(float);
            draw(&f[k], 0.2, 8);
            draw(&f[k], 0.2, 9);
            for (size_t i = 0; i < 64 * d * d; i++) {
                f[k].slope[i] = sin((double)i);
            }
            order_back(f[k].law, f[k].slope, 0.5, f[k].theta_slope);
        }
        lscm_set_threads(1);
        for (int k = 1; k < 3; k++) {
            assert_memory_equal(f[k].order, f[0].order, 64 * d * sizeof(size_t));
            assert_memory_equal(f[k].log_q, f[0].log_q, 64 * sizeof(double));
            assert_memory_equal(f[k].theta_slope, f[0].theta_slope,
                                64 * f[0].inputs * sizeof(double));
            assert_memory_equal(order_gradient(f[k].law), order_gradient(f[0].law), n);
        }
        for (int k = 0; k < 3; k++) {
            end(&f[k]);
        }
    }
}

/* The hard order and log q do not know the temperature; other noise gives other orders. */
static void temperature_is_of_the_soft_order(void **state)
{
    (void)state;
    size_t order[64 * 6];
    double log_q[64];
    fixture f;
    begin(&f, 6, 64, false);
    draw(&f, 0.01, 8);
    memcpy(order, f.order, sizeof order);
    memcpy(log_q, f.log_q, sizeof log_q);
    draw(&f, 10, 8);
    assert_memory_equal(order, f.order, sizeof order);
    assert_memory_equal(log_q, f.log_q, sizeof log_q);
    draw(&f, 10, 9);
    assert_memory_not_equal(order, f.order, sizeof order);
    end(&f);
}

static void what_is_not_finite_is_refused(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e300};
    for (size_t k = 0; k < 8; k++) {
        fixture f;
        begin(&f, 4, 16, k % 2 == 0);
        f.theta[13 * f.inputs + 2] = bad[k / 2];
        assert_fails(order_draw(f.law, f.theta, 0.2, (rng){1, 1}, f.order, f.log_q, &why),
                     LSCM_VALUE, "finite");
        end(&f);
    }
    order_law *law = NULL;
    assert_fails(order_open(&law, on_cpu(), 17, 3, 8, true, &why), LSCM_USAGE, "16");
    assert_null(law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_q_is_the_gibbs_law),
        cmocka_unit_test(log_q_of_known_logits),
        cmocka_unit_test(orders_follow_gumbel_and_assignment),
        cmocka_unit_test(equal_logits_are_uniform),
        cmocka_unit_test(rows_are_positions),
        cmocka_unit_test(threads_and_repetition_change_nothing),
        cmocka_unit_test(temperature_is_of_the_soft_order),
        cmocka_unit_test(what_is_not_finite_is_refused),
    };
    lscm_set_threads(1); /* a few draws at a time: waiting for each other would take longer */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
