/* Predictions of draws that bend: curves that happen to be straight lines against the linear law,
 * which has closed forms, and squares against what they are by hand. */
#include "infer/judge/judge.h"

#include "design_testing.h"
#include "lcg.h"
#include "testing.h"

#include <omp.h>
#include <string.h>

static lscm_error why;

enum { NODES = 4, ROWS = 24, ASKED = 16, DRAWS = 3000, PAIR = NODES * NODES };

/* The same draw, again and again: what differs is paths alone. */
typedef struct made {
    double w[DRAWS * PAIR], sigma[DRAWS * NODES], intercept[DRAWS * NODES], effect[DRAWS * NODES];
    size_t order[DRAWS * NODES];
    double z[ROWS * NODES], values[ROWS * NODES];
    uint8_t mask[ROWS * NODES], keep[ROWS];
    curve_basis basis[NODES];
    uint64_t first[DRAWS * NODES + 1];
    int32_t parent[2 * DRAWS * NODES];
    double coef[DRAWS * NODES * CURVE_WIDTH];
    double blur[PAIR];
    design s;
    judged_fit f;
} made;

static made m;

/* 0 -> 1 -> 2 -> 3 and 0 -> 3, rows of four sets, of each of which some were kept. */
static void make(lcg *g, double effect)
{
    static const double w[PAIR] = {[1] = 0.9, [3] = -0.7, [NODES + 2] = 1.3, [2 * NODES + 3] = 0.6};
    memset(&m, 0, offsetof(made, s));
    for (size_t k = 0; k < DRAWS; k++) {
        memcpy(m.w + k * PAIR, w, sizeof w);
        for (size_t i = 0; i < NODES; i++) {
            m.sigma[k * NODES + i] = 0.3 + 0.1 * (double)i;
            m.intercept[k * NODES + i] = 0.2 * (double)i - 0.1;
            m.effect[k * NODES + i] = effect * (double)(i % 3);
            m.order[k * NODES + i] = i;
        }
    }
    for (size_t row = 0; row < ROWS; row++) {
        m.keep[row] = row >= ASKED;
        for (size_t i = 0; i < NODES; i++) {
            m.mask[row * NODES + i] = row % 4 == i + 1 ? 1 : 0;
            m.values[row * NODES + i] = lcg_normal(g);
            m.z[row * NODES + i] =
                m.mask[row * NODES + i] != 0 ? m.values[row * NODES + i] : lcg_normal(g);
        }
    }
    design_again(&m.s, ROWS, NODES, m.mask, m.values);
    m.f = (judged_fit){.a = {.d = NODES,
                             .rank = NODES,
                             .rows = ROWS,
                             .draws = DRAWS,
                             .z = m.z,
                             .w = m.w,
                             .sigma = m.sigma,
                             .intercept = m.intercept,
                             .effect = m.effect,
                             .order = m.order}};
}

/* Curves phi_0 = z - 1/2 and phi_1 = z^2 between -4 and 4. */
static void make_basis(void)
{
    for (size_t j = 0; j < NODES; j++) {
        m.basis[j].knots = 9;
        for (size_t k = 0; k < 9; k++) {
            double at = (double)k - 4;
            m.basis[j].knot[k] = at;
            m.basis[j].value[k][0] = at - 0.5;
            m.basis[j].value[k][1] = at * at;
            m.basis[j].second[k][1] = 2;
        }
    }
}

/* Node i has a curve for each of its causes, `square` of it and the rest straight, in draws from
 * `from` on. */
static void bend(size_t i, double square, size_t from)
{
    size_t terms = 0;
    make_basis();
    for (size_t k = 0; k < DRAWS; k++) {
        for (size_t j = 0; j < NODES; j++) {
            m.first[k * NODES + j] = terms;
            for (size_t p = 0; p < NODES && j == i && k >= from; p++) {
                double w = m.w[k * PAIR + p * NODES + j];
                if (w != 0) {
                    m.parent[2 * terms] = (int32_t)p;
                    m.parent[2 * terms + 1] = BENT_ALONE;
                    m.coef[terms * CURVE_WIDTH] = square > 0 ? 0 : w;
                    m.coef[terms++ * CURVE_WIDTH + 1] = square;
                    m.intercept[k * NODES + j] += square > 0 ? 0 : w / 2;
                }
            }
        }
    }
    m.first[DRAWS * NODES] = terms;
    m.f.a.bends = true;
    m.f.a.bent = (bent_mechanisms){.draws = DRAWS,
                                   .d = NODES,
                                   .terms = terms,
                                   .basis = m.basis,
                                   .first = m.first,
                                   .parent = m.parent,
                                   .coef = m.coef};
}

static predictions predict(bool mean_alone)
{
    static size_t row[ASKED];
    predictions p;
    for (size_t n = 0; n < ASKED; n++) {
        row[n] = (n * 7) % ASKED;
    }
    judged_rows rows = {&m.s, m.keep, row, ASKED, mean_alone, 5};
    assert_ok(predictions_of(&p, &m.f, &rows, &why));
    return p;
}

static size_t row_of(size_t n)
{
    return (n * 7) % ASKED;
}

/* Straight curves, of sets with intercepts of their own or not; where only some draws have them;
 * with errors of z in nodes that nothing follows from. */
static void test_straight(void **state)
{
    (void)state;
    lcg g = {3};
    for (int round = 0; round < 4; round++) {
        make(&g, round % 2 != 0 ? 0.4 : 0);
        if (round == 3) {
            m.blur[3 * NODES + 3] = 0.2;
            m.f.blur = m.blur;
        }
        predictions straight = predict(false);
        bend(3, 0, round == 2 ? DRAWS / 2 : 0);
        predictions bent = predict(false);
        predictions mean = predict(true);
        for (size_t k = 0; k < ASKED * NODES; k++) {
            assert_near(bent.mean[k], straight.mean[k], 1e-9);
            assert_near(bent.below[k], straight.below[k], 0.02);
            assert_near(bent.mean[k], mean.mean[k], 0);
        }
        for (size_t n = 0; n < ASKED; n++) {
            assert_near(bent.log_p[n], straight.log_p[n], 1e-9);
        }
        predictions_close(&mean);
        predictions_close(&bent);
        predictions_close(&straight);
    }
}

/* 1 = c + s 0^2 + noise, so E 1 = c + s (m^2 + v), and 2 follows it; P(1 < seen) by a sum over
 * values of 0; densities as a product. */
static void test_square(void **state)
{
    (void)state;
    lcg g = {4};
    const double s = 0.8;
    make(&g, 0);
    bend(1, s, 0);
    predictions p = predict(false);
    for (size_t n = 0; n < ASKED; n++) {
        const uint8_t *set = m.mask + row_of(n) * NODES;
        const double *z = m.z + row_of(n) * NODES;
        double first = set[0] != 0 ? z[0] : m.intercept[0];
        double spread = set[0] != 0 ? 0 : m.sigma[0];
        double mean = m.intercept[1] + s * (first * first + spread * spread);
        double second = set[1] != 0 ? z[1] : mean;
        double below = 0;
        double total = 0;
        double log_p = 0;
        for (int k = -600; k <= 600; k++) {
            double at = first + spread * k / 100.0;
            double weight = exp(-k * k / 2e4);
            double u = (z[1] - m.intercept[1] - s * at * at) / m.sigma[1];
            below += weight * 0.5 * erfc(-u / sqrt(2));
            total += weight;
        }
        for (size_t i = 0; i < NODES; i++) {
            double given = m.intercept[i];
            for (size_t j = 0; j < i; j++) {
                given += i == 1 ? s * z[0] * z[0] : m.w[j * NODES + i] * z[j];
            }
            double u = (z[i] - given) / m.sigma[i];
            log_p -= set[i] != 0 ? 0 : u * u / 2 + log(m.sigma[i]) + log(2 * acos(-1)) / 2;
        }
        assert_near(p.mean[n * NODES + 1], set[1] != 0 ? 0 : mean, 0.02);
        assert_near(p.below[n * NODES + 1], set[1] != 0 ? 0 : below / total, 0.02);
        assert_near(p.mean[n * NODES + 2],
                    set[2] != 0 ? 0 : m.intercept[2] + m.w[NODES + 2] * second, 0.04);
        assert_near(p.log_p[n], log_p, 1e-9);
    }
    predictions_close(&p);
}

/* What kept rows say of a set's own intercept is of residuals that are bent. */
static void test_own(void **state)
{
    (void)state;
    lcg g = {5};
    const double s = 0.8;
    make(&g, 0.5);
    bend(1, s, 0);
    predictions p = predict(true);
    for (size_t n = 0; n < ASKED; n++) {
        size_t row = row_of(n);
        double rest = 0;
        double kept = 0;
        for (size_t other = 0; other < ROWS; other++) {
            const double *z = m.z + other * NODES;
            bool counts = m.keep[other] != 0 && other % 4 == row % 4;
            rest += counts ? z[1] - m.intercept[1] - s * z[0] * z[0] : 0;
            kept += counts ? 1 : 0;
        }
        double own = 0.25 * rest / (m.sigma[1] * m.sigma[1] + kept * 0.25);
        if (row % 4 == 1) { /* 0 is set */
            double z = m.z[row * NODES];
            assert_near(p.mean[n * NODES + 1], m.intercept[1] + own + s * z * z, 1e-9);
        }
    }
    predictions_close(&p);
}

static void test_threads(void **state)
{
    (void)state;
    lcg g = {6};
    int threads = omp_get_max_threads();
    make(&g, 0.3);
    bend(2, 0.5, 0);
    omp_set_num_threads(1);
    predictions one = predict(false);
    omp_set_num_threads(2);
    predictions two = predict(false);
    omp_set_num_threads(threads);
    assert_memory_equal(one.mean, two.mean, ASKED * NODES * sizeof(double));
    assert_memory_equal(one.below, two.below, ASKED * NODES * sizeof(double));
    assert_memory_equal(one.log_p, two.log_p, ASKED * sizeof(double));
    predictions_close(&one);
    predictions_close(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_straight),
        cmocka_unit_test(test_square),
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_threads),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    design_close(&m.s);
    return failed;
}
