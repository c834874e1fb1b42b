/* Anchors under noise of x and of actuators: bias, covariance, what is claimed of both. */
#include "anchor_testing.h"

enum { TIMES = 400, D = 3, M = D + 1 };

typedef struct tally {
    double mean[M], found[M][M], claimed[M][M]; /* of the error of (a, b) */
    double error, standard_error;               /* mean squares, of z */
} tally;

static void count_error(tally *t, const made *m, const anchor *a, size_t j)
{
    const double *claimed = a->covariance + j * M * M;
    double e[M] = {a->intercept[j]};
    for (size_t i = 0; i < D; i++) {
        e[i + 1] = a->slope[i * D + j] - m->inverse[i * D + j];
    }
    for (size_t i = 0; i < M; i++) {
        t->mean[i] += e[i] / TIMES;
        for (size_t k = 0; k < M; k++) {
            t->found[i][k] += e[i] * e[k] / TIMES;
            t->claimed[i][k] += claimed[i * M + k] / TIMES;
        }
    }
    t->standard_error += a->standard_error[j] * a->standard_error[j] / TIMES;
    for (size_t i = 0; i < m->s.rows; i++) {
        double z = e[0];
        for (size_t k = 0; k < D; k++) {
            z += m->s.y[i * D + k] * e[k + 1];
        }
        t->error += z * z / (double)m->s.rows / TIMES;
    }
}

/* Over many data sets from one model, the error of (a, b) has mean 0 and the covariance that was
 * claimed, in every direction of a grid. */
static void check_covariance(made_rows c)
{
    tally all[D] = {0};
    double actuator = 0;
    double spread = 5 * sqrt(2.0 / TIMES); /* of a variance found in that many errors */
    lscm_error why;
    for (c.samples = 1; c.samples <= TIMES; c.samples++) {
        anchor a;
        made m = make(&c);
        assert_ok(anchor_of(&a, &m.s, NULL, &why));
        actuator += a.actuator_noise * a.actuator_noise / TIMES;
        for (size_t j = 0; j < D; j++) {
            assert_int_equal(a.kind[j], ANCHOR_VALUES);
            count_error(all + j, &m, &a, j);
        }
        anchor_close(&a);
        made_free(&m);
    }
    assert_near(sqrt(actuator), c.actuator, 0.03 * c.actuator + 0.05 * c.x_noise);
    for (size_t j = 0; j < D; j++) {
        const tally *t = all + j;
        assert_near(t->standard_error / t->error, 1, spread);
        for (size_t code = 1; code < 81; code++) { /* directions in {-1, 0, 1}^4 */
            double mean = 0;
            double found = 0;
            double claimed = 0;
            double u[M];
            for (size_t i = 0, left = code; i < M; i++, left /= 3) {
                u[i] = (double)(left % 3) - 1;
            }
            for (size_t i = 0; i < M; i++) {
                mean += u[i] * t->mean[i];
                for (size_t k = 0; k < M; k++) {
                    found += u[i] * u[k] * t->found[i][k];
                    claimed += u[i] * u[k] * t->claimed[i][k];
                }
            }
            if (code != 40) { /* all 0 */
                assert_near(mean / sqrt(found / TIMES), 0, 4);
                assert_near(claimed / found, 1, spread);
            }
        }
    }
}

/* At x_noise 1 least squares alone would be off by many standard errors. */
static void test_covariance(void **state)
{
    (void)state;
    made_rows c = {.d = D, .observational = 20, .sets = 6, .per_set = 40, .noise = 1, .value = 2};
    c.seed = 3;
    for (size_t k = 0; k < 4; k++) {
        c.x_noise = k < 2 ? 1 : 0.1 * (double)(3 - k);
        c.actuator = k == 0 ? 0 : 1;
        check_covariance(c);
    }
    c.x_noise = 0.3; /* 20 rows a node */
    c.actuator = 0.1;
    c.per_set = 10;
    c.single = true;
    check_covariance(c);
}

/* The correction for noise of x, on so many rows that little else is left. */
static void test_x_noise(void **state)
{
    (void)state;
    lscm_error why;
    anchor a;
    anchor plain;
    made_rows c = {.d = 4, .sets = 40, .per_set = 1000, .noise = 1, .value = 2, .seed = 2};
    double bias = 0;
    double error = 0;
    c.x_noise = 3;
    made m = make(&c);
    assert_ok(anchor_of(&a, &m.s, NULL, &why));
    m.s.x_noise = 0;
    assert_ok(anchor_of(&plain, &m.s, NULL, &why));
    for (size_t j = 0; j < 4; j++) {
        double length = 0;
        for (size_t i = 0; i < 4; i++) {
            double b = m.inverse[i * 4 + j];
            error = fmax(error, fabs(a.slope[i * 4 + j] - b));
            bias = fmax(bias, fabs(plain.slope[i * 4 + j] - b));
            length += a.slope[i * 4 + j] * a.slope[i * 4 + j];
        }
        assert_near(a.noise[j], 3 * sqrt(length), 1e-12);
        assert_near(a.residual[j] / a.noise[j], 1, 0.05);
    }
    assert_near(error, 0, bias / 10);
    anchor_close(&a);
    anchor_close(&plain);
    made_free(&m);
}

static void test_actuator_noise(void **state)
{
    (void)state;
    static const double levels[] = {0, 0.1, 1};
    for (size_t k = 0; k < 3; k++) {
        for (int single = 0; single < 2; single++) {
            lscm_error why;
            anchor a;
            double error[10];
            double noise = levels[k];
            made_rows c = {.d = 10, .observational = 500, .sets = 40, .per_set = 100, .noise = 1.4};
            c.value = 2;
            c.x_noise = 0.1;
            c.actuator = noise;
            c.single = single != 0;
            c.seed = 5;
            made m = make(&c);
            assert_ok(anchor_of(&a, &m.s, NULL, &why));
            assert_near(a.actuator_noise, noise, 0.02 + 0.05 * noise);
            z_errors(&m, &a, error);
            for (size_t j = 0; j < 10; j++) {
                double expected =
                    a.noise[j] * a.noise[j] + a.standard_error[j] * a.standard_error[j];
                assert_true(a.r2[j] > 1 - 1.5 * (noise * noise + a.noise[j] * a.noise[j]) /
                                              (4 + noise * noise));
                /* 10 coefficients: the realised error scatters about the claimed one */
                assert_true(error[j] < 4 * expected && error[j] > expected / 8);
            }
            anchor_close(&a);
            made_free(&m);
        }
    }
}

/* Few rows, much noise, columns of x that hardly differ: on rows never seen, labels are predicted
 * no worse than by their mean, by more than chance, or r2 says so; and z is within its sd. Where no
 * node has a reading in all directions, that is said, and nothing here. */
static void test_no_worse_than_the_mean(void **state)
{
    (void)state;
    lcg g = {99};
    size_t read = 0;
    size_t covered = 0;
    double worse = 0;
    for (size_t k = 0; k < 300; k++) {
        lscm_error why;
        anchor a;
        made_rows c = {.d = 2 + lcg_below(&g, 4), .observational = 20, .noise = 1, .value = 2};
        c.sets = 3 * c.d;
        c.per_set = 4 + lcg_below(&g, 20);
        c.single = lcg_below(&g, 2) == 0;
        c.x_noise =
            0.1 * pow(200, lcg_uniform(&g)); /* the columns of y have sds of about 5 to 20 */
        c.seed = 1000 + k;
        made m = make(&c);
        c.samples = 1;
        c.per_set = 200;
        made fresh = make(&c);
        double *z = zeros(fresh.s.rows * c.d, sizeof *z);
        assert_ok(anchor_of(&a, &m.s, NULL, &why));
        anchor_apply(&fresh.s, a.intercept, a.slope, z);
        for (size_t j = 0; j < c.d; j++) {
            double rows = 0;
            double error = 0;
            double square = 0;
            if (a.rough || a.kind[j] != ANCHOR_VALUES || !(a.r2[j] >= 0) || a.actuator_noise > 0) {
                continue;
            }
            double sd = sqrt(a.noise[j] * a.noise[j] + a.standard_error[j] * a.standard_error[j]);
            for (size_t i = 0; i < fresh.s.rows; i++) {
                if (fresh.mask[i * c.d + j] != 0) {
                    double v = fresh.values[i * c.d + j];
                    double e = z[i * c.d + j] - v;
                    rows++;
                    error += e * e;
                    square += v * v;
                    read++;
                    covered += fabs(e) <= 1.6449 * sd ? 1 : 0;
                }
            }
            worse = rows > 0 ? fmax(worse, error / square) : worse;
        }
        free(z);
        anchor_close(&a);
        made_free(&m);
        made_free(&fresh);
    }
    assert_true(read > 100000);
    assert_true((double)covered / (double)read > 0.85);
    assert_true(worse < 1.5); /* r2 of some twenty rows may be 0 by chance where it is -1/2 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_covariance),
        cmocka_unit_test(test_x_noise),
        cmocka_unit_test(test_actuator_noise),
        cmocka_unit_test(test_no_worse_than_the_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
