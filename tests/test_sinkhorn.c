/* The soft permutation: exactly one matrix has sums 1 and the cross ratios of exp s, so these two
 * are checked rather than another solver; gradients against central differences; the hard limit
 * against the assignment. */
#include "infer/ordering/ordering.h"

#include "base/lanes_math.h"
#include "scm/graph/graph.h"

#include "lcg.h"
#include "testing.h"

enum { MOST = 20 };

static lscm_error why;

typedef struct bench {
    arena memory;
    sinkhorn_work work;
    assignment_work matching;
    lanes *s, *p, *c, *ds, *other; /* (d, d) */
} bench;

static void lay_out(bench *b, size_t d)
{
    sinkhorn_lay_out(&b->work, &b->memory, d);
    assignment_lay_out(&b->matching, &b->memory, d);
    b->s = arena_take(&b->memory, d * d, sizeof(lanes));
    b->p = arena_take(&b->memory, d * d, sizeof(lanes));
    b->c = arena_take(&b->memory, d * d, sizeof(lanes));
    b->ds = arena_take(&b->memory, d * d, sizeof(lanes));
    b->other = arena_take(&b->memory, d * d, sizeof(lanes));
}

static void open_bench(bench *b, size_t d)
{
    *b = (bench){0};
    lay_out(b, d);
    assert_ok(arena_open(&b->memory, &why));
    lay_out(b, d);
}

static double gumbel(lcg *g)
{
    return -log(-log(lcg_uniform(g)));
}

/* (T + Gumbel)/tau: T small, normal, or squashed to +-10; one draw in eight is kept without noise
 * and rounded, so that there are ties. */
static void draw_logits(lcg *g, size_t d, int kind, double tau, lanes *s)
{
    for (size_t k = 0; k < d * d; k++) {
        for (size_t lane = 0; lane < LANES; lane++) {
            double t = kind == 0   ? 0.1 * lcg_normal(g)
                       : kind == 1 ? 2 * lcg_normal(g)
                                   : 10 * tanh(2 * lcg_normal(g));
            s[k][lane] = (lane == 7 ? round(t) : t + gumbel(g)) / tau;
        }
    }
}

static double sum_of(const lanes *p, size_t lane, size_t d, size_t stride)
{
    double sum = 0;
    for (size_t k = 0; k < d; k++) {
        sum += p[k * stride][lane];
    }
    return sum;
}

/* Sums are 1, and log of P_ij P_kl / (P_il P_kj) is that of s wherever P can be represented. */
static void assert_soft_permutation(const lanes *s, const lanes *p, size_t d)
{
    for (size_t lane = 0; lane < LANES; lane++) {
        for (size_t k = 0; k < d; k++) {
            assert_near(sum_of(p + k * d, lane, d, 1), 1, 1e-14 * (double)d);
            assert_near(sum_of(p + k, lane, d, d), 1, SINKHORN_TOLERANCE + 1e-15);
        }
        for (size_t i = 0; i < d; i++) {
            for (size_t j = 0; j < d; j++) {
                size_t corner[] = {i * d + j, ((i + 1) % d) * d + (j + 1) % d, i * d + (j + 1) % d,
                                   ((i + 1) % d) * d + j};
                long double ours = 0;
                long double given = 0;
                double size = 1;
                bool there = true;
                for (size_t c = 0; c < 4; c++) {
                    double entry = p[corner[c]][lane];
                    assert_true(entry >= 0);
                    there = there && entry > 1e-200;
                    ours += (c < 2 ? 1 : -1) * logl((long double)entry);
                    given += (c < 2 ? 1 : -1) * (long double)s[corner[c]][lane];
                    size = fmax(size, fabs(s[corner[c]][lane]));
                }
                if (there) {
                    assert_near((double)(ours - given), 0, 1e-13 + 2e-15 * size);
                }
            }
        }
    }
}

static void it_is_the_doubly_stochastic_matrix(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 13, 20};
    const double taus[] = {1, 0.2, 0.05, 0.01};
    lcg g = {11};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        size_t d = sizes[n];
        bench b;
        open_bench(&b, d);
        for (int round = 0; round < 36; round++) {
            draw_logits(&g, d, round % 3, taus[round / 3 % 4], b.s);
            double error = sinkhorn_forward(b.s, d, b.p, &b.work);
            assert_near(error, 0, SINKHORN_TOLERANCE);
            assert_soft_permutation(b.s, b.p, d);
        }
        arena_close(&b.memory);
    }
}

/* Rows and columns of very different size leave P alone; a start far from the solution. */
static void offsets_do_not_matter(void **state)
{
    (void)state;
    enum { D = 6 };
    lcg g = {12};
    bench b;
    open_bench(&b, D);
    draw_logits(&g, D, 1, 0.5, b.s);
    (void)sinkhorn_forward(b.s, D, b.p, &b.work);
    for (size_t k = 0; k < (size_t)D * D; k++) {
        b.other[k] = b.p[k];
        b.s[k] += 1000.0 * (double)(k / D * (k / D)) - 777.0 * (double)(k % D);
    }
    assert_near(sinkhorn_forward(b.s, D, b.p, &b.work), 0, SINKHORN_TOLERANCE);
    for (size_t k = 0; k < (size_t)D * D; k++) {
        assert_near(lanes_largest(lanes_abs(b.p[k] - b.other[k])), 0, 1e-10);
    }
    arena_close(&b.memory);
}

static void large_logits_give_the_assignment(void **state)
{
    (void)state;
    lcg g = {13};
    for (size_t d = 2; d <= MOST; d += 3) {
        bench b;
        open_bench(&b, d);
        draw_logits(&g, d, 1, 1e-4, b.s);
        assert_near(sinkhorn_forward(b.s, d, b.p, &b.work), 0, SINKHORN_TOLERANCE);
        for (size_t lane = 0; lane + 1 < LANES; lane++) { /* the last has ties */
            double cost[MOST * MOST];
            size_t column_of[MOST];
            for (size_t k = 0; k < d * d; k++) {
                cost[k] = -b.s[k][lane];
            }
            assert_ok(assignment_solve(cost, d, column_of, &b.matching, &why));
            for (size_t k = 0; k < d * d; k++) {
                assert_near(b.p[k][lane], column_of[k / d] == k % d ? 1 : 0, 1e-6);
            }
        }
        arena_close(&b.memory);
    }
}

/* sum_ij c_ij P_ij of every draw, with `by` added to entry k of s */
static void value_at(bench *b, size_t d, size_t k, double by, lanes *value)
{
    lanes kept = b->s[k];
    b->s[k] += by;
    assert_near(sinkhorn_forward(b->s, d, b->p, &b->work), 0, SINKHORN_TOLERANCE);
    b->s[k] = kept;
    *value = lanes_of(0);
    for (size_t e = 0; e < d * d; e++) {
        *value += b->c[e] * b->p[e];
    }
}

static void gradients_match_central_differences(void **state)
{
    (void)state;
    const size_t sizes[] = {2, 3, 4, 5, 6, 7, 8, 20};
    const double taus[] = {1, 0.5, 0.2, 0.1, 0.05};
    const double h = 5e-3;
    lcg g = {14};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        size_t d = sizes[n];
        bench b;
        open_bench(&b, d);
        for (size_t t = 0; t < sizeof taus / sizeof *taus; t++) {
            draw_logits(&g, d, (int)(t % 3), taus[t], b.s);
            for (size_t k = 0; k < d * d; k++) {
                for (size_t lane = 0; lane < LANES; lane++) {
                    b.c[k][lane] = lcg_normal(&g);
                }
            }
            (void)sinkhorn_forward(b.s, d, b.p, &b.work);
            sinkhorn_backward(b.p, b.c, d, b.ds, &b.work);
            lanes size = {0};
            for (size_t k = 0; k < d * d; k++) {
                size = lanes_max(size, lanes_abs(b.ds[k]));
            }
            for (size_t k = 0; k < d * d; k += d < 10 ? 1 : 7) {
                lanes value[4];
                value_at(&b, d, k, h, &value[0]);
                value_at(&b, d, k, -h, &value[1]);
                value_at(&b, d, k, 2 * h, &value[2]);
                value_at(&b, d, k, -2 * h, &value[3]);
                lanes slope = (8.0 * (value[0] - value[1]) - (value[2] - value[3])) / (12 * h);
                for (size_t lane = 0; lane < LANES; lane++) {
                    assert_near(b.ds[k][lane], slope[lane], 1e-6 * size[lane] + 5e-9);
                }
            }
        }
        arena_close(&b.memory);
    }
}

/* The gradient moves no row sum and no column sum, and may overwrite its input. */
static void gradients_are_balanced(void **state)
{
    (void)state;
    enum { D = 9 };
    lcg g = {15};
    bench b;
    open_bench(&b, D);
    for (int round = 0; round < 12; round++) {
        draw_logits(&g, D, round % 3, 0.2 / (1 + round), b.s);
        for (size_t k = 0; k < (size_t)D * D; k++) {
            b.c[k] = lanes_of(lcg_normal(&g));
        }
        (void)sinkhorn_forward(b.s, D, b.p, &b.work);
        sinkhorn_backward(b.p, b.c, D, b.ds, &b.work);
        sinkhorn_backward(b.p, b.c, D, b.c, &b.work);
        assert_memory_equal(b.c, b.ds, D * D * sizeof(lanes));
        for (size_t lane = 0; lane < LANES; lane++) {
            for (size_t k = 0; k < D; k++) {
                assert_near(sum_of(b.ds + k * D, lane, D, 1), 0, 1e-11);
                assert_near(sum_of(b.ds + k, lane, D, D), 0, 1e-11);
            }
        }
    }
    arena_close(&b.memory);
}

static void draws_do_not_see_their_neighbours(void **state)
{
    (void)state;
    enum { D = 7 };
    lcg g = {16};
    bench b;
    open_bench(&b, D);
    draw_logits(&g, D, 1, 0.1, b.s);
    for (size_t k = 0; k < (size_t)D * D; k++) {
        b.other[k] = b.s[k];
    }
    (void)sinkhorn_forward(b.s, D, b.p, &b.work);
    draw_logits(&g, D, 2, 0.02, b.s);
    for (size_t k = 0; k < (size_t)D * D; k++) {
        b.c[k] = b.p[k];
        b.s[k][2] = b.other[k][2];
        b.s[k][5] = b.other[k][5];
    }
    b.s[4][0] = NAN;
    b.s[3][1] = INFINITY;
    assert_true(isnan(sinkhorn_forward(b.s, D, b.p, &b.work)));
    for (size_t k = 0; k < (size_t)D * D; k++) {
        assert_true(b.p[k][2] == b.c[k][2] && b.p[k][5] == b.c[k][5]);
    }
    arena_close(&b.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_doubly_stochastic_matrix),
        cmocka_unit_test(offsets_do_not_matter),
        cmocka_unit_test(large_logits_give_the_assignment),
        cmocka_unit_test(gradients_match_central_differences),
        cmocka_unit_test(gradients_are_balanced),
        cmocka_unit_test(draws_do_not_see_their_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
