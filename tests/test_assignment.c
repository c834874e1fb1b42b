/* Assignment against every permutation, and for large problems against its proof of optimality:
 * prices v with cost[i][j] - v[j] >= cost[i][c(i)] - v[c(i)] for all i, j. */
#include "scm/graph/graph.h"

#include "lcg.h"
#include "testing.h"

enum { MOST = 7 };

static lscm_error why;

typedef struct bench {
    arena memory;
    assignment_work work;
} bench;

static void open_bench(bench *b, size_t d)
{
    *b = (bench){0};
    assignment_lay_out(&b->work, &b->memory, d);
    assert_ok(arena_open(&b->memory, &why));
    assignment_lay_out(&b->work, &b->memory, d);
}

/* The least cost of rows `row`.. over the columns not yet used. */
static double cheapest(const double *cost, size_t d, size_t row, unsigned used)
{
    double best = row == d ? 0 : INFINITY;
    for (size_t j = 0; row < d && j < d; j++) {
        if ((used >> j & 1) == 0) {
            double total = cost[row * d + j] + cheapest(cost, d, row + 1, used | 1U << j);
            best = total < best ? total : best;
        }
    }
    return best;
}

static double cost_of(const double *cost, size_t d, const size_t *column_of)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        sum += cost[i * d + column_of[i]];
    }
    return sum;
}

static void assert_permutation(const size_t *column_of, size_t d)
{
    for (size_t i = 0; i < d; i++) {
        assert_true(column_of[i] < d);
        for (size_t k = 0; k < i; k++) {
            assert_true(column_of[i] != column_of[k]);
        }
    }
}

/* Kinds of cost: real, integers of few values (ties), all equal, huge beside tiny, sum of row and
 * column (every permutation is optimal). */
static double draw_cost(lcg *g, int kind, size_t i, size_t j)
{
    switch (kind) {
    case 0:
        return 20 * lcg_uniform(g) - 10;
    case 1:
        return (double)lcg_below(g, 4) - 2;
    case 2:
        return -3;
    case 3:
        return lcg_uniform(g) < 0.5 ? -1e9 * lcg_uniform(g) : lcg_uniform(g);
    default:
        return (double)(i * i) - 2.5 * (double)j;
    }
}

static void small_problems_match_every_permutation(void **state)
{
    (void)state;
    lcg g = {5};
    bench b;
    open_bench(&b, MOST);
    for (int round = 0; round < 1500; round++) {
        size_t d = 1 + lcg_below(&g, MOST);
        double cost[MOST * MOST];
        double size = 0;
        size_t column_of[MOST];
        for (size_t k = 0; k < d * d; k++) {
            cost[k] = draw_cost(&g, round % 5, k / d, k % d);
            size = fabs(cost[k]) > size ? fabs(cost[k]) : size;
        }
        assert_ok(assignment_solve(cost, d, column_of, &b.work, &why));
        assert_permutation(column_of, d);
        assert_near(cost_of(cost, d, column_of), cheapest(cost, d, 0, 0), 1e-14 * size);
    }
    arena_close(&b.memory);
}

static void large_problems_come_with_their_proof(void **state)
{
    (void)state;
    enum { D = 250 };
    static double cost[D * D];
    size_t column_of[D];
    lcg g = {6};
    bench b;
    open_bench(&b, D);
    for (int kind = 0; kind < 6; kind++) {
        for (size_t i = 0; i < D; i++) {
            for (size_t j = 0; j < D; j++) {
                /* kind 5: products of sorted numbers, the slow case of shortest paths */
                cost[i * D + j] =
                    kind == 5 ? (double)(i + 1) * (double)(j + 1) : draw_cost(&g, kind, i, j);
            }
        }
        assert_ok(assignment_solve(cost, D, column_of, &b.work, &why));
        assert_permutation(column_of, D);
        const double *v = b.work.price;
        double slack = 1e-9 * (kind == 3 ? 1e9 : 1e5);
        for (size_t i = 0; i < D; i++) {
            double own = cost[i * D + column_of[i]] - v[column_of[i]];
            for (size_t j = 0; j < D; j++) {
                assert_true(cost[i * D + j] - v[j] >= own - slack);
            }
        }
    }
    /* the last has a known answer: smallest with largest */
    for (size_t i = 0; i < D; i++) {
        assert_int_equal(column_of[i], D - 1 - i);
    }
    arena_close(&b.memory);
}

static void what_is_not_finite_is_refused(void **state)
{
    (void)state;
    double cost[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    size_t column_of[3];
    bench b;
    open_bench(&b, 3);
    cost[5] = NAN;
    assert_fails(assignment_solve(cost, 3, column_of, &b.work, &why), LSCM_VALUE,
                 "row 1 in column 2");
    cost[5] = 6;
    cost[0] = -INFINITY;
    assert_fails(assignment_solve(cost, 3, column_of, &b.work, &why), LSCM_VALUE,
                 "row 0 in column 0");
    /* finite, but their differences are not: an answer or a refusal, never a hang */
    for (size_t k = 0; k < 9; k++) {
        cost[k] = k % 2 == 0 ? 1.7e308 : -1.7e308;
    }
    (void)assignment_solve(cost, 3, column_of, &b.work, &why);
    arena_close(&b.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_problems_match_every_permutation),
        cmocka_unit_test(large_problems_come_with_their_proof),
        cmocka_unit_test(what_is_not_finite_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
