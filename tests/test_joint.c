/* Encoder, graph and mechanisms drawn together: against the exact posterior where labels are nearly
 * exact; nodes without labels; promises. */
#include "made_joint.h"

#include <omp.h>

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

/* The same where sets have intercepts of their own; and so has P(tau_i = 0), which is what is left
 * of the evidence when node i has no other level. */
static void test_exact_effects(void **state)
{
    (void)state;
    lcg g = {13};
    static const made_design cases[] = {
        {.d = 3, .observational = 30, .sets = 6, .per_set = 9, .single = true},
        {.d = 4, .observational = 30, .sets = 9, .per_set = 8},
        {.d = 3, .observational = 30, .sets = 6, .per_set = 9, .single = true, .tau = 1},
        {.d = 4, .observational = 30, .sets = 9, .per_set = 8, .plain = true, .tau = 0.3},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bench b;
        made_design c = cases[k];
        c.value = 2;
        c.actuator = 1e-6;
        c.ridge = 0.1;
        c.dof = 3;
        c.edge = 0.4;
        c.effects = true;
        open_bench(&b, &c, &g, NULL, NULL);
        solve(&b, b.m.z, &b.problem.mechanisms.prior, NULL, NULL);
        b.problem.mechanisms.family = b.families.list;
        sample(&b, 4, 900, 1600, 7);
        for (size_t e = 0; e < c.d * c.d; e++) {
            assert_near(share_of(&b, e / c.d, e % c.d), b.edge_prob[e], 0.07);
        }
        for (size_t i = 0; i < c.d; i++) {
            dag_draws start = {MOST_CHAINS, c.d, b.parents, b.order};
            dag_result without = {0};
            double none = 0;
            size_t levels = b.families.list[i].levels;
            assert_int_equal(levels, FAMILY_LEVELS);
            b.families.list[i].levels = 1;
            assert_ok(
                dag_exact(&(dag_problem){&b.problem.mechanisms, NULL, (rng){1, 1}, NULL, NULL},
                          &start, &without, &why));
            b.families.list[i].levels = levels;
            for (size_t n = 0; n < b.draws.count; n++) {
                none += b.draws.effect[n * c.d + i] == 0 ? 1 / (double)b.draws.count : 0;
            }
            assert_near(none, exp(without.log_evidence - b.exact.log_evidence), 0.07);
        }
        close_bench(&b);
    }
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

/* k -> u -> {i, j} and k -> {i, j} <- u, u without labels, are far apart for moves of one edge, or
 * of weights that are known. Chains, each by itself, say the same of edges between nodes with
 * labels: their shares differ by .16 in the worst case, by .37 where such moves are all there is.
 */
static void test_modes(void **state)
{
    (void)state;
    enum { ROUNDS = 3, EACH = 400, TOUCHED = 5 };
    lcg g = {1};
    double apart = 0;
    for (int round = 0; round < ROUNDS; round++) {
        bench b;
        double worst = 0;
        made_design c = {.d = 10,
                         .observational = 200,
                         .sets = 15,
                         .per_set = 40,
                         .untouched = 10 - TOUCHED,
                         .single = true,
                         .plain = true,
                         .value = 2,
                         .actuator = 0.01,
                         .ridge = 0.1,
                         .dof = 3,
                         .edge = 0.25};
        open_bench(&b, &c, &g, NULL, NULL);
        sample(&b, MOST_CHAINS, 900, MOST_CHAINS * EACH, 3);
        for (size_t e = 0; e < TOUCHED * TOUCHED; e++) {
            double least = 1;
            double most = 0;
            for (size_t chain = 0; chain < MOST_CHAINS; chain++) {
                double share = 0;
                for (size_t k = chain * EACH; k < (chain + 1) * EACH; k++) {
                    double w = b.draws.w[(k * c.d + e / TOUCHED) * c.d + e % TOUCHED];
                    share += w != 0 ? 1.0 / EACH : 0;
                }
                least = fmin(least, share);
                most = fmax(most, share);
            }
            worst = fmax(worst, most - least);
        }
        apart += worst / ROUNDS;
        close_bench(&b);
    }
    assert_true(apart < 0.25);
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
        cmocka_unit_test(test_exact_effects), cmocka_unit_test(test_exact),
        cmocka_unit_test(test_start),         cmocka_unit_test(test_unlabelled),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_knowledge),
        cmocka_unit_test(test_order),         cmocka_unit_test(test_unmixed),
        cmocka_unit_test(test_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
