/* Anchors in designs that do not say everything: values that stand still, nodes seldom or never
 * intervened on, directions that y does not show. */
#include "anchor_testing.h"

/* The values carry nothing; what stands still does. */
static void test_direction(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        lscm_error why;
        anchor a;
        made_rows c = {.d = 5, .observational = 400, .sets = 10, .per_set = 100, .noise = 1};
        c.constant = k < 2 ? 3 : 1e-300; /* as good as 0 */
        c.x_noise = k % 2 == 0 ? 0 : 0.1;
        c.single = true;
        c.seed = 6;
        made m = make(&c);
        double *z = zeros(m.s.rows * 5, sizeof(double));
        assert_ok(anchor_of(&a, &m.s, NULL, &why));
        anchor_apply(&m.s, a.intercept, a.slope, z);
        for (size_t j = 0; j < 5; j++) {
            double n = 0;
            double sums[5] = {0};
            double here = 0;
            double largest = 0;
            assert_int_equal(a.kind[j], ANCHOR_DIRECTION);
            assert_true(a.r2[j] > 0.99 && a.r2[j] <= 1);
            for (size_t i = 0; i < m.s.rows; i++) {
                double found = z[i * 5 + j];
                double truth = m.z[i * 5 + j];
                if (m.s.mask[i * 5 + j] != 0) {
                    here += (found - c.constant) / 200;
                    continue;
                }
                n++;
                sums[0] += found;
                sums[1] += truth;
                sums[2] += found * found;
                sums[3] += truth * truth;
                sums[4] += found * truth;
            }
            double vz = (sums[2] - sums[0] * sums[0] / n) / (n - 1);
            double vt = (sums[3] - sums[1] * sums[1] / n) / (n - 1);
            double both = (sums[4] - sums[0] * sums[1] / n) / (n - 1);
            assert_near(here, 0, 1e-9);
            assert_near(vz - a.noise[j] * a.noise[j], 1, 1e-2);
            assert_near(fabs(both) / sqrt(vz * vt), 1, c.x_noise > 0 ? 0.01 : 1e-9);
            for (size_t i = 0; i < 5; i++) {
                double b = a.slope[i * 5 + j];
                largest = fabs(b) > fabs(largest) ? b : largest;
            }
            assert_true(largest > 0);
        }
        free(z);
        anchor_close(&a);
        made_free(&m);
    }
}

/* Nodes 0 and 1 always stand still together: nobody can say which is which. */
static void test_direction_ambiguous(void **state)
{
    (void)state;
    lscm_error why;
    anchor a;
    made_rows c = {.d = 4, .observational = 400, .sets = 8, .per_set = 50, .noise = 1, .seed = 7};
    c.constant = 1;
    c.single = true;
    made m = make(&c);
    lcg g = {99};
    for (size_t i = 400; i < m.s.rows; i++) {
        uint8_t *mask = m.s.mask + i * 4;
        mask[0] = mask[1] = mask[0] | mask[1];
        m.s.values[i * 4] = mask[0];
        m.s.values[i * 4 + 1] = mask[1];
        make_row(&m, &c, i, &g);
    }
    assert_ok(anchor_of(&a, &m.s, NULL, &why));
    assert_nothing(&a, 0);
    assert_nothing(&a, 1);
    assert_int_equal(a.kind[2], ANCHOR_DIRECTION);
    assert_int_equal(a.samples[1], 200);
    anchor_close(&a);
    made_free(&m);
}

/* Never intervened on; too rarely; in every sample; always together with equal values. */
static void test_nodes(void **state)
{
    (void)state;
    lscm_error why;
    anchor a;
    double error[6];
    for (size_t noisy = 0; noisy < 2; noisy++) {
        lcg g = {17};
        made_rows c = {.d = 6, .sets = 30, .per_set = 30, .noise = 0.5, .value = 2, .seed = 8};
        c.x_noise = noisy != 0 ? 0.05 : 0;
        made m = make(&c);
        for (size_t i = 0; i < m.s.rows; i++) {
            uint8_t *mask = m.s.mask + i * 6;
            double *values = m.s.values + i * 6;
            mask[0] = 0;
            mask[1] = i < 7;
            mask[2] = 1;
            values[2] = 2 * lcg_normal(&g);
            mask[4] = mask[3]; /* the same value in the same rows */
            for (size_t j = 0; j < 6; j++) {
                values[j] = mask[j] != 0 && values[j] == 0 ? 2 * lcg_normal(&g) : values[j];
                values[j] = mask[j] != 0 ? values[j] : 0;
            }
            values[4] = values[3];
            make_row(&m, &c, i, &g);
        }
        assert_ok(anchor_of(&a, &m.s, NULL, &why));
        z_errors(&m, &a, error);
        assert_nothing(&a, 0);
        assert_nothing(&a, 1);
        assert_nothing(&a, 3);
        assert_nothing(&a, 4);
        assert_int_equal(a.samples[0], 0);
        assert_int_equal(a.samples[1], 7);
        assert_int_equal(a.samples[2], m.s.rows);
        for (size_t j = 2; j < 6; j += 3) {
            assert_int_equal(a.kind[j], ANCHOR_VALUES);
            assert_near(error[j], 0, noisy != 0 ? 0.01 : 1e-20);
        }
        assert_true(isnan(a.r2[0]) && isnan(a.r2[1]));
        anchor_close(&a);

        /* constant y, and no direction at all */
        memset(m.s.y, 0, m.s.rows * 6 * sizeof(double));
        assert_ok(anchor_of(&a, &m.s, NULL, &why));
        for (size_t j = 0; j < 6; j++) {
            assert_nothing(&a, j);
        }
        anchor_close(&a);
        m.s.rank = 0;
        assert_ok(anchor_of(&a, &m.s, NULL, &why));
        for (size_t j = 0; j < 6; j++) {
            assert_nothing(&a, j);
        }
        anchor_close(&a);
        made_free(&m);
    }
}

/* A direction in which y varies nowhere takes nothing away; one that is noise only, little. */
static void test_missing_direction(void **state)
{
    (void)state;
    for (size_t noisy = 0; noisy < 2; noisy++) {
        lscm_error why;
        anchor a;
        double error[5];
        lcg g = {3};
        made_rows c = {.d = 5, .observational = 100, .sets = 30, .per_set = 50, .noise = 1};
        c.value = 2;
        c.x_noise = noisy != 0 ? 0.1 : 0;
        c.seed = 9;
        made m = make(&c);
        made wide = m;
        wide.s.rank = 6;
        wide.s.d = 5;
        wide.s.y = zeros(m.s.rows * 6, sizeof(double));
        for (size_t i = 0; i < m.s.rows; i++) {
            double *y = wide.s.y + i * 6;
            memcpy(y, m.s.y + i * 5, 5 * sizeof(double));
            y[5] = noisy != 0 ? c.x_noise * lcg_normal(&g) : y[1] - 2 * y[3];
        }
        assert_ok(anchor_of(&a, &wide.s, NULL, &why));
        z_errors(&wide, &a, error);
        for (size_t j = 0; j < 5; j++) {
            assert_int_equal(a.kind[j], ANCHOR_VALUES);
            assert_near(sqrt(error[j]), a.noise[j], noisy != 0 ? 0.3 * a.noise[j] : 1e-9);
            assert_true(isfinite(a.standard_error[j]) && isfinite(a.residual[j]));
        }
        anchor_close(&a);
        free(wide.s.y);
        made_free(&m);
    }
}

/* One direction of y is hardly more than noise, everywhere. What z has there is noise of z: it is
 * neither forgotten nor taken for actuator noise. */
static void test_lost_direction(void **state)
{
    (void)state;
    lscm_error why;
    anchor a;
    double error[4];
    double most = 0;
    lcg g = {41};
    made_rows c = {.d = 4, .sets = 24, .per_set = 50, .noise = 1, .value = 2, .x_noise = 0.3};
    c.seed = 15;
    made m = make(&c);
    for (size_t i = 0; i < 4; i++) {
        m.mixing[i * 4 + 3] *= 0.01;
    }
    for (size_t i = 0; i < m.s.rows; i++) {
        make_row(&m, &c, i, &g);
    }
    assert_ok(anchor_of(&a, &m.s, NULL, &why));
    z_errors(&m, &a, error);
    assert_near(a.actuator_noise, 0, 0.1);
    for (size_t j = 0; j < 4; j++) {
        if (j == 3) { /* nearly all of it */
            assert_nothing(&a, j);
        } else {
            most = fmax(most, a.noise[j]);
            assert_near(sqrt(error[j]) / a.noise[j], 1, 0.2);
        }
    }
    assert_true(most > 0.2);
    anchor_close(&a);
    made_free(&m);
}

/* A node that x does not show has no anchor, however many rows. */
static void test_invisible(void **state)
{
    (void)state;
    lscm_error why;
    anchor a;
    lcg g = {23};
    made_rows c = {.d = 4, .sets = 40, .per_set = 25, .noise = 1, .value = 2, .x_noise = 0.1};
    c.single = true;
    c.seed = 10;
    made m = make(&c);
    memset(m.w, 0, 16 * sizeof(double));
    memset(m.mixing + 4, 0, 4 * sizeof(double)); /* node 1 */
    for (size_t i = 0; i < m.s.rows; i++) {
        make_row(&m, &c, i, &g);
    }
    assert_ok(anchor_of(&a, &m.s, NULL, &why));
    assert_nothing(&a, 1);
    assert_true(a.r2[1] < 0.1);
    anchor_close(&a);
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direction),      cmocka_unit_test(test_direction_ambiguous),
        cmocka_unit_test(test_nodes),          cmocka_unit_test(test_missing_direction),
        cmocka_unit_test(test_lost_direction), cmocka_unit_test(test_invisible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
