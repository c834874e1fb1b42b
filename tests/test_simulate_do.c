/* Rows of the true model under one do() against the closed form: z ~ N(v R, R' N_t R) with
 * R = (I - W M)^-1, N_t = M S M + s_I^2 (I - M); x = z A with the A of the data. R is summed here
 * as a power series of W M, and A is found by setting all nodes: do(z = e_i) shows its row i. */
#include "read_all.h"
#include "testing.h"

enum { NODES = 5, ROWS = 40000 };

static lscm_error why;

static lscm_simulation preset(const char *name, int64_t seed)
{
    lscm_simulation s;
    assert_ok(lscm_simulation_preset(&s, name, NODES, &why));
    s.degree = 2;
    s.seed = seed;
    return s;
}

/* R (d, d) = sum of (W M)^k, which ends after d terms. */
static void reach(const double *w, const uint8_t *targets, double *r)
{
    enum { ALL = NODES * NODES };
    double power[ALL];
    double next[ALL];
    for (size_t k = 0; k < ALL; k++) {
        r[k] = power[k] = k % (NODES + 1) == 0 ? 1 : 0;
    }
    for (size_t step = 1; step < NODES; step++) {
        for (size_t k = 0; k < ALL; k++) {
            next[k] = 0;
            for (size_t j = 0; j < NODES && targets[k % NODES] == 0; j++) {
                next[k] += power[k / NODES * NODES + j] * w[j * NODES + k % NODES];
            }
        }
        memcpy(power, next, sizeof power);
        for (size_t k = 0; k < ALL; k++) {
            r[k] += power[k];
        }
    }
}

typedef struct law {
    double mean[NODES];
    double covariance[NODES * NODES];
} law;

/* By the closed form, from the truth stored with data of the same settings. */
static law expected(const lscm_simulation *s, const uint8_t *targets, const double *values)
{
    lscm_dataset *data = NULL;
    double r[NODES * NODES];
    law out = {{0}, {0}};
    assert_ok(lscm_simulate(&data, s, NULL, &why));
    double *w = read_all(data, LSCM_W, NULL);
    double *sigma = read_all(data, LSCM_SIGMA, NULL);
    reach(w, targets, r);
    for (size_t i = 0; i < NODES; i++) {
        for (size_t j = 0; j < NODES; j++) {
            out.mean[i] += targets[j] != 0 ? values[j] * r[j * NODES + i] : 0;
            double sd = targets[j] != 0 ? s->actuator_noise : sigma[j];
            for (size_t k = 0; k < NODES; k++) {
                out.covariance[i * NODES + k] += sd * sd * r[j * NODES + i] * r[j * NODES + k];
            }
        }
    }
    free(w);
    free(sigma);
    lscm_dataset_free(data);
    return out;
}

static void assert_law(const lscm_simulation *s, const uint8_t *targets, const double *values,
                       int64_t seed)
{
    lscm_dataset *rows = NULL;
    double sum[NODES] = {0};
    double second[NODES * NODES] = {0};
    law wanted = expected(s, targets, values);
    assert_ok(lscm_simulate_do(&rows, s, targets, values, ROWS, seed, &why));
    assert_int_equal(lscm_dataset_rows(rows), ROWS);
    double *z = read_all(rows, LSCM_Z, NULL);
    double *mask = read_all(rows, LSCM_TARGETS, NULL);
    double *set = read_all(rows, LSCM_VALUES, NULL);
    for (size_t k = 0; k < (size_t)ROWS * NODES; k++) {
        size_t i = k % NODES;
        const double *row = z + k / NODES * NODES;
        assert_true(mask[k] == (targets[i] != 0 ? 1 : 0));
        assert_true(set[k] == (targets[i] != 0 ? values[i] : 0));
        assert_true(targets[i] == 0 || s->actuator_noise > 0 || z[k] == values[i]);
        sum[i] += z[k] / ROWS;
        for (size_t j = 0; j < NODES; j++) {
            second[i * NODES + j] += (z[k] - wanted.mean[i]) * (row[j] - wanted.mean[j]) / ROWS;
        }
    }
    for (size_t i = 0; i < NODES; i++) {
        double ii = wanted.covariance[i * NODES + i];
        assert_near(sum[i], wanted.mean[i], 5 * sqrt(ii / ROWS) + 1e-11);
        for (size_t k = 0; k < NODES; k++) {
            double kk = wanted.covariance[k * NODES + k];
            double ik = wanted.covariance[i * NODES + k];
            assert_near(second[i * NODES + k], ik, 5.5 * sqrt((ii * kk + ik * ik) / ROWS) + 1e-11);
        }
    }
    free(z);
    free(mask);
    free(set);
    lscm_dataset_free(rows);
}

static void rows_follow_the_closed_form(void **state)
{
    const uint8_t nothing[NODES] = {0};
    const uint8_t two[NODES] = {0, 1, 0, 0, 1};
    const uint8_t all[NODES] = {1, 1, 1, 1, 1};
    const double values[NODES] = {1.5, -3, NAN, 0.25, 8}; /* what is no target is not looked at */
    const double every[NODES] = {1, -2, 3, -4, 5};
    (void)state;
    for (int64_t seed = 1; seed <= 3; seed++) {
        lscm_simulation exact = preset("paper-linear", seed);
        lscm_simulation noisy = preset("revised-linear", seed);
        assert_law(&exact, two, values, seed);
        assert_law(&noisy, two, values, 7);
        assert_law(&noisy, nothing, values, seed);
        assert_law(&exact, all, every, 0);
    }
}

static void x_is_that_of_the_data(void **state)
{
    enum { FEATURES = 7, SEEN = 50 };
    const uint8_t all[NODES] = {1, 1, 1, 1, 1};
    double a[NODES * FEATURES]; /* A */
    double z[SEEN * NODES];
    double x[SEEN * FEATURES];
    lscm_simulation s = preset("paper-linear", 3);
    lscm_dataset *rows = NULL;
    (void)state;
    s.features = FEATURES;
    for (size_t i = 0; i < NODES; i++) {
        double unit[NODES] = {0};
        unit[i] = 1;
        assert_ok(lscm_simulate_do(&rows, &s, all, unit, 1, 0, &why));
        assert_ok(lscm_dataset_read(rows, LSCM_X, 0, 1, a + i * FEATURES, &why));
        lscm_dataset_free(rows);
    }
    assert_ok(lscm_simulate(&rows, &s, NULL, &why));
    assert_ok(lscm_dataset_read(rows, LSCM_Z, 490, SEEN, z, &why));
    assert_ok(lscm_dataset_read(rows, LSCM_X, 490, SEEN, x, &why));
    for (size_t k = 0; k < (size_t)SEEN * FEATURES; k++) {
        double sum = 0;
        for (size_t i = 0; i < NODES; i++) {
            sum += z[k / FEATURES * NODES + i] * a[i * FEATURES + k % FEATURES];
        }
        assert_near(x[k], sum, 1e-9);
    }
    lscm_dataset_free(rows);
}

/* A picture shows z: the squares of node i have z_i/16 + 1/2, whatever their place. */
static void pictures_are_clipped(void **state)
{
    enum { COUNT = 300 };
    const uint8_t targets[NODES] = {1, 0, 0, 0, 0};
    const double values[NODES] = {20, 0, 0, 0, 0};
    size_t at_clip = 0;
    lscm_dataset *rows = NULL;
    lscm_simulation s = preset("paper-image", 2);
    (void)state;
    assert_ok(lscm_simulate_do(&rows, &s, targets, values, COUNT, 5, &why));
    lscm_shape shape = lscm_dataset_shape(rows, LSCM_X);
    assert_int_equal(shape.ndim, 3);
    size_t features = lscm_dataset_features(rows);
    double *z = read_all(rows, LSCM_Z, NULL);
    double *x = read_all(rows, LSCM_X, NULL);
    for (size_t r = 0; r < COUNT; r++) {
        double light = 0;
        double wanted = 0;
        assert_true(z[r * NODES] == 8); /* do() beyond the clip is clipped as well */
        for (size_t i = 0; i < NODES; i++) {
            assert_true(fabs(z[r * NODES + i]) <= 8);
            at_clip += fabs(z[r * NODES + i]) == 8 ? 1 : 0;
            wanted += 100 * (z[r * NODES + i] / 16 + 0.5);
        }
        for (size_t k = 0; k < features; k++) {
            light += x[r * features + k];
        }
        assert_near(light, wanted, 1e-3);
    }
    assert_true(at_clip > COUNT);
    free(z);
    free(x);
    lscm_dataset_free(rows);
}

static double *rows_of(const lscm_simulation *s, size_t count, int64_t seed, lscm_field field)
{
    const uint8_t targets[NODES] = {0, 0, 1, 0, 0};
    const double values[NODES] = {0, 0, 1, 0, 0};
    lscm_dataset *rows = NULL;
    assert_ok(lscm_simulate_do(&rows, s, targets, values, count, seed, &why));
    double *out = read_all(rows, field, NULL);
    lscm_dataset_free(rows);
    return out;
}

/* The first rows are the same however many there are and for any number of threads; another seed
 * has other noise but the same x of the same z; none is the data's. */
static void noise_is_its_own(void **state)
{
    enum { FEW = 200, MANY = 500, FEATURES = 12 };
    lscm_simulation s = preset("paper-linear", 4);
    lscm_dataset *data = NULL;
    (void)state;
    s.features = FEATURES;
    s.x_noise = 0.5;
    s.sets = 0;
    s.observational = FEW;
    double *few = rows_of(&s, FEW, 4, LSCM_X);
    lscm_set_threads(1);
    double *many = rows_of(&s, MANY, 4, LSCM_X);
    lscm_set_threads(2);
    double *other = rows_of(&s, FEW, 5, LSCM_X);
    double *z = rows_of(&s, FEW, 4, LSCM_Z);
    assert_memory_equal(few, many, FEW * FEATURES * sizeof *few);
    s.x_noise = 0; /* changes nothing but that */
    double *same = rows_of(&s, FEW, 4, LSCM_Z);
    assert_memory_equal(z, same, FEW * NODES * sizeof *z);
    assert_ok(lscm_simulate(&data, &s, NULL, &why));
    double *seen = read_all(data, LSCM_Z, NULL);
    for (size_t r = 0; r < FEW; r++) {
        assert_true(few[r * FEATURES] != other[r * FEATURES]);
        for (size_t i = 0; i < NODES; i++) {
            assert_true(i == 2 || z[r * NODES + i] != seen[r * NODES + i]);
        }
    }
    free(few);
    free(many);
    free(other);
    free(z);
    free(same);
    free(seen);
    lscm_dataset_free(data);
}

static void what_is_refused(void **state)
{
    const uint8_t targets[NODES] = {0, 1, 0, 0, 0};
    const double values[NODES] = {0, INFINITY, 0, 0, 0};
    const double fine[NODES] = {0};
    lscm_simulation s = preset("paper-linear", 1);
    lscm_dataset *rows = NULL;
    (void)state;
    assert_fails(lscm_simulate_do(&rows, &s, targets, values, 5, 0, &why), LSCM_VALUE, "node 1");
    assert_fails(lscm_simulate_do(&rows, &s, targets, fine, 0, 0, &why), LSCM_USAGE,
                 "at least one");
    assert_fails(lscm_simulate_do(&rows, &s, targets, fine, 5, -1, &why), LSCM_USAGE, "negative");
    s.weight_low = 3;
    assert_fails(lscm_simulate_do(&rows, &s, targets, fine, 5, 0, &why), LSCM_USAGE, "weight_low");
    assert_null(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_follow_the_closed_form),
        cmocka_unit_test(x_is_that_of_the_data),
        cmocka_unit_test(pictures_are_clipped),
        cmocka_unit_test(noise_is_its_own),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
