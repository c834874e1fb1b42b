/* Data without do() tell graphs apart up to equivalence only, so the prior must not tell more:
 * whatever the point of its grid, two graphs that turn into each other by covered edges score the
 * same, however different the scales of the nodes. And chains beyond exact graphs reach all of
 * them: of a path of D nodes each of the D orientations with one root is as likely, P(i -> i + 1) =
 * (i + 1)/D. */
#include "infer/graph/graph.h"

#include "made_linear_view.h"
#include "testing.h"

#include <math.h>
#include <string.h>

enum { D = 24, ROWS = 3000, FEW = 6 };

static lscm_error why;
static double z[ROWS * D];
static uint8_t nobody[ROWS * D];

/* z_i = w_i z_{i-1}/sd + e_i: of every fourth node its parent explains much more. */
static void make(size_t d)
{
    lcg g = {5};
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t i = 0; i < d; i++) {
            double w = i % 4 == 1 ? 5 : 2;
            double sd = i % 4 == 2 ? sqrt(1 + 25) : i == 1 ? 1 : sqrt(5);
            z[r * d + i] = (i > 0 ? w * z[r * d + i - 1] / sd : 0) + lcg_normal(&g);
        }
    }
}

static lscm_fit_settings defaults(void)
{
    lscm_fit_settings s;
    lscm_settings_defaults(lscm_fit_table(), &s);
    return s;
}

static void find(graph_posterior *out, size_t d, size_t draws)
{
    static double unit[D];
    linear_view s = {.rows = ROWS, .d = d, .D = d, .rank = d, .y = z};
    lscm_fit_settings settings = defaults();
    make(d);
    design_again(&s.design, ROWS, d, nobody, NULL);
    for (size_t j = 0; j < d; j++) {
        double sum = 0;
        for (size_t r = 0; r < ROWS; r++) {
            sum += z[r * d + j] * z[r * d + j] / ROWS;
        }
        unit[j] = sqrt(sum);
    }
    anchored_input in = {.view = &s, .settings = &settings, .draws = draws};
    assert_ok(graph_posterior_of(out, &in, z, unit, NULL, 0, &why));
    design_close(&s.design);
}

/* log p(z, G) of the graph in which node i has the parents[i], masks over nodes. */
static double score(const graph_posterior *g, const dag_prior *prior, const uint32_t *parents)
{
    mechanisms m = g->mechanisms;
    double sum = 0;
    m.prior = *prior;
    for (size_t i = 0; i < m.d; i++) {
        uint32_t mask = 0;
        for (size_t c = 0; c < m.family[i].count; c++) {
            mask |= (parents[i] >> m.family[i].candidate[c] & 1) << c;
        }
        sum += mechanisms_score(&m, i, mask);
    }
    return sum;
}

static void equivalent_graphs_score_alike(void **state)
{
    (void)state;
    /* a path with a triangle 3 -> 4, 3 -> 5, 4 -> 5: from 0, from 3, and from 5 */
    static const uint32_t same[3][FEW] = {
        {0, 1, 2, 4, 8, 24}, {2, 4, 8, 0, 8, 24}, {2, 4, 8, 48, 32, 0}};
    /* and one with 2 -> 3 <- 4, which says something else */
    static const uint32_t other[FEW] = {0, 1, 2, 20, 0, 24};
    graph_posterior g;
    find(&g, FEW, 200);
    for (size_t k = 0; k < g.draws; k++) {
        double one = score(&g, &g.prior[k], same[0]);
        assert_near(score(&g, &g.prior[k], same[1]), one, 1e-7 * fabs(one));
        assert_near(score(&g, &g.prior[k], same[2]), one, 1e-7 * fabs(one));
        assert_true(score(&g, &g.prior[k], other) < one - 1);
    }
    graph_posterior_close(&g);
}

static void chains_reach_every_root(void **state)
{
    (void)state;
    graph_posterior g;
    find(&g, D, 1000);
    assert_true(g.chains > 0);
    for (size_t i = 0; i + 1 < D; i++) {
        double forward = g.edge_prob[i * D + i + 1];
        assert_near(forward + g.edge_prob[(i + 1) * D + i], 1, 0.02);
        assert_near(forward, (double)(i + 1) / D, 0.15);
    }
    assert_true(g.result.r_hat < 1.1);
    graph_posterior_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equivalent_graphs_score_alike),
        cmocka_unit_test(chains_reach_every_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
