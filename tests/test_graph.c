/* Graphs from weights, their order, and distances between them. */
#include "scm/graph/graph.h"

#include "lcg.h"
#include "testing.h"

enum { MOST = 9 };

static void weights_over_the_threshold_are_edges(void **state)
{
    (void)state;
    double w[9] = {0, 0.3, -0.31, 0.5, 0, INFINITY, -0.0, 0.2999, 0};
    uint8_t a[9];
    uint8_t expected[9] = {0, 0, 1, 1, 0, 1, 0, 0, 0};
    assert_int_equal(graph_from_weights(w, 3, 0.3, a), 9);
    assert_memory_equal(a, expected, 9);
    assert_int_equal(graph_from_weights(w, 3, 0, a), 9);
    assert_int_equal(a[1] + a[2] + a[3] + a[5] + a[7], 5);
    assert_int_equal(a[0] + a[4] + a[6] + a[8], 0);
}

static void a_nan_is_reported_and_no_edge(void **state)
{
    (void)state;
    double w[4] = {0, 1, NAN, NAN};
    uint8_t a[4];
    assert_int_equal(graph_from_weights(w, 2, 0.3, a), 2);
    assert_int_equal(a[1], 1);
    assert_int_equal(a[2], 0);
}

/* Cyclic when some node reaches itself, by paths of any length (Warshall). */
static bool has_cycle(const uint8_t *a, size_t d)
{
    uint8_t reach[MOST * MOST];
    memcpy(reach, a, d * d);
    for (size_t k = 0; k < d; k++) {
        for (size_t j = 0; j < d; j++) {
            for (size_t i = 0; i < d; i++) {
                reach[j * d + i] |= reach[j * d + k] & reach[k * d + i];
            }
        }
    }
    for (size_t i = 0; i < d; i++) {
        if (reach[i * d + i] != 0) {
            return true;
        }
    }
    return false;
}

static void an_order_is_found_exactly_where_there_is_one(void **state)
{
    (void)state;
    lcg g = {1};
    size_t cyclic = 0;
    for (int round = 0; round < 3000; round++) {
        size_t d = 1 + lcg_below(&g, MOST);
        size_t order[MOST];
        size_t waiting[MOST];
        size_t position[MOST];
        uint8_t a[MOST * MOST];
        for (size_t k = 0; k < d * d; k++) {
            a[k] = lcg_uniform(&g) < 0.8 / (double)d ? 1 : 0;
        }
        bool found = graph_order(a, d, order, waiting);
        assert_int_equal(found, !has_cycle(a, d));
        cyclic += found ? 0 : 1;
        if (!found) {
            continue;
        }
        for (size_t i = 0; i < d; i++) {
            position[i] = MOST;
        }
        for (size_t k = 0; k < d; k++) {
            assert_true(order[k] < d && position[order[k]] == MOST);
            position[order[k]] = k;
        }
        for (size_t j = 0; j < d; j++) {
            for (size_t i = 0; i < d; i++) {
                assert_true(a[j * d + i] == 0 || position[j] < position[i]);
            }
        }
    }
    assert_in_range(cyclic, 300, 2700);
}

static void distances_by_hand(void **state)
{
    (void)state;
    /* truth 0 -> 1 -> 2; estimate 1 -> 0 (reversed), 0 -> 2 (extra), 1 -> 2 missing */
    uint8_t truth[9] = {0, 1, 0, 0, 0, 1, 0, 0, 0};
    uint8_t other[9] = {0, 0, 1, 1, 0, 0, 0, 0, 0};
    assert_int_equal(graph_shd(truth, other, 3), 3);
    assert_int_equal(graph_shd_entries(truth, other, 3), 4);
    assert_int_equal(graph_shd(truth, truth, 3), 0);
    assert_int_equal(graph_shd_entries(truth, truth, 3), 0);
    /* a pair with an undirected edge differs from none, -> and <-, by one each */
    uint8_t undirected[4] = {0, 1, 1, 0};
    uint8_t forward[4] = {0, 1, 0, 0};
    uint8_t backward[4] = {0, 0, 1, 0};
    uint8_t none[4] = {0};
    assert_int_equal(graph_shd(undirected, forward, 2), 1);
    assert_int_equal(graph_shd(undirected, backward, 2), 1);
    assert_int_equal(graph_shd(undirected, none, 2), 1);
    assert_int_equal(graph_shd(undirected, undirected, 2), 0);
    assert_int_equal(graph_shd_entries(undirected, none, 2), 2);
    /* the diagonal does not count */
    uint8_t loops[4] = {1, 0, 0, 1};
    assert_int_equal(graph_shd(loops, none, 2), 0);
    assert_int_equal(graph_shd_entries(loops, none, 2), 0);
}

/* Large enough for several tiles: build the second graph by known changes to the first. */
static void distances_count_known_changes(void **state)
{
    (void)state;
    enum { D = 200 };
    static uint8_t a[D * D];
    static uint8_t b[D * D];
    lcg g = {2};
    size_t pairs = 0;
    size_t entries = 0;
    for (size_t j = 0; j < D; j++) {
        for (size_t i = j + 1; i < D; i++) {
            size_t before = lcg_below(&g, 3); /* none, ->, <- */
            size_t after = lcg_uniform(&g) < 0.7 ? before : lcg_below(&g, 3);
            bool reversed = before != after && before != 0 && after != 0;
            a[j * D + i] = before == 1 ? 1 : 0;
            a[i * D + j] = before == 2 ? 1 : 0;
            b[j * D + i] = after == 1 ? 1 : 0;
            b[i * D + j] = after == 2 ? 1 : 0;
            pairs += before != after ? 1 : 0;
            entries += reversed ? 2 : before != after ? 1 : 0;
        }
    }
    assert_true(pairs > 1000 && entries > pairs);
    assert_int_equal(graph_shd(a, b, D), pairs);
    assert_int_equal(graph_shd(b, a, D), pairs);
    assert_int_equal(graph_shd_entries(a, b, D), entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_over_the_threshold_are_edges),
        cmocka_unit_test(a_nan_is_reported_and_no_edge),
        cmocka_unit_test(an_order_is_found_exactly_where_there_is_one),
        cmocka_unit_test(distances_by_hand),
        cmocka_unit_test(distances_count_known_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
