/* Encoder, graph and mechanisms drawn together are calibrated on data drawn from the prior: ranks
 * of the truth among draws are uniform. */
#include "made_joint.h"
#include "ranks.h"

#include <omp.h>

/* z of one row, node j, by each draw. */
static void encode_row(const bench *b, size_t row, size_t j, double *z)
{
    size_t d = b->m.s.d;
    for (size_t k = 0; k < b->draws.count; k++) {
        z[k] = b->draws.shift[k * d + j];
        for (size_t i = 0; i < d; i++) {
            z[k] += b->m.s.y[row * d + i] * b->draws.slope[(k * d + i) * d + j];
        }
    }
}

/* Many small data sets: weights, noise, and what the encoder makes of one row. Nodes without labels
 * have a sign and a name at random, so the truth is given the same; their scale is known by the
 * prior alone. */
static void calibrate(const made_design *c, size_t sets, size_t sweeps, uint64_t seed)
{
    lcg g = {seed};
    size_t d = c->d;
    tally weights = {0};
    tally open = {0};
    tally noise = {0};
    tally unlabelled = {0};
    tally encoded = {0};
    tally effect = {0};
    int threads = omp_get_max_threads();
    omp_set_num_threads(1); /* the problems are too small to share */
    for (size_t n = 0; n < sets; n++) {
        bench b;
        double z[RANKS];
        open_bench(&b, c, &g, NULL, NULL);
        sample(&b, 1, sweeps, RANKS, n);
        double sign[MADE_MOST];
        for (size_t j = 0; j < d; j++) {
            bool known = j < d - c->untouched;
            sign[j] = known || lcg_uniform(&g) < 0.5 ? 1 : -1;
            if (known && !(c->x_noise > 0)) { /* the encoder reads z with the noise of x */
                assert_int_equal(b.anchor.kind[j], ANCHOR_VALUES);
                encode_row(&b, n % b.m.s.rows, j, z);
                put(&encoded, b.m.z[n % b.m.s.rows * d + j], z, 1, &g);
            }
            if (!c->equal || j == 0) {
                put(known ? &noise : &unlabelled, b.m.sigma[j], b.draws.sigma + j, d, &g);
            }
        }
        for (size_t j = 0; j < d - c->untouched && c->effects; j++) {
            put(&effect, b.m.tau[j] * b.m.sigma[j], b.draws.effect + j, d, &g);
        }
        for (size_t e = 0; e < d * d; e++) {
            size_t from = e / d;
            size_t to = e % d;
            bool known = from < d - c->untouched && to < d - c->untouched;
            if (from != to) {
                put(known ? &weights : &open, sign[from] * sign[to] * b.m.w[e], b.draws.w + e,
                    d * d, &g);
            }
        }
        close_bench(&b);
    }
    omp_set_num_threads(threads);
    assert_uniform(&weights, "weights");
    assert_uniform(&noise, "noise");
    if (!(c->x_noise > 0)) {
        assert_uniform(&encoded, "z");
    }
    if (c->effects) {
        assert_uniform(&effect, "effects of sets");
    }
    if (c->untouched > 0) {
        assert_uniform(&unlabelled, "noise of nodes without labels");
        assert_uniform(&open, "weights of nodes without labels");
    }
}

static void test_calibrated(void **state)
{
    (void)state;
    calibrate(&SMALL, 250, 180, 4711);
}

static void test_calibrated_equal(void **state)
{
    (void)state;
    made_design c = SMALL;
    c.equal = true;
    calibrate(&c, 200, 180, 4712);
}

static void test_calibrated_unlabelled(void **state)
{
    (void)state;
    made_design c = SMALL;
    c.untouched = 1;
    calibrate(&c, 150, 900, 4713);
}

/* Two without labels: what mixes them with each other is drawn, too. */
static void test_calibrated_two(void **state)
{
    (void)state;
    made_design c = SMALL;
    c.d = 4;
    c.untouched = 2;
    c.spread = 10;
    calibrate(&c, 60, 750, 4714);
}

/* A slab with a hole at 0. */
static void test_calibrated_hole(void **state)
{
    (void)state;
    made_design c = SMALL;
    c.d = 4;
    c.untouched = 2;
    c.edge = 0.7;
    c.hole = true;
    calibrate(&c, 200, 750, 4716);
}

/* .. and x is noisy: z of the rows is drawn, too. */
static void test_calibrated_noisy(void **state)
{
    (void)state;
    made_design c = SMALL;
    c.untouched = 1;
    c.actuator = 0;
    c.x_noise = 0.05;
    calibrate(&c, 60, 750, 4715);
}

/* Sets with intercepts of their own: labelled; two without labels; noisy; one variance for all. */
static void test_calibrated_effects(void **state)
{
    (void)state;
    made_design c = SMALL;
    c.effects = true;
    calibrate(&c, 250, 240, 4716);
    c.equal = true;
    calibrate(&c, 120, 240, 4717);
}

static void test_calibrated_effects_two(void **state)
{
    (void)state;
    made_design c = SMALL;
    c.effects = true;
    c.d = 4;
    c.untouched = 2;
    calibrate(&c, 60, 900, 4718);
}

static void test_calibrated_effects_noisy(void **state)
{
    (void)state;
    made_design c = SMALL;
    c.effects = true;
    c.untouched = 1;
    c.actuator = 0;
    c.x_noise = 0.05;
    calibrate(&c, 80, 900, 4719);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calibrated),
        cmocka_unit_test(test_calibrated_equal),
        cmocka_unit_test(test_calibrated_unlabelled),
        cmocka_unit_test(test_calibrated_two),
        cmocka_unit_test(test_calibrated_hole),
        cmocka_unit_test(test_calibrated_noisy),
        cmocka_unit_test(test_calibrated_effects),
        cmocka_unit_test(test_calibrated_effects_two),
        cmocka_unit_test(test_calibrated_effects_noisy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
