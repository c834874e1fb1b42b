/* The linear_view part of x, re-derived by plain loops from what was promised: E is orthonormal, y
 * is (x - mean) E, its columns are uncorrelated with the stated variances, E reproduces the
 * covariance on its span and nothing outside varies more (power iteration on what is left), and the
 * rows of the matrix that made x lie in E. Every property is checked on every way there is: the
 * covariance matrix, narrow and in tiles, subspace iteration, and one pass with a basis from a
 * sample. */
#include "linear_view_testing.h"

/* rows, d, D; each of the ways is there. */
static const size_t shapes[][3] = {
    {700, 4, 30}, {2100, 3, 6},   {900, 2, 2},   {300, 3, 600},
    {30, 4, 200}, {150, 3, 1100}, {5000, 3, 60}, {47001, 2, 25},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void check_matrix(const rows_of *r, size_t bytes)
{
    linear_view s = find(r, bytes);
    assert_true(s.kind == VIEW_LINEAR && s.basis != NULL);
    assert_int_equal(s.rank, r->d);
    assert_true(s.x_noise == 0);
    check(r, &s, 0.001, bytes);
    assert_near(outside_share(r, &s), 0, 1e-9);
    linear_view_close(&s);
}

static void without_noise_the_matrix_is_found(void **state)
{
    (void)state;
    each_shape(shapes, SHAPES, 0, 3, check_matrix);
}

static const double NOISE = 0.3;

/* The angle between E and the matrix is what noise makes of it, s_x within four standard errors. */
static void check_noise(const rows_of *r, size_t bytes)
{
    double n = (double)r->n;
    double D = (double)r->D;
    linear_view s = find(r, bytes);
    assert_int_equal(s.rank, r->d);
    check(r, &s, 0.01, bytes);
    if (r->D > r->d) {
        double freedom = (n - 1 - (double)r->d) * (D - (double)r->d);
        /* a sample of n' >= 72 rows misses d noises in n', which is allowed for but varies */
        double missed = bytes == WHOLE ? 0 : 4 * sqrt(2 * (double)r->d / D) / 72;
        /* .. and tells the units, of which this is the mean square */
        missed += bytes == WHOLE ? 0 : 4 * sqrt(2 / (72 * D)) / 2;
        assert_near(linear_view_noise(&s) / NOISE, 1, 4 / sqrt(2 * freedom) + missed);
        double share = NOISE * NOISE * D / (D / 2 * fmin(n, bytes == WHOLE ? n : 72));
        assert_near(outside_share(r, &s), 0, 4 * share);
    } else {
        assert_true(s.x_noise == 0);
    }
    linear_view_close(&s);
}

static void noise_is_measured(void **state)
{
    (void)state;
    each_shape(shapes, SHAPES, NOISE, -2, check_noise);
}

/* The pass finds what the whole finds, up to the noise: the energy, s_x and the space. */
static void a_sample_agrees_with_the_whole(void **state)
{
    (void)state;
    rows_of r = make(6000, 5, 80, 5, 0.5, 10);
    linear_view whole = find(&r, WHOLE);
    linear_view part = find(&r, (size_t)4 * 600 * 80 * sizeof(double)); /* 600 rows */
    assert_int_equal(part.rank, whole.rank);
    assert_near(linear_view_noise(&part), linear_view_noise(&whole), 0.005);
    assert_near(linear_view_explained(&part), linear_view_explained(&whole), 1e-4);
    assert_near(outside_share(&r, &part), 0, 0.01);
    linear_view_close(&whole);
    linear_view_close(&part);
    drop(&r);
}

static void offsets_do_not_cancel(void **state)
{
    (void)state;
    const size_t wide[] = {40, 1100};
    for (size_t k = 0; k < 4; k++) {
        rows_of r = make(400, 2, wide[k / 2], 2, 0.1, 1e6);
        size_t bytes = k % 2 == 0 ? WHOLE : SAMPLED;
        linear_view s = find(&r, bytes);
        assert_int_equal(s.rank, 2);
        check(&r, &s, 0.01, bytes);
        assert_near(linear_view_noise(&s), 0.1, 0.004);
        linear_view_close(&s);
        drop(&r);
    }
}

static void missing_directions_are_counted(void **state)
{
    (void)state;
    const size_t wide[] = {6, 40, 1100};
    for (size_t k = 0; k < 6; k++) {
        rows_of r = make(300, 5, wide[k / 2], 2, 0, 1000);
        size_t bytes = k % 2 == 0 ? WHOLE : SAMPLED;
        linear_view s = find(&r, bytes);
        assert_int_equal(s.rank, 2);
        check(&r, &s, 0.01, bytes);
        linear_view_close(&s);
        /* rounding to float32 makes noise in every direction, which is not x */
        lscm_dataset *data = wrap_floats(&r);
        assert_ok(linear_view_of_within(&s, data, 0, k % 2 == 0 ? WHOLE : SAMPLED, NULL, &why));
        assert_int_equal(s.rank, 2);
        linear_view_close(&s);
        lscm_dataset_free(data);
        drop(&r);
    }
    /* fewer rows than nodes: n - 1 directions at most */
    rows_of r = make(3, 5, 8, 5, 0.1, 1);
    linear_view s = find(&r, WHOLE);
    assert_int_equal(s.rank, 2);
    assert_true(s.x_noise == 0);
    check(&r, &s, 0.01, WHOLE);
    linear_view_close(&s);
    drop(&r);
}

static void columns_may_repeat(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        rows_of r = make(500, 3, 44, 3, 0.2, 0);
        for (size_t row = 0; row < r.n; row++) {
            memcpy(r.x + row * r.D + 22, r.x + row * r.D, 22 * sizeof *r.x);
        }
        size_t bytes = k == 0 ? WHOLE : SAMPLED;
        linear_view s = find(&r, bytes);
        assert_int_equal(s.rank, 3);
        check(&r, &s, 0.01, bytes);
        linear_view_close(&s);
        drop(&r);
    }
}

static void constant_x_has_no_direction(void **state)
{
    (void)state;
    const size_t wide[] = {3, 40, 1100};
    for (size_t k = 0; k < 6; k++) {
        rows_of r = make(200, 3, wide[k / 2], 3, 0, 0);
        for (size_t i = 0; i < r.n * r.D; i++) {
            r.x[i] = 0.1 + (double)(i % r.D) / 3;
        }
        size_t bytes = k % 2 == 0 ? WHOLE : SAMPLED;
        linear_view s = find(&r, bytes);
        assert_int_equal(s.rank, 0);
        assert_true(s.variance == 0 && s.x_noise == 0);
        check(&r, &s, 0, bytes);
        linear_view_close(&s);
        drop(&r);
    }
}

static void floats_are_read(void **state)
{
    (void)state;
    const size_t wide[] = {25, 1100};
    for (size_t k = 0; k < 4; k++) {
        rows_of r = make(k < 2 ? 5000 : 200, 3, wide[k / 2], 3, 0.2, 5);
        lscm_dataset *data = wrap_floats(&r);
        size_t bytes = k % 2 == 0 ? WHOLE : SAMPLED;
        linear_view s;
        assert_ok(linear_view_of_within(&s, data, 0, bytes, NULL, &why));
        assert_int_equal(s.rank, 3);
        check(&r, &s, 0.01, bytes);
        linear_view_close(&s);
        lscm_dataset_free(data);
        drop(&r);
    }
}

static void check_threads(const rows_of *r, size_t bytes)
{
    lscm_set_threads(1);
    linear_view one = find(r, bytes);
    lscm_set_threads(2);
    linear_view two = find(r, bytes);
    assert_int_equal(one.rank, two.rank);
    assert_memory_equal(one.y, two.y, r->n * one.rank * sizeof(double));
    assert_memory_equal(one.basis, two.basis, r->D * one.rank * sizeof(double));
    assert_memory_equal(one.mean, two.mean, r->D * sizeof(double));
    assert_true(one.x_noise == two.x_noise && one.variance == two.variance);
    linear_view_close(&one);
    linear_view_close(&two);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    each_shape(shapes, SHAPES, 0.3, 1, check_threads);
}

static void observed_variables(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        rows_of r = make(321, 4, 4, 4, 0.1, 1e6);
        lscm_dataset *data = k == 0 ? wrap(&r, false) : wrap_floats(&r);
        linear_view s;
        assert_ok(linear_view_identity(&s, data, NULL, &why));
        assert_true(s.kind == VIEW_OBSERVED && s.basis == NULL);
        assert_int_equal(s.rank, 4);
        assert_null(s.basis);
        assert_true(s.x_noise == 0);
        assert_memory_equal(s.y, r.x, r.n * 4 * sizeof(double));
        double all = 0;
        for (size_t j = 0; j < 4; j++) {
            long double sum = 0;
            long double squares = 0;
            for (size_t row = 0; row < r.n; row++) {
                sum += r.x[row * 4 + j];
            }
            for (size_t row = 0; row < r.n; row++) {
                long double t = r.x[row * 4 + j] - sum / (long double)r.n;
                squares += t * t;
                assert_int_equal(design_is_set(&s.design, row, j), r.targets[row * 4 + j]);
                assert_true(design_value(&s.design, row, j) ==
                            (r.targets[row * 4 + j] != 0 ? r.x[row * 4 + j] : 0));
            }
            assert_true(s.mean[j] == 0);
            assert_near(s.spectrum[j], (double)squares / (double)r.n, 1e-11 * s.spectrum[j]);
            all += s.spectrum[j];
        }
        assert_near(s.variance, all, 1e-12 * all);
        linear_view_close(&s);
        lscm_dataset_free(data);
        drop(&r);
    }
}

/* ---- Failing ---- */

static lscm_status read_view(const lscm_dataset *data, size_t bytes, meter *over)
{
    linear_view out;
    lscm_status status = linear_view_of_within(&out, data, 0, bytes, over, &why);
    if (status == LSCM_OK) {
        linear_view_close(&out);
    }
    return status;
}

static void it_stops_when_asked(void **state)
{
    (void)state;
    rows_of r = make(9001, 2, 25, 2, 0.1, 0);
    check_stops(&r, read_view, 3);
    drop(&r);
}

static size_t reads_left;
static lscm_status (*honest)(row_source *, lscm_field, size_t, size_t, void *, lscm_error *);

static lscm_status failing_read(row_source *self, lscm_field field, size_t first, size_t count,
                                void *raw, lscm_error *reason)
{
    if (reads_left == 0) {
        (void)snprintf(reason->text, sizeof reason->text, "the disk is gone");
        return LSCM_READ;
    }
    reads_left--;
    return honest(self, field, first, count, raw, reason);
}

static void a_failing_read_is_passed_on(void **state)
{
    (void)state;
    rows_of r = make(9001, 2, 25, 2, 0.1, 0);
    for (size_t k = 0; k < 2; k++) {
        lscm_dataset *data = wrap(&r, true);
        honest = data->source->read;
        data->source->read = failing_read;
        for (size_t left = 0; left < 100; left += left < 70 ? 35 : 1) {
            linear_view s;
            reads_left = left;
            lscm_status status =
                linear_view_of_within(&s, data, 0, k == 0 ? WHOLE : SAMPLED, NULL, &why);
            if (status == LSCM_OK) {
                assert_true(left > 0);
                linear_view_close(&s);
                break;
            }
            assert_int_equal(status, LSCM_READ);
            assert_string_equal(why.text, "the disk is gone");
        }
        lscm_dataset_free(data);
    }
    drop(&r);
}

static void failures_are_said(void **state)
{
    (void)state;
    rows_of r = make(50, 3, 40, 3, 0.1, 0);
    linear_view s;
    lscm_dataset *data = wrap(&r, false);
    assert_fails(linear_view_of(&s, data, 0, NULL, &why), LSCM_MISSING, "values");
    assert_fails(linear_view_identity(&s, data, NULL, &why), LSCM_SHAPE, "40 columns");
    lscm_dataset_free(data);
    for (size_t k = 0; k < r.n * r.D; k++) {
        r.x[k] *= 1e200;
    }
    data = wrap(&r, true);
    assert_fails(linear_view_of(&s, data, 0, NULL, &why), LSCM_VALUE, "too large");
    assert_fails(linear_view_of_within(&s, data, 0, SAMPLED, NULL, &why), LSCM_VALUE, "too large");
    lscm_dataset_free(data);
    drop(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_noise_the_matrix_is_found),
        cmocka_unit_test(noise_is_measured),
        cmocka_unit_test(a_sample_agrees_with_the_whole),
        cmocka_unit_test(offsets_do_not_cancel),
        cmocka_unit_test(missing_directions_are_counted),
        cmocka_unit_test(columns_may_repeat),
        cmocka_unit_test(constant_x_has_no_direction),
        cmocka_unit_test(floats_are_read),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(observed_variables),
        cmocka_unit_test(it_stops_when_asked),
        cmocka_unit_test(a_failing_read_is_passed_on),
        cmocka_unit_test(failures_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
