/* Edge probabilities under the prior as it is shipped - both kinds of slab, every scale and share
 * of edges, scales that nodes have of their own, what sets have of their own, graphs that no set
 * tells apart alike - against every DAG of four nodes, of which two are never set. Between nodes
 * that do() treats alike the direction is told by draws; that there is an edge, and all other
 * edges, are told exactly. */
#include "enumerate_dags.h"

#include "anchored_testing.h"
#include "made_linear_view.h"

enum { D = 4, DAGS = 543, RIDGES = 6, EDGES = 3, POINTS = 2 * RIDGES * EDGES, DRAWS = 4000 };

static const made_design HALF_SET = {.d = D,
                                     .observational = 60,
                                     .sets = 8,
                                     .per_set = 6,
                                     .untouched = 2,
                                     .plain = true,
                                     .value = 2,
                                     .ridge = 0.1,
                                     .dof = 3,
                                     .edge = 0.5};

/* Every DAG: parents as masks over nodes, its weight summed over the points. */
typedef struct every {
    const family *list;
    size_t next;
    double shared, top;
    uint32_t parents[DAGS][D];
    double log_weight[DAGS]; /* log sum over points so far */
} every;

static double log_add(double a, double b)
{
    double top = fmax(a, b);
    return top > -INFINITY ? top + log(exp(a - top) + exp(b - top)) : top;
}

static void visit(void *self, const uint32_t *parents, double log_weight, double orders)
{
    every *e = self;
    (void)orders;
    assert_true(e->next < DAGS);
    for (size_t i = 0; i < D; i++) {
        e->parents[e->next][i] = 0;
        for (size_t c = 0; c < e->list[i].count; c++) {
            e->parents[e->next][i] |= (parents[i] >> c & 1) << e->list[i].candidate[c];
        }
    }
    e->log_weight[e->next] = log_add(e->log_weight[e->next], log_weight + e->shared);
    e->next++;
}

static void sum_over_points(every *e, const double *unit)
{
    static const double ridges[RIDGES] = {1e-4, 1e-3, 1e-2, 1e-1, 1, 10};
    static const double edges[EDGES] = {0.5 / 3, 1.0 / 3, 0.5};
    for (size_t k = 0; k < DAGS; k++) {
        e->log_weight[k] = -INFINITY;
    }
    for (size_t h = 0; h < POINTS; h++) {
        double p = edges[h % EDGES];
        dag_prior prior = {.ridge = ridges[h / EDGES % RIDGES],
                           .dof = 3,
                           .log_odds = log(p / (1 - p)),
                           .unit = unit,
                           .spread = 10,
                           .hole = h >= POINTS / 2};
        dag_yardstick truth;
        e->next = 0;
        e->shared = 6 * log(1 - p);
        enumerate_dags(&truth, e->list, D, &prior, NULL, visit, e);
        assert_int_equal(e->next, DAGS);
    }
}

static size_t find(const every *e, const uint32_t *parents)
{
    size_t k = 0;
    while (memcmp(e->parents[k], parents, sizeof e->parents[k]) != 0) {
        k++;
    }
    return k;
}

/* Numbers of classes (DAGS): those that turn into each other by turning covered edges between
 * nodes 2 and 3, the two that do() treats alike, have the same. */
static void number_classes(const every *e, size_t *class)
{
    for (size_t k = 0; k < DAGS; k++) {
        uint32_t turned[D];
        memcpy(turned, e->parents[k], sizeof turned);
        class[k] = k;
        for (size_t from = 2; from < D; from++) {
            size_t to = 5 - from;
            if (e->parents[k][to] == (e->parents[k][from] | 1U << from)) {
                turned[to] &= ~(1U << from);
                turned[from] |= 1U << to;
            }
        }
        size_t other = find(e, turned);
        class[k] = other < k ? other : k; /* one such edge: at most two are alike */
    }
}

/* P(j -> i), members of a class alike. */
static void sum_edges(const every *e, const size_t *class, double *out)
{
    double top = -INFINITY;
    double total = 0;
    memset(out, 0, D * D * sizeof *out);
    for (size_t k = 0; k < DAGS; k++) {
        top = fmax(top, e->log_weight[k]);
    }
    for (size_t k = 0; k < DAGS; k++) {
        double weight = 0;
        double members = 0;
        for (size_t m = 0; m < DAGS; m++) {
            weight += class[m] == class[k] ? exp(e->log_weight[m] - top) : 0;
            members += class[m] == class[k] ? 1 : 0;
        }
        total += weight / members;
        for (size_t i = 0; i < D; i++) {
            for (size_t j = 0; j < D; j++) {
                out[j * D + i] += (e->parents[k][i] >> j & 1) != 0 ? weight / members : 0;
            }
        }
    }
    for (size_t k = 0; k < (size_t)D * D; k++) {
        out[k] /= total;
    }
}

static void every_dag_of_four_nodes(void **state)
{
    (void)state;
    static every e;
    size_t class[DAGS];
    double expected[D * D];
    size_t count[] = {3, 3, 3, 3};
    size_t candidate[] = {1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2};
    size_t in_doubt = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        lcg g = {seed};
        made_signal m = made_signal_of(&HALF_SET, &g);
        lscm_fit_settings settings = defaults();
        anchored a;
        families f;
        free(m.s.basis);
        m.s.basis = NULL;
        m.s.kind = VIEW_OBSERVED;
        memcpy(m.s.y, m.z, m.s.rows * D * sizeof(double));
        anchored_input in = {.view = &m.s, .settings = &settings, .draws = DRAWS};
        assert_ok(anchored_infer(&a, &in, &why));
        assert_ok(families_of(&f, &(latent_rows){&m.s.design, m.z, NULL, true},
                              &(candidate_lists){3, count, candidate, NULL}, &why));
        assert_true(f.list[0].levels > 1);
        e.list = f.list;
        sum_over_points(&e, a.unit);
        number_classes(&e, class);
        sum_edges(&e, class, expected);
        for (size_t k = 0; k < (size_t)D * D; k++) {
            size_t back = k % D * D + k / D;
            bool alike = k / D >= 2 && k % D >= 2;
            assert_near(a.edge_prob[k] + a.edge_prob[back], expected[k] + expected[back], 1e-8);
            assert_near(a.edge_prob[k], expected[k], alike ? 0.05 : 1e-8);
            in_doubt += expected[k] > 0.01 && expected[k] < 0.99 ? 1 : 0;
        }
        families_close(&f);
        anchored_close(&a);
        made_signal_free(&m);
    }
    assert_true(in_doubt > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_dag_of_four_nodes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
