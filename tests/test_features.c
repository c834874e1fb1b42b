/* Principal coordinates of x, re-derived by plain loops from what was promised: E is orthonormal
 * and holds the mean, f = x E, what is left out is what f cannot rebuild, and R is no larger than
 * the data. Each property on every way there is: narrow, in memory, in one pass. */
#include "data/statistics/statistics.h"

#include "linear_view_testing.h"

/* rows, d, D */
static const size_t shapes[][3] = {{300, 3, 150}, {900, 4, 200}, {150, 3, 1100}, {2100, 2, 140}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static features features_find(const rows_of *r, size_t bytes)
{
    lscm_dataset *data = wrap(r, true);
    features s;
    assert_ok(features_of_within(&s, data, bytes, NULL, &why));
    lscm_dataset_free(data);
    assert_int_equal(s.rows, r->n);
    assert_int_equal(s.d, r->d);
    assert_int_equal(s.D, r->D);
    check_labels(r, &s.design);
    return s;
}

/* Everything that is promised of any data; `size`: of numbers of x. */
static void features_check(const rows_of *r, const features *s, double size)
{
    size_t R = s->R;
    size_t D = s->D;
    double n = (double)r->n;
    double left = 0;
    double variance = 0;
    double *mean = numbers(D);
    if (s->basis != NULL) {
        check_basis(s->basis, D, R, 1e-11);
    }
    for (size_t k = 0; k < r->n * D; k++) {
        mean[k % D] += r->x[k] / n;
    }
    for (size_t row = 0; row < r->n; row++) {
        const double *x = r->x + row * D;
        const float *f = s->f + row * R;
        for (size_t j = 0; j < D; j++) {
            double back = s->basis == NULL ? (double)f[j] : 0;
            for (size_t k = 0; k < R && s->basis != NULL; k++) {
                back += (double)f[k] * s->basis[j * R + k];
            }
            left += (x[j] - back) * (x[j] - back) / n;
            variance += (x[j] - mean[j]) * (x[j] - mean[j]) / n;
        }
        for (size_t k = 0; k < R; k++) {
            double sum = s->basis == NULL ? x[k] : 0;
            for (size_t j = 0; j < D && s->basis != NULL; j++) {
                sum += x[j] * s->basis[j * R + k];
            }
            assert_near((double)f[k], sum, 2e-6 * size * sqrt((double)D));
        }
    }
    for (size_t k = 0; k < R; k++) {
        double sum = s->basis == NULL ? mean[k] : 0;
        for (size_t j = 0; j < D && s->basis != NULL; j++) {
            sum += mean[j] * s->basis[j * R + k];
        }
        assert_near(s->mean[k], sum, 1e-6 * size * sqrt((double)D));
    }
    double energy = size * size * (double)D;
    assert_near(s->variance, variance, 1e-6 * variance + 1e-12 * energy);
    assert_near(s->left_out, left, 2e-6 * variance + 1e-11 * energy);
    free(mean);
}

/* The share of the mean of x outside E. */
static double mean_outside(const rows_of *r, const features *s)
{
    double *mean = numbers(s->D);
    for (size_t k = 0; k < r->n * s->D; k++) {
        mean[k % s->D] += r->x[k] / (double)r->n;
    }
    double share = share_outside(mean, s->basis, s->D, s->R);
    free(mean);
    return share;
}

static void narrow_x_is_taken_as_it_is(void **state)
{
    (void)state;
    rows_of r = make(400, 3, 20, 3, 0.2, 5);
    features s = features_find(&r, WHOLE);
    assert_int_equal(s.R, 20);
    assert_null(s.basis);
    assert_true(s.left_out == 0);
    for (size_t k = 0; k < r.n * r.D; k++) {
        assert_true(s.f[k] == (float)r.x[k]);
    }
    features_check(&r, &s, 20);
    features_close(&s);
    drop(&r);
}

/* Without noise: as many directions as causes, and one for the mean, which is not among them. */
static void check_lengths_and_angles(const rows_of *r, size_t bytes)
{
    features s = features_find(r, bytes);
    assert_int_equal(s.R, r->d + 1);
    features_check(r, &s, 10);
    assert_near(s.left_out, 0, 1e-6 * s.variance);
    assert_near(mean_outside(r, &s), 0, 1e-6);
    for (size_t row = 0; row < 20; row++) {
        double in_f = 0;
        for (size_t c = 0; c < s.R; c++) {
            in_f += (double)s.f[row * s.R + c] * (double)s.f[(row + 20) * s.R + c];
        }
        double in_x = dot(r->x + row * r->D, r->x + (row + 20) * r->D, r->D);
        assert_near(in_f, in_x, 1e-5 * s.variance * 10);
    }
    features_close(&s);
}

static void lengths_and_angles_stay(void **state)
{
    (void)state;
    each_shape(shapes, SHAPES, 0, 3, check_lengths_and_angles);
}

/* Noise in every direction: the spectrum is flat behind the causes. */
static void check_left_out(const rows_of *r, size_t bytes)
{
    features s = features_find(r, bytes);
    assert_true(s.R > r->d && s.R <= 3 * r->d + 4);
    features_check(r, &s, 10);
    double noise = 0.25 * (double)(r->D - s.R);
    assert_true(s.left_out > 0.8 * noise && s.left_out < 1.1 * noise);
    features_close(&s);
}

static void noise_is_left_out(void **state)
{
    (void)state;
    each_shape(shapes, SHAPES, 0.5, -2, check_left_out);
}

/* A spectrum that falls slowly: only its end may look flat. */
static void wide_spectra_are_kept(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        rows_of r = make(k == 0 ? 900 : 1500, 2, k == 0 ? 180 : 400, 2, 0, 0);
        lcg g = {3};
        for (size_t i = 0; i < r.n * r.D; i++) {
            r.x[i] = pow(0.97, (double)(i % r.D)) * lcg_normal(&g);
        }
        features s = features_find(&r, WHOLE);
        if (k == 0) {
            assert_true(s.R > 130 && s.left_out < 5e-4 * s.variance); /* .97^2R = 1e-7 beyond D */
        } else {
            assert_true(s.R >= 230 && s.R <= FEATURES_MOST + 1);
            assert_true(s.left_out <= 1.2e-7 * s.variance || s.R >= FEATURES_MOST);
        }
        features_check(&r, &s, 4);
        features_close(&s);
        drop(&r);
    }
}

static void new_rows_are_projected_alike(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        rows_of r = make(333, 3, k == 0 ? 20 : 300, 3, 0.3, 2);
        features s = features_find(&r, k < 2 ? WHOLE : SAMPLED);
        float *again = calloc(r.n * s.R, sizeof *again);
        assert_non_null(again);
        features_project(&s, r.n, r.x, again);
        for (size_t i = 0; again != NULL && i < r.n * s.R; i++) {
            assert_near((double)again[i], (double)s.f[i], 1e-4);
        }
        free(again);
        features_close(&s);
        drop(&r);
    }
}

static void nothing_varies(void **state)
{
    (void)state;
    const size_t wide[] = {20, 300, 1100};
    for (size_t k = 0; k < 12; k++) {
        rows_of r = make(200, 3, wide[k / 4], 3, 0, 0);
        for (size_t i = 0; i < r.n * r.D; i++) {
            r.x[i] = k % 2 == 0 ? 0 : 0.1 + (double)(i % r.D) / 3;
        }
        features s = features_find(&r, k % 4 < 2 ? WHOLE : SAMPLED);
        assert_true(s.basis == NULL || s.R == 1);
        features_check(&r, &s, 400);
        features_close(&s);
        drop(&r);
    }
}

static void floats_are_read(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        rows_of r = make(300, 3, k == 0 ? 30 : 200, 3, 0.2, 5);
        lscm_dataset *data = wrap_floats(&r);
        features s;
        assert_ok(features_of_within(&s, data, k < 2 ? WHOLE : SAMPLED, NULL, &why));
        features_check(&r, &s, 20);
        features_close(&s);
        lscm_dataset_free(data);
        drop(&r);
    }
}

static void check_threads(const rows_of *r, size_t bytes)
{
    lscm_set_threads(1);
    features one = features_find(r, bytes);
    lscm_set_threads(2);
    features two = features_find(r, bytes);
    assert_int_equal(one.R, two.R);
    assert_memory_equal(one.f, two.f, r->n * one.R * sizeof(float));
    assert_memory_equal(one.basis, two.basis, r->D * one.R * sizeof(double));
    assert_memory_equal(one.mean, two.mean, one.R * sizeof(double));
    assert_true(one.variance == two.variance && one.left_out == two.left_out);
    features_close(&one);
    features_close(&two);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    each_shape(shapes, SHAPES, 0.3, 1, check_threads);
}

/* ---- Failing ---- */

static lscm_status read_features(const lscm_dataset *data, size_t bytes, meter *over)
{
    features out;
    lscm_status status = features_of_within(&out, data, bytes, over, &why);
    if (status == LSCM_OK) {
        features_close(&out);
    }
    return status;
}

static void it_stops_when_asked(void **state)
{
    (void)state;
    rows_of r = make(3001, 2, 200, 2, 0.1, 0);
    check_stops(&r, read_features, 2);
    drop(&r);
}

static void failures_are_said(void **state)
{
    (void)state;
    const size_t wide[] = {20, 200, 200};
    for (size_t k = 0; k < 3; k++) {
        size_t bytes = k == 2 ? SAMPLED : WHOLE;
        rows_of r = make(1500, 3, wide[k], 3, 0.1, 0);
        features s;
        lscm_dataset *data = wrap(&r, false);
        assert_fails(features_of_within(&s, data, bytes, NULL, &why), LSCM_MISSING, "values");
        lscm_dataset_free(data);
        r.x[1234 * r.D + 7] = NAN;
        data = wrap(&r, true);
        assert_fails(features_of_within(&s, data, bytes, NULL, &why), LSCM_VALUE, "1234");
        lscm_dataset_free(data);
        r.x[1234 * r.D + 7] = 0;
        for (size_t i = 0; i < r.n * r.D; i++) {
            r.x[i] *= 1e60;
        }
        data = wrap(&r, true);
        assert_fails(features_of_within(&s, data, bytes, NULL, &why), LSCM_VALUE, "too large");
        lscm_dataset_free(data);
        drop(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_x_is_taken_as_it_is),
        cmocka_unit_test(lengths_and_angles_stay),
        cmocka_unit_test(noise_is_left_out),
        cmocka_unit_test(wide_spectra_are_kept),
        cmocka_unit_test(new_rows_are_projected_alike),
        cmocka_unit_test(nothing_varies),
        cmocka_unit_test(floats_are_read),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(it_stops_when_asked),
        cmocka_unit_test(failures_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
