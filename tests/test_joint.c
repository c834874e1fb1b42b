/* Encoder, graph and mechanisms drawn together: against the exact posterior where labels are nearly
 * exact, and calibrated on data drawn from the prior (ranks of the truth among draws are uniform).
 */
#include "infer/anchored/anchored.h"
#include "infer/encoder/encoder.h"
#include "infer/sample/sample.h"
#include "made_linear_view.h"

#include "testing.h"

#include <omp.h>

enum { MOST_DRAWS = 2000, MOST_CHAINS = 4 };

static lscm_error why;

/* A problem, and room for its draws. */
typedef struct bench {
    made_signal m;
    anchor anchor;
    view_scatter scatter;
    families families;
    double unit[MADE_MOST], slope[MADE_MOST * MADE_MOST], edge_prob[MADE_MOST * MADE_MOST];
    joint_problem problem;
    dag_result exact; /* at the z of the anchors */
    uint32_t parents[MOST_CHAINS * MADE_MOST];
    size_t order[MOST_CHAINS * MADE_MOST];
    joint_draws draws;
} bench;

static void *zeros(size_t count, size_t size)
{
    void *p = calloc(count, size);
    assert_non_null(p);
    return p;
}

/* Families over the rows of z, all nodes candidates but for forbidden (d, d); the exact posterior.
 */
static void solve(bench *b, const double *z, const dag_prior *prior, const uint8_t *forbidden,
                  const uint8_t *required)
{
    size_t d = b->m.s.d;
    size_t count[MADE_MOST] = {0};
    size_t candidate[MADE_MOST * MADE_MOST];
    dag_draws start = {MOST_CHAINS, d, b->parents, b->order};
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            if (j != i && (forbidden == NULL || forbidden[j * d + i] == 0)) {
                candidate[i * d + count[i]++] = j;
            }
        }
    }
    b->exact.edge_prob = b->edge_prob;
    families_close(&b->families);
    assert_ok(families_of(&b->families, &(latent_rows){&b->m.s.design, z, NULL, false},
                          &(candidate_lists){d, count, candidate, required}, &why));
    assert_ok(dag_exact(&(dag_problem){&(mechanisms){&linear_gaussian, d, b->families.list, *prior},
                                       NULL, (rng){1, 1}, NULL},
                        &start, &b->exact, &why));
}

static void open_bench(bench *b, const made_design *c, lcg *g, const uint8_t *forbidden,
                       const uint8_t *required)
{
    size_t d = c->d;
    *b = (bench){.m = made_signal_of(c, g)};
    for (size_t i = 0; i < MADE_MOST; i++) {
        b->unit[i] = 1;
    }
    dag_prior prior = {.ridge = c->ridge,
                       .dof = c->dof,
                       .log_odds = log(c->edge / (1 - c->edge)),
                       .variance = c->equal ? 0.05 : 0,
                       .unit = b->unit,
                       .spread = c->spread};
    double *z = zeros(b->m.s.rows * d, sizeof *z);
    assert_ok(anchor_of(&b->anchor, &b->m.s, NULL, &why));
    assert_ok(encoder_complete(&b->m.s, NULL, &b->anchor, b->slope, &why));
    anchor_apply(&b->m.s, b->anchor.intercept, b->slope, z);
    solve(b, z, &prior, forbidden, required);
    free(z);
    assert_ok(view_scatter_of(&b->scatter, &b->m.s, NULL, &why));
    b->problem = (joint_problem){.view = &b->m.s,
                                 .anchor = &b->anchor,
                                 .slope = b->slope,
                                 .scatter = &b->scatter,
                                 .mechanisms = {&linear_gaussian, d, b->families.list, prior},
                                 .equal = c->equal,
                                 .noisy = c->x_noise > 0,
                                 .interchangeable = forbidden == NULL && required == NULL};
    b->draws = (joint_draws){.order = zeros(MOST_DRAWS * d, sizeof(size_t)),
                             .w = zeros(MOST_DRAWS * d * d, sizeof(double)),
                             .sigma = zeros(MOST_DRAWS * d, sizeof(double)),
                             .intercept = zeros(MOST_DRAWS * d, sizeof(double)),
                             .log_p = zeros(MOST_DRAWS, sizeof(double)),
                             .shift = zeros(MOST_DRAWS * d, sizeof(double)),
                             .slope = zeros(MOST_DRAWS * d * d, sizeof(double))};
}

static void sample(bench *b, size_t chains, size_t sweeps, size_t draws, uint64_t seed)
{
    dag_draws start = {chains, b->m.s.d, b->parents, b->order};
    joint_settings settings = {.chains = chains, .sweeps = sweeps};
    b->draws.count = draws;
    assert_ok(joint_sample(&b->problem, &settings, &start, (rng){seed, 5}, &b->draws, NULL, &why));
}

static void close_bench(bench *b)
{
    free(b->draws.order);
    free(b->draws.w);
    free(b->draws.sigma);
    free(b->draws.intercept);
    free(b->draws.log_p);
    free(b->draws.shift);
    free(b->draws.slope);
    families_close(&b->families);
    view_scatter_close(&b->scatter);
    anchor_close(&b->anchor);
    made_signal_free(&b->m);
}

static double share_of(const bench *b, size_t from, size_t to)
{
    size_t d = b->m.s.d;
    double sum = 0;
    for (size_t k = 0; k < b->draws.count; k++) {
        sum += b->draws.w[(k * d + from) * d + to] != 0 ? 1 : 0;
    }
    return sum / (double)b->draws.count;
}

/* Labels that are right to a millionth leave nothing to the encoder. */
static void test_exact(void **state)
{
    (void)state;
    lcg g = {12};
    static const made_design cases[] = {
        {.d = 4, .observational = 30, .sets = 8, .per_set = 8, .edge = 0.4},
        {.d = 4, .observational = 30, .sets = 8, .per_set = 8, .edge = 0.4, .plain = true},
        {.d = 3, .observational = 10, .sets = 6, .per_set = 7, .edge = 0.5, .single = true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (int round = 0; round < 3; round++) {
            bench b;
            made_design c = cases[k];
            c.value = 2;
            c.actuator = 1e-6;
            c.ridge = 0.1;
            c.dof = 3;
            open_bench(&b, &c, &g, NULL, NULL);
            solve(&b, b.m.z, &b.problem.mechanisms.prior, NULL, NULL);
            b.problem.mechanisms.family = b.families.list;
            sample(&b, 4, 600, 1600, 7);
            for (size_t e = 0; e < c.d * c.d; e++) {
                assert_near(share_of(&b, e / c.d, e % c.d), b.edge_prob[e], 0.07);
            }
            close_bench(&b);
        }
    }
}

/* ---- Calibration ---- */

enum { RANKS = 49, BINS = 10 };

typedef struct tally {
    double bin[BINS], count;
} tally;

/* The rank of the truth among draws, ties broken at random. */
static void put(tally *t, double truth, const double *draw, size_t stride, lcg *g)
{
    size_t below = 0;
    size_t ties = 0;
    for (size_t k = 0; k < RANKS; k++) {
        assert_true(isfinite(draw[k * stride]));
        below += draw[k * stride] < truth ? 1 : 0;
        ties += draw[k * stride] == truth ? 1 : 0;
    }
    size_t rank = below + lcg_below(g, ties + 1);
    t->bin[rank * BINS / (RANKS + 1)] += 1;
    t->count += 1;
}

/* chi2 with 9 degrees of freedom is over 33.7 once in 10 000 times. */
static void assert_uniform(const tally *t, const char *what)
{
    double chi2 = 0;
    for (int b = 0; b < BINS; b++) {
        double left = t->bin[b] - t->count / BINS;
        chi2 += left * left / (t->count / BINS);
    }
    if (!(chi2 < 33.7)) {
        print_error("ranks of %s are not uniform: chi2(9) = %.1f\n", what, chi2);
        for (int b = 0; b < BINS; b++) {
            print_error(" %.3f", t->bin[b] / t->count);
        }
        print_error("\n");
        fail();
    }
}

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
    if (c->untouched > 0) {
        assert_uniform(&unlabelled, "noise of nodes without labels");
        assert_uniform(&open, "weights of nodes without labels");
    }
}

static const made_design SMALL = {.d = 3,
                                  .observational = 12,
                                  .sets = 6,
                                  .per_set = 8,
                                  .single = true,
                                  .value = 2,
                                  .actuator = 0.03,
                                  .ridge = 0.1,
                                  .dof = 3,
                                  .edge = 0.5};

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

/* ---- Nodes without labels ---- */

/* What their columns begin with is what do() leaves alone: their noises, up to a rotation. Of the
 * true noise of each, the columns that are found, which have sd 1 and are not correlated, explain
 * the sum of their squared correlations with it. */
static void test_start(void **state)
{
    (void)state;
    lcg g = {78};
    for (int round = 0; round < 4; round++) {
        bench b;
        made_design c = {.d = 5,
                         .observational = 300,
                         .sets = round < 2 ? 6 : 12,
                         .per_set = 200,
                         .untouched = 2,
                         .single = round < 2,
                         .plain = true,
                         .value = 2,
                         .ridge = 0.1,
                         .dof = 3,
                         .edge = 0.6};
        open_bench(&b, &c, &g, NULL, NULL);
        double n = (double)b.m.s.rows;
        for (size_t u = 3; u < 5; u++) {
            double cross[2] = {0};
            double sum = 0;
            double squares = 0;
            for (int pass = 0; pass < 2; pass++) { /* mean of e, then what is about it */
                for (size_t row = 0; row < b.m.s.rows; row++) {
                    double e = b.m.z[row * 5 + u];
                    double found[2] = {0};
                    for (size_t k = 0; k < 5; k++) {
                        e -= b.m.z[row * 5 + k] * b.m.w[k * 5 + u];
                        found[0] += b.m.s.y[row * 5 + k] * b.slope[k * 5 + 3];
                        found[1] += b.m.s.y[row * 5 + k] * b.slope[k * 5 + 4];
                    }
                    sum += pass == 0 ? e : 0;
                    squares += pass == 0 ? 0 : (e - sum / n) * (e - sum / n);
                    cross[0] += pass == 0 ? 0 : (e - sum / n) * found[0];
                    cross[1] += pass == 0 ? 0 : (e - sum / n) * found[1];
                }
            }
            assert_near((cross[0] * cross[0] + cross[1] * cross[1]) / (n * squares), 1, 0.03);
        }
        close_bench(&b);
    }
}

/* Two of them are alike in every way, and no edge of theirs is certain. */
static void test_unlabelled(void **state)
{
    (void)state;
    lcg g = {77};
    bench b;
    made_design c = {.d = 4,
                     .observational = 100,
                     .sets = 8,
                     .per_set = 20,
                     .untouched = 2,
                     .plain = true,
                     .value = 2,
                     .actuator = 0.01,
                     .ridge = 0.1,
                     .dof = 3,
                     .edge = 0.6};
    open_bench(&b, &c, &g, NULL, NULL);
    sample(&b, 4, 1200, 1600, 3);
    for (size_t j = 0; j < 2; j++) {
        assert_near(share_of(&b, 2, j), share_of(&b, 3, j), 0.08);
        assert_near(share_of(&b, j, 2), share_of(&b, j, 3), 0.08);
    }
    assert_near(share_of(&b, 2, 3), share_of(&b, 3, 2), 0.08);
    for (size_t e = 0; e < c.d * c.d; e++) {
        double positive = 0;
        double present = 0;
        for (size_t k = 0; k < b.draws.count; k++) {
            double w = b.draws.w[k * c.d * c.d + e];
            present += w != 0 ? 1 : 0;
            positive += w > 0 ? 1 : 0;
        }
        if ((e / c.d > 1) != (e % c.d > 1)) { /* one of the two ends has no sign */
            assert_true(present < 0.95 * (double)b.draws.count);
            assert_near(positive, present / 2, 0.05 * (double)b.draws.count);
        }
    }
    close_bench(&b);
}

/* ---- Promises ---- */

static void test_threads(void **state)
{
    (void)state;
    lcg g = {5};
    bench b;
    made_design c = SMALL;
    int before = omp_get_max_threads();
    size_t n = 200 * c.d * c.d;
    double *w = zeros(n, sizeof *w);
    double *slope = zeros(n, sizeof *slope);
    c.untouched = 1;
    open_bench(&b, &c, &g, NULL, NULL);
    omp_set_num_threads(1);
    sample(&b, 4, 90, 200, 1);
    memcpy(w, b.draws.w, n * sizeof *w);
    memcpy(slope, b.draws.slope, n * sizeof *slope);
    memset(b.draws.w, 0, n * sizeof *w);
    omp_set_num_threads(2);
    sample(&b, 4, 90, 200, 1);
    omp_set_num_threads(before);
    assert_memory_equal(w, b.draws.w, n * sizeof *w);
    assert_memory_equal(slope, b.draws.slope, n * sizeof *slope);
    sample(&b, 4, 90, 200, 2); /* and another seed gives others */
    assert_memory_not_equal(w, b.draws.w, n * sizeof *w);
    free(w);
    free(slope);
    close_bench(&b);
}

/* Every draw has the required edges and not the forbidden ones, in an order that its edges follow;
 * with one variance for all, one sigma. */
static void test_knowledge(void **state)
{
    (void)state;
    lcg g = {21};
    for (int round = 0; round < 4; round++) {
        bench b;
        made_design c = SMALL;
        c.d = 4;
        c.equal = round % 2 == 1;
        c.untouched = round < 2 ? 0 : 1;
        uint8_t forbidden[16] = {0};
        uint8_t required[16] = {0};
        required[2 * 4 + 0] = 1;
        forbidden[1 * 4 + 3] = forbidden[3 * 4 + 1] = 1;
        open_bench(&b, &c, &g, forbidden, required);
        sample(&b, 2, 300, 400, 1);
        assert_near(share_of(&b, 2, 0), 1, 0);
        assert_near(share_of(&b, 1, 3) + share_of(&b, 3, 1), 0, 0);
        for (size_t k = 0; k < b.draws.count; k++) {
            size_t position[4];
            for (size_t i = 0; i < 4; i++) {
                position[b.draws.order[k * 4 + i]] = i;
            }
            for (size_t e = 0; e < 16; e++) {
                assert_true(b.draws.w[k * 16 + e] == 0 || position[e / 4] < position[e % 4]);
                assert_true(!c.equal || b.draws.sigma[k * 4 + e % 4] == b.draws.sigma[k * 4]);
            }
            assert_true(isfinite(b.draws.log_p[k]));
        }
        close_bench(&b);
    }
}

/* An order that is given stays. */
static void test_order(void **state)
{
    (void)state;
    lcg g = {22};
    bench b;
    uint8_t against[9] = {0};
    const size_t order[] = {2, 0, 1};
    against[0 * 3 + 2] = against[1 * 3 + 2] = against[1 * 3 + 0] = 1;
    open_bench(&b, &SMALL, &g, against, NULL);
    for (size_t chain = 0; chain < 2; chain++) {
        memcpy(b.order + chain * 3, order, sizeof order);
    }
    b.problem.order = order;
    sample(&b, 2, 300, 400, 1);
    for (size_t k = 0; k < b.draws.count; k++) {
        assert_memory_equal(b.draws.order + k * 3, order, sizeof order);
        assert_true(b.draws.w[k * 9 + 2] == 0 && b.draws.w[k * 9 + 5] == 0 &&
                    b.draws.w[k * 9 + 3] == 0);
    }
    close_bench(&b);
}

/* Edge probabilities of chains that stand still, one of them in a mode of its own, and some of
 * which went on from another's place: none is sure; an edge that is not a candidate stays out, one
 * that is required in. */
static void test_unmixed(void **state)
{
    (void)state;
    enum { D = 3, DRAWS = 400, CHAINS = 4 };
    static double w[DRAWS * D * D], edge_prob[D * D], series[DRAWS];
    const size_t candidate[D][D] = {{1}, {0, 2}, {0, 1}};
    family list[D] = {{.node = 0, .count = 1, .candidate = candidate[0]},
                      {.node = 1, .count = 1, .candidate = candidate[1]},
                      {.node = 2, .count = 2, .candidate = candidate[2], .required = 1}};
    mechanisms m = {&linear_gaussian, D, list, {.ridge = 1}};
    for (size_t k = 0; k < DRAWS; k++) {
        w[k * D * D + (k < DRAWS / CHAINS ? 1 * D + 0 : 0 * D + 1)] = 0.5; /* 1 -> 0, 0 -> 1 */
        w[k * D * D + 1 * D + 2] = 0.7;                                    /* 1 -> 2 in all */
        w[k * D * D + 0 * D + 2] = 0.3;                                    /* 0 -> 2, required */
    }
    anchored a = {.d = D, .draws = DRAWS, .w = w, .edge_prob = edge_prob};
    anchored_take_edges(&a, &m, CHAINS, 0, series);
    assert_true(a.r_hat > 10);
    assert_true(edge_prob[1 * D + 2] > 0.5 && edge_prob[1 * D + 2] < 0.99);
    assert_true(edge_prob[0 * D + 1] > 0.5 && edge_prob[0 * D + 1] < edge_prob[1 * D + 2]);
    assert_true(edge_prob[1 * D + 0] > 0.01 && edge_prob[1 * D + 0] < 0.5);
    assert_near(edge_prob[0 * D + 2], 1, 0);
    assert_near(edge_prob[2 * D + 1], 0, 0);
    for (size_t k = 0; k < DRAWS; k++) { /* all in one place, by themselves or not */
        w[k * D * D + 1 * D + 0] = 0;
        w[k * D * D + 0 * D + 1] = 0.5;
    }
    anchored_take_edges(&a, &m, CHAINS, 0, series);
    assert_true(edge_prob[0 * D + 1] > 0.99 && edge_prob[1 * D + 0] < 0.01);
    anchored_take_edges(&a, &m, CHAINS, 3, series);
    assert_true(edge_prob[0 * D + 1] < 0.99 && edge_prob[1 * D + 0] > 0.01);
    assert_int_equal(a.replaced, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_calibrated),
        cmocka_unit_test(test_calibrated_equal),
        cmocka_unit_test(test_calibrated_unlabelled),
        cmocka_unit_test(test_calibrated_two),
        cmocka_unit_test(test_calibrated_noisy),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_unlabelled),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_knowledge),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_unmixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
