/* Distances between posteriors, against the mean over all pairs of their draws. */
#include "made_posterior.h"

#include "scm/graph/graph.h"

#include "testing.h"

static lscm_error why;

enum { D = 4 };

/* Random draws of D nodes; edge_prob is the share of draws that have the edge. */
static lscm_posterior *drawn(size_t draws, size_t rows)
{
    static const size_t none[] = {0};
    const decoder g = made_decoder(DECODER_LINEAR, D, none, 5);
    lscm_posterior *p = made_posterior(draws, rows, &g);
    for (size_t k = 0; k < (size_t)D * D; k++) {
        size_t with = 0;
        for (size_t s = 0; s < draws; s++) {
            with += p->w[s * D * D + k] != 0 ? 1 : 0;
        }
        p->edge_prob[k] = (double)with / (double)draws;
    }
    return p;
}

static void graph_of(const lscm_posterior *p, size_t draw, uint8_t *out)
{
    assert_int_equal(graph_from_weights(p->w + draw * D * D, D, 0, out), D * D);
}

/* Every draw of one with every draw of the other, as if drawn independently. */
static void assert_expected(const lscm_posterior *a, const lscm_posterior *b,
                            const lscm_distance *distance)
{
    double shd = 0;
    double entries = 0;
    for (size_t s = 0; s < a->draws; s++) {
        for (size_t t = 0; t < b->draws; t++) {
            uint8_t left[D * D];
            uint8_t right[D * D];
            graph_of(a, s, left);
            graph_of(b, t, right);
            shd += (double)graph_shd(left, right, D);
            entries += (double)graph_shd_entries(left, right, D);
        }
    }
    double pairs = (double)(a->draws * b->draws);
    assert_near(distance->e_shd, shd / pairs, 1e-12);
    assert_near(distance->e_shd_entries, entries / pairs, 1e-12);
    assert_true(distance->e_shd > 0 && distance->e_shd < distance->e_shd_entries);
}

static void distance_is_the_mean_over_pairs_of_draws(void **state)
{
    lscm_distance distance;
    (void)state;
    for (size_t rows = 0; rows < 4; rows++) { /* other rows, other random numbers */
        lscm_posterior *a = drawn(7, rows);
        lscm_posterior *b = drawn(5, rows + 10);
        assert_ok(lscm_posterior_distance(&distance, a, b, &why));
        assert_expected(a, b, &distance);
        assert_ok(lscm_posterior_distance(&distance, a, a, &why));
        assert_expected(a, a, &distance);
        assert_near(distance.largest, 0, 0);
        assert_near(distance.correlation, 1, 1e-12);
        lscm_posterior_free(a);
        lscm_posterior_free(b);
    }
}

/* A reversed edge is one pair and two entries. */
static void certain_graphs_are_counted(void **state)
{
    lscm_distance distance;
    (void)state;
    lscm_posterior *a = drawn(3, 0);
    lscm_posterior *b = drawn(3, 0);
    memset(a->edge_prob, 0, D * D * sizeof *a->edge_prob);
    memset(b->edge_prob, 0, D * D * sizeof *b->edge_prob);
    a->edge_prob[0 * D + 1] = b->edge_prob[1 * D + 0] = 1; /* reversed */
    a->edge_prob[2 * D + 3] = b->edge_prob[2 * D + 3] = 1; /* in both */
    assert_ok(lscm_posterior_distance(&distance, a, b, &why));
    assert_near(distance.e_shd, 1, 0);
    assert_near(distance.e_shd_entries, 2, 0);
    assert_near(distance.largest, 1, 0);
    b->edge_prob[1 * D + 0] = 0.25;
    assert_ok(lscm_posterior_distance(&distance, a, b, &why));
    assert_near(distance.e_shd, 1, 0);
    assert_near(distance.e_shd_entries, 1.25, 0);
    lscm_posterior_free(a);
    lscm_posterior_free(b);
}

/* By the other formula: (E xy - E x E y) / (sd x sd y). */
static void mean_weights_correlate(void **state)
{
    lscm_distance distance;
    double x = 0;
    double y = 0;
    double xx = 0;
    double yy = 0;
    double xy = 0;
    (void)state;
    lscm_posterior *a = drawn(6, 1);
    lscm_posterior *b = drawn(8, 2);
    for (size_t k = 0; k < (size_t)D * D; k++) {
        double left = 0;
        double right = 0;
        for (size_t s = 0; s < a->draws; s++) {
            left += a->w[s * D * D + k] / 6;
        }
        for (size_t s = 0; s < b->draws; s++) {
            right += b->w[s * D * D + k] / 8;
        }
        double share = k / D != k % D ? 1.0 / (D * (D - 1)) : 0;
        x += share * left;
        y += share * right;
        xx += share * left * left;
        yy += share * right * right;
        xy += share * left * right;
    }
    assert_ok(lscm_posterior_distance(&distance, a, b, &why));
    assert_near(distance.correlation, (xy - x * y) / sqrt((xx - x * x) * (yy - y * y)), 1e-12);

    memset(b->w, 0, 8 * D * D * sizeof *b->w);
    assert_ok(lscm_posterior_distance(&distance, a, b, &why));
    assert_true(isnan(distance.correlation));
    lscm_posterior_free(a);
    lscm_posterior_free(b);
}

static void other_nodes_are_refused(void **state)
{
    static char *const names[] = {"raf", "mek", "erk", "akt"};
    static char *const swapped[] = {"raf", "erk", "mek", "akt"};
    lscm_distance distance;
    (void)state;
    lscm_posterior *a = drawn(3, 0);
    lscm_posterior *b = drawn(3, 1);
    lscm_posterior *small = made_linear();
    assert_fails(lscm_posterior_distance(&distance, a, small, &why), LSCM_SHAPE,
                 "one run has 4 nodes and the other 3");
    a->node_names = names_copy(names, D);
    assert_ok(lscm_posterior_distance(&distance, a, b, &why)); /* numbers will do */
    b->node_names = names_copy(swapped, D);
    assert_fails(lscm_posterior_distance(&distance, a, b, &why), LSCM_SHAPE,
                 "node 1 (0-based) is 'mek' in one run and 'erk' in the other");
    lscm_posterior_free(a);
    lscm_posterior_free(b);
    lscm_posterior_free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_is_the_mean_over_pairs_of_draws),
        cmocka_unit_test(certain_graphs_are_counted),
        cmocka_unit_test(mean_weights_correlate),
        cmocka_unit_test(other_nodes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
