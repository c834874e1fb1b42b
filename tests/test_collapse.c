/* z given noisy x against its definition, row by row with dense matrices; and the draws of z and of
 * the decoder against their means and covariances. */
#include "infer/marginal/marginal.h"

#include "design_testing.h"
#include "invert.h"
#include "testing.h"

enum { MOST = 6 }; /* nodes, and directions */

typedef struct case_of {
    size_t d, rank, rows;
    double x_noise, actuator_noise, sigma;
    size_t never; /* this node is never a target; d: none */
    uint64_t seed;
} case_of;

typedef struct made_case {
    linear_view s;
    collapse_parameters truth;
    uint8_t parent[MOST * MOST];
    size_t order[MOST];
    double *z;      /* (rows, d) */
    uint8_t *mask;  /* (rows, d) */
    double *values; /* (rows, d) */
} made_case;

static lscm_error why;

static double uniform(rng r, uint64_t k, double low, double high)
{
    return low + (high - low) * rng_uniform(r, k);
}

/* A graph in which node order[k] has about half of the nodes before it as parents. */
static void make_truth(made_case *m, const case_of *c)
{
    size_t d = c->d;
    rng r = {c->seed, 1};
    assert_ok(collapse_parameters_open(&m->truth, d, c->rank, &why));
    rng_permutation((rng){c->seed, 2}, 0, d, m->order);
    for (size_t to = 0; to < d; to++) {
        size_t i = m->order[to];
        for (size_t from = 0; from < to; from++) {
            size_t j = m->order[from];
            double w = uniform(r, 100 + j * d + i, 0.5, 1.5);
            m->parent[j * d + i] = rng_uniform(r, j * d + i) < 0.6 ? 1 : 0;
            m->truth.w[j * d + i] = m->parent[j * d + i] != 0 ? (to % 2 == 0 ? w : -w) : 0;
        }
        m->truth.c[i] = uniform(r, 200 + i, -1, 1);
        m->truth.sigma[i] = c->sigma * uniform(r, 220 + i, 0.7, 1.4);
    }
    for (size_t k = 0; k < d * c->rank; k++) {
        m->truth.a[k] = uniform(r, 300 + k, -2, 2);
    }
    for (size_t k = 0; k < c->rank; k++) {
        m->truth.b[k] = uniform(r, 400 + k, -1, 1);
    }
    m->truth.actuator_noise = c->actuator_noise;
    m->truth.x_noise = c->x_noise;
    m->truth.order = m->order;
}

static void make_row(made_case *m, const case_of *c, size_t row)
{
    size_t d = c->d;
    rng r = {c->seed, 3};
    uint64_t at = row * 4 * MOST;
    for (size_t i = 0; i < d; i++) {
        /* a third of the rows is observational, the others have one of 8 masks in runs of 7 */
        size_t set = row / 7 % 8;
        bool target = row % 3 != 0 && i != c->never &&
                      (set == i || rng_uniform((rng){c->seed, 4}, set * d + i) < 0.3);
        m->mask[row * d + i] = target ? 1 : 0;
        m->values[row * d + i] = target ? uniform(r, at + i, -3, 3) : 0;
    }
    for (size_t to = 0; to < d; to++) {
        size_t i = m->order[to];
        double z = m->truth.c[i] + m->truth.sigma[i] * rng_normal(r, at + MOST + i);
        for (size_t j = 0; j < d; j++) {
            z += m->parent[j * d + i] != 0 ? m->truth.w[j * d + i] * m->z[row * d + j] : 0;
        }
        if (m->mask[row * d + i] != 0) {
            z = m->values[row * d + i] + c->actuator_noise * rng_normal(r, at + MOST + i);
        }
        m->z[row * d + i] = z;
    }
    for (size_t k = 0; k < c->rank; k++) {
        double y = m->truth.b[k] + c->x_noise * rng_normal(r, at + 2 * MOST + k);
        for (size_t i = 0; i < d; i++) {
            y += m->z[row * d + i] * m->truth.a[i * c->rank + k];
        }
        m->s.y[row * c->rank + k] = y;
        m->s.spectrum[k] += y * y / (double)c->rows;
    }
}

static void *zeros(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

static void make_case(made_case *m, const case_of *c)
{
    memset(m, 0, sizeof *m);
    make_truth(m, c);
    m->s = (linear_view){.rows = c->rows, .d = c->d, .D = c->rank, .rank = c->rank};
    m->s.y = zeros(c->rows * c->rank, sizeof(double));
    m->mask = zeros(c->rows * c->d, 1);
    m->values = zeros(c->rows * c->d, sizeof(double));
    m->s.spectrum = zeros(c->rank, sizeof(double));
    m->z = zeros(c->rows * c->d, sizeof(double));
    m->s.x_noise = c->x_noise;
    for (size_t row = 0; row < c->rows; row++) {
        make_row(m, c, row);
    }
    design_again(&m->s.design, c->rows, c->d, m->mask, m->values);
}

static void end_case(made_case *m)
{
    collapse_parameters_close(&m->truth);
    design_close(&m->s.design);
    free(m->s.y);
    free(m->mask);
    free(m->values);
    free(m->s.spectrum);
    free(m->z);
}

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

/* Mean (d) and covariance (d, d) of z given y of a row. */
static void by_definition(const made_case *m, const collapse_parameters *p, size_t row, double *z,
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
    (void)invert(k, r, inverse);
    for (size_t i = 0; i < d; i++) {
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
}

/* Rows one by one; sd from X. */
static void test_law(void **state)
{
    (void)state;
    for (size_t n = 0; n < FEW; n++) {
        made_case m;
        collapse *c = NULL;
        make_case(&m, &few[n]);
        size_t d = m.s.d;
        size_t r = m.s.rank;
        assert_ok(collapse_open(&c, &m.s, &why));
        collapse_slot *slot = &c->slot[0];
        for (size_t row = 0; row < m.s.rows; row++) {
            double mean[MOST];
            double cov[MOST * MOST];
            by_definition(&m, &m.truth, row, mean, cov);
            memcpy(slot->y, m.s.y + row * r, r * sizeof(double));
            memcpy(slot->v, m.values + row * d, d * sizeof(double));
            collapse_law(c, &m.truth, m.s.design.set[row], slot);
            collapse_condition(c, &m.truth, 1, slot);
            for (size_t i = 0; i < d; i++) {
                double variance = 0;
                for (size_t k = 0; k < slot->law.u; k++) {
                    variance += slot->law.x[k * d + i] * slot->law.x[k * d + i];
                }
                assert_near(slot->z[1 + i], mean[i], 1e-10);
                assert_near(variance, cov[i * d + i], 1e-10);
            }
        }
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
            collapse_draw_z(c, &m.truth, (rng){n, 77}, draw, z);
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
            by_definition(&m, &m.truth, row, mean, cov);
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
        p.x_noise = m.truth.x_noise;
        p.a[0] = draw % 2 == 0 ? 1 : -3; /* the outcome does not depend on it */
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

/* More rows of one mask than a block takes, on one thread or two: the same numbers. */
static void test_threads(void **state)
{
    (void)state;
    made_case m;
    make_case(&m, &(case_of){4, 4, 5000, 0.3, 0.1, 0.5, 4, 11});
    double *z[2];
    collapse_parameters p[2];
    for (int k = 0; k < 2; k++) {
        collapse *c = NULL;
        lscm_set_threads(k + 1);
        z[k] = zeros(5000 * 4, sizeof *z[k]);
        assert_ok(collapse_parameters_open(&p[k], 4, 4, &why));
        assert_ok(collapse_open(&c, &m.s, &why));
        collapse_draw_z(c, &m.truth, (rng){1, 2}, 3, z[k]);
        collapse_draw_decoder(c, z[k], &p[k], (rng){1, 3}, 4);
        collapse_close(c);
    }
    assert_memory_equal(z[0], z[1], 5000 * 4 * sizeof(double));
    assert_memory_equal(p[0].a, p[1].a, 4 * 4 * sizeof(double));
    collapse_parameters_close(&p[0]);
    collapse_parameters_close(&p[1]);
    free(z[0]);
    free(z[1]);
    end_case(&m);
}

static void check_degenerate(made_case *m)
{
    collapse *c = NULL;
    size_t size = m->s.rows * m->s.d;
    double *z = zeros(size, sizeof *z);
    assert_ok(collapse_open(&c, &m->s, &why));
    for (uint64_t k = 0; k < 3; k++) {
        collapse_draw_decoder(c, m->z, &m->truth, (rng){1, 2}, k);
        collapse_draw_z(c, &m->truth, (rng){1, 1}, k, z);
        for (size_t i = 0; i < m->s.d * m->s.rank; i++) {
            assert_true(fabs(m->truth.a[i]) < INFINITY);
        }
        for (size_t i = 0; i < size; i++) {
            assert_true(fabs(z[i]) < INFINITY);
        }
    }
    collapse_close(c);
    free(z);
    end_case(m);
}

static void test_degenerate(void **state)
{
    (void)state;
    made_case m;
    case_of base = {4, 4, 60, 0.1, 0, 0.5, 4, 61};
    make_case(&m, &base); /* a node that is a target in every row, with one value */
    for (size_t row = 0; row < m.s.rows; row++) {
        m.mask[row * 4 + 1] = 1;
        m.values[row * 4 + 1] = m.z[row * 4 + 1] = 2;
    }
    design_again(&m.s.design, m.s.rows, 4, m.mask, m.values);
    check_degenerate(&m);
    make_case(&m, &base); /* every node a target in one row; a constant direction of y */
    memset(m.mask + 5 * 4, 1, 4);
    design_again(&m.s.design, m.s.rows, 4, m.mask, m.values);
    for (size_t row = 0; row < m.s.rows; row++) {
        m.s.y[row * 4 + 2] = 0;
    }
    m.s.spectrum[2] = 0;
    check_degenerate(&m);
    make_case(&m, &base); /* all of y constant */
    memset(m.s.y, 0, m.s.rows * 4 * sizeof(double));
    memset(m.s.spectrum, 0, 4 * sizeof(double));
    check_degenerate(&m);
    base.rows = 2; /* fewer rows than anything */
    make_case(&m, &base);
    check_degenerate(&m);
    base.rows = 60; /* no noise of x, twice the same direction */
    base.x_noise = 0;
    make_case(&m, &base);
    for (size_t row = 0; row < m.s.rows; row++) {
        m.s.y[row * 4 + 3] = m.s.y[row * 4];
        m.z[row * 4 + 3] = m.z[row * 4];
    }
    check_degenerate(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_law),          cmocka_unit_test(test_draw_z),
        cmocka_unit_test(test_draw_decoder), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_degenerate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
