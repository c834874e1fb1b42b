/* Sums of the signal for each mechanism against plain loops over rows. */
#include "infer/sample/sample.h"
#include "made_linear_view.h"

#include "testing.h"

#include <lapacke.h>
#include <omp.h>

static lscm_error why;

static const made_design DESIGN = {.d = 4,
                                   .observational = 37,
                                   .sets = 11,
                                   .per_set = 9,
                                   .plain = true,
                                   .value = 2,
                                   .edge = 0.5,
                                   .ridge = 0.1,
                                   .dof = 3};

/* Row order at random, so that equal masks do not stand together; y far from 0. */
static void shuffle(made_signal *m, lcg *g)
{
    size_t d = m->s.d;
    for (size_t k = m->s.rows; k-- > 1;) {
        size_t other = lcg_below(g, k + 1);
        for (size_t i = 0; i < d; i++) {
            double y = m->s.y[k * d + i];
            uint8_t mask = m->mask[k * d + i];
            m->s.y[k * d + i] = m->s.y[other * d + i];
            m->mask[k * d + i] = m->mask[other * d + i];
            m->s.y[other * d + i] = y;
            m->mask[other * d + i] = mask;
        }
    }
    made_again(m);
    for (size_t k = 0; k < m->s.rows * d; k++) {
        m->s.y[k] += 1000;
    }
}

/* Mean (count) and centred scatter (count, count) of columns of rows (n, width) where node is free.
 */
static double two_pass(const linear_view *s, const uint8_t *keep, size_t node, const double *row,
                       size_t width, double *mean, double *scatter)
{
    double n = 0;
    memset(mean, 0, width * sizeof *mean);
    memset(scatter, 0, width * width * sizeof *scatter);
    for (size_t k = 0; k < s->rows; k++) {
        if (!design_is_set(&s->design, k, node) && (keep == NULL || keep[k] != 0)) {
            n += 1;
            for (size_t i = 0; i < width; i++) {
                mean[i] += row[k * width + i];
            }
        }
    }
    for (size_t i = 0; i < width && n > 0; i++) {
        mean[i] /= n;
    }
    for (size_t k = 0; k < s->rows; k++) {
        for (size_t i = 0; i < width; i++) {
            for (size_t j = 0; j < width; j++) {
                bool used = !design_is_set(&s->design, k, node) && (keep == NULL || keep[k] != 0);
                scatter[i * width + j] +=
                    used ? (row[k * width + i] - mean[i]) * (row[k * width + j] - mean[j]) : 0;
            }
        }
    }
    return n;
}

static void check(const linear_view *s, const uint8_t *keep)
{
    view_scatter g;
    double mean[MADE_MOST];
    double scatter[MADE_MOST * MADE_MOST];
    assert_ok(view_scatter_of(&g, s, keep, false, &why));
    for (size_t i = 0; i < s->d; i++) {
        double n = two_pass(s, keep, i, s->y, s->rank, mean, scatter);
        assert_near(g.rows[i], n, 0);
        for (size_t k = 0; k < s->rank && n > 0; k++) {
            assert_near(g.mean[i * s->rank + k], mean[k], 1e-13 * (1 + fabs(mean[k])));
        }
        for (size_t k = 0; k < s->rank * s->rank; k++) {
            assert_near(g.scatter[i * s->rank * s->rank + k], scatter[k],
                        1e-11 * (1 + scatter[0] + scatter[s->rank * s->rank - 1]));
        }
    }
    view_scatter_close(&g);
}

static void test_two_pass(void **state)
{
    (void)state;
    lcg g = {3};
    for (int round = 0; round < 4; round++) {
        made_signal m = made_signal_of(&DESIGN, &g);
        uint8_t keep[200];
        for (size_t k = 0; k < m.s.rows; k++) {
            keep[k] = lcg_uniform(&g) < 0.6 ? 1 : 0;
        }
        check(&m.s, NULL); /* set by set */
        shuffle(&m, &g);
        check(&m.s, NULL);
        check(&m.s, keep);
        /* a node that is never free, and no row at all */
        for (size_t k = 0; k < m.s.rows; k++) {
            m.mask[k * m.s.d + 1] = 1;
        }
        made_again(&m);
        check(&m.s, keep);
        memset(keep, 0, sizeof keep);
        check(&m.s, keep);
        made_signal_free(&m);
    }
}

static void test_encode(void **state)
{
    (void)state;
    lcg g = {5};
    made_signal m = made_signal_of(&DESIGN, &g);
    size_t d = m.s.d;
    view_scatter sums;
    double shift[MADE_MOST];
    double slope[MADE_MOST * MADE_MOST];
    const size_t column[] = {3, 0, 2};
    double *z = calloc(m.s.rows * 3, sizeof *z);
    double work[2 * 3 * MADE_MOST];
    double mean[3];
    double scatter[9];
    double naive_mean[3];
    double naive[9];
    for (size_t k = 0; k < d * d; k++) {
        slope[k] = lcg_normal(&g);
        shift[k % d] = 3 * lcg_normal(&g);
    }
    for (size_t k = 0; k < m.s.rows; k++) {
        for (size_t c = 0; c < 3; c++) {
            z[k * 3 + c] = shift[column[c]];
            for (size_t i = 0; i < d; i++) {
                z[k * 3 + c] += m.s.y[k * d + i] * slope[i * d + column[c]];
            }
        }
    }
    assert_ok(view_scatter_of(&sums, &m.s, NULL, false, &why));
    for (size_t node = 0; node < d; node++) {
        view_scatter_encode(&sums, &(view_encoder){d, shift, slope},
                            &(view_family){node, 0, column, 3}, work, mean, scatter);
        (void)two_pass(&m.s, NULL, node, z, 3, naive_mean, naive);
        for (size_t k = 0; k < 9; k++) {
            assert_near(scatter[k], naive[k], 1e-12 * (naive[0] + naive[4] + naive[8]));
            assert_near(mean[k % 3], naive_mean[k % 3], 1e-12 * (1 + fabs(naive_mean[k % 3])));
        }
    }
    view_scatter_close(&sums);
    free(z);
    made_signal_free(&m);
}

/* s_x^2 (n - 1) comes off the diagonal, or as much as leaves a thousandth of the least direction.
 */
static void test_noise(void **state)
{
    (void)state;
    static const double noises[] = {0.01, 0.3, 1e3};
    lcg g = {9};
    made_signal m = made_signal_of(&DESIGN, &g);
    int d = (int)m.s.d;
    size_t square = m.s.d * m.s.d;
    for (size_t k = 0; k < sizeof noises / sizeof *noises; k++) {
        view_scatter plain;
        view_scatter corrected;
        m.s.x_noise = 0;
        assert_ok(view_scatter_of(&plain, &m.s, NULL, false, &why));
        m.s.x_noise = noises[k];
        assert_ok(view_scatter_of(&corrected, &m.s, NULL, false, &why));
        for (size_t i = 0; i < m.s.d; i++) {
            double copy[MADE_MOST * MADE_MOST];
            double eigen[MADE_MOST];
            memcpy(copy, plain.scatter + i * square, square * sizeof *copy);
            assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', d, copy, d, eigen), 0);
            double wanted = (plain.rows[i] - 1) * noises[k] * noises[k];
            double off = wanted < 0.999 * eigen[0] ? wanted : 0.999 * eigen[0];
            for (size_t e = 0; e < square; e++) {
                double left = plain.scatter[i * square + e] - (e % (m.s.d + 1) == 0 ? off : 0);
                assert_near(corrected.scatter[i * square + e], left, 1e-11 * eigen[d - 1]);
            }
        }
        view_scatter_close(&plain);
        view_scatter_close(&corrected);
    }
    made_signal_free(&m);
}

static void test_threads(void **state)
{
    (void)state;
    lcg g = {2};
    made_design c = DESIGN;
    c.observational = 3000;
    made_signal m = made_signal_of(&c, &g);
    size_t count = m.s.d * m.s.d * m.s.d;
    int before = omp_get_max_threads();
    view_scatter one;
    view_scatter two;
    shuffle(&m, &g);
    omp_set_num_threads(1);
    assert_ok(view_scatter_of(&one, &m.s, NULL, false, &why));
    omp_set_num_threads(2);
    assert_ok(view_scatter_of(&two, &m.s, NULL, false, &why));
    omp_set_num_threads(before);
    assert_memory_equal(one.scatter, two.scatter, count * sizeof(double));
    assert_memory_equal(one.mean, two.mean, m.s.d * m.s.d * sizeof(double));
    view_scatter_close(&one);
    view_scatter_close(&two);
    made_signal_free(&m);
}

/* ---- Intercepts that sets have of their own ---- */

/* V = I + tau^2 (1 where two rows are of one set) over the rows that count and in which the node is
 * free; its inverse by elimination, its log determinant. Returns how many rows there are. */
static size_t invert_by_hand(const linear_view *s, const uint8_t *keep, size_t node, double tau,
                             double *inverse, size_t *row, double *log_det)
{
    size_t n = 0;
    for (size_t k = 0; k < s->rows; k++) {
        if (!design_is_set(&s->design, k, node) && (keep == NULL || keep[k] != 0)) {
            row[n++] = k;
        }
    }
    double *v = calloc(n * n, sizeof *v);
    assert_non_null(v);
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) {
            bool same = memcmp(design_targets(&s->design, row[a]),
                               design_targets(&s->design, row[b]), s->d) == 0;
            v[a * n + b] = (a == b ? 1 : 0) + (same ? tau * tau : 0);
            inverse[a * n + b] = a == b ? 1 : 0;
        }
    }
    *log_det = 0;
    for (size_t p = 0; p < n; p++) {
        double pivot = v[p * n + p];
        *log_det += log(pivot);
        for (size_t b = 0; b < n; b++) {
            v[p * n + b] /= pivot;
            inverse[p * n + b] /= pivot;
        }
        for (size_t a = 0; a < n; a++) {
            double factor = a == p ? 0 : v[a * n + p];
            for (size_t b = 0; b < n && factor != 0; b++) {
                v[a * n + b] -= factor * v[p * n + b];
                inverse[a * n + b] -= factor * inverse[p * n + b];
            }
        }
    }
    free(v);
    return n;
}

/* At every tau the sums are those of rows that V^-1 makes independent, the mean taken out. */
static void test_effects(void **state)
{
    (void)state;
    lcg g = {9};
    made_signal m = made_signal_of(&DESIGN, &g);
    size_t d = m.s.d;
    size_t rows = m.s.rows;
    double *inverse = calloc(rows * rows, sizeof *inverse);
    size_t *row = calloc(rows, sizeof *row);
    uint8_t *keep = calloc(rows, 1);
    assert_true(inverse != NULL && row != NULL && keep != NULL);
    shuffle(&m, &g);
    for (size_t k = 0; k < rows; k++) {
        keep[k] = lcg_uniform(&g) < 0.8 ? 1 : 0;
    }
    view_scatter sums;
    assert_ok(view_scatter_of(&sums, &m.s, keep, true, &why));
    for (size_t node = 0; node < d; node++) {
        assert_int_equal(sums.levels[node], FAMILY_LEVELS);
        for (size_t l = 0; l < FAMILY_LEVELS; l++) {
            const family_level *level = &sums.level[node * sums.most + l];
            double log_det = 0;
            double heft = 0;
            double at[MADE_MOST] = {0};
            size_t n = invert_by_hand(&m.s, keep, node, level->tau, inverse, row, &log_det);
            for (size_t k = 0; k < n * n; k++) {
                heft += inverse[k];
                for (size_t i = 0; i < d; i++) {
                    at[i] += inverse[k] * m.s.y[row[k % n] * d + i];
                }
            }
            assert_near(level->log_spread, log_det, 1e-8);
            assert_near(l > 0 ? level->heft : sums.rows[node], heft, 1e-8 * heft);
            for (size_t e = 0; e < d * d; e++) {
                double sum = 0;
                for (size_t k = 0; k < n * n; k++) {
                    sum += inverse[k] * (m.s.y[row[k / n] * d + e / d] - at[e / d] / heft) *
                           (m.s.y[row[k % n] * d + e % d] - at[e % d] / heft);
                }
                assert_near(view_scatter_at(&sums, node, l)[e], sum, 1e-6);
                assert_near(view_mean_at(&sums, node, l)[e % d], at[e % d] / heft, 1e-8);
            }
        }
    }
    view_scatter_close(&sums);
    made_signal_free(&m);
    free(inverse);
    free(row);
    free(keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_effects), cmocka_unit_test(test_two_pass),
        cmocka_unit_test(test_encode),  cmocka_unit_test(test_noise),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
