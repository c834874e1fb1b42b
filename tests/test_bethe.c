/* The Bethe permanent against closed forms, its optimality conditions, its bounds on the exact one,
 * and central differences. */
#include "base/lanes_math.h"
#include "permanent_testing.h"

enum { ENOUGH = 20000 };

typedef struct bench {
    arena memory;
    bethe_work bethe;
    permanent_work exact;
    lanes *t, *belief, *other; /* (d, d) */
    double *one;               /* (d, d) */
} bench;

static void lay_out(bench *b, size_t d)
{
    bethe_lay_out(&b->bethe, &b->memory, d);
    permanent_lay_out(&b->exact, &b->memory, d);
    b->t = arena_take(&b->memory, d * d, sizeof(lanes));
    b->belief = arena_take(&b->memory, d * d, sizeof(lanes));
    b->other = arena_take(&b->memory, d * d, sizeof(lanes));
    b->one = arena_take(&b->memory, d * d, sizeof(double));
}

static void open_bench(bench *b, size_t d)
{
    *b = (bench){0};
    lay_out(b, d);
    assert_ok(arena_open(&b->memory, &why));
    lay_out(b, d);
}

static void draw_all(lcg *g, size_t d, size_t kind, lanes *t)
{
    for (size_t k = 0; k < d * d; k++) {
        for (size_t lane = 0; lane < LANES; lane++) {
            t[k][lane] = draw_entry(g, kind);
        }
    }
}

/* Eight matrices of that kind into t, their beliefs, and their value, settled. */
static void settle(bench *b, lcg *g, size_t d, size_t kind, lanes *value)
{
    draw_all(g, d, kind, b->t);
    assert_near(bethe_permanent(b->t, d, ENOUGH, value, b->belief, &b->bethe), 0,
                PERMANENT_TOLERANCE);
}

/* All ones: d log d + d (d-1) log((d-1)/d). Two rows: the larger of the two products. */
static void matches_closed_forms(void **state)
{
    (void)state;
    lcg g = {24};
    for (size_t d = 1; d <= 20; d++) {
        bench b;
        open_bench(&b, d);
        double n = (double)d;
        double truth = n * log(n) + (d > 1 ? n * (n - 1) * log((n - 1) / n) : 0);
        lanes value;
        for (size_t k = 0; k < d * d; k++) {
            b.t[k] = lanes_of(3 * (double)(k / d) - 2.5 * (double)(k % d));
        }
        assert_near(bethe_permanent(b.t, d, 100, &value, b.belief, &b.bethe), 0,
                    PERMANENT_TOLERANCE);
        for (size_t lane = 0; lane < LANES; lane++) {
            assert_near(value[lane], truth + 0.25 * n * (n - 1), 1e-10);
            assert_near(b.belief[d * d - 1][lane], 1 / n, 1e-10);
        }
        if (d == 2) {
            settle(&b, &g, 2, 2, &value);
            for (size_t lane = 0; lane < LANES; lane++) {
                double straight = b.t[0][lane] + b.t[3][lane];
                double crossed = b.t[1][lane] + b.t[2][lane];
                assert_near(value[lane], fmax(straight, crossed), 1e-7);
                assert_near(b.belief[0][lane], straight > crossed ? 1 : 0, 1e-7);
            }
        }
        arena_close(&b.memory);
    }
}

/* The free energy is convex on doubly stochastic matrices, so a stationary one is the minimum:
 * log(b (1 - b)) - T is a sum of a row and a column term; and the value is minus the energy. */
static void check_energy(const bench *b, size_t d, size_t lane, double value)
{
    double energy = 0;
    double u[9 * 9];
    for (size_t k = 0; k < d * d; k++) {
        double p = b->belief[k][lane];
        energy += p * log(p) - (1 - p) * log(1 - p) - p * b->t[k][lane];
        u[k] = log(p * (1 - p)) - b->t[k][lane];
    }
    assert_near(value, -energy, 1e-6);
    for (size_t k = 0; k < d * d; k++) {
        size_t i = k / d;
        size_t j = k % d;
        /* beliefs near the edge of the polytope settle late: weigh by their size */
        double p = b->belief[k][lane];
        double q = b->belief[0][lane];
        double r = b->belief[j][lane];
        double s = b->belief[i * d][lane];
        double least = fmin(fmin(p, q), fmin(r, s));
        assert_near(least * (u[k] + u[0] - u[j] - u[i * d]), 0, 1e-6);
    }
}

static void beliefs_minimise_the_free_energy(void **state)
{
    (void)state;
    lcg g = {25};
    for (size_t d = 3; d <= 9; d++) {
        bench b;
        open_bench(&b, d);
        for (size_t k = 0; k < 2; k++) {
            lanes value;
            settle(&b, &g, d, k, &value);
            for (size_t lane = 0; lane < LANES; lane++) {
                check_energy(&b, d, lane, value[lane]);
            }
        }
        arena_close(&b.memory);
    }
}

/* perm_B <= perm <= sqrt(2)^d perm_B */
static void check_bounds(bench *b, size_t d, size_t lane, double value)
{
    double truth = 0;
    for (size_t k = 0; k < d * d; k++) {
        b->one[k] = b->t[k][lane];
    }
    assert_ok(permanent_exact(b->one, d, &truth, &b->exact, &why));
    assert_true(value <= truth + 1e-9);
    assert_true(truth <= value + 0.5 * (double)d * log(2.0) + 1e-9);
}

static void bounds_the_exact_value(void **state)
{
    (void)state;
    lcg g = {26};
    for (size_t k = 0; k < 40; k++) { /* each kind for each d from 1 to 10 */
        size_t d = 1 + k / 4;
        bench b;
        open_bench(&b, d);
        lanes value;
        settle(&b, &g, d, k % 4, &value);
        for (size_t lane = 0; lane < LANES; lane++) {
            check_bounds(&b, d, lane, value[lane]);
        }
        arena_close(&b.memory);
    }
}

static void beliefs_are_the_gradient(void **state)
{
    (void)state;
    const double h = 1e-4;
    lcg g = {27};
    for (size_t d = 2; d <= 20; d += d < 5 ? 1 : 5) {
        bench b;
        open_bench(&b, d);
        /* near ties of two rows take for ever, and so do large numbers in large matrices */
        for (size_t kind = d == 2 ? 2 : 0; kind < (d <= 5 ? 4U : 3U); kind++) {
            lanes value;
            draw_all(&g, d, kind, b.t);
            (void)bethe_permanent(b.t, d, ENOUGH, &value, b.belief, &b.bethe);
            for (size_t k = 0; k < d * d; k += d < 4 ? 1 : d + 1) {
                lanes near[2];
                lanes far[2];
                lanes kept = b.t[k];
                for (int side = 0; side < 2; side++) {
                    double by = side == 0 ? h : -h;
                    b.t[k] = kept + by;
                    (void)bethe_permanent(b.t, d, ENOUGH, &near[side], b.other, &b.bethe);
                    b.t[k] = kept + 2 * by;
                    (void)bethe_permanent(b.t, d, ENOUGH, &far[side], b.other, &b.bethe);
                }
                b.t[k] = kept;
                lanes slope = (8.0 * (near[0] - near[1]) - (far[0] - far[1])) / (12 * h);
                for (size_t lane = 0; lane < LANES; lane++) {
                    assert_near(b.belief[k][lane], slope[lane], 1e-6);
                }
            }
        }
        arena_close(&b.memory);
    }
}

static void draws_do_not_see_their_neighbours(void **state)
{
    (void)state;
    enum { D = 6 };
    lcg g = {28};
    bench b;
    open_bench(&b, D);
    lanes alone;
    lanes value;
    draw_all(&g, D, 1, b.t);
    (void)bethe_permanent(b.t, D, ENOUGH, &alone, b.other, &b.bethe);
    for (size_t k = 0; k < (size_t)D * D; k++) {
        lanes kept = b.t[k];
        b.t[k] = lanes_of(draw_entry(&g, 3));
        b.t[k][6] = kept[6];
    }
    b.t[0][1] = NAN;
    assert_true(isnan(bethe_permanent(b.t, D, ENOUGH, &value, b.belief, &b.bethe)));
    assert_true(isnan(value[1]));
    assert_true(value[6] == alone[6] && b.belief[7][6] == b.other[7][6]);
    assert_true(isfinite(value[0]));
    arena_close(&b.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_closed_forms),
        cmocka_unit_test(beliefs_minimise_the_free_energy),
        cmocka_unit_test(bounds_the_exact_value),
        cmocka_unit_test(beliefs_are_the_gradient),
        cmocka_unit_test(draws_do_not_see_their_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
