/* z read off rows of a network that is known (generator_invert): against the z that made them, and
 * z, sd against a plain Gauss-Newton step in double with differences for derivatives. */
#include "generator_testing.h"

#include "base/threads.h"
#include "on_cpu.h"
#include "testing.h"

static lscm_error why;
static world w;
static double z[WORLD_ROWS * WORLD_D];
static double sd[WORLD_ROWS * WORLD_D];

static void invert(void)
{
    generator_rows rows = world_rows(&w);
    rows.held = NULL;
    memset(z, 0xff, sizeof z); /* NaN */
    memset(sd, 0xff, sizeof sd);
    assert_ok(generator_invert(&w.inverse, on_cpu(), &rows, z, sd, &why));
    for (size_t at = 0; at < w.rows * w.d; at++) {
        assert_true(isfinite(z[at]) && isfinite(sd[at]) && sd[at] >= 0);
    }
}

/* Without noise z comes back, where the network tells it at all: a ReLU network is blind to some
 * directions of some rows, and says so by their sd. */
static void test_recovers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        bool homogeneous = seed % 2 == 0;
        double blind = 0;
        double astray = 0;
        double worst = 0;
        world_make(&w, seed, homogeneous, 0, 0.2);
        invert();
        for (size_t at = 0; at < w.rows * w.d; at++) {
            double away = fabs(z[at] - w.truth[at]);
            bool seen = sd[at] < 0.02;
            blind += seen ? 0 : 1;
            astray += seen && away > 3e-3 ? 1 : 0; /* in another valley */
            worst = fmax(worst, homogeneous ? 0 : away);
        }
        assert_true(blind <= (homogeneous ? 0.05 : 0) * (double)(w.rows * w.d));
        assert_true(astray <= (homogeneous ? 0.02 : 0) * (double)(w.rows * w.d));
        assert_near(worst, 0, 1e-3); /* of z of sd 3 */
    }
}

/* Values of do() stay and have no error; the others are told better by them. */
static void test_values_stay(void **state)
{
    (void)state;
    double with = 0;
    double without = 0;
    static uint8_t none[WORLD_ROWS * WORLD_D];
    world_make(&w, 3, false, 0.1, 1);
    invert();
    for (size_t at = 0; at < w.rows * w.d; at++) {
        if (w.mask[at] != 0) {
            assert_near(z[at], w.values[at], 0);
            assert_near(sd[at], 0, 0);
        } else {
            assert_true(sd[at] > 0);
            with += pow(z[at] - w.truth[at], 2);
        }
    }
    generator_rows rows = world_rows(&w);
    static double again[2][WORLD_ROWS * WORLD_D]; /* `held` makes no difference here */
    assert_ok(generator_invert(&w.inverse, on_cpu(), &rows, again[0], again[1], &why));
    assert_memory_equal(z, again[0], sizeof z);
    assert_memory_equal(sd, again[1], sizeof sd);
    design free_rows = {0};
    design_again(&free_rows, w.rows, w.d, none, NULL);
    rows.design = &free_rows;
    assert_ok(generator_invert(&w.inverse, on_cpu(), &rows, z, sd, &why));
    design_close(&free_rows);
    for (size_t at = 0; at < w.rows * w.d; at++) {
        without += w.mask[at] == 0 ? pow(z[at] - w.truth[at], 2) : 0;
    }
    assert_true(with < 0.9 * without);
}

/* No step is left, and sd is that of A^-1 with what the network gets wrong. */
static void check_step_and_sd(uint64_t seed, bool homogeneous, double noise)
{
    double left = 0;
    double worst = 0;
    double inside = 0;
    double count = 0;
    world_make(&w, seed, homogeneous, noise, 0.4);
    w.wrong[1] = 0.02;
    invert();
    for (size_t n = 0; n < w.rows; n++) {
        double pull[WORLD_D];
        double a[WORLD_D * WORLD_D];
        plain_row r = world_row(&w, &w.inverse, n);
        double unit = plain_unit(&w.inverse, r.f);
        plain_normal(&r, z + n * w.d, pull, a);
        plain_solve(r.k, pull, a);
        for (size_t b = 0; b < r.k; b++) {
            size_t at = n * w.d + r.node[b];
            double by_noise = sqrt(a[b * r.k + b]);
            double should = hypot(by_noise, unit * w.wrong[r.node[b]]);
            left += fabs(pull[b]) > 0.05 * by_noise;
            worst += fabs(sd[at] / should - 1) > 0.02;
            inside += fabs(z[at] - w.truth[at]) < 1.645 * by_noise;
            count += 1;
        }
    }
    /* the best z of a row may be at a kink of ReLU, where every step looks worth taking */
    assert_true(left <= (homogeneous ? 0.1 : 0) * count);
    assert_true(worst <= 0.01 * count);
    assert_near(inside / count, 0.9, 0.05);
}

static void test_step_and_sd(void **state)
{
    (void)state;
    check_step_and_sd(11, false, 0.01);
    check_step_and_sd(12, true, 0.01);
    check_step_and_sd(13, false, 0.1);
    check_step_and_sd(14, true, 0.1);
}

/* The noise is the inverse's, not that of the rows that it happens to be given. */
static void test_noise_is_given(void **state)
{
    (void)state;
    world_make(&w, 15, false, 0.1, 0.4);
    invert();
    double before = sd[0] + sd[1] + sd[2] + sd[3];
    for (size_t at = 0; at < w.rows * w.R; at++) { /* rows without any noise */
        double f[WORLD_R];
        plain_f(&w.inverse, w.truth + at / w.R * w.d, f);
        w.f[at] = (float)f[at % w.R];
    }
    invert();
    assert_near((sd[0] + sd[1] + sd[2] + sd[3]) / before, 1, 0.2);
}

/* A row alone has the z that it has among others, but for single precision, whose sums go another
 * way for other numbers of rows. */
static void test_alone(void **state)
{
    (void)state;
    design alone = {0};
    for (int homogeneous = 0; homogeneous < 2; homogeneous++) {
        world_make(&w, 20, homogeneous != 0, 0.05, 0.4);
        invert();
        for (size_t n = 0; n < 40; n++) {
            generator_rows rows = world_rows(&w);
            double one[WORLD_D];
            double one_sd[WORLD_D];
            rows.rows = 1;
            rows.f += n * w.R;
            design_again(&alone, 1, w.d, w.mask + n * w.d, w.values + n * w.d);
            rows.design = &alone;
            rows.z += n * w.d;
            rows.sd += n * w.d;
            rows.held = NULL;
            assert_ok(generator_invert(&w.inverse, on_cpu(), &rows, one, one_sd, &why));
            for (size_t j = 0; j < w.d; j++) {
                assert_near(one[j], z[n * w.d + j], 1e-2 * sd[n * w.d + j]);
                assert_near(one_sd[j], sd[n * w.d + j], 1e-2 * sd[n * w.d + j]);
            }
        }
    }
    design_close(&alone);
}

/* A network that says nothing: the guess stays, with its sd. */
static void test_guess(void **state)
{
    (void)state;
    network_shape s = world_shape(false, WORLD_HIDDEN);
    world_make(&w, 21, false, 0.1, 0.5);
    memset(w.parameters, 0, network_count(&s) * sizeof(float));
    invert();
    for (size_t at = 0; at < w.rows * w.d; at++) {
        if (w.mask[at] == 0) {
            assert_near(z[at], w.guess[at], 1e-5);
            assert_near(sd[at], 0.5, 1e-5);
        }
    }
}

/* Rows of nothing (x = 0), among others and alone. */
static void test_zero_rows(void **state)
{
    (void)state;
    world_make(&w, 22, true, 0.05, 0.4);
    memset(w.f, 0, 3 * w.R * sizeof(float));
    invert();
    w.rows = 1;
    invert();
    world_make(&w, 22, false, 0.05, 0.4);
    memset(w.f, 0, 3 * w.R * sizeof(float));
    invert();
}

/* A row that is not a number is refused, or is its own trouble only. */
static void test_nan_row(void **state)
{
    (void)state;
    for (int homogeneous = 0; homogeneous < 2; homogeneous++) {
        static double before[2][WORLD_ROWS * WORLD_D];
        world_make(&w, 23, homogeneous != 0, 0.05, 0.4);
        invert();
        memcpy(before[0], z, sizeof z);
        memcpy(before[1], sd, sizeof sd);
        w.f[5 * w.R + 2] = NAN;
        generator_rows rows = world_rows(&w);
        rows.held = NULL;
        if (generator_invert(&w.inverse, on_cpu(), &rows, z, sd, &why) == LSCM_OK) {
            for (size_t at = 0; at < w.rows * w.d; at++) {
                if (at / w.d != 5) {
                    assert_near(z[at], before[0][at], 1e-4 * before[1][at]);
                    assert_near(sd[at], before[1][at], 1e-4 * before[1][at]);
                }
            }
        } else {
            assert_true(strlen(why.text) > 10);
        }
    }
}

static void test_threads(void **state)
{
    (void)state;
    static double before[2][WORLD_ROWS * WORLD_D];
    threads_blas_single();
    int had = threads_use(1);
    world_make(&w, 24, true, 0.05, 0.4);
    invert();
    memcpy(before[0], z, sizeof z);
    memcpy(before[1], sd, sizeof sd);
    for (int threads = 2; threads <= 3; threads++) {
        (void)threads_use(threads);
        invert();
        assert_memory_equal(z, before[0], sizeof z);
        assert_memory_equal(sd, before[1], sizeof sd);
    }
    (void)threads_use(had);
    threads_blas_restore();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recovers),    cmocka_unit_test(test_values_stay),
        cmocka_unit_test(test_step_and_sd), cmocka_unit_test(test_noise_is_given),
        cmocka_unit_test(test_alone),       cmocka_unit_test(test_guess),
        cmocka_unit_test(test_zero_rows),   cmocka_unit_test(test_nan_row),
        cmocka_unit_test(test_threads),
    };
    (void)threads_use(1); /* others may want the cores */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
