/* The simulator against the closed form: z = (v + n) R, R = (I - W M)^-1, n ~ N(0, N_t), so over
 * the rows of a mask z - v R has mean 0 and covariance R^T N_t R. R is formed here by Gauss-Jordan,
 * not by ancestral order. */
#include "invert.h"
#include "read_all.h"
#include "simulated.h"

static lscm_error why;

/* Everything of a data set but x. */
typedef struct sampled {
    size_t d;
    double actuator_noise;
    double *w, *sigma;            /* (d, d), (d) */
    double *targets, *values, *z; /* (rows, d) */
} sampled;

/* Rows first .. first + n - 1 share one mask. */
static void check_law(const sampled *s, size_t first, size_t n)
{
    size_t d = s->d;
    double a[64];
    double r[64];
    double covariance[64];
    double mean[8] = {0};
    double second[64] = {0};
    const double *mask = s->targets + first * d;
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) {
            a[j * d + i] = (i == j ? 1 : 0) - (mask[i] != 0 ? 0 : s->w[j * d + i]);
        }
    }
    (void)invert(a, d, r);
    for (size_t i = 0; i < d; i++) {
        for (size_t k = 0; k < d; k++) {
            covariance[i * d + k] = 0;
            for (size_t m = 0; m < d; m++) {
                double sd = mask[m] != 0 ? s->actuator_noise : s->sigma[m];
                covariance[i * d + k] += r[m * d + i] * sd * sd * r[m * d + k];
            }
        }
    }
    for (size_t row = first; row < first + n; row++) {
        double residual[8];
        assert_memory_equal(s->targets + row * d, mask, d * sizeof *mask);
        for (size_t i = 0; i < d; i++) {
            residual[i] = s->z[row * d + i];
            for (size_t j = 0; j < d; j++) {
                residual[i] -= s->values[row * d + j] * r[j * d + i];
            }
            mean[i] += residual[i] / (double)n;
        }
        for (size_t i = 0; i < d * d; i++) {
            second[i] += residual[i / d] * residual[i % d] / (double)n;
        }
    }
    for (size_t i = 0; i < d; i++) {
        /* intervened on exactly: the residual is 0 up to rounding */
        double floor = 1e-12;
        assert_near(mean[i], 0, 5 * sqrt(covariance[i * d + i] / (double)n) + floor);
        for (size_t k = 0; k < d; k++) {
            double ii = covariance[i * d + i];
            double kk = covariance[k * d + k];
            double ik = covariance[i * d + k];
            assert_near(second[i * d + k], ik, 5.5 * sqrt((ii * kk + ik * ik) / (double)n) + floor);
        }
    }
}

static void check_samples(lscm_simulation s)
{
    lscm_dataset *data = NULL;
    size_t d = (size_t)s.nodes;
    assert_ok(lscm_simulate(&data, &s, NULL, &why));
    sampled all = {.d = d, .actuator_noise = s.actuator_noise};
    all.w = read_all(data, LSCM_W, NULL);
    all.sigma = read_all(data, LSCM_SIGMA, NULL);
    all.targets = read_all(data, LSCM_TARGETS, NULL);
    all.values = read_all(data, LSCM_VALUES, NULL);
    all.z = read_all(data, LSCM_Z, NULL);
    size_t observational = (size_t)s.observational;
    check_law(&all, 0, observational);
    for (size_t set = 0; set < (size_t)s.sets; set++) {
        size_t first = observational + set * (size_t)s.per_set;
        size_t chosen = 0;
        check_law(&all, first, (size_t)s.per_set);
        for (size_t i = 0; i < d; i++) {
            chosen += all.targets[first * d + i] != 0 ? 1 : 0;
        }
        assert_true(chosen >= 1 && chosen <= (d > 1 ? d - 1 : 1));
    }
    free(all.w);
    free(all.sigma);
    free(all.targets);
    free(all.values);
    free(all.z);
    lscm_dataset_free(data);
}

static void samples_follow_the_closed_form(void **state)
{
    (void)state;
    for (int64_t seed = 1; seed <= 6; seed++) {
        lscm_simulation s = preset("revised-linear", 5 + seed % 3, seed);
        s.degree = 2;
        s.observational = 4000;
        s.sets = 5;
        s.per_set = 4000;
        s.targets = (lscm_target_law)(seed % 2); /* multi, single */
        s.values = (lscm_value_law)(seed % 3);
        check_samples(s);
        s = preset("paper-linear", 5, seed); /* equal noise, exact do() */
        s.graph = (lscm_graph)(seed % 3);
        s.sets = 4;
        s.per_set = 3000;
        check_samples(s);
    }
    lscm_simulation one = preset("paper-linear", 1, 3);
    one.per_set = 1000;
    check_samples(one);
}

static void values_follow_their_law(void **state)
{
    (void)state;
    for (int64_t kind = 0; kind < 3; kind++) {
        lscm_dataset *data = NULL;
        lscm_simulation s = preset("paper-linear", 5, 9);
        double sum = 0;
        double squares = 0;
        double largest = 0;
        double count = 0;
        s.values = (lscm_value_law)kind;
        s.per_set = 1000;
        assert_ok(lscm_simulate(&data, &s, NULL, &why));
        double *targets = read_all(data, LSCM_TARGETS, NULL);
        double *values = read_all(data, LSCM_VALUES, NULL);
        for (size_t i = 0; i < lscm_dataset_rows(data) * 5; i++) {
            assert_true(targets[i] != 0 || values[i] == 0);
            sum += values[i];
            squares += values[i] * values[i];
            largest = fmax(largest, fabs(values[i]));
            count += targets[i];
        }
        double variance = kind == 0 ? 100.0 / 3 : kind == 1 ? 100 : 0;
        assert_near(sum / count, 0, 5 * sqrt(variance / count) + 1e-300);
        assert_near(squares / count, variance, 5 * variance * sqrt(2 / count) + 1e-300);
        assert_true(kind != 0 || (largest <= 10 && largest > 9.99));
        free(targets);
        free(values);
        lscm_dataset_free(data);
    }
}

/* Any block, any thread count: the same bits. */
static void rows_do_not_depend_on_how_they_are_read(void **state)
{
    (void)state;
    const char *names[] = {
        "paper-linear",    "paper-image",     "revised-linear",  "son",
        "blobs",           "blobs",           "paper-nonlinear", "paper-nonlinear",
        "paper-nonlinear", "paper-nonlinear", "paper-nonlinear", "paper-linear",
        "paper-linear",    "paper-linear"};
    for (size_t p = 0; p < 14; p++) {
        lscm_dataset *data = NULL;
        lscm_dataset *other = NULL;
        lscm_simulation s = preset(names[p], 5, 2);
        s.activation = (lscm_activation)(p >= 6 && p < 11 ? p - 6 : 0);
        s.biases = p >= 7 && p < 11;
        s.mechanism = (lscm_mechanism_law)(p >= 11 ? p - 10 : 0);
        s.noise_law = (lscm_noise_shape)(p >= 11 ? p - 10 : 0);
        s.x_noise = p == 5 ? 0.1 : s.x_noise;
        s.observational = 300;
        s.sets = 3;
        s.per_set = 77;
        lscm_set_threads(2);
        assert_ok(lscm_simulate(&data, &s, NULL, &why));
        lscm_set_threads(1);
        assert_ok(lscm_simulate(&other, &s, NULL, &why));
        const lscm_field fields[] = {LSCM_X, LSCM_TARGETS, LSCM_VALUES, LSCM_Z};
        for (size_t f = 0; f < 4; f++) {
            double *whole = read_all(data, fields[f], NULL);
            size_t cols = fields[f] == LSCM_X ? lscm_dataset_features(data) : 5;
            double *part = malloc(200 * cols * sizeof *part);
            assert_non_null(part);
            const size_t blocks[][2] = {{0, 1},     {1, 127},   {127, 2},
                                        {128, 128}, {100, 200}, {530, 1}};
            for (size_t b = 0; b < 6; b++) {
                assert_ok(
                    lscm_dataset_read(other, fields[f], blocks[b][0], blocks[b][1], part, &why));
                assert_memory_equal(part, whole + blocks[b][0] * cols,
                                    blocks[b][1] * cols * sizeof *part);
            }
            free(part);
            free(whole);
        }
        lscm_dataset_free(data);
        lscm_dataset_free(other);
    }
    lscm_set_threads(2);
}

/* Pixel noise is added to pictures as to anything else, each pixel its own. */
static void pictures_take_noise(void **state)
{
    (void)state;
    const char *names[] = {"paper-image", "blobs"};
    for (size_t p = 0; p < 2; p++) {
        lscm_dataset *clean = NULL;
        lscm_dataset *noisy = NULL;
        lscm_simulation s = preset(names[p], 5, 3);
        double mean = 0;
        double square = 0;
        double along = 0;
        s.observational = 40;
        s.sets = 0;
        assert_ok(lscm_simulate(&clean, &s, NULL, &why));
        s.x_noise = 0.05;
        assert_ok(lscm_simulate(&noisy, &s, NULL, &why));
        assert_string_equal(lscm_dataset_shape(noisy, LSCM_X).dtype, "float32");
        double *a = read_all(clean, LSCM_X, NULL);
        double *b = read_all(noisy, LSCM_X, NULL);
        size_t count = (size_t)40 * 2500;
        for (size_t i = 0; i < count; i++) {
            mean += (b[i] - a[i]) / (double)count;
            square += (b[i] - a[i]) * (b[i] - a[i]) / (double)count;
            along += i > 0 ? (b[i] - a[i]) * (b[i - 1] - a[i - 1]) / (double)count : 0;
        }
        assert_near(mean, 0, 5 * 0.05 / sqrt((double)count));
        assert_near(square, 0.0025, 5 * 0.0025 * sqrt(2 / (double)count));
        assert_near(along, 0, 5 * 0.0025 / sqrt((double)count));
        free(a);
        free(b);
        lscm_dataset_free(clean);
        lscm_dataset_free(noisy);
    }
}

static void paired_rows_share_noise(void **state)
{
    (void)state;
    lscm_dataset *data = NULL;
    lscm_simulation s = preset("paper-linear", 6, 4);
    s.paired = true;
    s.degree = 2;
    assert_ok(lscm_simulate(&data, &s, NULL, &why));
    size_t pairs = 2000;
    assert_int_equal(lscm_dataset_rows(data), 2 * pairs);
    double *w = read_all(data, LSCM_W, NULL);
    double *targets = read_all(data, LSCM_TARGETS, NULL);
    double *z = read_all(data, LSCM_Z, NULL);
    for (size_t row = 0; row < pairs; row++) {
        for (size_t i = 0; i < 6; i++) {
            double noise[2];
            for (size_t side = 0; side < 2; side++) {
                const double *at = z + (row + side * pairs) * 6;
                noise[side] = at[i];
                for (size_t j = 0; j < 6; j++) {
                    noise[side] -= at[j] * w[j * 6 + i];
                }
            }
            assert_true(targets[row * 6 + i] == 0);
            if (targets[(row + pairs) * 6 + i] == 0) {
                assert_near(noise[0], noise[1], 1e-12);
            }
        }
    }
    free(w);
    free(targets);
    free(z);
    lscm_dataset_free(data);
}

static void untouched_nodes_are_never_targets(void **state)
{
    (void)state;
    for (int64_t design = 0; design < 3; design++) {
        lscm_dataset *data = NULL;
        lscm_simulation s = preset("prior", 6, 11 + design);
        bool seen[6] = {false};
        size_t never = 0;
        s.untouched = 2;
        s.targets = (lscm_target_law)design;
        s.sets = 60;
        s.per_set = 3;
        assert_ok(lscm_simulate(&data, &s, NULL, &why));
        double *targets = read_all(data, LSCM_TARGETS, NULL);
        for (size_t r = (size_t)s.observational; r < lscm_dataset_rows(data); r++) {
            size_t chosen = 0;
            for (size_t i = 0; i < 6; i++) {
                chosen += targets[r * 6 + i] != 0 ? 1 : 0;
                seen[i] = seen[i] || targets[r * 6 + i] != 0;
            }
            assert_true(chosen >= 1 && chosen <= (design == 0 ? 4 : 1));
        }
        for (size_t i = 0; i < 6; i++) {
            never += seen[i] ? 0 : 1;
        }
        assert_int_equal(never, 2);
        free(targets);
        lscm_dataset_free(data);
    }
}

static void presets_are_as_published(void **state)
{
    (void)state;
    lscm_dataset *data = NULL;
    const struct {
        const char *name;
        int64_t nodes;
        size_t rows, features;
    } cases[] = {{"paper-linear", 5, 2500, 100},      {"paper-linear", 10, 20500, 100},
                 {"paper-linear", 20, 20500, 100},    {"paper-nonlinear", 5, 2500, 100},
                 {"paper-nonlinear", 6, 2500, 100},   {"paper-nonlinear", 10, 5500, 100},
                 {"paper-nonlinear", 20, 10500, 100}, {"paper-image", 5, 2500, 2500},
                 {"paper-image", 10, 2500, 2500},     {"revised-linear", 50, 4000, 100},
                 {"revised-linear", 100, 4000, 200},  {"son", 10, 4000, 10},
                 {"blobs", 10, 2500, 2500},           {"prior", 5, 2500, 100},
                 {"paper-linear", 50, 20500, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lscm_simulation s = preset(cases[i].name, cases[i].nodes, 1);
        assert_ok(lscm_simulate(&data, &s, cases[i].name, &why));
        assert_int_equal(lscm_dataset_rows(data), cases[i].rows);
        assert_int_equal(lscm_dataset_features(data), cases[i].features);
        assert_non_null(strstr(lscm_dataset_recipe(data), cases[i].name));
        lscm_dataset_free(data);
    }
    lscm_simulation image = preset("paper-image", 5, 1);
    assert_ok(lscm_simulate(&data, &image, NULL, &why));
    double *z = read_all(data, LSCM_Z, NULL);
    double *x = read_all(data, LSCM_X, NULL);
    double largest = 0;
    for (size_t i = 0; i < 2500 * 5; i++) {
        largest = fmax(largest, fabs(z[i]));
    }
    for (size_t i = 0; i < 2500 * 2500; i++) {
        assert_true(x[i] >= 0 && x[i] <= 1);
    }
    assert_true(largest == 8);
    free(z);
    free(x);
    lscm_dataset_free(data);
}

static void bad_settings(void **state)
{
    (void)state;
    lscm_dataset *data = NULL;
    lscm_simulation s;
    assert_fails(lscm_simulation_preset(&s, "paper-liner", 5, &why), LSCM_USAGE,
                 "did you mean 'paper-linear'");
    s = preset("paper-linear", 5, 1);
    s.features = 4;
    assert_fails(lscm_simulate(&data, &s, NULL, &why), LSCM_USAGE, "'features' is 4");
    s = preset("paper-linear", 5, 1);
    s.sets = 0;
    s.observational = 1;
    assert_fails(lscm_simulate(&data, &s, NULL, &why), LSCM_USAGE, "at least 2");
    s = preset("paper-linear", 5, 1);
    s.weight_low = 3;
    assert_fails(lscm_simulate(&data, &s, NULL, &why), LSCM_USAGE, "weight_low");
    s = preset("paper-linear", 5, 1);
    s.x_noise = NAN;
    assert_fails(lscm_simulate(&data, &s, NULL, &why), LSCM_USAGE, "x_noise");
    s = preset("paper-linear", 5, 1);
    s.sets = 0;
    s.paired = true;
    assert_fails(lscm_simulate(&data, &s, NULL, &why), LSCM_USAGE, "paired");
    s = preset("paper-linear", 5, 1);
    s.activation = 2;
    assert_fails(lscm_simulate(&data, &s, NULL, &why), LSCM_USAGE,
                 "'activation' is for the network");
    s = preset("paper-image", 5, 1);
    s.biases = true;
    assert_fails(lscm_simulate(&data, &s, NULL, &why), LSCM_USAGE, "'biases' is for the network");
    s = preset("paper-linear", 5, 1);
    s.untouched = 5;
    assert_fails(lscm_simulate(&data, &s, NULL, &why), LSCM_USAGE, "'untouched' is 5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_follow_the_closed_form),
        cmocka_unit_test(values_follow_their_law),
        cmocka_unit_test(rows_do_not_depend_on_how_they_are_read),
        cmocka_unit_test(pictures_take_noise),
        cmocka_unit_test(paired_rows_share_noise),
        cmocka_unit_test(untouched_nodes_are_never_targets),
        cmocka_unit_test(presets_are_as_published),
        cmocka_unit_test(bad_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
