/* The collapsed likelihood against its definition, row by row with dense matrices: the density of
 * y, z given y, and slopes by central differences; and the draws against their means and
 * covariances. */
#include "collapse_testing.h"

static const case_of few[] = {
    {3, 3, 40, 0.3, 0, 0.5, 3, 1},   {3, 2, 40, 0.3, 0, 0.5, 3, 2},
    {3, 3, 40, 0.2, 0.1, 0.5, 3, 3}, {3, 2, 40, 0.2, 0.1, 0.5, 1, 4},
    {4, 4, 9, 0.5, 0, 1, 2, 5},      {5, 3, 200, 0.1, 0.3, 0.2, 5, 6},
};
enum { FEW = sizeof few / sizeof few[0] };

/* Mean (d) and covariance (d, d) of z under do(), by inverting I - W M. */
static void law_of_z(const made_case *m, const collapse_parameters *p, size_t row, double *mean,
                     double *cov)
{
    size_t d = p->d;
    const uint8_t *mask = m->mask + row * d;
    double a[MOST * MOST];
    double reach[MOST * MOST];
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) {
            a[j * d + i] = (i == j ? 1 : 0) - (mask[i] != 0 ? 0 : p->w[j * d + i]);
        }
    }
    (void)invert(a, d, reach);
    for (size_t i = 0; i < d; i++) {
        mean[i] = 0;
        for (size_t k = 0; k < d; k++) {
            mean[i] += (mask[k] != 0 ? m->values[row * d + k] : p->c[k]) * reach[k * d + i];
        }
        for (size_t j = 0; j < d; j++) {
            cov[i * d + j] = 0;
            for (size_t k = 0; k < d; k++) {
                double sd = mask[k] != 0 ? p->actuator_noise : p->sigma[k];
                cov[i * d + j] += reach[k * d + i] * sd * sd * reach[k * d + j];
            }
        }
    }
}

/* log p(y) of a row; mean and covariance of z given y where asked for. */
static double by_definition(const made_case *m, const collapse_parameters *p, size_t row, double *z,
                            double *cov)
{
    size_t d = p->d;
    size_t r = p->rank;
    double mean[MOST];
    double prior[MOST * MOST];
    double with_y[MOST * MOST] = {0}; /* (d, r): Cov(z, y) */
    double k[MOST * MOST];
    double inverse[MOST * MOST];
    double delta[MOST];
    law_of_z(m, p, row, mean, prior);
    for (size_t q = 0; q < r; q++) {
        delta[q] = m->s.y[row * r + q] - p->b[q];
        for (size_t i = 0; i < d; i++) {
            delta[q] -= mean[i] * p->a[i * r + q];
            for (size_t j = 0; j < d; j++) {
                with_y[i * r + q] += prior[i * d + j] * p->a[j * r + q];
            }
        }
    }
    for (size_t q = 0; q < r; q++) {
        for (size_t s = 0; s < r; s++) {
            k[q * r + s] = q == s ? p->x_noise * p->x_noise : 0;
            for (size_t i = 0; i < d; i++) {
                k[q * r + s] += p->a[i * r + q] * with_y[i * r + s];
            }
        }
    }
    double value = -0.5 * ((double)r * log(2 * acos(-1)) + invert(k, r, inverse));
    for (size_t q = 0; q < r; q++) {
        for (size_t s = 0; s < r; s++) {
            value -= 0.5 * delta[q] * inverse[q * r + s] * delta[s];
        }
    }
    for (size_t i = 0; i < d && z != NULL; i++) {
        z[i] = mean[i];
        memcpy(cov + i * d, prior + i * d, d * sizeof(double));
        for (size_t q = 0; q < r; q++) {
            for (size_t s = 0; s < r; s++) {
                z[i] += with_y[i * r + q] * inverse[q * r + s] * delta[s];
                for (size_t j = 0; j < d; j++) {
                    cov[i * d + j] -= with_y[i * r + q] * inverse[q * r + s] * with_y[j * r + s];
                }
            }
        }
    }
    return value;
}

static void test_likelihood(void **state)
{
    (void)state;
    for (size_t n = 0; n < FEW; n++) {
        made_case m;
        collapse *c = NULL;
        double sum = 0;
        make_case(&m, &few[n]);
        assert_ok(collapse_open(&c, &m.s, &why));
        for (size_t row = 0; row < m.s.rows; row++) {
            sum += by_definition(&m, &m.truth, row, NULL, NULL);
        }
        assert_near(collapse_log_likelihood(c, &m.graph, &m.truth, NULL), sum, 1e-10 * fabs(sum));
        collapse_close(c);
        /* ten more dimensions in which x is noise of this size */
        m.s.D = m.s.rank + 10;
        m.s.x_noise = 0.7;
        double variance = m.truth.x_noise * m.truth.x_noise;
        sum -= 5 * (double)m.s.rows * (log(2 * acos(-1) * variance) + 0.49 / variance);
        assert_ok(collapse_open(&c, &m.s, &why));
        assert_near(collapse_log_likelihood(c, &m.graph, &m.truth, NULL), sum, 1e-10 * fabs(sum));
        collapse_close(c);
        end_case(&m);
    }
}

/* More rows of one mask than fit in a block, in an order that mixes the masks. */
static void test_likelihood_long(void **state)
{
    (void)state;
    made_case m;
    collapse *c = NULL;
    double sum = 0;
    make_case(&m, &(case_of){4, 4, 5000, 0.01, 0, 0.5, 4, 11});
    assert_ok(collapse_open(&c, &m.s, &why));
    for (size_t row = 0; row < m.s.rows; row++) {
        sum += by_definition(&m, &m.truth, row, NULL, NULL);
    }
    assert_near(collapse_log_likelihood(c, &m.graph, &m.truth, NULL), sum, 1e-9 * fabs(sum));
    collapse_close(c);
    end_case(&m);
}

static void test_z(void **state)
{
    (void)state;
    for (size_t n = 0; n < FEW; n++) {
        made_case m;
        collapse *c = NULL;
        make_case(&m, &few[n]);
        size_t d = m.s.d;
        double *z = zeros(m.s.rows * d, sizeof *z);
        double *sd = zeros(m.s.rows * d, sizeof *sd);
        assert_ok(collapse_open(&c, &m.s, &why));
        collapse_z(c, &m.graph, &m.truth, z, sd);
        for (size_t row = 0; row < m.s.rows; row++) {
            double mean[MOST];
            double cov[MOST * MOST];
            (void)by_definition(&m, &m.truth, row, mean, cov);
            for (size_t i = 0; i < d; i++) {
                assert_near(z[row * d + i], mean[i], 1e-10);
                assert_near(sd[row * d + i] * sd[row * d + i], cov[i * d + i], 1e-10);
            }
        }
        collapse_close(c);
        free(z);
        free(sd);
        end_case(&m);
    }
}

static void check_gradient(collapse *c, const made_case *m, const collapse_settings *s,
                           const collapse_parameters *at)
{
    collapse_parameters slope;
    collapse_parameters near;
    assert_ok(collapse_parameters_open(&slope, m->s.d, m->s.rank, &why));
    assert_ok(collapse_parameters_open(&near, m->s.d, m->s.rank, &why));
    (void)collapse_log_likelihood(c, &m->graph, at, &slope);
    (void)collapse_penalty(&m->graph, s, at, &slope);
    for (size_t k = 0; nudge(&near, k, 0); k++) {
        double value[4];
        double step = 1e-4;
        for (int side = 0; side < 4; side++) { /* fourth order: -2, -1, 1, 2 steps */
            collapse_parameters_copy(&near, at);
            (void)nudge(&near, k, step * (side < 2 ? side - 2 : side - 1));
            value[side] = collapse_log_likelihood(c, &m->graph, &near, NULL) +
                          collapse_penalty(&m->graph, s, &near, NULL);
        }
        double expected = (8 * (value[2] - value[1]) - (value[3] - value[0])) / (12 * step);
        if (is_off_graph(m, k)) {
            assert_true(slope_at(&slope, k) == 0);
        } else {
            assert_near(slope_at(&slope, k), expected, 1e-6 * (1 + fabs(expected)));
        }
    }
    collapse_parameters_close(&slope);
    collapse_parameters_close(&near);
}

static void test_gradient(void **state)
{
    (void)state;
    for (size_t n = 0; n < FEW; n++) {
        made_case m;
        collapse *c = NULL;
        collapse_parameters at;
        make_case(&m, &few[n]);
        m.unit[0] = 2;
        m.s.D = m.s.rank + n % 2;
        assert_ok(collapse_open(&c, &m.s, &why));
        assert_ok(collapse_parameters_open(&at, m.s.d, m.s.rank, &why));
        random_start(&m, n, &at);
        check_gradient(c, &m, &(collapse_settings){.prior = &m.prior}, &at);
        check_gradient(c, &m, &(collapse_settings){.prior = &m.prior, .equal = true}, &m.truth);
        collapse_parameters_close(&at);
        collapse_close(c);
        end_case(&m);
    }
}

/* Mean and covariance over draws against those given y, in standard errors. */
static void test_draw_z(void **state)
{
    (void)state;
    enum { DRAWS = 4000, ROWS = 12 };
    for (size_t n = 0; n < 4; n++) {
        made_case m;
        collapse *c = NULL;
        case_of one = few[n];
        one.rows = ROWS;
        make_case(&m, &one);
        size_t d = m.s.d;
        double *z = zeros(ROWS * d, sizeof *z);
        double *sum = zeros(ROWS * d, sizeof *sum);
        double *square = zeros(ROWS * d * d, sizeof *square);
        assert_ok(collapse_open(&c, &m.s, &why));
        for (uint64_t draw = 0; draw < DRAWS; draw++) {
            collapse_draw_z(c, &m.graph, &m.truth, (rng){n, 77}, draw, z);
            for (size_t k = 0; k < ROWS * d; k++) {
                sum[k] += z[k] / DRAWS;
                for (size_t j = 0; j < d; j++) {
                    double other = z[k / d * d + j] - m.z[k / d * d + j];
                    square[k * d + j] += (z[k] - m.z[k]) * other / DRAWS;
                }
            }
        }
        for (size_t row = 0; row < ROWS; row++) {
            double mean[MOST];
            double cov[MOST * MOST];
            (void)by_definition(&m, &m.truth, row, mean, cov);
            for (size_t i = 0; i < d; i++) {
                double sd = sqrt(fmax(cov[i * d + i], 0));
                size_t at = row * d + i;
                assert_near(sum[at], mean[i], 5 * sd / sqrt(DRAWS) + 1e-10);
                for (size_t j = 0; j < d; j++) {
                    double found = square[at * d + j] -
                                   (sum[at] - m.z[at]) * (sum[row * d + j] - m.z[row * d + j]);
                    double scale = sd * sqrt(fmax(cov[j * d + j], 0));
                    assert_near(found, cov[i * d + j], 7 * scale / sqrt(DRAWS) + 1e-10);
                }
            }
        }
        collapse_close(c);
        free(z);
        free(sum);
        free(square);
        end_case(&m);
    }
}

/* [1 z]'[1 z] inverted. */
static void inverse_gram(const made_case *m, double *inverse)
{
    size_t d = m->s.d;
    size_t n = d + 1;
    double gram[(MOST + 1) * (MOST + 1)] = {0};
    for (size_t row = 0; row < m->s.rows; row++) {
        for (size_t k = 0; k < n * n; k++) {
            size_t i = k / n;
            size_t j = k % n;
            gram[k] += (i == 0 ? 1 : m->z[row * d + i - 1]) * (j == 0 ? 1 : m->z[row * d + j - 1]);
        }
    }
    (void)invert(gram, n, inverse);
}

static void test_draw_decoder(void **state)
{
    (void)state;
    enum { DRAWS = 4000, N = MOST + 1, n = 4 }; /* n = 1 + d */
    made_case m;
    collapse *c = NULL;
    collapse_parameters p;
    double inverse[N * N];
    double mean[N] = {0};
    double square[N * N] = {0};
    double fit[N] = {0};
    make_case(&m, &(case_of){3, 2, 60, 0.4, 0, 0.5, 3, 21});
    inverse_gram(&m, inverse);
    for (size_t row = 0; row < m.s.rows; row++) { /* least squares of the second column of y */
        for (size_t k = 0; k < n * n; k++) {
            double z = k % n == 0 ? 1 : m.z[row * m.s.d + k % n - 1];
            fit[k / n] += inverse[k] * z * m.s.y[row * 2 + 1];
        }
    }
    assert_ok(collapse_open(&c, &m.s, &why));
    assert_ok(collapse_parameters_open(&p, m.s.d, m.s.rank, &why));
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        double found[N];
        collapse_parameters_copy(&p, &m.truth); /* the outcome does not depend on it */
        p.a[0] += draw % 2 == 0 ? 1 : -3;
        collapse_draw_decoder(c, m.z, &p, (rng){5, 6}, draw);
        for (size_t k = 0; k < n; k++) {
            found[k] = (k == 0 ? p.b[1] : p.a[(k - 1) * 2 + 1]) - fit[k];
            mean[k] += found[k] / DRAWS;
        }
        for (size_t k = 0; k < n * n; k++) {
            square[k] += found[k / n] * found[k % n] / DRAWS;
        }
    }
    for (size_t k = 0; k < n * n; k++) {
        double scale = 0.16 * sqrt(inverse[k / n * (n + 1)] * inverse[k % n * (n + 1)]);
        assert_near(square[k], 0.16 * inverse[k], 7 * scale / sqrt(DRAWS));
        assert_near(mean[k % n], 0, 5 * 0.4 * sqrt(inverse[k % n * (n + 1)] / DRAWS));
    }
    collapse_parameters_close(&p);
    collapse_close(c);
    end_case(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_likelihood), cmocka_unit_test(test_likelihood_long),
        cmocka_unit_test(test_z),          cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_draw_z),     cmocka_unit_test(test_draw_decoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
