/* Gradients of the law of orders, in the logits, in theta and through the soft order. */
#include "order_testing.h"

/* slope = -weight T takes the way through the hard P out of weight * log q: what is left in T is
 * weight (P - marginals), and in the bias that times 1 - (T/10)^2. */
static void gradient_of_log_q_in_the_logits(void **state)
{
    (void)state;
    for (size_t d = 2; d <= MOST; d++) {
        const double weight = 0.7;
        double logit[MOST * MOST];
        double marginal[MOST * MOST];
        fixture f;
        begin(&f, d, 16, true);
        (void)only_bias(&f, 3, logit);
        draw(&f, 0.2, 5);
        for (size_t i = 0; i < 16 * d * d; i++) {
            f.slope[i] = -weight * logit[i % (d * d)];
        }
        order_back(f.law, f.slope, weight, f.theta_slope);
        (void)log_permanent(logit, d, marginal);
        for (size_t i = 0; i < d * d; i++) {
            double hard = 0;
            for (size_t s = 0; s < 16; s++) {
                hard += f.order[s * d + i / d] == i % d ? 1 : 0;
            }
            double wanted = weight * (hard - 16 * marginal[i]) * (1 - pow(logit[i] / 10, 2));
            assert_near((double)bias_gradient(&f)[i], wanted, 2e-5);
        }
        for (size_t i = 0; i < 16 * f.inputs; i++) { /* nothing depends on theta */
            assert_true(f.theta_slope[i] == 0);
        }
        end(&f);
    }
}

/* The same with Bethe's permanent, against central differences of its own log q. */
static void gradient_of_bethe(void **state)
{
    (void)state;
    const float h = 0x1p-8F;
    for (size_t d = 2; d <= MOST; d++) {
        double logit[MOST * MOST];
        float gradient[MOST * MOST];
        fixture f;
        begin(&f, d, 8, false);
        float *bias = only_bias(&f, 1, logit);
        draw(&f, 0.2, 5);
        for (size_t i = 0; i < 8 * d * d; i++) {
            f.slope[i] = -logit[i % (d * d)];
        }
        order_back(f.law, f.slope, 1, f.theta_slope);
        memcpy(gradient, bias_gradient(&f), d * d * sizeof(float));
        for (size_t i = 0; i < d * d; i++) {
            float kept = bias[i];
            double difference = 0;
            double moved = 0;
            for (int side = -1; side <= 1; side += 2) {
                size_t before[8 * MOST];
                memcpy(before, f.order, 8 * d * sizeof(size_t));
                bias[i] = kept + (float)side * h;
                moved += side * (double)bias[i];
                draw(&f, 0.2, 5);
                assert_memory_equal(before, f.order, 8 * d * sizeof(size_t));
                for (size_t s = 0; s < 8; s++) {
                    difference += side * f.log_q[s];
                }
            }
            bias[i] = kept;
            assert_near((double)gradient[i], difference / moved, 1e-3);
        }
        end(&f);
    }
}

/* In theta, through the whole network, with the logits from the loops above. */
static void gradient_of_log_q_in_theta(void **state)
{
    (void)state;
    for (size_t d = 2; d <= 6; d++) {
        const double weight = -1.5;
        const double h = 1e-4;
        double logit[MOST * MOST];
        double largest = 0;
        fixture f;
        begin(&f, d, 8, true);
        for (size_t i = 0; i < 8 * f.inputs; i++) {
            f.theta[i] = (double)(float)f.theta[i];
            f.theta_slope[i] = 100; /* is added to */
        }
        draw(&f, 0.2, 5);
        for (size_t s = 0; s < 8; s++) {
            logits_of(order_parameter(f.law), d, f.inputs, f.theta + s * f.inputs, logit);
            for (size_t i = 0; i < d * d; i++) {
                f.slope[s * d * d + i] = -weight * logit[i];
            }
        }
        order_back(f.law, f.slope, weight, f.theta_slope);
        for (size_t i = 0; i < 8 * f.inputs; i++) {
            size_t s = i / f.inputs;
            double value[2];
            for (int side = 0; side < 2; side++) {
                double kept = f.theta[i];
                f.theta[i] += side == 0 ? -h : h;
                logits_of(order_parameter(f.law), d, f.inputs, f.theta + s * f.inputs, logit);
                value[side] = log_q_of(logit, d, f.order + s * d);
                f.theta[i] = kept;
            }
            double wanted = weight * (value[1] - value[0]) / (2 * h);
            largest = fmax(largest, fabs(wanted));
            assert_near(f.theta_slope[i] - 100, wanted, 2e-4);
        }
        assert_true(largest > 1e-2);
        end(&f);
    }
}

/* The soft P: rows and columns sum to 1, so a slope a_k + b_i has no effect; and where the
 * temperature is so high that P = 1/d + (centred logits)/(d tau), the gradient in T is the slope,
 * its rows and columns centred, over d tau. */
static void gradient_through_the_soft_order(void **state)
{
    (void)state;
    for (size_t d = 2; d <= MOST; d++) {
        const double hot = 1e6;
        double logit[MOST * MOST];
        lcg random = {d};
        fixture f;
        begin(&f, d, 8, false);
        (void)only_bias(&f, 2, logit);
        draw(&f, 0.5, 9);
        for (size_t i = 0; i < 8 * d * d; i++) {
            f.slope[i] = 0.3 * (double)(i / d % d) - 0.2 * (double)(i % d * (i % d));
        }
        order_back(f.law, f.slope, 0, f.theta_slope);
        for (size_t i = 0; i < d * d; i++) {
            assert_near((double)bias_gradient(&f)[i], 0, 1e-5);
        }

        draw(&f, hot, 9);
        memset(f.slope, 0, 8 * d * d * sizeof(double));
        double row[MOST] = {0};
        double column[MOST] = {0};
        double all = 0;
        for (size_t i = 0; i < d * d; i++) { /* of the fourth draw alone */
            double slope = hot * lcg_normal(&random);
            f.slope[3 * d * d + i] = slope;
            row[i / d] += slope / (double)d;
            column[i % d] += slope / (double)d;
            all += slope / (double)(d * d);
        }
        order_back(f.law, f.slope, 0, f.theta_slope);
        for (size_t i = 0; i < d * d; i++) {
            double centred = f.slope[3 * d * d + i] - row[i / d] - column[i % d] + all;
            double wanted = centred / ((double)d * hot) * (1 - pow(logit[i] / 10, 2));
            assert_near((double)bias_gradient(&f)[i], wanted, 1e-4);
        }
        end(&f);
    }
}

/* ---- Habits -----------------------------------------------------------------------------------
 */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_of_log_q_in_the_logits),
        cmocka_unit_test(gradient_of_bethe),
        cmocka_unit_test(gradient_of_log_q_in_theta),
        cmocka_unit_test(gradient_through_the_soft_order),
    };
    lscm_set_threads(1); /* a few draws at a time: waiting for each other would take longer */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
