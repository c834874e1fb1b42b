/* The CPDAG against its definition: an edge is directed exactly when all DAGs with the same
 * skeleton and the same v-structures agree on its direction. Those DAGs are found by trying every
 * direction of every edge: 2^edges graphs, at most 1024 for 5 nodes. */
#include "scm/graph/graph.h"

#include "lcg.h"
#include "testing.h"

enum { MOST = 5 };

static lscm_error why;

/* Works on a copy of the edges as pairs (j < i) and directions as bits. */
typedef struct skeleton {
    size_t d, edges;
    size_t low[10], high[10];
} skeleton;

static skeleton skeleton_of(const uint8_t *a, size_t d)
{
    skeleton s = {d, 0, {0}, {0}};
    for (size_t j = 0; j < d; j++) {
        for (size_t i = j + 1; i < d; i++) {
            if (a[j * d + i] + a[i * d + j] > 0) {
                s.low[s.edges] = j;
                s.high[s.edges++] = i;
            }
        }
    }
    return s;
}

static void direct(const skeleton *s, unsigned bits, uint8_t *a)
{
    memset(a, 0, s->d * s->d);
    for (size_t e = 0; e < s->edges; e++) {
        bool up = (bits >> e & 1) != 0;
        size_t from = up ? s->low[e] : s->high[e];
        size_t to = up ? s->high[e] : s->low[e];
        a[from * s->d + to] = 1;
    }
}

/* The set of v-structures j -> k <- i (j < i not adjacent) as one bit each of (k, j, i). */
static void v_structures(const uint8_t *a, size_t d, bool *set)
{
    memset(set, 0, (size_t)MOST * MOST * MOST * sizeof *set);
    for (size_t k = 0; k < d; k++) {
        for (size_t j = 0; j < d; j++) {
            for (size_t i = j + 1; i < d; i++) {
                bool meet = a[j * d + k] != 0 && a[i * d + k] != 0;
                bool apart = a[j * d + i] == 0 && a[i * d + j] == 0;
                set[(k * MOST + j) * MOST + i] = meet && apart;
            }
        }
    }
}

/* The union of all equivalent DAGs: an entry of both directions is undirected. */
static void brute_force(const uint8_t *dag, size_t d, uint8_t *cpdag)
{
    bool wanted[MOST * MOST * MOST];
    bool found[MOST * MOST * MOST];
    uint8_t a[MOST * MOST];
    size_t order[MOST];
    size_t waiting[MOST];
    skeleton s = skeleton_of(dag, d);
    v_structures(dag, d, wanted);
    memset(cpdag, 0, d * d);
    for (unsigned bits = 0; bits < 1U << s.edges; bits++) {
        direct(&s, bits, a);
        v_structures(a, d, found);
        if (memcmp(wanted, found, sizeof wanted) != 0 || !graph_order(a, d, order, waiting)) {
            continue;
        }
        for (size_t k = 0; k < d * d; k++) {
            cpdag[k] |= a[k];
        }
    }
}

typedef struct bench {
    arena memory;
    cpdag_work work;
} bench;

static void open_bench(bench *b, size_t d)
{
    *b = (bench){0};
    cpdag_lay_out(&b->work, &b->memory, d);
    assert_ok(arena_open(&b->memory, &why));
    cpdag_lay_out(&b->work, &b->memory, d);
}

static void compare(const uint8_t *dag, size_t d, const cpdag_work *work)
{
    uint8_t expected[MOST * MOST];
    uint8_t got[MOST * MOST];
    brute_force(dag, d, expected);
    memset(got, 7, sizeof got);
    assert_true(cpdag_of_dag(dag, d, got, work));
    assert_memory_equal(got, expected, d * d);
}

static void every_dag_of_up_to_four_nodes(void **state)
{
    (void)state;
    const size_t known[5] = {1, 1, 3, 25, 543}; /* DAGs with d labelled nodes */
    bench b;
    open_bench(&b, MOST);
    for (size_t d = 1; d <= 4; d++) {
        size_t dags = 0;
        size_t entries = d * (d - 1);
        for (unsigned bits = 0; bits < 1U << entries; bits++) {
            uint8_t a[16] = {0};
            size_t order[4];
            size_t waiting[4];
            size_t e = 0;
            for (size_t k = 0; k < d * d; k++) {
                if (k % (d + 1) != 0) {
                    a[k] = (uint8_t)(bits >> e++ & 1);
                }
            }
            if (graph_order(a, d, order, waiting)) {
                compare(a, d, &b.work);
                dags++;
            }
        }
        assert_int_equal(dags, known[d]);
    }
    arena_close(&b.memory);
}

static void random_dags_of_five_nodes(void **state)
{
    (void)state;
    lcg g = {3};
    bench b;
    open_bench(&b, 5);
    for (int round = 0; round < 1500; round++) {
        double w[25];
        size_t order[5];
        uint8_t a[25];
        lcg_weights(&g, 5, 0.2 + 0.7 * lcg_uniform(&g), order, w);
        (void)graph_from_weights(w, 5, 0, a);
        compare(a, 5, &b.work);
    }
    arena_close(&b.memory);
}

static void a_cycle_is_refused(void **state)
{
    (void)state;
    uint8_t a[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0};
    uint8_t out[9];
    bench b;
    open_bench(&b, 3);
    memset(out, 7, sizeof out);
    assert_false(cpdag_of_dag(a, 3, out, &b.work));
    assert_int_equal(out[0], 7);
    arena_close(&b.memory);
}

/* Covered edges (parents of x = parents of y less x) can be turned without leaving the class
 * (Chickering 1995): a large DAG and one reached by many such turns have the same CPDAG. Several
 * words of bits, all positions. */
static void turning_covered_edges_changes_nothing(void **state)
{
    (void)state;
    enum { D = 150 };
    static double w[D * D];
    static uint8_t dag[D * D];
    static uint8_t before[D * D];
    static uint8_t after[D * D];
    size_t order[D];
    lcg g = {4};
    bench b;
    open_bench(&b, D);
    size_t turns = 0;
    size_t undirected = 0;
    for (int round = 0; round < 4; round++) {
        lcg_weights(&g, D, round == 3 ? 1 : 0.015, order, w);
        (void)graph_from_weights(w, D, 0, dag);
        assert_true(cpdag_of_dag(dag, D, before, &b.work));
        for (int attempt = 0; attempt < 20000; attempt++) {
            size_t x = lcg_below(&g, D);
            size_t y = lcg_below(&g, D);
            bool covered = dag[x * D + y] != 0;
            for (size_t k = 0; covered && k < D; k++) {
                covered = k == x || dag[k * D + x] == dag[k * D + y];
            }
            if (covered) {
                dag[x * D + y] = 0;
                dag[y * D + x] = 1;
                turns++;
            }
        }
        assert_true(cpdag_of_dag(dag, D, after, &b.work));
        assert_memory_equal(before, after, sizeof before);
        for (size_t k = 0; k < (size_t)D * D; k++) {
            undirected += before[k] & before[k % D * D + k / D];
        }
    }
    assert_true(turns > 100);
    /* the full DAG of the last round is undirected throughout; the others add some */
    assert_true(undirected > (size_t)D * (D - 1));
    arena_close(&b.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dag_of_up_to_four_nodes),
        cmocka_unit_test(random_dags_of_five_nodes),
        cmocka_unit_test(a_cycle_is_refused),
        cmocka_unit_test(turning_covered_edges_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
