/* Training on rows of a network that is known: better than the start; the network that is handed on
 * is the one that was trained; z, sd and blur against a plain Gauss-Newton step in double. */
#include "generator_training.h"

#include "base/threads.h"

/* 1 - R2 of node j's held-out values by the guess. */
static double missed_at_first(size_t j)
{
    double rest = 0;
    double sum = 0;
    double squares = 0;
    double count = 0;
    for (size_t at = j; at < w.rows * w.d; at += w.d) {
        if (w.held[at] != 0) {
            rest += pow(w.guess[at] - w.values[at], 2);
            sum += w.values[at];
            squares += pow(w.values[at], 2);
            count += 1;
        }
    }
    return rest / (squares - sum * sum / count);
}

/* rms of (f - f(z)) / unit over all rows; unit NULL: 1 */
static double rms_of(const network_shape *shape, const double *p, const double *at, bool in_units,
                     const generator_inverse *i)
{
    double squares = 0;
    for (size_t n = 0; n < w.rows; n++) {
        double f[WORLD_R];
        double unit = in_units ? plain_unit(i, w.f + n * w.R) * i->spread : 1;
        plain_network(shape, p, at + n * w.d, f);
        for (size_t k = 0; k < w.R; k++) {
            squares += pow(((double)w.f[n * w.R + k] - f[k]) / unit, 2);
        }
    }
    return sqrt(squares / (double)(w.rows * w.R));
}

/* The noise of f by what is left of it: the free entries of z fit some of it. */
static double noise_of(const network_shape *shape, const double *p)
{
    double entries = 0;
    for (size_t at = 0; at < w.rows * w.d; at++) {
        entries += w.mask[at] == 0 ? 1 : 0;
    }
    return rms_of(shape, p, z, false, NULL) / sqrt(1 - entries / (double)(w.rows * w.R));
}

static void check_trains(uint64_t seed, bool homogeneous)
{
    double r2[WORLD_D];
    generator_errors errors = {r2, NAN};
    double guess = 0;
    double read = 0;
    world_make(&w, seed, homogeneous, 0.01, 0.8);
    generator *g = open_generator(&quick);
    generator_round last = train(g, SIZE_MAX);
    assert_int_equal(generator_done(g), generator_total(g));
    assert_true(generator_rounds(g) >= quick.rounds);
    assert_ok(generator_finish(g, &errors, &why));
    assert_ok(generator_read(g, NULL, z, sd, NULL, &why));
    for (size_t j = 0; j < w.d; j++) {
        assert_true(1 - r2[j] < 0.5 * missed_at_first(j));
    }
    for (size_t at = 0; at < w.rows * w.d; at++) {
        guess += w.mask[at] == 0 ? pow(w.guess[at] - w.truth[at], 2) : 0;
        read += w.mask[at] == 0 ? pow(z[at] - w.truth[at], 2) : 0;
    }
    assert_true(read < 0.5 * guess);
    assert_true(errors.gain > 0 && errors.gain < 0.5);
    assert_true(last.misfit < 0.5);
    generator_close(g);
}

static void test_trains(void **state)
{
    (void)state;
    check_trains(31, true);
    check_trains(32, false);
}

/* The network in the units of z and f against the one in the generator's, and against what the
 * generator says of its misfit. */
static void check_network(bool homogeneous)
{
    double r2[WORLD_D];
    generator_errors errors = {r2, NAN};
    double p[WORLD_COUNT];
    double f[2][WORLD_R];
    world_make(&w, 33, homogeneous, 0.05, 0.4);
    generator *g = open_generator(&quick);
    network_shape shape = generator_shape(g);
    generator_round last = train(g, SIZE_MAX);
    generator_inverse inverse = generator_inverse_of(g);
    generator_network(g, p);
    generator_z(g, z);
    assert_true(shape.layer[0].bias == !homogeneous);
    for (size_t n = 0; n < w.rows; n++) {
        plain_network(&shape, p, w.truth + n * w.d, f[0]);
        plain_f(&inverse, w.truth + n * w.d, f[1]);
        for (size_t k = 0; k < w.R; k++) {
            assert_near(f[0][k], f[1][k], 1e-9 * (1 + fabs(f[1][k])));
        }
    }
    /* the last rounds' steps are small; rows refined after them fit a little better */
    assert_near(rms_of(&shape, p, z, true, &inverse) / last.misfit, 1, 0.5);
    assert_ok(generator_finish(g, &errors, &why));
    assert_ok(generator_read(g, NULL, z, sd, NULL, &why));
    generator_network(g, p);
    assert_near(generator_noise(g) / noise_of(&shape, p), 1, 0.1);
    generator_close(g);
}

static void test_network(void **state)
{
    (void)state;
    check_network(true);
    check_network(false);
}

/* Noise of f that is the same for all rows, whatever their size. */
static void test_noise(void **state)
{
    (void)state;
    double r2[WORLD_D];
    generator_errors errors = {r2, NAN};
    double p[WORLD_COUNT];
    lcg random = {9};
    world_make(&w, 36, true, 0, 0.4);
    for (size_t at = 0; at < w.rows * w.R; at++) {
        w.f[at] += (float)(0.1 * lcg_normal(&random));
    }
    generator *g = open_generator(&quick);
    network_shape shape = generator_shape(g);
    (void)train(g, SIZE_MAX);
    assert_ok(generator_finish(g, &errors, &why));
    assert_ok(generator_read(g, NULL, z, sd, NULL, &why));
    generator_network(g, p);
    assert_near(generator_noise(g) / noise_of(&shape, p), 1, 0.1);
    generator_close(g);
}

/* A network for z that is given. */
static void test_adopt(void **state)
{
    (void)state;
    double p[WORLD_COUNT];
    generator_settings s = quick;
    s.first = 300;
    s.each = s.rounds = 0;
    world_make(&w, 34, false, 0.05, 0.1);
    generator *g = open_generator(&s);
    network_shape shape = generator_shape(g);
    assert_fails(generator_adopt(g, &why), LSCM_VALUE, "diverged");
    (void)train(g, SIZE_MAX);
    assert_int_equal(generator_rounds(g), 0);
    assert_ok(generator_adopt(g, &why));
    generator_network(g, p);
    generator_z(g, z);
    assert_near(generator_noise(g) / rms_of(&shape, p, z, false, NULL), 1, 0.25);
    generator_close(g);
}

/* ---- z, sd, blur ---- */

/* Steps that are left at z, and sd, of all rows; sums A^-1 into blur (d, d, d). */
static void check_rows(const generator_inverse *inverse, const mechanism_model *model, double *blur)
{
    double left = 0;
    double off = 0;
    double count = 0;
    double rows[WORLD_D] = {0};
    memset(blur, 0, WORLD_D * WORLD_D * WORLD_D * sizeof *blur);
    for (size_t n = 0; n < w.rows; n++) {
        double pull[WORLD_D];
        double a[WORLD_D * WORLD_D];
        plain_row r = world_row(&w, inverse, n);
        double unit = plain_unit(inverse, r.f);
        r.model = model;
        plain_normal(&r, z + n * w.d, pull, a);
        plain_solve(r.k, pull, a);
        for (size_t b = 0; b < r.k; b++) {
            size_t at = n * w.d + r.node[b];
            double by_noise = sqrt(a[b * r.k + b]);
            left += fabs(pull[b]) > 0.1 * by_noise;
            off += fabs(sd[at] / hypot(by_noise, unit * inverse->wrong[r.node[b]]) - 1) > 0.03;
            count += 1;
            rows[r.node[b]] += 1;
            for (size_t c = 0; c < r.k * r.k; c++) {
                size_t i = r.node[c / r.k];
                size_t j = r.node[c % r.k];
                blur[(r.node[b] * WORLD_D + i) * WORLD_D + j] += a[c];
            }
        }
    }
    for (size_t k = 0; k < WORLD_D * WORLD_D * WORLD_D; k++) {
        blur[k] /= rows[k / WORLD_D / WORLD_D];
    }
    assert_true(left < 0.03 * count);
    assert_true(off < 0.03 * count);
}

static void test_read(void **state)
{
    (void)state;
    double r2[WORLD_D];
    generator_errors errors = {r2, NAN};
    double blur[WORLD_D * WORLD_D * WORLD_D];
    double plain[WORLD_D * WORLD_D * WORLD_D];
    double effects[WORLD_D * WORLD_D] = {[1] = 0.5, [WORLD_D + 2] = -1};
    double intercept[WORLD_D] = {0.1, 0, 0.2, 0};
    double spread[WORLD_D] = {2, 2, 1.5, 3};
    const mechanism_model model = {
        .d = WORLD_D, .w = effects, .intercept = intercept, .sigma = spread};
    world_make(&w, 35, false, 0.1, 0.5);
    generator *g = open_generator(&quick);
    (void)train(g, SIZE_MAX);
    assert_ok(generator_finish(g, &errors, &why));
    assert_ok(generator_read(g, NULL, z, sd, blur, &why));
    generator_inverse inverse = generator_inverse_of(g);
    check_rows(&inverse, NULL, plain);
    for (size_t k = 0; k < WORLD_D * WORLD_D * WORLD_D; k++) {
        size_t i = k / WORLD_D % WORLD_D * (WORLD_D + 1);
        size_t j = k % WORLD_D * (WORLD_D + 1);
        size_t node = k / WORLD_D / WORLD_D * WORLD_D * WORLD_D;
        assert_near(blur[k], plain[k], 0.03 * sqrt(plain[node + i] * plain[node + j]));
    }
    for (size_t at = 0; at < w.rows * w.d; at++) {
        if (w.mask[at] != 0) { /* held out or not */
            assert_near(z[at], w.values[at], 0);
            assert_near(sd[at], 0, 0);
        }
    }
    assert_ok(generator_read(g, &model, z, sd, NULL, &why));
    check_rows(&inverse, &model, plain);
    generator_close(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trains), cmocka_unit_test(test_network), cmocka_unit_test(test_noise),
        cmocka_unit_test(test_adopt),  cmocka_unit_test(test_read),
    };
    (void)threads_use(1); /* others may want the cores */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
