/* Missing entries of x: found, filled by factors as if they had been there, and drawn given a model
 * with the mean and variance that conditioning on covariance matrices gives them. */
#include "linear_view_testing.h"

#include "infer/sample/sample.h"

static const rng R = {4, 9};

/* Punches every entry whose number in a fixed sequence is below `share`; at least one per row
 * stays.
 */
static void punch(double *x, size_t n, size_t D, double share)
{
    lcg g = {77};
    for (size_t k = 0; k < n * D; k++) {
        bool out = lcg_uniform(&g) < share;
        x[k] = out && k % D != (k / D) % D ? (double)NAN : x[k];
    }
}

static void finds_what_is_missing(void **state)
{
    (void)state;
    uint8_t *mask = NULL;
    const double whole[] = {1, 2, 3, 4};
    const double holed[] = {1, NAN, 3, 4};
    const double empty[] = {1, NAN, 3, NAN};
    const uint8_t where[] = {0, 1, 0, 0};
    char first[] = "a";
    char second[] = "b";
    char *const names[] = {first, second};
    assert_ok(missing_find(&mask, "f", NULL, NULL, whole, 2, 2, &why));
    assert_null(mask);
    assert_ok(missing_find(&mask, "f", NULL, NULL, holed, 2, 2, &why));
    assert_memory_equal(mask, where, 4);
    free(mask);
    assert_fails(missing_find(&mask, "f", names, NULL, empty, 2, 2, &why), LSCM_VALUE,
                 "f: column 'b' has no number in any row");
    assert_fails(missing_find(&mask, "f", NULL, NULL, empty, 2, 2, &why), LSCM_VALUE,
                 "f: column 1 (0-based) has no number in any row");
    const array_shape picture = {.ndim = 3, .dims = {2, 1, 2}};
    const array_shape colours = {.ndim = 4, .dims = {2, 1, 1, 2}};
    assert_fails(missing_find(&mask, "f", NULL, &picture, empty, 2, 2, &why), LSCM_VALUE,
                 "f: pixel (0, 1) (0-based) has no number in any picture; crop");
    assert_fails(missing_find(&mask, "f", NULL, &colours, empty, 2, 2, &why), LSCM_VALUE,
                 "f: pixel (0, 0), channel 1 (0-based) has no number in any picture; crop");
    const double none[] = {NAN, NAN, NAN, NAN};
    assert_fails(missing_find(&mask, "f", names, NULL, none, 2, 2, &why), LSCM_VALUE,
                 "f: 'x' holds no number: all its entries are missing");
}

/* Without noise the others of a row tell what is missing. */
static void factors_tell_what_is_missing(void **state)
{
    (void)state;
    rows_of r = make(400, 3, 12, 3, 0, 5);
    double *x = numbers(r.n * r.D);
    uint8_t *mask = NULL;
    memcpy(x, r.x, r.n * r.D * sizeof *x);
    punch(x, r.n, r.D, 0.2);
    assert_ok(missing_find(&mask, "f", NULL, NULL, x, r.n, r.D, &why));
    assert_ok(missing_fill(x, mask, r.n, r.D, r.d, R, &why));
    for (size_t k = 0; k < r.n * r.D; k++) {
        assert_near(x[k], r.x[k], mask[k] == 0 ? 1e-12 : 1e-4);
    }
    free(mask);
    free(x);
    drop(&r);
}

/* With noise the covariance of the columns is that of rows that lack nothing. */
static void covariance_stays(void **state)
{
    (void)state;
    rows_of r = make(6000, 2, 6, 2, 1, -1);
    double *x = numbers(r.n * r.D);
    uint8_t *mask = NULL;
    double n = (double)r.n;
    memcpy(x, r.x, r.n * r.D * sizeof *x);
    punch(x, r.n, r.D, 0.4);
    assert_ok(missing_find(&mask, "f", NULL, NULL, x, r.n, r.D, &why));
    assert_ok(missing_fill(x, mask, r.n, r.D, r.d, R, &why));
    for (size_t a = 0; a < r.D; a++) {
        for (size_t b = a; b < r.D; b++) {
            double mean[4] = {0};
            double cov[2] = {0};
            double sd[2] = {0};
            for (size_t row = 0; row < r.n; row++) {
                const double *rows[] = {r.x + row * r.D, x + row * r.D};
                for (size_t k = 0; k < 2; k++) {
                    mean[2 * k] += rows[k][a] / n;
                    mean[2 * k + 1] += rows[k][b] / n;
                }
            }
            for (size_t row = 0; row < r.n; row++) {
                const double *rows[] = {r.x + row * r.D, x + row * r.D};
                for (size_t k = 0; k < 2; k++) {
                    cov[k] += (rows[k][a] - mean[2 * k]) * (rows[k][b] - mean[2 * k + 1]) / n;
                }
                sd[0] += pow(rows[0][a] - mean[0], 2) / n;
                sd[1] += pow(rows[0][b] - mean[1], 2) / n;
            }
            /* the standard error of a covariance, were all the missing rows other rows */
            double error = 2 * sqrt(sd[0] * sd[1] / n);
            assert_near(cov[1], cov[0], 4 * error);
        }
    }
    free(mask);
    free(x);
    drop(&r);
}

/* ---- Given a model ---- */

/* 0 -> 1 -> 2 and 0 -> 2. */
static const double W[] = {0, 1.5, -0.7, 0, 0, 2, 0, 0, 0};
static const double SIGMA[] = {1, 0.5, 0.8};
static const double C[] = {0.3, -1, 2};
static const double NO_EFFECT[] = {0, 0, 0};

/* Mean (3) and covariance (3, 3) of z where `set` (3) are set to `value` with this sd: by
 * simulating the equations forwards. */
static void law(const uint8_t *set, const double *value, double sd, double *mean, double *cov)
{
    double reach[9] = {0}; /* of the noise of node b on node a */
    for (size_t i = 0; i < 3; i++) {
        mean[i] = set[i] != 0 ? value[i] : C[i];
        reach[i * 3 + i] = set[i] != 0 ? sd : SIGMA[i];
        for (size_t j = 0; j < i && set[i] == 0; j++) {
            mean[i] += W[j * 3 + i] * mean[j];
            for (size_t b = 0; b < 3; b++) {
                reach[i * 3 + b] += W[j * 3 + i] * reach[j * 3 + b];
            }
        }
    }
    for (size_t a = 0; a < 3; a++) {
        for (size_t b = 0; b < 3; b++) {
            cov[a * 3 + b] = 0;
            for (size_t k = 0; k < 3; k++) {
                cov[a * 3 + b] += reach[a * 3 + k] * reach[b * 3 + k];
            }
        }
    }
}

/* One number y = b . z + noise is seen: what is left of mean and covariance. */
static void condition(double *mean, double *cov, const double *b, double noise, double y)
{
    double with[3] = {0};
    double total = noise * noise;
    double left = y;
    for (size_t a = 0; a < 3; a++) {
        for (size_t k = 0; k < 3; k++) {
            with[a] += cov[a * 3 + k] * b[k];
        }
        total += b[a] * with[a];
        left -= b[a] * mean[a];
    }
    for (size_t a = 0; a < 3; a++) {
        mean[a] += with[a] * left / total;
    }
    double before[3] = {with[0], with[1], with[2]};
    for (size_t k = 0; k < 9; k++) {
        cov[k] -= before[k / 3] * before[k % 3] / total;
    }
}

static fill_law law_of(const double *shift, const double *slope)
{
    return (fill_law){.model = {.d = 3, .w = W, .intercept = C, .sigma = SIGMA},
                      .effect = NO_EFFECT,
                      .shift = shift,
                      .slope = slope};
}

static void observed_variables_are_conditioned_on(void **state)
{
    (void)state;
    static const double identity[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const double none[] = {0, 0, 0};
    enum { N = 6 };
    /* the last two rows are under do(1), one value for all: where it lacks, that is known */
    const double seen[N * 3] = {0.5, NAN, 1,   NAN, NAN, 3,   1, 2,   NAN,
                                NAN, 0,   NAN, 1,   4,   NAN, 2, NAN, 7};
    const uint8_t set[N * 3] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0};
    lscm_dataset *data = made_new();
    double *x = made_field(data, LSCM_X, DTYPE_FLOAT64, N, 3, 0, 0);
    int64_t *targets = made_field(data, LSCM_TARGETS, DTYPE_INT64, N, 3, 0, 0);
    for (size_t k = 0; k < (size_t)N * 3; k++) {
        x[k] = seen[k];
        targets[k] = set[k];
    }
    dataset_settle(data);
    linear_view s = {0};
    double mean[N * 3] = {0};
    double variance[N * 3] = {0};
    assert_ok(linear_view_identity(&s, data, NULL, &why));
    assert_int_equal(s.missing, 8);
    assert_near(s.y[5 * 3 + 1], 4, 0); /* known after all */
    const fill_law by = law_of(none, identity);
    assert_ok(fill_draw(&s, &by, R, mean, variance, &why));
    for (size_t row = 0; row < N; row++) {
        double middle[3];
        double cov[9];
        const double value[] = {0, 4, 0};
        law(set + row * 3, value, 0, middle, cov);
        for (size_t j = 0; j < 3; j++) {
            if (!isnan(seen[row * 3 + j]) && set[row * 3 + j] == 0) {
                condition(middle, cov, identity + j * 3, 0, seen[row * 3 + j]);
            }
        }
        for (size_t j = 0; j < 3; j++) {
            size_t at = row * 3 + j;
            if (linear_view_lacks(&s, row)) {
                assert_near(mean[at], middle[j], 1e-6);
                assert_near(variance[at], cov[j * 4], 1e-6);
            }
            assert_true(isfinite(s.y[at]));
            assert_true(isnan(seen[at]) || s.y[at] == seen[at]);
        }
    }
    linear_view_close(&s);
    lscm_dataset_free(data);
}

/* Inverse of a (3, 3), by cofactors. */
static void invert(const double *a, double *out)
{
    double det = a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
                 a[2] * (a[3] * a[7] - a[4] * a[6]);
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            size_t p = (j + 1) % 3 * 3;
            size_t q = (j + 2) % 3 * 3;
            size_t u = (i + 1) % 3;
            size_t v = (i + 2) % 3;
            out[i * 3 + j] = (a[p + u] * a[q + v] - a[p + v] * a[q + u]) / det;
        }
    }
}

enum { ROWS = 3, COLUMNS = 4 };

/* z = shift + y B, w = y E' + noise, in four columns with an orthonormal E (a Hadamard matrix over
 * 2); the third row is under do(1). */
static const double SHIFT[] = {0.5, -0.25, 1};
static const double B[] = {1, 0.5, 0, -0.3, 2, 0.4, 0, 0.2, 1.5};
static const double E[] = {.5, .5, .5, .5, -.5, .5, .5, .5, -.5, .5, -.5, -.5};
static const double X_NOISE = 0.4;
static const double ACTUATOR = 0.1;
static const uint8_t MASK[] = {1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0};
static const uint8_t SET[] = {0, 0, 0, 0, 0, 0, 0, 1, 0};
static const double VALUE[] = {0, 0, 0, 0, 0, 0, 0, 1.5, 0};
static const double X[] = {0, 1, -2, .5, 3, 0, 0, -1, .7, 0, 2, 1};

/* z of a row given the columns that it has, one after the other: mean (3), covariance (3, 3). */
static void law_of_columns(size_t row, double *mean, double *cov)
{
    double loading[9]; /* of y on z */
    invert(B, loading);
    law(SET + row * 3, VALUE + row * 3, ACTUATOR, mean, cov);
    for (size_t j = 0; j < COLUMNS; j++) {
        double b[3] = {0}; /* w_j = E_j . (z - shift) B^-1 + noise */
        double offset = 0;
        for (size_t a = 0; a < 3; a++) {
            b[a] = dot(loading + a * 3, E + j * 3, 3);
            offset += SHIFT[a] * b[a];
        }
        if (MASK[row * COLUMNS + j] == 0) {
            condition(mean, cov, b, X_NOISE, X[row * COLUMNS + j] + offset);
        }
    }
}

static void columns_are_conditioned_on(void **state)
{
    (void)state;
    double scale[] = {1, 1, 1, 1};
    double seen[ROWS * 3] = {0};
    double y[ROWS * 3] = {0};
    double mean[ROWS * 3] = {0};
    double variance[ROWS * 3] = {0};
    uint8_t mask[sizeof MASK];
    double basis[COLUMNS * 3];
    memcpy(mask, MASK, sizeof mask);
    memcpy(basis, E, sizeof basis);
    for (size_t k = 0; k < sizeof MASK; k++) {
        for (size_t a = 0; a < 3 && MASK[k] == 0; a++) {
            seen[k / COLUMNS * 3 + a] += X[k] * E[k % COLUMNS * 3 + a];
        }
    }
    linear_view s = {.kind = VIEW_LINEAR,
                     .rows = ROWS,
                     .d = 3,
                     .D = COLUMNS,
                     .rank = 3,
                     .y = y,
                     .scale = scale,
                     .basis = basis,
                     .x_noise = X_NOISE,
                     .missing = 4,
                     .mask = mask,
                     .seen = seen};
    assert_ok(design_of(&s.design, ROWS, 3, SET, VALUE, &why));
    fill_law by = law_of(SHIFT, B);
    by.actuator_noise = ACTUATOR;
    assert_ok(fill_draw(&s, &by, R, mean, variance, &why));
    for (size_t row = 0; row < ROWS; row++) {
        double middle[3];
        double cov[9];
        law_of_columns(row, middle, cov);
        for (size_t j = 0; j < 3; j++) {
            assert_near(mean[row * 3 + j], middle[j], 1e-9);
            assert_near(variance[row * 3 + j], cov[j * 4], 1e-9);
        }
    }
    design_close(&s.design);
}

/* Entries are drawn from that law: their mean and variance over many draws. */
static void draws_are_from_the_law(void **state)
{
    (void)state;
    static const double identity[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const double none[] = {0, 0, 0};
    enum { N = 4, DRAWS = 4000 };
    const double seen[N * 3] = {0.5, NAN, 1, 1, 2, 3, 2, 1, 0, 1, 4, NAN};
    lscm_dataset *data = made_new();
    double *x = made_field(data, LSCM_X, DTYPE_FLOAT64, N, 3, 0, 0);
    (void)made_field(data, LSCM_TARGETS, DTYPE_INT64, N, 3, 0, 0);
    memcpy(x, seen, sizeof seen);
    dataset_settle(data);
    linear_view s = {0};
    double mean[N * 3] = {0};
    double variance[N * 3] = {0};
    double sum = 0;
    double squares = 0;
    assert_ok(linear_view_identity(&s, data, NULL, &why));
    const fill_law by = law_of(none, identity);
    for (size_t k = 0; k < DRAWS; k++) {
        rng own = {k, 1};
        assert_ok(fill_draw(&s, &by, own, mean, variance, &why));
        sum += s.y[1] - mean[1];
        squares += (s.y[1] - mean[1]) * (s.y[1] - mean[1]);
    }
    assert_near(sum / DRAWS, 0, 4 * sqrt(variance[1] / DRAWS));
    assert_near(squares / DRAWS / variance[1], 1, 4 * sqrt(2.0 / DRAWS));
    linear_view_close(&s);
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_is_missing),
        cmocka_unit_test(factors_tell_what_is_missing),
        cmocka_unit_test(covariance_stays),
        cmocka_unit_test(observed_variables_are_conditioned_on),
        cmocka_unit_test(columns_are_conditioned_on),
        cmocka_unit_test(draws_are_from_the_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
