/* The kernel encoder as a whole: what must not change it, some of the rows against all,
 * storing it, the choice of family, and inputs that have nothing to say. */
#include "kernel_testing.h"
#include "stopper.h"

#include <float.h>

/* Whole sets are held out, of every node about a fifth; rows where there are few sets. */
static void whole_sets_are_held_out(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        rows_of r = make(STRAIGHT, 1000, 4, 4, k == 0 ? 25 : 3, 0);
        kernel_labels l;
        assert_ok(kernel_labels_of(&l, &r.f, 1, &why));
        for (size_t j = 0; j < 4; j++) {
            assert_true(5 * l.held[j] > l.count[j] / 3 && 5 * l.held[j] < 3 * l.count[j]);
        }
        for (size_t row = 1; row < 1000 && k == 0; row++) {
            if (memcmp(r.mask + row * 4, r.mask + row * 4 - 4, 4) == 0) {
                assert_memory_equal(l.role + row * 4, l.role + row * 4 - 4, 4);
            }
        }
        kernel_labels_close(&l);
        drop(&r);
    }
}

/* ---- What must not change it ---- */

static void it_scales_with_x(void **state)
{
    (void)state;
    rows_of r = make(RELU, 400, 2, 10, 12, 0.1);
    size_t count = r.f.rows * r.f.d;
    kernel_settings s = {.family = KERNEL_HOMOGENEOUS, .ridge = 1e-3};
    encoded e = encode(&r, s);
    double *z = numbers(count);
    double *sd = numbers(count);
    for (size_t k = 0; k < r.f.rows * r.f.R; k++) {
        r.f.f[k] *= 2;
    }
    /* z(2x) = 2 z(x) */
    assert_ok(kernel_apply(&e.e, r.f.rows, r.f.f, z, sd, NULL, &why));
    for (size_t k = 0; k < count; k++) {
        assert_near(z[k], 2 * e.z[k], 1e-12 + 1e-9 * fabs(z[k]));
        assert_near(sd[k], 2 * e.sd[k], 1e-6 * sd[k]);
    }
    /* the unit of x does not matter; for the biased family neither does where 0 is */
    for (size_t family = 0; family < KERNEL_FAMILIES; family++) {
        s.family = (kernel_family)family;
        encoded before = encode(&r, s);
        for (size_t k = 0; k < r.f.R; k++) {
            double by = family == KERNEL_HOMOGENEOUS ? 0 : (double)k;
            for (size_t row = 0; row < r.f.rows; row++) {
                r.f.f[row * r.f.R + k] = 4 * r.f.f[row * r.f.R + k] + (float)by;
            }
            r.f.mean[k] = 4 * r.f.mean[k] + by;
        }
        encoded after = encode(&r, s);
        for (size_t k = 0; k < count; k++) {
            assert_near(before.z[k], after.z[k], 1e-4);
            assert_near(before.sd[k], after.sd[k], 1e-3 * before.sd[k] + 1e-6);
        }
        discard(&before);
        discard(&after);
    }
    free(z);
    free(sd);
    discard(&e);
    drop(&r);
}

/* Of more labelled rows than are asked for some are taken, of every node: they tell z worse. */
static void some_rows_do_for_all(void **state)
{
    (void)state;
    for (size_t family = 1; family < KERNEL_FAMILIES; family++) {
        rows_of r = make(RELU, 900, 3, 12, 15, 0.1);
        kernel_settings s = {.family = (kernel_family)family, .ridge = 1e-3};
        encoded all = encode(&r, s);
        s.rows = 300;
        encoded some = encode(&r, s);
        assert_true(all.e.m > 300 && some.e.m == 300);
        double error[2] = {0};
        for (size_t k = 0; k < r.f.rows * 3; k++) {
            error[0] += pow(all.z[k] - r.z[k], 2);
            error[1] += pow(some.z[k] - r.z[k], 2);
        }
        assert_true(error[0] < error[1] && error[1] < 6 * error[0]);
        for (size_t j = 0; j < 3; j++) {
            assert_true(some.e.labels[j] >= 50 && some.e.labels[j] <= 300);
        }
        discard(&all);
        discard(&some);
        drop(&r);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        rows_of r = make(RELU, 700, 3, 12, 15, 0.1);
        kernel_settings s = {.family = k < 3 ? (kernel_family)k : KERNEL_BIASED,
                             .rows = k == 3 ? 300 : 0};
        lscm_set_threads(1);
        encoded one = encode(&r, s);
        lscm_set_threads(2);
        encoded two = encode(&r, s);
        size_t bytes = r.f.rows * 3 * sizeof(double);
        assert_memory_equal(one.z, two.z, bytes);
        assert_memory_equal(one.sd, two.sd, bytes);
        assert_memory_equal(one.e.alpha, two.e.alpha, one.e.m * 3 * sizeof(float));
        discard(&one);
        discard(&two);
        drop(&r);
    }
}

/* An encoder whose arrays were written down and read back encodes the same rows alike. */
static void a_stored_encoder_works(void **state)
{
    (void)state;
    for (size_t family = 0; family < KERNEL_FAMILIES; family++) {
        rows_of r = make(CURVED, 500, 2, 10, 12, 0.1);
        encoded e = encode(&r, (kernel_settings){.family = (kernel_family)family, .sd_rows = 100});
        kernel_encoder back = {.space = {.family = e.e.space.family, .R = 10}, .d = 2, .m = e.e.m};
        back.sd_count = e.e.sd_first[2];
        assert_ok(kernel_encoder_open(&back, &why));
        back.space.scale = e.e.space.scale;
        memcpy(back.space.centre, e.e.space.centre, 10 * sizeof(double));
        memcpy(back.shift, e.e.shift, 2 * sizeof(double));
        memcpy(back.ridge, e.e.ridge, 2 * sizeof(double));
        memcpy(back.unit, e.e.unit, 2 * sizeof(double));
        memcpy(back.usable, e.e.usable, 2 * sizeof(bool));
        memcpy(back.alpha, e.e.alpha, e.e.m * 2 * sizeof(float));
        memcpy(back.sd_first, e.e.sd_first, 3 * sizeof(size_t));
        if (family == KERNEL_LINEAR) {
            memcpy(back.factor, e.e.factor, 2 * e.e.m * e.e.m * sizeof(float));
        } else {
            assert_true(e.e.sd_first[2] == 200);
            memcpy(back.inputs, e.e.inputs, e.e.m * 10 * sizeof(float));
            memcpy(back.sd_row, e.e.sd_row, 200 * sizeof(uint32_t));
        }
        double *z = numbers(500 * 2);
        double *sd = numbers(500 * 2);
        assert_ok(kernel_apply(&back, 77, r.f.f + 300 * 10, z, sd, NULL, &why));
        for (size_t k = 0; k < 77 * 2; k++) {
            assert_near(z[k], e.z[600 + k], 1e-5 * (1 + fabs(z[k])));
            /* a small variance is what products in single precision leave of a large one */
            assert_near(sd[k], e.sd[600 + k], 1e-4 * sd[k] + FLT_EPSILON / sd[k]);
        }
        kernel_encoder_close(&back);
        free(z);
        free(sd);
        discard(&e);
        drop(&r);
    }
}

/* ---- The choice, and how good it is ---- */

static void the_family_is_found(void **state)
{
    (void)state;
    const kernel_family expected[] = {KERNEL_LINEAR, KERNEL_HOMOGENEOUS, KERNEL_BIASED};
    for (size_t k = 0; k < 6; k++) {
        /* as few columns as causes: lengths of x matter, not only directions */
        rows_of r = make((shape)(k / 2), 1000, 3, k < 4 ? 20 : 3, 20, k % 2 == 0 ? 0 : 0.05);
        encoded e = encode(&r, (kernel_settings){.seed = k, .family = KERNEL_FAMILIES});
        assert_int_equal(e.e.space.family, expected[k / 2]);
        assert_true(e.e.r2[e.e.space.family] > 0.97);
        double ratio = 0;
        double squares = 0;
        double whole = 0;
        double count = 0;
        for (size_t i = 0; i < r.f.rows * 3; i++) {
            if (r.mask[i] == 0) {
                ratio += pow((e.z[i] - r.z[i]) / e.sd[i], 2);
                squares += pow(e.z[i] - r.z[i], 2);
                whole += r.z[i] * r.z[i];
                count++;
            }
        }
        assert_true(squares < 0.02 * whole);
        /* calibrated at labels; free rows reach further */
        assert_true(sqrt(ratio / count) > 0.4 && sqrt(ratio / count) < 2.5);
        discard(&e);
        drop(&r);
    }
}

/* ---- Inputs with nothing to say ---- */

enum { SPOILT_WAYS = 8, SPOILT_ROWS = 200 };

/* One of the ways in which rows (SPOILT_ROWS, d = 3, R = 6) can say little or nothing. */
static void spoil_row(rows_of *r, size_t how, size_t row)
{
    float *f = r->f.f + row * 6;
    uint8_t *mask = r->mask + row * 3;
    double *values = r->values + row * 3;
    switch (how) {
    case 0: /* x is 0 */
        memset(f, 0, 6 * sizeof *f);
        break;
    case 1: /* x is constant */
        memcpy(f, r->f.f, 6 * sizeof *f);
        break;
    case 2: /* every row twice */
        memcpy(f, f - (row % 2) * 6, 6 * sizeof *f);
        break;
    case 3: /* many rows are 0, in single precision some are tiny */
        for (size_t c = 0; c < 6; c++) {
            f[c] *= row % 3 == 0 ? 0 : row % 3 == 1 ? 1e-30F : 1;
        }
        break;
    case 4: /* one value only; one node never */
        values[0] = mask[0] != 0 ? 3 : 0;
        mask[1] = 0;
        values[1] = 0;
        break;
    case 5: /* no interventions */
        memset(mask, 0, 3);
        memset(values, 0, 3 * sizeof *values);
        break;
    case 6: /* nine labels of a node */
        mask[2] = row >= 60 && row < 69 ? 1 : 0;
        values[2] = mask[2] != 0 ? (double)row : 0;
        break;
    default: /* three values, huge and far from 0 */
        for (size_t j = 0; j < 3; j++) {
            values[j] = mask[j] != 0 ? 1e9 + 1e6 * (double)(row % 3) : 0;
        }
        break;
    }
}

static rows_of make_spoilt(size_t how)
{
    rows_of r = make(RELU, SPOILT_ROWS, 3, 6, 8, 0.1);
    for (size_t row = 0; row < SPOILT_ROWS; row++) {
        spoil_row(&r, how, row);
    }
    design_again(&r.f.design, SPOILT_ROWS, 3, r.mask, r.values);
    memset(r.f.mean, 0, 6 * sizeof(double));
    for (size_t i = 0; i < (size_t)SPOILT_ROWS * 6; i++) {
        r.f.mean[i % 6] += (double)r.f.f[i] / SPOILT_ROWS;
    }
    return r;
}

static void nothing_is_not_a_number(void **state)
{
    (void)state;
    for (size_t k = 0; k < SPOILT_WAYS * (KERNEL_FAMILIES + 1); k++) {
        size_t how = k % SPOILT_WAYS;
        rows_of r = make_spoilt(how);
        encoded e = encode(
            &r, (kernel_settings){.family = (kernel_family)(k / SPOILT_WAYS), .rows = k % 2 * 50});
        for (size_t j = 0; j < 3; j++) {
            assert_true(isfinite(e.e.node_r2[j]) && isfinite(e.e.residual[j]));
            assert_true(isfinite(e.e.unit[j]) && isfinite(e.e.calibration[j]));
            for (size_t row = 0; row < SPOILT_ROWS && !e.e.usable[j]; row++) {
                assert_true(e.z[row * 3 + j] == 0 && e.sd[row * 3 + j] == 0);
            }
        }
        for (size_t family = 0; family < KERNEL_FAMILIES; family++) {
            assert_true(isfinite(e.e.r2[family]) && e.e.ridge_of[family] > 0);
            assert_true(isfinite(e.e.log_error[family]) && isfinite(e.e.log_beyond[family]));
        }
        if (how == 4) {
            assert_true(!e.e.usable[0] && !e.e.usable[1] && e.e.usable[2]);
        }
        if (how == 5 || how == 6) {
            assert_false(e.e.usable[2]);
            assert_true(e.e.usable[0] == (how == 6));
        }
        discard(&e);
        drop(&r);
    }
}

static void it_stops_when_asked(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        rows_of r = make(RELU, 200, 2, 6, 8, 0.1);
        double *z = numbers(400);
        double *sd = numbers(400);
        kernel_settings s = {.family = (kernel_family)(k < 3 ? k : 2), .rows = k == 3 ? 50 : 0};
        lscm_status status = LSCM_STOPPED;
        size_t allowed = 0;
        for (; status == LSCM_STOPPED && allowed < 1000; allowed++) {
            stopper limit = {.allowed = allowed};
            const lscm_progress progress = {allow, &limit};
            kernel_encoder e;
            status = kernel_encode(&e, z, sd, &r.f, &s, &progress, &why);
            if (status == LSCM_OK) {
                kernel_encoder_close(&e);
            }
        }
        assert_int_equal(status, LSCM_OK);
        assert_true(allowed > 6);
        free(z);
        free(sd);
        drop(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_sets_are_held_out), cmocka_unit_test(it_scales_with_x),
        cmocka_unit_test(some_rows_do_for_all),    cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_stored_encoder_works),  cmocka_unit_test(the_family_is_found),
        cmocka_unit_test(nothing_is_not_a_number), cmocka_unit_test(it_stops_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
