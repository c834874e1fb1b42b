/* The exact posterior over DAGs against all DAGs of up to 5 nodes, against the prior where there
 * are no rows, and against itself on parts; its draws against its probabilities; linear extensions
 * against counting. */
#include "dag_testing.h"

#include <omp.h>

static const dag_draws NONE = {0};

static void check_against_all(const made_families *m, const size_t *order, double tolerance)
{
    dag_yardstick truth;
    enumerate_dags(&truth, m->f, m->d, &m->prior, order, NULL, NULL);
    dag_result out = exact(m, order, &NONE);
    assert_near(out.log_evidence, truth.log_evidence, tolerance * (1 + fabs(truth.log_evidence)));
    for (size_t k = 0; k < m->d * m->d; k++) {
        assert_near(edge_prob[k], truth.edge_prob[k], tolerance);
        assert_true(edge_prob[k] >= 0 && edge_prob[k] <= 1);
    }
}

static void every_dag(void **state)
{
    (void)state;
    const size_t dags[] = {1, 1, 3, 25, 543, 29281};
    const size_t given[] = {3, 1, 4, 0, 2};
    for (size_t d = 1; d <= 5; d++) {
        size_t order[5];
        size_t n = 0;
        for (size_t k = 0; k < 5; k++) {
            order[n] = given[k];
            n += given[k] < d ? 1 : 0;
        }
        for (size_t rows = 0; rows <= 200; rows = 10 * rows + 20) {
            made_families m;
            dag_yardstick truth;
            made_families_of(&m, d, rows, 1, 1, 10 * d + rows);
            enumerate_dags(&truth, m.f, d, &m.prior, NULL, NULL, NULL);
            assert_int_equal(truth.dags, dags[d]);
            check_against_all(&m, NULL, 1e-10);
            check_against_all(&m, order, 1e-10);
            m.prior.variance = 0.9;
            check_against_all(&m, NULL, 1e-10);
            check_against_all(&m, order, 1e-10);
        }
    }
}

static void forbidden_and_required(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        made_families m;
        made_families_of(&m, 5, 15, 1, 0.25 + 0.05 * (double)seed, seed);
        m.prior.variance = seed % 3 == 0 ? 0.9 : 0;
        /* one forward edge of some nodes, which no cycle can be made of */
        for (size_t i = 2; i < 5; i++) {
            for (uint32_t c = 0; c < m.f[i].count && m.f[i].required == 0; c++) {
                m.f[i].required = m.f[i].candidate[c] < i && seed % i == 0 ? (uint32_t)1 << c : 0;
            }
        }
        check_against_all(&m, NULL, 1e-10);
        const size_t order[] = {0, 1, 2, 3, 4};
        check_against_all(&m, order, 1e-10);
    }
}

/* Some edges known to be there, others not to be: the graphs that are left, and draws of them
 * alone.
 */
static void known_edges(void **state)
{
    (void)state;
    enum { D = 5, MANY = 400 };
    static uint32_t parents[MANY * D];
    static size_t order[MANY * D];
    const uint32_t may[D] = {0xa, 0xf, 0x7, 0x0, 0xb};
    const uint32_t must[D] = {0x0, 0x4, 0x3, 0x0, 0x2};
    for (uint64_t seed = 1; seed <= 4; seed++) {
        made_families m;
        made_families_of(&m, D, 15, 1, 1, seed);
        m.prior.hole = seed % 2 == 0;
        m.prior.spread = seed > 2 ? 10 : 0;
        dag_result out = {.edge_prob = edge_prob};
        dag_draws draws = {MANY, D, parents, order};
        mechanisms all = {&linear_gaussian, D, m.f, m.prior};
        assert_ok(dag_exact_known(&(dag_problem){&all, NULL, R, NULL, NULL},
                                  &(dag_known){may, must}, &draws, &out, &why));
        /* what is left, written down again: candidates of node i are the others in turn */
        family_room room[D];
        family list[D];
        double share[D * D] = {0};
        for (size_t i = 0; i < D; i++) {
            family f = m.f[i];
            f.required = must[i];
            linear_gaussian.narrow(&room[i], &f, may[i]);
            list[i] = room[i].f;
        }
        dag_yardstick truth;
        enumerate_dags(&truth, list, D, &m.prior, NULL, NULL, NULL);
        assert_near(out.log_evidence, truth.log_evidence, 1e-9 * fabs(truth.log_evidence));
        for (size_t k = 0; k < (size_t)MANY * D; k++) {
            size_t i = k % D;
            assert_true((parents[k] & ~may[i]) == 0 && (parents[k] & must[i]) == must[i]);
            for (size_t c = 0; c < D - 1; c++) {
                share[(c < i ? c : c + 1) * D + i] += (double)(parents[k] >> c & 1) / MANY;
            }
        }
        for (size_t e = 0; e < (size_t)D * D; e++) {
            assert_near(edge_prob[e], truth.edge_prob[e], 1e-10);
            assert_near(share[e], truth.edge_prob[e], 0.1);
        }
    }
}

/* A million rows: scores of millions, all but a few graphs thousands of nats away. */
static void extreme_scores(void **state)
{
    (void)state;
    const size_t order[] = {4, 3, 2, 1, 0};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        made_families m;
        made_families_of(&m, 5, 100, 1e4, 1, seed);
        check_against_all(&m, NULL, 1e-8);
        check_against_all(&m, order, 1e-8);
        m.prior.variance = 0.9;
        check_against_all(&m, NULL, 1e-8);
        /* weak data seen against a strong pull: the only order that counts is a bad one */
        m.f[0].required = 0xf;
        check_against_all(&m, NULL, 1e-8);
    }
}

/* The same graph twice, on even and on odd nodes that know nothing of each other. */
static void parts_do_not_mix(void **state)
{
    (void)state;
    made_families small;
    made_families big = {.d = 10};
    made_families_of(&small, 5, 20, 1, 0.9, 77);
    big.prior = small.prior;
    big.prior.unit = big.unit;
    for (size_t i = 0; i < 10; i++) {
        big.unit[i] = small.unit[i / 2];
        big.f[i] = small.f[i / 2];
        big.f[i].node = i;
        big.f[i].candidate = big.store[i].candidate;
        for (size_t c = 0; c < big.f[i].count; c++) {
            big.store[i].candidate[c] = 2 * small.f[i / 2].candidate[c] + i % 2;
        }
    }
    dag_yardstick truth;
    enumerate_dags(&truth, small.f, 5, &small.prior, NULL, NULL, NULL);
    dag_result out = exact(&big, NULL, &NONE);
    assert_near(out.log_evidence, 2 * truth.log_evidence, 1e-9);
    for (size_t j = 0; j < 10; j++) {
        for (size_t i = 0; i < 10; i++) {
            double expected = j % 2 == i % 2 ? truth.edge_prob[j / 2 * 5 + i / 2] : 0;
            assert_near(edge_prob[j * 10 + i], expected, 1e-10);
        }
    }
}

/* Without rows: an edge is there when its nodes stand that way round, and then with probability p.
 */
static void the_prior(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 13; d += 3) {
        made_families m;
        made_families_of(&m, d, 0, 1, 1, 3);
        dag_result out = exact(&m, NULL, &NONE);
        double odds = exp(m.prior.log_odds);
        double n = (double)d;
        assert_near(out.log_evidence, n * (n - 1) / 2 * log1p(odds), 1e-10);
        for (size_t k = 0; k < d * d; k++) {
            assert_near(edge_prob[k], k % (d + 1) == 0 ? 0 : 0.5 * odds / (1 + odds), 1e-10);
        }
    }
}

static void same_for_any_thread_count(void **state)
{
    (void)state;
    enum { D = 11, MANY = 50 };
    static uint32_t parents[2][MANY * D];
    static size_t orders[2][MANY * D];
    double edges[2][D * D];
    made_families m;
    made_families_of(&m, D, 30, 1, 0.9, 5);
    int before = omp_get_max_threads();
    for (size_t k = 0; k < 2; k++) {
        omp_set_num_threads(k == 0 ? 1 : 3);
        const dag_draws draws = {MANY, D, parents[k], orders[k]};
        exact(&m, NULL, &draws);
        memcpy(edges[k], edge_prob, sizeof edges[k]);
    }
    omp_set_num_threads(before);
    assert_memory_equal(edges[0], edges[1], sizeof edges[0]);
    assert_memory_equal(parents[0], parents[1], sizeof parents[0]);
    assert_memory_equal(orders[0], orders[1], sizeof orders[0]);
}

/* Numbers thousands of nats apart, summed one by one. */
static void sums_over_subsets(void **state)
{
    (void)state;
    enum { COUNT = 7, SIZE = 1 << COUNT };
    _Alignas(64) static double f[SIZE];
    _Alignas(64) static double partial[SIZE];
    _Alignas(64) static double total[SIZE];
    _Alignas(64) static double scratch[SIZE];
    lcg g = {4};
    for (size_t count = 0; count <= COUNT; count++) {
        for (size_t s = 0; s < SIZE; s++) {
            f[s] = lcg_uniform(&g) < 0.1 ? -INFINITY : -3000 * (s % 5 == 0) - lcg_uniform(&g);
            f[s] -= count == 6 ? 1e7 : 0;
        }
        size_t low = count < 4 ? 3 : count - 1;
        subset_sums(f, count, low, partial, total, scratch);
        for (uint32_t s = 0; s < (uint32_t)1 << count; s++) {
            double top[2] = {-INFINITY, -INFINITY};
            double sum[2] = {0};
            for (uint32_t t = 0; t <= s; t++) {
                bool part = (t & ~s) == 0;
                for (size_t k = 0; k < 2 && part; k++) {
                    top[k] = k == 0 || t >> low == s >> low ? fmax(top[k], f[t]) : top[k];
                }
            }
            for (uint32_t t = 0; t <= s; t++) {
                bool part = (t & ~s) == 0 && f[t] > -INFINITY;
                sum[0] += part ? exp(f[t] - top[0]) : 0;
                sum[1] += part && t >> low == s >> low ? exp(f[t] - top[1]) : 0;
            }
            double expected = top[0] + log(sum[0]);
            assert_true(sum[0] > 0 ? fabs(total[s] - expected) <= 1e-15 * (10 + fabs(expected))
                                   : total[s] == -INFINITY);
            expected = top[1] + log(sum[1]);
            assert_true(sum[1] > 0 ? fabs(partial[s] - expected) <= 1e-15 * (10 + fabs(expected))
                                   : partial[s] == -INFINITY);
        }
    }
}

static bool stop(void *self, const char *what, uint64_t done, uint64_t total)
{
    (void)what;
    (void)total;
    return done < *(uint64_t *)self;
}

static lscm_status attempt(const made_families *m, size_t d, const size_t *order,
                           const lscm_progress *progress)
{
    const mechanisms all = {&linear_gaussian, d, m->f, m->prior};
    dag_result out = {.edge_prob = edge_prob};
    return dag_exact(&(dag_problem){&all, order, R, progress, NULL}, &NONE, &out, &why);
}

static void refusals(void **state)
{
    (void)state;
    made_families m;
    made_families_of(&m, 4, 20, 1, 1, 6);
    m.f[0].required = 1; /* 1 -> 0 */
    m.f[1].required = 2; /* 2 -> 1 */
    m.f[2].required = 1; /* 0 -> 2 */
    assert_fails(attempt(&m, 4, NULL, NULL), LSCM_VALUE, "round in a circle");
    const size_t order[] = {2, 1, 0, 3};
    assert_fails(attempt(&m, 4, order, NULL), LSCM_VALUE,
                 "the edge 0 -> 2 is required, but the given order has 0 after 2");
    m.f[2].required = 0;
    for (uint64_t at = 0; at <= 4; at++) {
        const lscm_progress progress = {stop, &at};
        assert_fails(attempt(&m, 4, NULL, &progress), LSCM_STOPPED, "stopped");
        assert_fails(attempt(&m, 4, order, &progress), LSCM_STOPPED, "stopped");
    }
    m.store[3].scatter[2] = NAN;
    assert_fails(attempt(&m, 4, NULL, NULL), LSCM_VALUE, "node 3 are not finite");
    assert_fails(attempt(&m, 21, NULL, NULL), LSCM_VALUE, "1 to 20 nodes, not 21");
    m.f[0].count = FAMILY_MOST + 1;
    assert_fails(attempt(&m, 4, order, NULL), LSCM_VALUE, "node 0 has 24 candidate parents");
}

/* Whoever does without edge probabilities gets the same evidence and draws. */
static void without_edges(void **state)
{
    (void)state;
    enum { COUNT = 50 };
    const size_t given[] = {3, 1, 4, 0, 2, 5};
    for (int ordered = 0; ordered < 2; ordered++) {
        uint32_t parents[2][COUNT * 6];
        size_t orders[2][COUNT * 6];
        const size_t *order = ordered != 0 ? given : NULL;
        made_families m;
        made_families_of(&m, 6, 40, 1, 1, 77);
        dag_result with = exact(&m, order, &(dag_draws){COUNT, 6, parents[0], orders[0]});
        dag_result out = {0};
        const dag_draws draws = {COUNT, 6, parents[1], orders[1]};
        const mechanisms all = {&linear_gaussian, 6, m.f, m.prior};
        assert_ok(dag_exact(&(dag_problem){&all, order, R, NULL, NULL}, &draws, &out, &why));
        assert_true(out.log_evidence == with.log_evidence);
        assert_memory_equal(parents[0], parents[1], sizeof parents[0]);
        assert_memory_equal(orders[0], orders[1], sizeof orders[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_edges),
        cmocka_unit_test(sums_over_subsets),
        cmocka_unit_test(every_dag),
        cmocka_unit_test(forbidden_and_required),
        cmocka_unit_test(known_edges),
        cmocka_unit_test(extreme_scores),
        cmocka_unit_test(parts_do_not_mix),
        cmocka_unit_test(the_prior),
        cmocka_unit_test(same_for_any_thread_count),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
