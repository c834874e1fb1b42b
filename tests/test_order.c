/* q(order | theta) against its definition: the network by plain loops in double, the permanent and
 * its marginals as sums over all d! permutations. With the last bias alone the logits are known
 * exactly; with a whole network, to the rounding of its single precision. */
#include "activations.h"
#include "infer/order.h"
#include "lcg.h"
#include "testing.h"

static lscm_error why;

enum { MOST = 8, HIDDEN = 128 };

/* ---- Another way ------------------------------------------------------------------------------
 */

static bool next_permutation(size_t *p, size_t n)
{
    size_t i = n;
    while (i > 1 && p[i - 2] >= p[i - 1]) {
        i--;
    }
    if (i < 2) {
        return false;
    }
    size_t j = n;
    while (p[j - 1] <= p[i - 2]) {
        j--;
    }
    size_t kept = p[i - 2];
    p[i - 2] = p[j - 1];
    p[j - 1] = kept;
    for (size_t a = i - 1, b = n - 1; a < b; a++, b--) {
        kept = p[a];
        p[a] = p[b];
        p[b] = kept;
    }
    return true;
}

/* log perm(exp T); marginal (d, d) unless NULL: the probability of P[k][i] = 1. */
static double log_permanent(const double *logit, size_t d, double *marginal)
{
    size_t p[MOST];
    double best = -INFINITY;
    for (int pass = 0; pass < 2; pass++) {
        double sum = 0;
        for (size_t i = 0; i < d; i++) {
            p[i] = i;
        }
        for (size_t i = 0; pass == 1 && marginal != NULL && i < d * d; i++) {
            marginal[i] = 0;
        }
        do {
            double score = 0;
            for (size_t k = 0; k < d; k++) {
                score += logit[k * d + p[k]];
            }
            if (pass == 0) {
                best = fmax(best, score);
                continue;
            }
            sum += exp(score - best);
            for (size_t k = 0; k < d && marginal != NULL; k++) {
                marginal[k * d + p[k]] += exp(score - best);
            }
        } while (next_permutation(p, d));
        if (pass == 1) {
            for (size_t i = 0; i < d * d && marginal != NULL; i++) {
                marginal[i] /= sum;
            }
            return best + log(sum);
        }
    }
    return NAN;
}

/* One dense layer: out (columns) = in (rows) W + b. Returns what follows them. */
static const float *layer(const float *parameter, size_t rows, size_t columns, const double *in,
                          double *out)
{
    for (size_t j = 0; j < columns; j++) {
        out[j] = (double)parameter[rows * columns + j];
        for (size_t i = 0; i < rows; i++) {
            out[j] += in[i] * (double)parameter[i * columns + j];
        }
    }
    return parameter + (rows + 1) * columns;
}

/* T = 10 tanh(net(theta)/10), inputs-128-128-d^2. */
static void logits_of(const float *parameter, size_t d, size_t inputs, const double *theta,
                      double *logit)
{
    double first[HIDDEN];
    double second[HIDDEN];
    parameter = layer(parameter, inputs, HIDDEN, theta, first);
    for (size_t i = 0; i < HIDDEN; i++) {
        first[i] = f_of(ACTIVATION_GELU, first[i]);
    }
    parameter = layer(parameter, HIDDEN, HIDDEN, first, second);
    for (size_t i = 0; i < HIDDEN; i++) {
        second[i] = f_of(ACTIVATION_GELU, second[i]);
    }
    (void)layer(parameter, HIDDEN, d * d, second, logit);
    for (size_t i = 0; i < d * d; i++) {
        logit[i] = 10 * tanh(logit[i] / 10);
    }
}

/* <P, T> */
static double score_of(const double *logit, size_t d, const size_t *order)
{
    double sum = 0;
    for (size_t k = 0; k < d; k++) {
        sum += logit[k * d + order[k]];
    }
    return sum;
}

static double log_q_of(const double *logit, size_t d, const size_t *order)
{
    return score_of(logit, d, order) - log_permanent(logit, d, NULL);
}

static void assert_orders(const size_t *order, size_t draws, size_t d)
{
    for (size_t s = 0; s < draws; s++) {
        unsigned seen = 0;
        for (size_t k = 0; k < d; k++) {
            assert_true(order[s * d + k] < d);
            seen |= 1U << order[s * d + k];
        }
        assert_int_equal(seen, (1U << d) - 1);
    }
}

/* ---- A law and its arrays ---------------------------------------------------------------------
 */

typedef struct fixture {
    size_t d, inputs, draws;
    order_law *law;
    double *theta, *theta_slope; /* (draws, inputs) */
    double *slope;               /* (draws, d, d) */
    double *log_q;               /* (draws) */
    size_t *order;               /* (draws, d) */
} fixture;

static void begin(fixture *f, size_t d, size_t draws, bool exact)
{
    lcg random = {d + 1000 * draws};
    *f = (fixture){.d = d, .inputs = d * (d - 1) / 2 + 1, .draws = draws};
    assert_ok(order_open(&f->law, d, f->inputs, draws, exact, &why));
    assert_int_equal(order_parameters(f->law),
                     (f->inputs + 1) * HIDDEN + (HIDDEN + 1) * HIDDEN + (HIDDEN + 1) * d * d);
    order_begin(f->law, (rng){11, d});
    f->theta = calloc(draws * f->inputs, sizeof(double));
    f->theta_slope = calloc(draws * f->inputs, sizeof(double));
    f->slope = calloc(draws * d * d, sizeof(double));
    f->log_q = calloc(draws, sizeof(double));
    f->order = calloc(draws * d, sizeof(size_t));
    assert_true(f->theta != NULL && f->theta_slope != NULL && f->slope != NULL &&
                f->log_q != NULL && f->order != NULL);
    for (size_t i = 0; i < draws * f->inputs; i++) {
        f->theta[i] = lcg_normal(&random);
    }
}

static void end(fixture *f)
{
    order_close(f->law);
    free(f->theta);
    free(f->theta_slope);
    free(f->slope);
    free(f->log_q);
    free(f->order);
}

static void draw(fixture *f, double temperature, uint64_t seed)
{
    assert_ok(order_draw(f->law, f->theta, temperature, (rng){seed, 1}, f->order, f->log_q, &why));
    assert_orders(f->order, f->draws, f->d);
}

/* The last bias (d, d), all other parameters 0: T = 10 tanh(bias/10) in every draw. */
static float *only_bias(fixture *f, double scale, double *logit)
{
    lcg random = {3 + f->d};
    size_t n = order_parameters(f->law);
    float *bias = order_parameter(f->law) + n - f->d * f->d;
    memset(order_parameter(f->law), 0, n * sizeof(float));
    for (size_t i = 0; i < f->d * f->d; i++) {
        bias[i] = (float)(scale * lcg_normal(&random));
        logit[i] = 10 * tanh((double)bias[i] / 10);
    }
    return bias;
}

static const float *bias_gradient(const fixture *f)
{
    return order_gradient(f->law) + order_parameters(f->law) - f->d * f->d;
}

/* ---- log q ------------------------------------------------------------------------------------
 */

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
    assert_fails(order_open(&law, 17, 3, 8, true, &why), LSCM_USAGE, "16");
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
        cmocka_unit_test(gradient_of_log_q_in_the_logits),
        cmocka_unit_test(gradient_of_bethe),
        cmocka_unit_test(gradient_of_log_q_in_theta),
        cmocka_unit_test(gradient_through_the_soft_order),
        cmocka_unit_test(threads_and_repetition_change_nothing),
        cmocka_unit_test(temperature_is_of_the_soft_order),
        cmocka_unit_test(what_is_not_finite_is_refused),
    };
    lscm_set_threads(1); /* a few draws at a time: waiting for each other would take longer */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
