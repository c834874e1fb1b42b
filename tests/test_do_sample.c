/* Sampling under do() against the closed form of docs/model.md: z ~ N((v + c M) R, R' N_t R) with
 * R = (I - W M)^-1 and N_t = M S M, R summed here as a power series. */
#include "made_posterior.h"

#include "data/dataset/dataset.h"

#include "testing.h"

#include "home.h"

enum { D = 4 };

static lscm_error why;

/* R (D, D) = sum of (W M)^k, which ends after D terms. */
static void reach(const double *w, const uint8_t *targets, double *r)
{
    double power[D * D];
    double next[D * D];
    for (size_t k = 0; k < D * D; k++) {
        r[k] = power[k] = k % (D + 1) == 0 ? 1 : 0;
    }
    for (size_t step = 1; step < D; step++) {
        for (size_t k = 0; k < D * D; k++) {
            next[k] = 0;
            for (size_t j = 0; j < D && targets[k % D] == 0; j++) {
                next[k] += power[k / D * D + j] * w[j * D + k % D];
            }
        }
        memcpy(power, next, sizeof power);
        for (size_t k = 0; k < D * D; k++) {
            r[k] += power[k];
        }
    }
}

static lscm_posterior *linear(size_t draws)
{
    static const size_t none[] = {0};
    const decoder g = made_decoder(DECODER_LINEAR, D, none, 6);
    return made_posterior(draws, 3, &g);
}

static void assert_law(const uint8_t *targets, const double *values)
{
    enum { ROWS = 200000 };
    lscm_dataset *data = NULL;
    double r[D * D];
    double mean[D] = {0};
    double cov[D * D] = {0};
    lscm_posterior *p = linear(1);
    double *z = malloc(ROWS * D * sizeof *z);
    assert_non_null(z);
    assert_ok(lscm_posterior_sample(&data, p, targets, values, ROWS, 11, &why));
    assert_ok(lscm_dataset_read(data, LSCM_Z, 0, ROWS, z, &why));
    reach(p->w, targets, r);
    for (size_t k = 0; k < ROWS * D; k++) {
        mean[k % D] += z[k];
    }
    for (size_t i = 0; i < D; i++) {
        mean[i] /= ROWS;
    }
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t k = 0; k < D * D; k++) {
            cov[k] +=
                (z[row * D + k / D] - mean[k / D]) * (z[row * D + k % D] - mean[k % D]) / ROWS;
        }
    }
    for (size_t i = 0; i < D; i++) {
        double wanted = 0;
        double variance[D * D];
        for (size_t j = 0; j < D; j++) {
            wanted += (targets[j] != 0 ? values[j] : p->intercept[j]) * r[j * D + i];
        }
        for (size_t k = 0; k < D; k++) {
            variance[k] = 0;
            for (size_t j = 0; j < D; j++) {
                variance[k] +=
                    targets[j] != 0 ? 0 : p->sigma[j] * p->sigma[j] * r[j * D + i] * r[j * D + k];
            }
        }
        /* five standard errors; a covariance of correlated normals errs by less than 2 v / sqrt n
         */
        assert_near(mean[i], wanted, 5 * sqrt(variance[i] / ROWS) + 1e-12);
        for (size_t k = 0; k < D; k++) {
            double size = 0;
            for (size_t j = 0; j < D; j++) {
                double sd = targets[j] != 0 ? 0 : p->sigma[j];
                size += sd * sd * (r[j * D + i] * r[j * D + i] + r[j * D + k] * r[j * D + k]);
            }
            assert_near(cov[i * D + k], variance[k], 5 * size / sqrt(ROWS) + 1e-12);
        }
    }
    for (size_t k = 0; k < ROWS * D; k++) {
        assert_true(targets[k % D] == 0 || z[k] == values[k % D]);
    }
    free(z);
    lscm_dataset_free(data);
    lscm_posterior_free(p);
}

static void z_follows_the_closed_form(void **state)
{
    (void)state;
    assert_law((const uint8_t[]){0, 0, 0, 0}, (const double[]){NAN, NAN, NAN, NAN});
    assert_law((const uint8_t[]){0, 1, 0, 0}, (const double[]){NAN, 1.5, NAN, 0});
    assert_law((const uint8_t[]){1, 0, 1, 0}, (const double[]){-2, NAN, 0.25, NAN});
}

static void x_is_the_decoded_z(void **state)
{
    enum { ROWS = 300 };
    const uint8_t targets[D] = {0, 0, 1, 0};
    const double values[D] = {0, 0, 3, 0};
    double z[ROWS * D];
    double x[ROWS * 6];
    double told[ROWS * D];
    double acted[ROWS * D];
    lscm_overview overview = {0};
    lscm_dataset *data = NULL;
    (void)state;
    lscm_posterior *p = linear(7);
    assert_ok(lscm_posterior_sample(&data, p, targets, values, ROWS, 1, &why));
    assert_ok(lscm_dataset_read(data, LSCM_Z, 0, ROWS, z, &why));
    assert_ok(lscm_dataset_read(data, LSCM_X, 0, ROWS, x, &why));
    assert_ok(lscm_dataset_read(data, LSCM_VALUES, 0, ROWS, told, &why));
    assert_ok(lscm_dataset_read(data, LSCM_TARGETS, 0, ROWS, acted, &why));
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t k = 0; k < 6; k++) {
            double sum = p->decode.bias[k];
            for (size_t i = 0; i < D; i++) {
                sum += z[row * D + i] * p->decode.weights[i * 6 + k];
            }
            assert_near(x[row * 6 + k], sum, 1e-12 * (1 + fabs(sum)));
        }
        for (size_t i = 0; i < D; i++) {
            assert_near(told[row * D + i], values[i], 0);
            assert_near(acted[row * D + i], targets[i], 0);
        }
    }
    assert_ok(lscm_dataset_check(data, &overview, NULL, &why));
    lscm_dataset_free(data);
    lscm_posterior_free(p);
}

/* Without noise, row k is (v + c M) R of draw k mod draws. */
static void rows_take_the_draws_in_turn(void **state)
{
    enum { ROWS = 20, DRAWS = 6 };
    const uint8_t targets[D] = {1, 0, 0, 1};
    const double values[D] = {2, 0, 0, -1};
    lscm_dataset *data = NULL;
    double z[ROWS * D];
    double r[D * D];
    (void)state;
    lscm_posterior *p = linear(DRAWS);
    memset(p->sigma, 0, DRAWS * D * sizeof *p->sigma);
    assert_ok(lscm_posterior_sample(&data, p, targets, values, ROWS, 4, &why));
    assert_ok(lscm_dataset_read(data, LSCM_Z, 0, ROWS, z, &why));
    for (size_t row = 0; row < ROWS; row++) {
        reach(p->w + row % DRAWS * D * D, targets, r);
        for (size_t i = 0; i < D; i++) {
            const double *c = p->intercept + row % DRAWS * D;
            double wanted = 2 * r[i] + c[1] * r[D + i] + c[2] * r[2 * D + i] - r[3 * D + i];
            assert_near(z[row * D + i], wanted, 1e-12);
        }
    }
    lscm_dataset_free(data);
    lscm_posterior_free(p);
}

/* Any block, any number of rows, any number of threads, the run freed: the same bits. */
static void rows_are_functions_of_their_number(void **state)
{
    enum { ROWS = 700, H = 3, W = 5, PIXELS = H * W };
    static const size_t hidden[] = {16, 8, 0};
    const uint8_t targets[D] = {0, 1, 0, 0};
    const double values[D] = {0, 1, 0, 0};
    static float x[ROWS * PIXELS];
    static float part[ROWS * PIXELS];
    lscm_dataset *data = NULL;
    (void)state;
    const decoder g = made_decoder(DECODER_IMAGE, D, hidden, PIXELS);
    for (int round = 0; round < 2; round++) {
        lscm_posterior *p = made_posterior(5, 1, &g);
        size_t rows = round == 0 ? ROWS : ROWS - 211;
        p->x_ndim = 3;
        p->x_dims[0] = H;
        p->x_dims[1] = W;
        lscm_set_threads(round == 0 ? 1 : 3);
        assert_ok(lscm_posterior_sample(&data, p, targets, values, rows, 9, &why));
        lscm_posterior_free(p);
        if (round == 0) {
            lscm_shape shape = lscm_dataset_shape(data, LSCM_X);
            assert_int_equal(shape.ndim, 3);
            assert_int_equal(shape.dims[1], H);
            assert_int_equal(shape.dims[2], W);
            assert_string_equal(shape.dtype, "float32");
            assert_ok(dataset_read_raw(data, LSCM_X, 0, ROWS, x, &why));
            for (size_t k = 0; k < ROWS * PIXELS; k++) {
                assert_true(x[k] >= 0 && x[k] <= 1);
            }
        }
        static const size_t cuts[][2] = {{0, 1}, {127, 2}, {100, 389}, {3, 255}, {488, 1}};
        for (size_t k = 0; k < sizeof cuts / sizeof cuts[0]; k++) {
            size_t first = cuts[k][0];
            size_t count = cuts[k][1];
            assert_ok(dataset_read_raw(data, LSCM_X, first, count, part, &why));
            assert_memory_equal(part, x + first * PIXELS, count * PIXELS * sizeof *part);
        }
        lscm_dataset_free(data);
    }
}

static void samples_are_saved_and_read_as_data(void **state)
{
    static const char *const paths[] = {"seen.npz", "seen.nc"};
    static char *const names[] = {"a", "b", "c", "d"};
    const uint8_t targets[D] = {0, 1, 0, 0};
    const double values[D] = {NAN, 1, NAN, NAN};
    lscm_dataset *data = NULL;
    lscm_overview overview = {0};
    (void)state;
    lscm_posterior *p = linear(5);
    p->node_names = names_copy(names, D);
    assert_ok(lscm_posterior_sample(&data, p, targets, values, 40, 2, &why));
    for (int k = 0; k < 2; k++) {
        lscm_dataset *back = NULL;
        double left[40 * 6];
        double right[40 * 6];
        assert_ok(lscm_dataset_save(data, at(paths[k]), false, NULL, &why));
        assert_ok(lscm_dataset_open(&back, at(paths[k]), NULL, &why));
        assert_ok(lscm_dataset_check(back, &overview, NULL, &why));
        assert_string_equal(lscm_dataset_node_name(back, 2), "c");
        assert_non_null(strstr(lscm_dataset_recipe(back), "\"posterior_draws\""));
        assert_ok(lscm_dataset_read(data, LSCM_X, 0, 40, left, &why));
        assert_ok(lscm_dataset_read(back, LSCM_X, 0, 40, right, &why));
        assert_memory_equal(left, right, sizeof left);
        lscm_dataset_free(back);
    }
    lscm_dataset_free(data);
    lscm_posterior_free(p);
}

/* x is z, and its columns have the names of the nodes, also in a CSV. */
static void observed_variables_are_their_own_features(void **state)
{
    enum { ROWS = 130 };
    static const size_t none[] = {0};
    static char *const names[] = {"a", "b", "c", "d"};
    static double z[ROWS * D];
    static double x[ROWS * D];
    const uint8_t targets[D] = {0, 1, 0, 1};
    const double values[D] = {NAN, 1, NAN, -2};
    lscm_dataset *data = NULL;
    lscm_dataset *back = NULL;
    (void)state;
    const decoder g = made_decoder(DECODER_IDENTITY, D, none, D);
    lscm_posterior *p = made_posterior(5, 1, &g);
    p->node_names = names_copy(names, D);
    assert_ok(lscm_posterior_sample(&data, p, targets, values, ROWS, 2, &why));
    lscm_posterior_free(p);
    assert_ok(lscm_dataset_read(data, LSCM_Z, 0, ROWS, z, &why));
    assert_ok(lscm_dataset_read(data, LSCM_X, 0, ROWS, x, &why));
    assert_memory_equal(x, z, sizeof x);
    assert_string_equal(lscm_dataset_feature_name(data, 3), "d");
    assert_ok(lscm_dataset_save(data, at("seen.csv"), false, NULL, &why));
    assert_ok(lscm_dataset_open(&back, at("seen.csv"), NULL, &why));
    assert_string_equal(lscm_dataset_node_name(back, 2), "c");
    assert_ok(lscm_dataset_read(back, LSCM_X, 0, ROWS, x, &why));
    assert_memory_equal(x, z, sizeof x);
    assert_ok(lscm_dataset_read(back, LSCM_TARGETS, 0, ROWS, x, &why));
    for (size_t k = 0; k < ROWS * D; k++) {
        assert_near(x[k], targets[k % D], 0);
    }
    lscm_dataset_free(back);
    lscm_dataset_free(data);
}

static void nonsense_is_refused(void **state)
{
    const uint8_t targets[D] = {0, 1, 0, 0};
    const double values[D] = {0, NAN, 0, 0};
    lscm_dataset *data = NULL;
    (void)state;
    lscm_posterior *p = linear(2);
    assert_fails(lscm_posterior_sample(&data, p, targets, values, 10, 0, &why), LSCM_VALUE,
                 "node 1 (0-based) to nan");
    assert_fails(lscm_posterior_sample(&data, p, targets, p->sigma, 0, 0, &why), LSCM_USAGE,
                 "at least one");
    assert_fails(lscm_posterior_sample(&data, p, targets, p->sigma, SIZE_MAX, 0, &why), LSCM_USAGE,
                 "draws");
    assert_fails(lscm_posterior_sample(&data, p, targets, p->sigma, 1, -1, &why), LSCM_USAGE,
                 "seed");
    assert_null(data);
    static char *const names[] = {"raf", "mek", "erk", "akt"};
    p->node_names = names_copy(names, D);
    assert_fails(lscm_posterior_sample(&data, p, targets, values, 10, 0, &why), LSCM_VALUE,
                 "node 1 (0-based), mek to nan");
    lscm_posterior_free(p);
}

/* Where the fit found z clipped, so are the samples: all rows at the end, causes act unclipped. */
static void clipped_as_the_data_were(void **state)
{
    enum { ROWS = 400 };
    const uint8_t targets[D] = {0, 1, 0, 0};
    const double values[D] = {0, 3, 0, 0};
    double z[2][ROWS * D];
    size_t beyond = 0;
    lscm_posterior *p = linear(5);
    (void)state;
    for (int clipped = 0; clipped < 2; clipped++) {
        lscm_dataset *data = NULL;
        if (clipped == 1) {
            free(p->summary);
            p->summary = strdup("{\"clip\": 1.25}");
        }
        assert_ok(lscm_posterior_sample(&data, p, targets, values, ROWS, 3, &why));
        assert_ok(lscm_dataset_read(data, LSCM_Z, 0, ROWS, z[clipped], &why));
        lscm_dataset_free(data);
    }
    for (size_t k = 0; k < (size_t)ROWS * D; k++) {
        beyond += fabs(z[0][k]) > 1.25 ? 1 : 0;
        assert_true(z[1][k] == fmax(-1.25, fmin(1.25, z[0][k])));
    }
    assert_true(beyond > ROWS);
    lscm_posterior_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clipped_as_the_data_were),
        cmocka_unit_test(z_follows_the_closed_form),
        cmocka_unit_test(x_is_the_decoded_z),
        cmocka_unit_test(rows_take_the_draws_in_turn),
        cmocka_unit_test(rows_are_functions_of_their_number),
        TEST_AT_HOME(samples_are_saved_and_read_as_data),
        TEST_AT_HOME(observed_variables_are_their_own_features),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
