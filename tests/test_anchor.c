/* Anchors: the regression itself, row sets, draws, threads. */
#include "infer/anchor/anchor.h"

#include "anchor_testing.h"

#include <omp.h>

static void test_exact(void **state)
{
    (void)state;
    static const made_rows cases[] = {
        {.d = 5, .observational = 500, .sets = 20, .per_set = 100, .noise = 0.1, .value = 6},
        {.d = 20, .observational = 500, .sets = 100, .per_set = 50, .noise = 0.1, .value = 6},
        {.d = 6, .sets = 12, .per_set = 9, .noise = 0.1, .value = 6, .single = true},
        {.d = 3, .sets = 3, .per_set = 5, .noise = 0.1, .value = 6, .single = true},
        {.d = 1, .observational = 4, .sets = 1, .per_set = 3, .noise = 0.1, .value = 6},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (uint64_t seed = 1; seed <= 3; seed++) {
            lscm_error why;
            anchor a;
            double error[20];
            made_rows c = cases[k];
            c.seed = seed;
            made m = make(&c);
            assert_ok(anchor_of(&a, &m.s, NULL, &why));
            z_errors(&m, &a, error);
            for (size_t j = 0; j < c.d; j++) {
                double scale = 0;
                for (size_t i = 0; i < m.s.rows; i++) {
                    scale += m.z[i * c.d + j] * m.z[i * c.d + j] / (double)m.s.rows;
                }
                assert_int_equal(a.kind[j], ANCHOR_VALUES);
                assert_near(sqrt(error[j] / scale), 0, 1e-10);
                assert_near(a.residual[j], 0, 1e-9);
                assert_near(a.standard_error[j], 0, 1e-9);
                /* half of 5 rows is too little to predict the others */
                assert_true(c.per_set <= 5 ? isnan(a.r2[j]) : a.r2[j] > 1 - 1e-9);
            }
            assert_near(a.actuator_noise, 0, 1e-9);
            anchor_close(&a);
            made_free(&m);
        }
    }
}

/* Without noise of x to correct for, b is what LAPACK's orthogonal decomposition gives, times one
 * factor for actuator noise; the factor makes the slope of z on v about 1. */
static void test_least_squares(void **state)
{
    (void)state;
    lscm_error why;
    anchor a;
    made_rows c = {.d = 7, .observational = 50, .sets = 30, .per_set = 20, .noise = 1, .value = 2};
    c.x_noise = 0.3;
    c.actuator = 0.5;
    c.seed = 4;
    made m = make(&c);
    m.s.x_noise = 0;
    for (size_t i = 0; i < m.s.rows; i++) {
        m.s.y[i * 7 + 2] += 1e4; /* a far origin must not matter */
    }
    assert_ok(anchor_of(&a, &m.s, NULL, &why));
    double *matrix = zeros(m.s.rows * 8, sizeof(double));
    double *v = zeros(m.s.rows, sizeof(double));
    for (size_t j = 0; j < 7; j++) {
        size_t n = 0;
        double mean = 0;
        double product = 0;
        double squares = 0;
        for (size_t i = 0; i < m.s.rows; i++) {
            if (m.s.mask[i * 7 + j] != 0) {
                matrix[n * 8] = 1;
                memcpy(matrix + n * 8 + 1, m.s.y + i * 7, 7 * sizeof(double));
                matrix[n * 8 + 3] -= 1e4;
                v[n] = m.s.values[i * 7 + j];
                mean += v[n++];
            }
        }
        mean /= (double)n;
        assert_int_equal(n, a.samples[j]);
        for (size_t i = 0; i < n; i++) {
            double z = a.intercept[j] + 1e4 * a.slope[2 * 7 + j];
            for (size_t k = 0; k < 7; k++) {
                z += matrix[i * 8 + 1 + k] * a.slope[k * 7 + j];
            }
            product += (v[i] - mean) * z;
            squares += (v[i] - mean) * (v[i] - mean);
        }
        assert_near(product / squares, 1, 0.05);
        assert_int_equal(LAPACKE_dgels(LAPACK_ROW_MAJOR, 'N', (int)n, 8, 1, matrix, 8, v, 1), 0);
        double factor = a.slope[j] / v[1];
        assert_true(factor > 1 && factor < 1.5);
        for (size_t k = 0; k < 7; k++) {
            assert_near(a.slope[k * 7 + j], factor * v[k + 1], 1e-9 * fabs(factor * v[k + 1]));
        }
    }
    free(matrix);
    free(v);
    anchor_close(&a);
    made_free(&m);
}

/* Rows that are not kept might as well not be there. */
static void test_keep(void **state)
{
    (void)state;
    lscm_error why;
    anchor a;
    anchor b;
    made_rows c = {.d = 4, .observational = 60, .sets = 20, .per_set = 20, .noise = 1, .value = 2};
    c.x_noise = 0.2;
    c.seed = 11;
    made m = make(&c);
    uint8_t *keep = zeros(m.s.rows, 1);
    linear_view part = m.s;
    part.rows = 0;
    part.y = zeros(m.s.rows * 4, sizeof(double));
    part.mask = zeros(m.s.rows * 4, 1);
    part.values = zeros(m.s.rows * 4, sizeof(double));
    for (size_t i = 0; i < m.s.rows; i++) {
        keep[i] = i % 3 != 0;
        if (keep[i] != 0) {
            memcpy(part.y + part.rows * 4, m.s.y + i * 4, 4 * sizeof(double));
            memcpy(part.values + part.rows * 4, m.s.values + i * 4, 4 * sizeof(double));
            memcpy(part.mask + part.rows++ * 4, m.s.mask + i * 4, 4);
        }
    }
    assert_ok(anchor_of(&a, &m.s, keep, &why));
    assert_ok(anchor_of(&b, &part, NULL, &why));
    for (size_t i = 0; i < 16; i++) {
        assert_near(a.slope[i], b.slope[i], 1e-12);
    }
    for (size_t j = 0; j < 4; j++) {
        assert_int_equal(a.samples[j], b.samples[j]);
        assert_near(a.intercept[j], b.intercept[j], 1e-12);
        assert_near(a.r2[j], b.r2[j], 1e-12);
        assert_near(a.standard_error[j], b.standard_error[j], 1e-12);
    }
    anchor_close(&a);
    anchor_close(&b);
    free(keep);
    free(part.y);
    free(part.mask);
    free(part.values);
    made_free(&m);
}

/* Several tiles and chunks, rows in any order, any number of threads: the same numbers. */
static void test_threads(void **state)
{
    (void)state;
    enum { WIDE = 70 };
    lscm_error why;
    anchor one;
    anchor two;
    int before = omp_get_max_threads();
    lcg g = {5};
    made_rows c = {.d = 10, .sets = 1, .per_set = 1200, .noise = 1, .value = 2, .seed = 12};
    made m = make(&c);
    double *y = zeros(1200 * WIDE, sizeof(double));
    for (size_t i = 0; i < 1200; i++) { /* every row its own set, or nearly so */
        for (size_t j = 0; j < 10; j++) {
            m.s.mask[i * 10 + j] = lcg_below(&g, 2) != 0;
            m.s.values[i * 10 + j] = m.s.mask[i * 10 + j] != 0 ? lcg_normal(&g) : 0;
        }
        make_row(&m, &c, i, &g);
        for (size_t k = 0; k < WIDE; k++) {
            y[i * WIDE + k] = k < 10 ? m.s.y[i * 10 + k] : 0.1 * lcg_normal(&g);
        }
    }
    free(m.s.y);
    m.s.y = y;
    m.s.rank = WIDE;
    omp_set_num_threads(1);
    assert_ok(anchor_of(&one, &m.s, NULL, &why));
    omp_set_num_threads(3);
    assert_ok(anchor_of(&two, &m.s, NULL, &why));
    omp_set_num_threads(before);
    assert_memory_equal(one.slope, two.slope, WIDE * 10 * sizeof(double));
    assert_memory_equal(one.factor, two.factor, 10L * (WIDE + 1) * (WIDE + 1) * sizeof(double));
    assert_memory_equal(one.standard_error, two.standard_error, 10 * sizeof(double));
    assert_memory_equal(one.r2, two.r2, 10 * sizeof(double));
    for (size_t j = 0; j < 10; j++) {
        assert_int_equal(one.kind[j], ANCHOR_VALUES);
        for (size_t i = 0; i < WIDE; i++) {
            assert_near(one.slope[i * 10 + j], i < 10 ? m.inverse[i * 10 + j] : 0, 1e-10);
        }
    }
    anchor_close(&one);
    anchor_close(&two);
    made_free(&m);
}

/* Beyond rank 128 only one fold is left out; still the same answer. */
static void test_wide(void **state)
{
    (void)state;
    enum { WIDE = 150 };
    lscm_error why;
    anchor a;
    lcg g = {6};
    made_rows c = {.d = 4, .sets = 20, .per_set = 40, .noise = 1, .value = 2, .seed = 13};
    made m = make(&c);
    double *y = zeros(800 * WIDE, sizeof(double));
    for (size_t i = 0; i < 800; i++) {
        for (size_t k = 0; k < WIDE; k++) {
            y[i * WIDE + k] = k < 4 ? m.s.y[i * 4 + k] : 0.1 * lcg_normal(&g);
        }
    }
    free(m.s.y);
    m.s.y = y;
    m.s.rank = WIDE;
    assert_ok(anchor_of(&a, &m.s, NULL, &why));
    for (size_t j = 0; j < 4; j++) {
        assert_int_equal(a.kind[j], ANCHOR_VALUES);
        assert_near(a.r2[j], 1, 1e-9);
        for (size_t i = 0; i < WIDE; i++) {
            assert_near(a.slope[i * 4 + j], i < 4 ? m.inverse[i * 4 + j] : 0, 1e-10);
        }
    }
    anchor_close(&a);
    made_free(&m);
}

static void test_draws(void **state)
{
    enum { D = 3, M = D + 1 };
    (void)state;
    enum { DRAWS = 4000 };
    lscm_error why;
    anchor a;
    made_rows c = {.d = D, .sets = 20, .per_set = 20, .noise = 1, .value = 2, .x_noise = 0.5};
    double mean[M] = {0};
    double found[M][M] = {{0}};
    double intercept[D];
    double slope[D * D];
    double again[D * D];
    c.seed = 14;
    made m = make(&c);
    assert_ok(anchor_of(&a, &m.s, NULL, &why));
    const double *f = a.factor + M * M; /* of node 1 */
    for (uint64_t k = 0; k < DRAWS; k++) {
        double e[M];
        anchor_draw(&a, (rng){7, 1}, k, intercept, slope);
        e[0] = intercept[1] - a.intercept[1];
        for (size_t i = 0; i < D; i++) {
            e[i + 1] = slope[i * D + 1] - a.slope[i * D + 1];
        }
        for (size_t i = 0; i < M; i++) {
            mean[i] += e[i] / DRAWS;
            for (size_t l = 0; l < M; l++) {
                found[i][l] += e[i] * e[l] / DRAWS;
            }
        }
    }
    for (size_t i = 0; i < M; i++) {
        double claimed = 0;
        for (size_t l = 0; l < M; l++) {
            assert_true(l <= i || f[i * M + l] == 0);
            claimed += f[i * M + l] * f[i * M + l];
        }
        assert_near(found[i][i] / claimed, 1, 5 * sqrt(2.0 / DRAWS));
        assert_near(mean[i] / sqrt(claimed / DRAWS), 0, 4.5);
    }
    anchor_draw(&a, (rng){7, 1}, DRAWS - 1, intercept, again);
    assert_memory_equal(slope, again, sizeof slope);
    double *kept = a.factor;
    a.factor = NULL;
    anchor_draw(&a, (rng){7, 1}, 0, intercept, again);
    assert_memory_equal(again, a.slope, sizeof again);
    a.factor = kept;
    anchor_close(&a);
    made_free(&m);
}

/* Rows are grouped by mask wherever they stand, halved where a node has one set only. */
static void test_sets(void **state)
{
    (void)state;
    lscm_error why;
    row_sets sets;
    uint8_t mask[7 * 2] = {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1};
    linear_view s = {.rows = 7, .d = 2, .mask = mask};
    static const size_t rows[] = {0, 3, 5, 1, 4, 6};
    static const row_piece pieces[] = {
        {0, 2, 2, 0, 0}, {1, 1, 2, 0, 1}, {3, 2, 2, 1, 0}, {4, 1, 2, 1, 1}};
    assert_ok(row_sets_of(&sets, &s, NULL, &why));
    assert_int_equal(sets.sets, 2);
    assert_int_equal(sets.rows, 6);
    assert_int_equal(sets.pieces, 4);
    assert_memory_equal(sets.row, rows, sizeof rows);
    assert_memory_equal(sets.piece, pieces, sizeof pieces);
    row_sets_close(&sets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),          cmocka_unit_test(test_exact),
        cmocka_unit_test(test_least_squares), cmocka_unit_test(test_keep),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_wide),
        cmocka_unit_test(test_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
