/* EM on the collapsed likelihood from an anchored start: it undoes the noise of x, finds nodes that
 * are never a target, does not stand still where x has no noise, and survives data that say
 * nothing. */
#include "collapse_testing.h"

/* An anchor by plain least squares of v on [1 y], as src/infer/anchor/anchor_values.h describes it.
 */
typedef struct made_anchor {
    anchor a;
    anchor_kind kind[MOST];
    double intercept[MOST], slope[MOST * MOST];
} made_anchor;

static void make_anchor(made_anchor *out, const made_case *m)
{
    size_t d = m->s.d;
    size_t r = m->s.rank;
    size_t n = r + 1;
    memset(out, 0, sizeof *out);
    out->a = (anchor){.d = d, .rank = r};
    out->a.kind = out->kind;
    out->a.intercept = out->intercept;
    out->a.slope = out->slope;
    out->a.actuator_noise = m->truth.actuator_noise;
    for (size_t j = 0; j < d; j++) {
        double gram[(MOST + 1) * (MOST + 1)] = {0};
        double inverse[(MOST + 1) * (MOST + 1)];
        double side[MOST + 1] = {0};
        size_t rows = 0;
        for (size_t row = 0; row < m->s.rows; row++) {
            const double *y = m->s.y + row * r;
            for (size_t k = 0; k < n && m->mask[row * d + j] != 0; k++) {
                double left = k == 0 ? 1 : y[k - 1];
                for (size_t i = 0; i < n; i++) {
                    gram[k * n + i] += left * (i == 0 ? 1 : y[i - 1]);
                }
                side[k] += left * m->values[row * d + j];
            }
            rows += m->mask[row * d + j];
        }
        out->kind[j] = rows > 2 * n ? ANCHOR_VALUES : ANCHOR_NONE;
        if (out->kind[j] == ANCHOR_NONE) {
            continue;
        }
        (void)invert(gram, n, inverse);
        for (size_t k = 0; k < n; k++) {
            out->intercept[j] += inverse[k] * side[k];
            for (size_t i = 0; i < r; i++) {
                out->slope[i * d + j] += inverse[(i + 1) * n + k] * side[k];
            }
        }
    }
}

/* Squared error of the weights. */
static double weight_error(const made_case *m, const double *w)
{
    double sum = 0;
    for (size_t k = 0; k < m->s.d * m->s.d; k++) {
        sum += (w[k] - m->truth.w[k]) * (w[k] - m->truth.w[k]);
    }
    return sum;
}

/* Regression on the anchored z as if they were known. */
static void plain_weights(const made_case *m, const made_anchor *a, double *w)
{
    size_t d = m->s.d;
    for (size_t i = 0; i < d; i++) {
        double gram[(MOST + 1) * (MOST + 1)] = {0};
        double inverse[(MOST + 1) * (MOST + 1)];
        size_t column[MOST + 1] = {0};
        double side[MOST + 1] = {0};
        size_t n = 1;
        for (size_t j = 0; j < d; j++) {
            column[n] = j;
            n += m->parent[j * d + i];
        }
        for (size_t row = 0; row < m->s.rows; row++) {
            double z[MOST];
            for (size_t j = 0; j < d; j++) {
                z[j] = a->intercept[j];
                for (size_t k = 0; k < m->s.rank; k++) {
                    z[j] += m->s.y[row * m->s.rank + k] * a->slope[k * d + j];
                }
            }
            for (size_t k = 0; k < n && m->mask[row * d + i] == 0; k++) {
                double left = k == 0 ? 1 : z[column[k]];
                for (size_t q = 0; q < n; q++) {
                    gram[k * n + q] += left * (q == 0 ? 1 : z[column[q]]);
                }
                side[k] += left * z[i];
            }
        }
        (void)invert(gram, n, inverse);
        for (size_t k = 1; k < n; k++) {
            for (size_t q = 0; q < n; q++) {
                w[column[k] * d + i] += inverse[k * n + q] * side[q];
            }
        }
    }
}

/* EM at its anchored start. */
typedef struct started {
    made_case m;
    made_anchor a;
    collapse *c;
    collapse_parameters p;
} started;

static void start(started *t, const case_of *made)
{
    make_case(&t->m, made);
    make_anchor(&t->a, &t->m);
    assert_ok(collapse_open(&t->c, &t->m.s, &why));
    assert_ok(collapse_parameters_open(&t->p, t->m.s.d, t->m.s.rank, &why));
    assert_ok(collapse_start(t->c, &t->a.a, false, &t->p, &why));
}

static collapse_report climb(started *t, const collapse_settings *settings)
{
    collapse_report report;
    assert_ok(collapse_em(t->c, &t->m.graph, settings, &t->p, &report, NULL, &why));
    return report;
}

static void stop(started *t)
{
    collapse_parameters_close(&t->p);
    collapse_close(t->c);
    end_case(&t->m);
}

static void test_noisy_x(void **state)
{
    (void)state;
    double plain_error = 0;
    double error = 0;
    for (uint64_t seed = 0; seed < 6; seed++) {
        started t;
        double plain[MOST * MOST] = {0};
        start(&t, &(case_of){4, 4, 3000, 0.6, seed % 2 == 0 ? 0 : 0.3, 0.5, 4, 30 + seed});
        plain_weights(&t.m, &t.a, plain);
        collapse_settings s = {.prior = &t.m.prior};
        collapse_report report = climb(&t, &s);
        assert_true(report.converged);
        assert_true(report.objective >= objective(t.c, &t.m, &s, &t.m.truth));
        plain_error += weight_error(&t.m, plain);
        error += weight_error(&t.m, t.p.w);
        stop(&t);
    }
    assert_true(error < 0.2 * plain_error);
}

/* Without noise of x the anchor is exact, and EM must leave it so. */
static void test_exact_start(void **state)
{
    (void)state;
    started t;
    start(&t, &(case_of){5, 5, 600, 0, 0, 0.3, 5, 41});
    for (size_t k = 0; k < 25; k++) {
        assert_near(t.p.a[k], t.m.truth.a[k], 1e-8);
    }
    (void)climb(&t, &(collapse_settings){.prior = &t.m.prior});
    for (size_t k = 0; k < 25; k++) {
        assert_near(t.p.a[k], t.m.truth.a[k], 1e-4);
        assert_near(t.p.w[k], t.m.truth.w[k], 0.1);
    }
    stop(&t);
}

/* The mean squared error of z, without that of one node. */
static double z_error(const started *t, size_t but)
{
    size_t d = t->m.s.d;
    double *z = zeros(t->m.s.rows * d, sizeof *z);
    double *sd = zeros(t->m.s.rows * d, sizeof *sd);
    double error = 0;
    collapse_z(t->c, &t->m.graph, &t->p, z, sd);
    for (size_t k = 0; k < t->m.s.rows * d; k++) {
        double off = k % d == but ? 0 : z[k] - t->m.z[k];
        error += off * off / (double)t->m.s.rows;
    }
    free(z);
    free(sd);
    return error;
}

/* A node that is never a target starts outside the anchored directions and ends no worse than the
 * truth; the other variables are still themselves. */
static void test_unanchored(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        started t;
        size_t never = seed % 4;
        start(&t, &(case_of){4, 4, 1500, seed < 3 ? 0 : 0.2, 0, 0.5, never, 50 + seed});
        assert_int_equal(t.a.kind[never], ANCHOR_NONE);
        for (size_t j = 0; j < 4; j++) {
            double along = 0;
            for (size_t k = 0; k < 4; k++) {
                along += t.p.a[never * 4 + k] * t.a.slope[k * 4 + j];
            }
            assert_near(along, 0, 1e-9);
        }
        collapse_settings s = {.prior = &t.m.prior};
        collapse_report report = climb(&t, &s);
        t.m.truth.x_noise = fmax(t.m.truth.x_noise, collapse_floor(t.c));
        assert_true(report.objective >= objective(t.c, &t.m, &s, &t.m.truth) - 1);
        assert_true(z_error(&t, never) < 0.3);
        stop(&t);
    }
}

/* Where x has next to no noise, plain EM stands still far from the top. The top is reached all the
 * same: from the anchored start and from the truth alike, also when do() misses its values. */
static void test_little_noise(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        started t;
        bool known = seed % 2 == 0; /* every node a target, s_I > 0; or one never, s_I = 0 */
        start(&t, &(case_of){5, 5, 700, seed < 4 ? 0 : 1e-3, known ? 0.3 : 0, 0.5,
                             known ? 5 : seed % 5, 80 + seed});
        collapse_settings s = {.prior = &t.m.prior, .learn_actuator_noise = true};
        collapse_report one = climb(&t, &s);
        collapse_parameters_copy(&t.p, &t.m.truth);
        collapse_report two = climb(&t, &s);
        assert_true(one.converged && two.converged);
        assert_near(one.objective, two.objective, 0.01);
        stop(&t);
    }
}

static void check_degenerate(made_case *m)
{
    made_anchor a;
    collapse *c = NULL;
    collapse_parameters p;
    collapse_report report;
    size_t size = m->s.rows * m->s.d;
    double *z = zeros(size, sizeof *z);
    double *sd = zeros(size, sizeof *sd);
    make_anchor(&a, m);
    for (size_t k = 0; k < MOST * MOST; k++) { /* as an anchor would refuse to be infinite */
        a.slope[k] = fabs(a.slope[k]) < 1e6 ? a.slope[k] : 0;
        a.intercept[k % MOST] = fabs(a.intercept[k % MOST]) < 1e6 ? a.intercept[k % MOST] : 0;
    }
    assert_ok(collapse_open(&c, &m->s, &why));
    assert_ok(collapse_parameters_open(&p, m->s.d, m->s.rank, &why));
    assert_ok(collapse_start(c, &a.a, false, &p, &why));
    assert_ok(collapse_em(c, &m->graph, &(collapse_settings){.prior = &m->prior, .steps = 50}, &p,
                          &report, NULL, &why));
    assert_true(fabs(report.objective) < INFINITY);
    collapse_z(c, &m->graph, &p, z, sd);
    for (size_t k = 0; k < size; k++) {
        assert_true(fabs(z[k]) < INFINITY);
        assert_true(sd[k] >= 0 && sd[k] < INFINITY);
    }
    collapse_draw_z(c, &m->graph, &p, (rng){1, 1}, 0, z);
    collapse_draw_decoder(c, z, &p, (rng){1, 2}, 0);
    for (size_t k = 0; nudge(&p, k, 0); k++) {
        assert_true(fabs(slope_at(&p, k)) < INFINITY);
    }
    collapse_parameters_close(&p);
    collapse_close(c);
    free(z);
    free(sd);
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
        m.values[row * 4 + 1] = 2;
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
    make_case(&m, &base); /* no direction at all */
    m.s.rank = 0;
    check_degenerate(&m);
    base.rows = 2; /* fewer rows than anything */
    make_case(&m, &base);
    check_degenerate(&m);
    base.rows = 60; /* no noise of x, twice the same direction */
    base.x_noise = 0;
    make_case(&m, &base);
    for (size_t row = 0; row < m.s.rows; row++) {
        m.s.y[row * 4 + 3] = m.s.y[row * 4];
    }
    check_degenerate(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noisy_x),    cmocka_unit_test(test_exact_start),
        cmocka_unit_test(test_unanchored), cmocka_unit_test(test_little_noise),
        cmocka_unit_test(test_degenerate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
