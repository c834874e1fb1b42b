/* Draws of DAGs against the probability of every DAG of four nodes, and against edge probabilities
 * beyond; linear extensions against counting, and the uniform prior they lead to. */
#include "dag_testing.h"

enum { DRAWS = 20000, DAG_CELLS = 4096 };

typedef struct histogram {
    double weight[DAG_CELLS], drawn[DAG_CELLS], log_evidence;
} histogram;

/* Of four nodes with three candidates each. */
static size_t cell_of(const uint32_t *parents)
{
    return parents[0] | parents[1] << 3 | parents[2] << 6 | parents[3] << 9;
}

static void fill_cell(void *self, const uint32_t *parents, double log_weight, double orders)
{
    histogram *h = self;
    (void)orders;
    h->weight[cell_of(parents)] = exp(log_weight - h->log_evidence);
}

/* Pearson's statistic over graphs that are expected five times or more; the rest are one cell. */
static void check_histogram(const histogram *h)
{
    double statistic = 0;
    double cells = 0;
    double rare[2] = {0};
    for (size_t k = 0; k < DAG_CELLS; k++) {
        double expected = h->weight[k] * DRAWS;
        if (expected >= 5) {
            statistic += (h->drawn[k] - expected) * (h->drawn[k] - expected) / expected;
            cells += 1;
        } else {
            rare[0] += h->drawn[k];
            rare[1] += expected;
            assert_true(h->drawn[k] == 0 || expected > 0);
        }
    }
    assert_true(cells > 20);
    assert_near(rare[0], rare[1], 5 * sqrt(rare[1]) + 1e-6);
    assert_near(statistic, cells, 4 * sqrt(2 * cells));
}

static void draws_are_exact(void **state)
{
    (void)state;
    static uint32_t parents[DRAWS * 4];
    static size_t orders[DRAWS * 4];
    static histogram h;
    const dag_draws draws = {DRAWS, 4, parents, orders};
    const size_t given[] = {2, 0, 3, 1};
    made_families m;
    made_families_of(&m, 4, 6, 1, 1, 21);
    for (size_t pass = 0; pass < 2; pass++) {
        const size_t *order = pass == 0 ? NULL : given;
        dag_yardstick truth;
        h = (histogram){0};
        enumerate_dags(&truth, m.f, 4, &m.prior, order, NULL, NULL);
        h.log_evidence = truth.log_evidence + (order == NULL ? lgamma(5) : 0);
        enumerate_dags(&truth, m.f, 4, &m.prior, order, fill_cell, &h);
        exact(&m, order, &draws);
        double first[4] = {0};
        for (size_t k = 0; k < DRAWS; k++) {
            uint32_t nodes[4] = {0};
            for (size_t i = 0; i < 4; i++) {
                for (size_t c = 0; c < 3; c++) {
                    nodes[i] |= (parents[4 * k + i] >> c & 1) << m.f[i].candidate[c];
                }
            }
            assert_true(fits_order(nodes, 4, orders + 4 * k));
            assert_true(order == NULL || memcmp(orders + 4 * k, given, sizeof given) == 0);
            h.drawn[cell_of(parents + 4 * k)] += 1;
            first[orders[4 * k]] += 1;
        }
        check_histogram(&h);
        assert_true(order != NULL || (first[0] > 0 && first[1] > 0 && first[2] > 0));
    }
}

/* With more candidates than one half of a draw decides on, some of them forbidden. */
static void draws_of_many_nodes(void **state)
{
    (void)state;
    enum { D = 12, MANY = 4000 };
    static uint32_t parents[MANY * D];
    static size_t orders[MANY * D];
    const dag_draws draws = {MANY, D, parents, orders};
    made_families m;
    made_families_of(&m, D, 4, 1, 0.9, 31);
    m.f[3].required = 0x42;
    size_t given[D];
    for (size_t k = 0; k < D; k++) {
        given[k] = k == D - 1 ? 3 : k + (k > 2 ? 1 : 0);
    }
    for (size_t pass = 0; pass < 2; pass++) {
        exact(&m, pass == 0 ? NULL : given, &draws);
        double statistic = 0;
        double edges = 0;
        for (size_t i = 0; i < D; i++) {
            for (size_t c = 0; c < m.f[i].count; c++) {
                double p = edge_prob[m.f[i].candidate[c] * D + i];
                double share = 0;
                for (size_t k = 0; k < MANY; k++) {
                    share += (double)(parents[k * D + i] >> c & 1) / MANY;
                }
                double variance = p * (1 - p) / MANY;
                assert_near(share, p, 5 * sqrt(variance) + 2.0 / MANY);
                statistic += p > 0.01 && p < 0.99 ? (share - p) * (share - p) / variance : 0;
                edges += p > 0.01 && p < 0.99 ? 1 : 0;
            }
        }
        assert_true(edges > 30);
        assert_near(statistic / edges, 1, 0.4);
    }
}

/* Weighted by 1/orders, draws follow the uniform prior over DAGs. */
static void weights_make_dags_uniform(void **state)
{
    (void)state;
    static uint32_t parents[DRAWS * 5];
    static size_t orders[DRAWS * 5];
    const dag_draws draws = {DRAWS, 5, parents, orders};
    made_families m;
    dag_yardstick truth;
    made_families_of(&m, 5, 6, 1, 1, 4);
    enumerate_dags(&truth, m.f, 5, &m.prior, NULL, NULL, NULL);
    exact(&m, NULL, &draws);
    dag_extensions work;
    arena a = {0};
    dag_extensions_lay_out(&work, &a, 5);
    assert_ok(arena_open(&a, &why));
    dag_extensions_lay_out(&work, &a, 5);
    double sum = 0;
    double edges[25] = {0};
    for (size_t k = 0; k < DRAWS; k++) {
        double weight = exp(-dag_log_extensions(&work, m.f, &draws, k));
        sum += weight;
        for (size_t i = 0; i < 5; i++) {
            for (size_t c = 0; c < 4; c++) {
                edges[m.f[i].candidate[c] * 5 + i] +=
                    (parents[5 * k + i] >> c & 1) != 0 ? weight : 0;
            }
        }
    }
    double apart = 0;
    for (size_t k = 0; k < 25; k++) {
        assert_near(edges[k] / sum, truth.uniform_prob[k], 0.03);
        apart = fmax(apart, fabs(truth.uniform_prob[k] - truth.edge_prob[k]));
    }
    assert_true(apart > 0.05);
    arena_close(&a);
}

/* Families of all other nodes as candidates, and one draw: parents as masks over nodes. */
static void one_graph(made_families *m, size_t d, const uint32_t *nodes, uint32_t *parents)
{
    m->d = d;
    for (size_t i = 0; i < d; i++) {
        m->f[i] = (family){.node = i, .count = 0, .candidate = m->store[i].candidate};
        parents[i] = 0;
        for (size_t j = 0; j < d; j++) {
            if (j != i) {
                parents[i] |= (nodes[i] >> j & 1) << m->f[i].count;
                m->store[i].candidate[m->f[i].count++] = j;
            }
        }
    }
}

static double extensions(const dag_extensions *work, size_t d, const uint32_t *nodes)
{
    static made_families m;
    uint32_t parents[MADE_NODES];
    one_graph(&m, d, nodes, parents);
    dag_draws draws = {1, d, parents, NULL};
    dag_extensions narrow = *work;
    narrow.d = d;
    return dag_log_extensions(&narrow, m.f, &draws, 0);
}

/* Orders of the nodes in `left`, one after the other. */
static double counted(const uint32_t *parents, size_t d, uint32_t left)
{
    double orders = left == 0 ? 1 : 0;
    for (size_t i = 0; i < d; i++) {
        uint32_t bit = (uint32_t)1 << i;
        if ((left & bit) != 0 && (parents[i] & left) == 0) {
            orders += counted(parents, d, left & ~bit);
        }
    }
    return orders;
}

static void linear_extensions(void **state)
{
    (void)state;
    dag_extensions work;
    arena a = {0};
    dag_extensions_lay_out(&work, &a, MADE_NODES);
    assert_ok(arena_open(&a, &why));
    dag_extensions_lay_out(&work, &a, MADE_NODES);
    lcg g = {9};
    for (size_t k = 0; k < 200; k++) {
        size_t d = 1 + k % 7;
        size_t order[7];
        double w[49];
        uint32_t nodes[7] = {0};
        lcg_weights(&g, d, lcg_uniform(&g), order, w);
        for (size_t e = 0; e < d * d; e++) {
            nodes[e % d] |= w[e] != 0 ? (uint32_t)1 << e / d : 0;
        }
        double expected = counted(nodes, d, ((uint32_t)1 << d) - 1);
        assert_near(extensions(&work, d, nodes), log(expected), 1e-13);
    }
    uint32_t none[MADE_NODES] = {0};
    assert_near(extensions(&work, MADE_NODES, none), lgamma(MADE_NODES + 1.0), 1e-12);
    uint32_t chain[MADE_NODES] = {0};
    uint32_t fence[MADE_NODES] = {0};
    uint32_t star[MADE_NODES] = {0};
    for (size_t i = 0; i < MADE_NODES; i++) {
        chain[i] = i > 0 ? (uint32_t)1 << (i - 1) : 0;
        fence[i] = i % 2 == 0 ? (i > 0 ? (uint32_t)1 << (i - 1) : 0) | (uint32_t)2 << i : 0;
        fence[i] &= (1 << MADE_NODES) - 1;
        star[i] = i != 5 ? 1 << 5 : 0;
    }
    assert_near(extensions(&work, MADE_NODES, chain), 0, 0);
    assert_near(extensions(&work, MADE_NODES, star), lgamma(MADE_NODES), 1e-12);
    /* alternating permutations of 16: Euler's zigzag number */
    assert_near(extensions(&work, MADE_NODES, fence), log(19391512145.0), 1e-12);
    arena_close(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_exact),
        cmocka_unit_test(draws_of_many_nodes),
        cmocka_unit_test(weights_make_dags_uniform),
        cmocka_unit_test(linear_extensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
