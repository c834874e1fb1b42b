/* The exact permanent against every permutation: value, marginals, draws. */
#include "permanent_testing.h"

enum { SMALL = 7, ORDERS = 5040 };

typedef struct bench {
    arena memory;
    permanent_work work;
    double *t, *marginal; /* (d, d) */
} bench;

static void lay_out(bench *b, size_t d)
{
    permanent_lay_out(&b->work, &b->memory, d);
    b->t = arena_take(&b->memory, d * d, sizeof(double));
    b->marginal = arena_take(&b->memory, d * d, sizeof(double));
}

static void open_bench(bench *b, size_t d)
{
    *b = (bench){0};
    lay_out(b, d);
    assert_ok(arena_open(&b->memory, &why));
    lay_out(b, d);
}

/* Every permutation of d columns, one row of `order` each; returns how many. */
static size_t all_orders(size_t d, size_t (*order)[SMALL])
{
    size_t n = 1;
    for (size_t i = 0; i < d; i++) {
        order[0][i] = i;
    }
    for (;; n++) {
        size_t *next = order[n];
        size_t i = d - 1;
        memcpy(next, order[n - 1], sizeof *order);
        while (i > 0 && next[i - 1] > next[i]) {
            i--;
        }
        if (i == 0) {
            return n;
        }
        size_t j = d - 1;
        while (next[j] < next[i - 1]) {
            j--;
        }
        size_t kept = next[i - 1];
        next[i - 1] = next[j];
        next[j] = kept;
        for (size_t a = i, b = d - 1; a < b; a++, b--) {
            kept = next[a];
            next[a] = next[b];
            next[b] = kept;
        }
    }
}

/* The probability of each permutation under exp <P, T>; returns log perm. */
static double brute_force(const double *t, size_t d, size_t (*order)[SMALL], size_t n, double *p)
{
    double top = -INFINITY;
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        p[k] = 0;
        for (size_t i = 0; i < d; i++) {
            p[k] += t[i * d + order[k][i]];
        }
        top = fmax(top, p[k]);
    }
    for (size_t k = 0; k < n; k++) {
        p[k] = exp(p[k] - top);
        sum += p[k];
    }
    for (size_t k = 0; k < n; k++) {
        p[k] /= sum;
    }
    return top + log(sum);
}

static size_t (*make_orders(void))[SMALL]
{
    size_t(*order)[SMALL] = calloc(ORDERS + 1, sizeof *order);
    assert_non_null(order);
    return order;
}

static void exact_matches_every_permutation(void **state)
{
    (void)state;
    static double p[ORDERS];
    size_t(*order)[SMALL] = make_orders();
    lcg g = {21};
    for (size_t d = 1; d <= SMALL; d++) {
        bench b;
        open_bench(&b, d);
        size_t n = all_orders(d, order);
        for (size_t round = 0; round < 20; round++) {
            double expected[SMALL * SMALL] = {0};
            double value = 0;
            for (size_t k = 0; k < d * d; k++) {
                b.t[k] = draw_entry(&g, round % 4);
            }
            double truth = brute_force(b.t, d, order, n, p);
            for (size_t k = 0; k < n; k++) {
                for (size_t i = 0; i < d; i++) {
                    expected[i * d + order[k][i]] += p[k];
                }
            }
            assert_ok(permanent_exact(b.t, d, &value, &b.work, &why));
            permanent_marginals(&b.work, b.marginal);
            assert_near(value, truth, 1e-13 * (1 + fabs(truth)));
            for (size_t k = 0; k < d * d; k++) {
                assert_near(b.marginal[k], expected[k], 1e-12);
            }
        }
        arena_close(&b.memory);
    }
    free(order);
}

/* All ones: d!. Sums of rows and columns: the same with known offsets. */
static void exact_is_right_when_large(void **state)
{
    (void)state;
    for (size_t d = 1; d <= PERMANENT_MOST; d += 5) {
        bench b;
        open_bench(&b, d);
        const double sizes[] = {0, 1, 1e3, 1e6};
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
            double size = sizes[n];
            double offset = 0;
            double value = 0;
            for (size_t i = 0; i < d; i++) {
                offset += size * (sin((double)i) + cos((double)i * 0.5));
                for (size_t j = 0; j < d; j++) {
                    b.t[i * d + j] = size * (sin((double)i) + cos((double)j * 0.5));
                }
            }
            assert_ok(permanent_exact(b.t, d, &value, &b.work, &why));
            assert_near(value, offset + lgamma((double)d + 1), 1e-12 + 1e-14 * size);
            permanent_marginals(&b.work, b.marginal);
            for (size_t k = 0; k < d * d; k++) {
                assert_near(b.marginal[k], 1 / (double)d, 1e-13 + 1e-15 * size);
            }
        }
        arena_close(&b.memory);
    }
}

static void exact_marginals_are_the_gradient(void **state)
{
    (void)state;
    enum { D = 11 };
    lcg g = {22};
    bench b;
    open_bench(&b, D);
    for (size_t k = 0; k < (size_t)D * D; k++) {
        b.t[k] = 2 * lcg_normal(&g);
    }
    double value[2];
    assert_ok(permanent_exact(b.t, D, value, &b.work, &why));
    permanent_marginals(&b.work, b.marginal);
    for (size_t k = 0; k < (size_t)D * D; k += 3) {
        double kept = b.t[k];
        for (int side = 0; side < 2; side++) {
            b.t[k] = kept + (side == 0 ? 1e-4 : -1e-4);
            assert_ok(permanent_exact(b.t, D, &value[side], &b.work, &why));
        }
        b.t[k] = kept;
        assert_near(b.marginal[k], (value[0] - value[1]) / 2e-4, 1e-8);
    }
    arena_close(&b.memory);
}

static void exact_draws_follow_the_gibbs_law(void **state)
{
    (void)state;
    enum { D = 4, DRAWS = 24000 };
    double p[24];
    size_t seen[24] = {0};
    size_t(*order)[SMALL] = make_orders();
    size_t n = all_orders(D, order);
    lcg g = {23};
    bench b;
    open_bench(&b, D);
    double value = 0;
    for (size_t k = 0; k < (size_t)D * D; k++) {
        b.t[k] = 0.7 * lcg_normal(&g);
    }
    (void)brute_force(b.t, D, order, n, p);
    assert_ok(permanent_exact(b.t, D, &value, &b.work, &why));
    for (size_t draw = 0; draw < DRAWS; draw++) {
        size_t column_of[SMALL] = {0};
        permanent_draw(&b.work, (rng){5, 1}, draw * D, column_of);
        size_t k = 0;
        while (k < n && memcmp(column_of, order[k], D * sizeof *column_of) != 0) {
            k++;
        }
        assert_true(k < n);
        seen[k]++;
    }
    double chi_square = 0;
    for (size_t k = 0; k < n; k++) {
        double expected = DRAWS * p[k];
        chi_square += ((double)seen[k] - expected) * ((double)seen[k] - expected) / expected;
    }
    /* 23 degrees of freedom: 49.7 is exceeded once in a thousand */
    assert_true(chi_square < 49.7);
    /* one permutation far ahead of the others is always drawn, whatever the size */
    for (size_t k = 0; k < (size_t)D * D; k++) {
        b.t[k] = k / D == (k % D + 1) % D ? 900 : -1e5;
    }
    assert_ok(permanent_exact(b.t, D, &value, &b.work, &why));
    for (size_t draw = 0; draw < 100; draw++) {
        size_t column_of[D];
        permanent_draw(&b.work, (rng){5, 2}, draw * D, column_of);
        for (size_t i = 0; i < D; i++) {
            assert_int_equal(column_of[i], (i + D - 1) % D);
        }
    }
    arena_close(&b.memory);
    free(order);
}

static void exact_refuses_what_it_cannot_do(void **state)
{
    (void)state;
    bench b;
    open_bench(&b, PERMANENT_MOST + 1);
    double value = 0;
    assert_fails(permanent_exact(b.t, PERMANENT_MOST + 1, &value, &b.work, &why), LSCM_VALUE,
                 "at most 16 rows, not 17");
    b.t[3] = NAN;
    assert_fails(permanent_exact(b.t, 2, &value, &b.work, &why), LSCM_VALUE, "finite");
    arena_close(&b.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_matches_every_permutation),
        cmocka_unit_test(exact_is_right_when_large),
        cmocka_unit_test(exact_marginals_are_the_gradient),
        cmocka_unit_test(exact_draws_follow_the_gibbs_law),
        cmocka_unit_test(exact_refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
