/* The whole bound: its gradient against central differences for fixed noise (order given), the two
 * expectations against each other, a continued run against an uninterrupted one, and pixels that
 * never change. */
#include "infer/biols/biols.h"
#include "on_cpu.h"
#include "scm/posterior/posterior.h"
#include "simulated.h"

static lscm_error why;

typedef struct case_of {
    const char *name;
    lscm_decoder decoder;
    lscm_expectation expectation;
    lscm_objective objective;
    lscm_noise noise;
    int64_t x_noise, batch;
    double tolerance; /* relative to the largest entry; networks run in float */
} case_of;

static lscm_dataset *small_data(void)
{
    return simulated_as("paper-linear", 4,
                        "features=6 degree=1.5 observational=40 sets=4 per_set=20 noise_scale=0.5 "
                        "value_scale=2 projection_low=-1 projection_high=1 seed=3");
}

static lscm_fit_settings settings_of(const case_of *c)
{
    lscm_fit_settings s;
    lscm_settings_defaults(lscm_fit_table(), &s);
    s.decoder = c->decoder;
    s.expectation = c->expectation;
    s.objective = c->objective;
    s.noise = c->noise;
    s.x_noise = (double)c->x_noise;
    s.batch = c->batch;
    s.samples = 8;
    s.steps = 100;
    s.rate = 1e-2;
    return s;
}

/* The loss at the present parameters with the noise of step 5; nothing moves, the decoder of the
 * closed form, which needs no rate, excepted: so it is put back. */
static double loss_of(biols *b)
{
    training_terms terms;
    double *matrix = b->parameter + 2 * b->inputs;
    double kept[4 * 20];
    size_t n = b->closed ? b->d * b->D : 0;
    assert_true(n <= sizeof kept / sizeof kept[0]);
    memcpy(kept, matrix, n * sizeof *kept);
    b->step = 5;
    assert_ok(biols_step(b, 0, &terms, &why));
    memcpy(matrix, kept, n * sizeof *kept);
    return terms.loss;
}

static void check_gradient(const case_of *c)
{
    const size_t order[4] = {2, 0, 3, 1};
    lscm_dataset *data = small_data();
    lscm_fit_settings s = settings_of(c);
    biols *b = NULL;
    training_terms terms;
    assert_ok(biols_open(&b, on_cpu(), data, &s, order, NULL, &why));
    biols_begin(b, 0);
    for (int i = 0; i < 30; i++) {
        assert_ok(biols_step(b, 1e-2, &terms, &why));
    }
    /* the decoder of the closed form takes no gradient step; test_linear.c has its slope */
    size_t n = 2 * b->inputs + (b->linear && !b->closed ? b->d * b->D : 0);
    double *gradient = calloc(n, sizeof *gradient);
    assert_non_null(gradient);
    (void)loss_of(b);
    memcpy(gradient, b->gradient, n * sizeof *gradient);
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(gradient[i]));
    }
    const double h = b->linear ? 1e-5 : 1e-3;
    for (size_t i = 0; i < n; i++) {
        double kept = b->parameter[i];
        b->parameter[i] = kept + h;
        double above = loss_of(b);
        b->parameter[i] = kept - h;
        double below = loss_of(b);
        b->parameter[i] = kept;
        double slope = (above - below) / (2 * h);
        if (!(fabs(gradient[i] - slope) <= c->tolerance * largest)) {
            print_error("%s, parameter %zu: %.10g against %.10g\n", c->name, i, gradient[i], slope);
            fail();
        }
    }
    free(gradient);
    biols_close(b);
    lscm_dataset_free(data);
}

static void gradients_are_the_slopes(void **state)
{
    (void)state;
    const case_of cases[] = {
        {"closed", LSCM_DECODER_LINEAR, LSCM_EXPECTATION_CLOSED, LSCM_OBJECTIVE_ELBO,
         LSCM_NOISE_EQUAL, 0, 0, 1e-6},
        {"closed, noise per node", LSCM_DECODER_LINEAR, LSCM_EXPECTATION_CLOSED,
         LSCM_OBJECTIVE_ELBO, LSCM_NOISE_UNEQUAL, 0, 0, 1e-6},
        {"closed, x noise given", LSCM_DECODER_LINEAR, LSCM_EXPECTATION_CLOSED, LSCM_OBJECTIVE_ELBO,
         LSCM_NOISE_EQUAL, 1, 0, 1e-6},
        {"closed, squared error", LSCM_DECODER_LINEAR, LSCM_EXPECTATION_CLOSED, LSCM_OBJECTIVE_MSE,
         LSCM_NOISE_EQUAL, 0, 0, 1e-6},
        {"sampled", LSCM_DECODER_LINEAR, LSCM_EXPECTATION_SAMPLED, LSCM_OBJECTIVE_ELBO,
         LSCM_NOISE_UNEQUAL, 0, 0, 1e-6},
        {"sampled, batch", LSCM_DECODER_LINEAR, LSCM_EXPECTATION_SAMPLED, LSCM_OBJECTIVE_ELBO,
         LSCM_NOISE_EQUAL, 1, 50, 1e-6},
        {"network", LSCM_DECODER_MLP, LSCM_EXPECTATION_SAMPLED, LSCM_OBJECTIVE_ELBO,
         LSCM_NOISE_EQUAL, 1, 0, 5e-3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_gradient(&cases[i]);
    }
}

/* 40 steps at once, or 15, the state out and into another estimator, and 25: the same bits. */
static void a_state_continues_bit_for_bit(void **state)
{
    (void)state;
    const case_of cases[] = {
        {"closed", LSCM_DECODER_LINEAR, LSCM_EXPECTATION_CLOSED, LSCM_OBJECTIVE_ELBO,
         LSCM_NOISE_EQUAL, 0, 0, 0},
        {"sampled", LSCM_DECODER_LINEAR, LSCM_EXPECTATION_SAMPLED, LSCM_OBJECTIVE_ELBO,
         LSCM_NOISE_UNEQUAL, 0, 50, 0},
        {"network", LSCM_DECODER_MLP, LSCM_EXPECTATION_SAMPLED, LSCM_OBJECTIVE_ELBO,
         LSCM_NOISE_EQUAL, 0, 50, 0},
    };
    for (size_t i = 0; i < 3; i++) {
        lscm_dataset *data = small_data();
        lscm_fit_settings s = settings_of(&cases[i]);
        biols *whole = NULL;
        biols *other = NULL;
        training_terms terms;
        assert_ok(biols_open(&whole, on_cpu(), data, &s, NULL, NULL, &why));
        assert_ok(biols_open(&other, on_cpu(), data, &s, NULL, NULL, &why));
        const trainee one = biols_trainee(whole);
        const trainee two = biols_trainee(other);
        size_t bytes = trainee_bytes(&one);
        char *first = calloc(2, bytes);
        assert_non_null(first);
        char *second = first + bytes;
        biols_begin(whole, 1);
        biols_begin(other, 7);
        for (int step = 0; step < 40; step++) {
            if (step == 15) {
                assert_ok(trainee_get(&one, first, &why));
                trainee_set(&two, first);
            }
            assert_ok(biols_step(whole, 1e-2, &terms, &why));
            if (step >= 15) {
                assert_ok(biols_step(other, 1e-2, &terms, &why));
            }
        }
        assert_ok(trainee_get(&one, first, &why));
        assert_ok(trainee_get(&two, second, &why));
        assert_memory_equal(first, second, bytes);
        free(first);
        biols_close(whole);
        biols_close(other);
        lscm_dataset_free(data);
    }
}

/* Draws: weights follow the order, log q is the density of the draw. */
static void draws_are_consistent(void **state)
{
    (void)state;
    const case_of c = {"closed",
                       LSCM_DECODER_LINEAR,
                       LSCM_EXPECTATION_CLOSED,
                       LSCM_OBJECTIVE_ELBO,
                       LSCM_NOISE_UNEQUAL,
                       0,
                       0,
                       0};
    enum { COUNT = 20, NODES = 4 };
    double w[COUNT * NODES * NODES] = {0};
    double sigma[COUNT * NODES];
    double log_p[COUNT];
    double log_q[COUNT];
    size_t order[COUNT * NODES];
    lscm_dataset *data = small_data();
    lscm_fit_settings s = settings_of(&c);
    biols *b = NULL;
    training_terms terms;
    const size_t given[NODES] = {3, 1, 0, 2};
    assert_ok(biols_open(&b, on_cpu(), data, &s, given, NULL, &why));
    biols_begin(b, 0);
    for (int i = 0; i < 50; i++) {
        assert_ok(biols_step(b, 1e-2, &terms, &why));
    }
    model_sample sample = {w, sigma, log_p, log_q, order};
    assert_ok(biols_draw(b, COUNT, 0, &sample, &why));
    for (size_t k = 0; k < COUNT; k++) {
        double expected = 0;
        size_t entry = 0;
        for (size_t i = 0; i < NODES; i++) {
            assert_int_equal(order[k * NODES + i], given[i]);
            for (size_t j = 0; j < NODES; j++) {
                double weight = w[(k * NODES + given[j]) * NODES + given[i]];
                if (j >= i) {
                    assert_true(weight == 0);
                    continue;
                }
                double slope = 0;
                double log_sd = weights_log_sd(b->parameter[b->inputs + entry], &slope);
                double scaled = (weight - b->parameter[entry]) / exp(log_sd);
                expected -= 0.5 * scaled * scaled + log_sd + 0.5 * log(2 * acos(-1));
                entry++;
            }
        }
        for (size_t i = 0; i < NODES; i++, entry++) {
            double slope = 0;
            double log_sd = weights_log_sd(b->parameter[b->inputs + entry], &slope);
            double scaled = (log(sigma[k * NODES + i]) - b->parameter[entry]) / exp(log_sd);
            expected -= 0.5 * scaled * scaled + log_sd + 0.5 * log(2 * acos(-1));
        }
        assert_near(log_q[k], expected, 1e-9 * fabs(expected));
        assert_true(isfinite(log_p[k]));
    }
    biols_close(b);
    lscm_dataset_free(data);
}

enum { PICTURE_NODES = 5, PIXELS = 2500, MOVING = 500 };

/* The decoder that comes out, and the network as the estimator has it: moving pixels, no bias. */
static void take_decoders(const biols *b, decoder *whole, decoder *network)
{
    *whole = biols_decoder_shape(b);
    *network = *whole;
    network->biases = BIASES_NONE;
    network->sizes[network->layers] = MOVING;
    whole->weights = test_malloc(decoder_weights(whole) * sizeof(double));
    whole->bias = test_malloc(decoder_bias_count(whole) * sizeof(double));
    network->weights = test_malloc(decoder_weights(network) * sizeof(double));
    for (size_t i = 0; i < decoder_weights(network); i++) {
        network->weights[i] = (double)b->weight[i];
    }
    biols_decoder(b, whole);
}

/* Pixels that move are as the network has them, the others as they are in the data. */
static void check_pixels(const biols *b, const lscm_dataset *data, const decoder *whole,
                         const decoder *network)
{
    const double z[PICTURE_NODES] = {1, -2, 0.5, 3, -0.25};
    double *scratch = test_malloc(decoder_scratch(whole, 1) * sizeof(double));
    double x[PIXELS];
    double moving[MOVING];
    double row[PIXELS];
    decoder_apply(whole, 1, z, scratch, x);
    decoder_apply(network, 1, z, scratch, moving);
    assert_ok(lscm_dataset_read(data, LSCM_X, 7, 1, row, &why));
    size_t next = 0;
    for (size_t i = 0; i < PIXELS; i++) {
        bool moves = next < MOVING && b->kept[next] == i;
        assert_near(x[i], moves ? moving[next] : row[i], 1e-8);
        next += moves ? 1 : 0;
    }
    assert_int_equal(next, MOVING);
    test_free(scratch);
}

/* Five blocks of 10 x 10 on black: the network sees 500 of 2500 pixels. */
static void still_pixels_are_left_out(void **state)
{
    (void)state;
    const case_of c = {.name = "picture",
                       .decoder = LSCM_DECODER_IMAGE,
                       .expectation = LSCM_EXPECTATION_SAMPLED,
                       .objective = LSCM_OBJECTIVE_ELBO,
                       .noise = LSCM_NOISE_EQUAL,
                       .batch = 32};
    const size_t order[PICTURE_NODES] = {0, 1, 2, 3, 4};
    lscm_dataset *data =
        simulated_as("paper-image", PICTURE_NODES, "observational=40 sets=4 per_set=10");
    biols *b = NULL;
    training_terms terms;
    decoder whole;
    decoder network;
    lscm_fit_settings s = settings_of(&c);
    assert_ok(biols_open(&b, on_cpu(), data, &s, order, NULL, &why));
    assert_int_equal(b->D, MOVING);
    biols_begin(b, 0);
    assert_ok(biols_step(b, 1e-2, &terms, &why));
    take_decoders(b, &whole, &network);
    check_pixels(b, data, &whole, &network);
    test_free(network.weights);
    test_free(whole.bias);
    test_free(whole.weights);
    biols_close(b);
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_the_slopes),
        cmocka_unit_test(a_state_continues_bit_for_bit),
        cmocka_unit_test(draws_are_consistent),
        cmocka_unit_test(still_pixels_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
