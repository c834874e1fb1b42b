/* Scores of graphs, weights and distributions: by hand, and against other routes to the same
 * number. The latents have their own file, test_metrics_latents.c. */
#include "invert.h"
#include "lcg.h"
#include "testing.h"

static lscm_error why;

/* Truth 0 -> 1 -> 2; draw 0 is the truth, draw 1 has 1 -> 0 -> 2 and a weak 1 -> 2. */
static const double CHAIN[9] = {0, 1, 0, 0, 0, -2, 0, 0, 0};
static const double CHAIN_DRAWS[18] = {0, 1, 0,   0,   0, -2,  0, 0, 0, /* draw 0 */
                                       0, 0, 0.4, 0.5, 0, 0.2, 0, 0, 0};

static lscm_estimate chain_estimate(void)
{
    return (lscm_estimate){.draws = 2, .nodes = 3, .w = CHAIN_DRAWS, .threshold = 0.3};
}

static void graphs_by_hand(void **state)
{
    (void)state;
    lscm_estimate estimate = chain_estimate();
    lscm_truth truth = {.w = CHAIN};
    lscm_scores s;
    assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
    /* draw 1: pair 01 reversed, 02 extra, 12 missing */
    assert_near(s.e_shd, (0 + 3) / 2.0, 1e-15);
    assert_near(s.e_shd_entries, (0 + 4) / 2.0, 1e-15);
    /* both classes are undirected paths: 0-1-2 and 1-0-2 share the pair 01 */
    assert_near(s.e_shd_cpdag, (0 + 2) / 2.0, 1e-15);
    /* (tp, fp, tn, fn) = (2, 0, 4, 0) and (0, 2, 2, 2) */
    assert_near(s.tp, 1, 1e-15);
    assert_near(s.fp, 1, 1e-15);
    assert_near(s.tn, 3, 1e-15);
    assert_near(s.fn, 1, 1e-15);
    assert_near(s.tpr, (1 + 0) / 2.0, 1e-15);
    assert_near(s.recall, s.tpr, 0);
    assert_near(s.fpr, (0 + 0.5) / 2, 1e-15);
    assert_near(s.precision, (1 + 0) / 2.0, 1e-15);
    assert_near(s.f1, (1 + 0) / 2.0, 1e-15);
    assert_near(s.w_mse, (1 + 2.2 * 2.2 + 0.5 * 0.5 + 0.4 * 0.4) / 2 / 9, 1e-15);
    /* shares: .5 for 01 and 12 (true) and for 10 and 02 (false), 0 for the other two */
    assert_near(s.auroc, (2 * 0.5 + 2) / 4, 1e-15);
    assert_near(s.auprc_graph, 0.5, 1e-15);
    assert_near(s.edge_ece, 0, 1e-15);
    /* mean |w|: 12 1.1, 01 .5, 10 .25, 02 .2 */
    assert_near(s.auprc_weights, 1, 1e-15);
    assert_true(isnan(s.mcc) && isnan(s.mcc_named) && isnan(s.mcc_free));
    assert_true(isnan(s.kl_z) && isnan(s.x_mse));
    assert_true(isnan(s.coverage_90) && isnan(s.coverage_90_edges));
}

static void given_edge_probabilities_are_used(void **state)
{
    (void)state;
    /* off-diagonal in order: 01 .95 T, 02 .91 F, 10 0 F, 12 .25 T, 20 .21 F, 21 1 F */
    const double prob[9] = {0.5, 0.95, 0.91, 0, 0.5, 0.25, 0.21, 1, 0.5};
    lscm_estimate estimate = chain_estimate();
    lscm_truth truth = {.w = CHAIN};
    lscm_scores s;
    estimate.edge_prob = prob;
    assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
    /* ranks: 21 F, 01 T, 02 F, 12 T, 20 F, 10 F */
    assert_near(s.auroc, (3 + 2) / 8.0, 1e-15);
    assert_near(s.auprc_graph, 0.5 * (1.0 / 2) + 0.5 * (2.0 / 4), 1e-15);
    /* bins: [.9, 1] holds 2.86 against 1 true of 3; [.2, .3) .46 against 1 of 2; [0, .1) nothing */
    assert_near(s.edge_ece, (1.86 + 0.54) / 6, 1e-15);
    /* what comes from the draws does not change */
    assert_near(s.e_shd, 1.5, 1e-15);
    assert_near(s.auprc_weights, 1, 1e-15);
}

static void where_rates_have_nothing_to_divide_by(void **state)
{
    (void)state;
    const double empty[4] = {0};
    const double edge[4] = {0, 1, 0, 0};
    const struct {
        const double *truth, *draw;
        double recall, fpr, precision, f1;
    } cases[] = {{empty, empty, 1, 0, 1, 1},
                 {empty, edge, 1, 0.5, 0, 0},
                 {edge, empty, 0, 0, 0, 0},
                 {edge, edge, 1, 0, 1, 1}};
    for (size_t k = 0; k < 4; k++) {
        lscm_estimate estimate = {.draws = 1, .nodes = 2, .w = cases[k].draw, .threshold = 0.3};
        lscm_truth truth = {.w = cases[k].truth};
        lscm_scores s;
        assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
        assert_near(s.recall, cases[k].recall, 0);
        assert_near(s.tpr, cases[k].recall, 0);
        assert_near(s.fpr, cases[k].fpr, 0);
        assert_near(s.precision, cases[k].precision, 0);
        assert_near(s.f1, cases[k].f1, 0);
        assert_int_equal(isnan(s.auroc), cases[k].truth == empty);
        assert_int_equal(isnan(s.auprc_graph), cases[k].truth == empty);
        assert_int_equal(isnan(s.auprc_weights), cases[k].truth == empty);
    }
}

static void one_node_has_no_edges_to_score(void **state)
{
    (void)state;
    const double w = 0;
    const double sigma[2] = {1, 2};
    lscm_estimate estimate = {.draws = 1, .nodes = 1, .w = &w, .sigma = sigma + 1};
    lscm_truth truth = {.w = &w, .sigma = sigma};
    lscm_scores s;
    assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
    assert_near(s.e_shd, 0, 0);
    assert_near(s.tn, 0, 0);
    assert_near(s.recall, 1, 0);
    assert_near(s.fpr, 0, 0);
    assert_true(isnan(s.auroc) && isnan(s.edge_ece) && isnan(s.coverage_90));
    /* N(0, 1) against N(0, 4) */
    assert_near(s.kl_z, 0.5 * (0.25 - 1 + log(4)), 1e-15);
}

static void kl_by_hand(void **state)
{
    (void)state;
    /* P = [1 a; a 1 + a^2] against I: (trace - 2 - log 1) / 2 = a^2 / 2 */
    const double w[4] = {0, 1.5, 0, 0};
    const double empty[4] = {0};
    const double ones[2] = {1, 1};
    lscm_estimate estimate = {.draws = 1, .nodes = 2, .w = empty, .sigma = ones};
    lscm_truth truth = {.w = w, .sigma = ones};
    lscm_scores s;
    assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
    assert_near(s.kl_z, 1.5 * 1.5 / 2, 1e-15);
    estimate.w = w;
    assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
    assert_near(s.kl_z, 0, 0);
}

/* ---- KL by covariances ------------------------------------------------------------------- */

enum { MOST = 8 };

static void covariance(const double *w, const double *sigma, size_t d, double *out)
{
    double a[MOST * MOST];
    double r[MOST * MOST];
    for (size_t k = 0; k < d * d; k++) {
        a[k] = (k % (d + 1) == 0 ? 1 : 0) - w[k];
    }
    (void)invert(a, d, r);
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            out[i * d + j] = 0;
            for (size_t k = 0; k < d; k++) {
                out[i * d + j] += sigma[k] * sigma[k] * r[k * d + i] * r[k * d + j];
            }
        }
    }
}

/* Of any two Gaussians with mean 0: (tr Q^-1 P - d + log det Q - log det P) / 2. */
static double gaussian_kl(const double *p, const double *q, size_t d)
{
    double precision[MOST * MOST];
    double unused[MOST * MOST];
    double copy[MOST * MOST];
    double trace = 0;
    memcpy(copy, q, d * d * sizeof *q);
    double log_det_q = invert(copy, d, precision);
    memcpy(copy, p, d * d * sizeof *p);
    double log_det_p = invert(copy, d, unused);
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            trace += precision[i * d + j] * p[j * d + i];
        }
    }
    return 0.5 * (trace - (double)d + log_det_q - log_det_p);
}

static void kl_against_the_covariances(void **state)
{
    (void)state;
    enum { DRAWS = 3 };
    lcg g = {8};
    for (int round = 0; round < 200; round++) {
        size_t d = 1 + lcg_below(&g, MOST);
        double w[MOST * MOST];
        double draws[DRAWS * MOST * MOST];
        double sigma[MOST];
        double sigmas[DRAWS * MOST];
        double p[MOST * MOST];
        double q[MOST * MOST];
        size_t order[MOST];
        double expected = 0;
        lcg_weights(&g, d, 0.5, order, w);
        for (size_t k = 0; k < d; k++) {
            sigma[k] = 0.5 + lcg_uniform(&g);
        }
        covariance(w, sigma, d, p);
        for (size_t s = 0; s < DRAWS; s++) {
            lcg_weights(&g, d, 0.5, order, draws + s * d * d);
            for (size_t k = 0; k < d; k++) {
                sigmas[s * d + k] = 0.5 + lcg_uniform(&g);
            }
            covariance(draws + s * d * d, sigmas + s * d, d, q);
            expected += gaussian_kl(p, q, d) / DRAWS;
        }
        lscm_estimate estimate = {
            .draws = DRAWS, .nodes = d, .w = draws, .sigma = sigmas, .threshold = 0.3};
        lscm_truth truth = {.w = w, .sigma = sigma};
        lscm_scores s;
        assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
        assert_near(s.kl_z, expected, 1e-9 * (1 + expected));
    }
}

static void kl_needs_scales_and_a_dag(void **state)
{
    (void)state;
    const double ones[6] = {1, 1, 1, 1, 1, 1};
    const double zero[3] = {1, 0, 1};
    const double weak_cycle[9] = {0, 1, 0, 0.1, 0, -2, 0, 0, 0};
    lscm_estimate estimate = chain_estimate();
    lscm_truth truth = {.w = CHAIN};
    lscm_scores s;
    estimate.sigma = ones;
    assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
    assert_true(isnan(s.kl_z));
    truth.sigma = zero;
    assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
    assert_true(isnan(s.kl_z));
    truth.sigma = ones;
    assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
    assert_true(s.kl_z > 0.1);
    /* a cycle through a weight under the threshold: the graph has scores, the joint has none */
    estimate.w = weak_cycle;
    estimate.draws = 1;
    assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
    assert_true(isnan(s.kl_z));
    assert_near(s.e_shd, 0, 0);
}

/* ---- Coverage ---------------------------------------------------------------------------- */

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double quantile(const double *sorted, size_t n, double level)
{
    double place = level * (double)(n - 1);
    size_t low = (size_t)place;
    size_t high = low + 1 < n ? low + 1 : low;
    return sorted[low] + (place - (double)low) * (sorted[high] - sorted[low]);
}

/* To multiples of 1/grain. */
static double round_to(double x, double grain)
{
    return round(x * grain) / grain;
}

/* Rounded draws: many equal each other and the truth. The threshold keeps their graphs empty. */
static void coverage_against_sorted_draws(void **state)
{
    (void)state;
    enum { D = 4, MOST_DRAWS = 60 };
    lcg g = {9};
    for (int round = 0; round < 400; round++) {
        size_t draws = 20 + lcg_below(&g, MOST_DRAWS - 20);
        double w[D * D];
        double all[MOST_DRAWS * D * D];
        double column[MOST_DRAWS];
        size_t order[D];
        double covered = 0;
        double covered_edges = 0;
        double edges = 0;
        double grain = round % 2 == 0 ? 4 : 1e6;
        lcg_weights(&g, D, 0.6, order, w);
        for (size_t k = 0; k < (size_t)D * D; k++) {
            w[k] = round_to(w[k], grain);
            for (size_t s = 0; s < draws; s++) {
                double draw = w[k] + lcg_normal(&g) + 1.2 * (lcg_uniform(&g) < 0.5 ? 1 : 0);
                column[s] = round_to(draw, grain);
                all[s * D * D + k] = column[s];
            }
            qsort(column, draws, sizeof *column, ascending);
            bool in = w[k] >= quantile(column, draws, 0.05) - 1e-12 &&
                      w[k] <= quantile(column, draws, 0.95) + 1e-12;
            covered += in && k % (D + 1) != 0 ? 1 : 0;
            covered_edges += in && w[k] != 0 ? 1 : 0;
            edges += w[k] != 0 ? 1 : 0;
        }
        lscm_estimate estimate = {.draws = draws, .nodes = D, .w = all, .threshold = 1e9};
        lscm_truth truth = {.w = w};
        lscm_scores s;
        assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
        assert_near(s.coverage_90, covered / (D * (D - 1)), 1e-12);
        if (edges > 0) {
            assert_near(s.coverage_90_edges, covered_edges / edges, 1e-12);
        } else {
            assert_true(isnan(s.coverage_90_edges));
        }
    }
}

/* With truth and m draws alike, independent and uniform, the mean of the k-th smallest draw is
 * (k+1)/(m+1) and the interval holds the truth with probability 0.9 (m-1)/(m+1), exactly. */
static void coverage_is_right_when_the_posterior_is(void **state)
{
    (void)state;
    enum { D = 60, DRAWS = 40, EDGES = D * (D - 1) / 2 };
    static double w[D * D];
    static double draws[DRAWS * D * D];
    lcg g = {10};
    for (size_t j = 0; j < D; j++) {
        for (size_t i = j + 1; i < D; i++) {
            w[j * D + i] = lcg_uniform(&g);
            for (size_t s = 0; s < DRAWS; s++) {
                draws[(s * D + j) * D + i] = lcg_uniform(&g);
            }
        }
    }
    lscm_estimate estimate = {.draws = DRAWS, .nodes = D, .w = draws, .threshold = 0.5};
    lscm_truth truth = {.w = w};
    lscm_scores s;
    double expected = 0.9 * (DRAWS - 1) / (DRAWS + 1);
    assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
    assert_near(s.coverage_90_edges, expected, 4 * sqrt(expected * (1 - expected) / EDGES));
    /* below the diagonal truth and draws are 0: always inside */
    assert_near(s.coverage_90, (s.coverage_90_edges + 1) / 2, 1e-12);
    /* over-cautious probabilities: every entry over the diagonal is an edge, drawn half the
     * time */
    assert_near(s.edge_ece, 0.25, 0.01);
    estimate.draws = 19;
    assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
    assert_true(isnan(s.coverage_90) && isnan(s.coverage_90_edges));
}

static void coverage_by_hand(void **state)
{
    (void)state;
    enum { DRAWS = 20 };
    double draws[DRAWS * 4] = {0};
    double w[4] = {0};
    lscm_estimate estimate = {.draws = DRAWS, .nodes = 2, .w = draws, .threshold = 100};
    lscm_truth truth = {.w = w};
    lscm_scores s;
    for (size_t k = 0; k < DRAWS; k++) {
        draws[k * 4 + 1] = 20 * (double)(DRAWS - k); /* 20, 40, .. 400 */
    }
    /* h = .95: the interval is [20 + .95 * 20, 400 - .95 * 20] = [39, 381], ends included */
    const double tried[] = {39, 38.9, 381, 381.1, 200, 20, 400, -5};
    const double inside[] = {1, 0, 1, 0, 1, 0, 0, 0};
    for (size_t k = 0; k < 8; k++) {
        w[1] = tried[k];
        assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
        assert_near(s.coverage_90_edges, inside[k], 0);
        assert_near(s.coverage_90, (1 + inside[k]) / 2, 0);
    }
}

/* ---- Refusals ---------------------------------------------------------------------------- */

static void cycles_are_named(void **state)
{
    (void)state;
    double draws[18];
    double w[9];
    lscm_estimate estimate = chain_estimate();
    lscm_truth truth = {.w = CHAIN};
    lscm_scores s;
    memcpy(draws, CHAIN_DRAWS, sizeof draws);
    memcpy(w, CHAIN, sizeof w);
    estimate.w = draws;
    draws[9 + 2 * 3 + 1] = 1; /* draw 1: 0 -> 2 -> 1 -> 0 */
    assert_fails(lscm_evaluate(&s, &estimate, &truth, &why), LSCM_CYCLE, "draw 1");
    draws[9 + 2 * 3 + 1] = 0;
    draws[4] = 0.31; /* draw 0: 1 -> 1 */
    assert_fails(lscm_evaluate(&s, &estimate, &truth, &why), LSCM_CYCLE, "draw 0");
    draws[4] = 0;
    assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
    truth.w = w;
    w[6] = 1e-9;
    assert_fails(lscm_evaluate(&s, &estimate, &truth, &why), LSCM_CYCLE, "truth: ");
}

static void what_is_not_a_number_is_named(void **state)
{
    (void)state;
    double draws[18];
    double w[9];
    double sigma[6] = {1, 1, 1, 1, 1, 1};
    double true_sigma[3] = {1, 1, 1};
    double prob[9] = {0};
    double z[6] = {1, 2, 3, 4, 5, 7};
    double true_z[6] = {1, 2, 3, 4, 5, 7};
    memcpy(draws, CHAIN_DRAWS, sizeof draws);
    memcpy(w, CHAIN, sizeof w);
    lscm_estimate estimate = {.draws = 2,
                              .nodes = 3,
                              .rows = 2,
                              .w = draws,
                              .sigma = sigma,
                              .edge_prob = prob,
                              .z = z,
                              .threshold = 0.3};
    lscm_truth truth = {w, true_sigma, true_z, NULL};
    lscm_scores s;
    const struct {
        double *where, value;
        const char *part;
    } cases[] = {
        {&draws[9 + 5], NAN, "estimate: 'w' is nan in draw 1, row 1, column 2"},
        {&draws[1], -INFINITY, "estimate: 'w' is -inf in draw 0, row 0, column 1"},
        {&w[7], NAN, "truth: 'w' is nan in row 2, column 1"},
        {&sigma[4], NAN, "estimate: 'sigma' is nan in row 1, node 1"},
        {&sigma[0], -1, "estimate: 'sigma' is -1 in row 0, node 0"},
        {&true_sigma[2], INFINITY, "truth: 'sigma' is inf in row 0, node 2"},
        {&prob[5], NAN, "estimate: 'edge_prob' is nan in row 1, column 2"},
        {&prob[5], 1.5, "must lie between 0 and 1"},
        {&prob[5], -0.1, "must lie between 0 and 1"},
        {&z[4], INFINITY, "estimate: 'z' is inf in row 1, column 1"},
        {&true_z[2], NAN, "truth: 'z' is nan in row 0, column 2"},
        {&estimate.threshold, NAN, "threshold is nan"},
        {&estimate.threshold, -0.1, "threshold is -0.1"},
    };
    assert_ok(lscm_evaluate(&s, &estimate, &truth, &why));
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double before = *cases[k].where;
        lscm_status code = strstr(cases[k].part, "threshold") != NULL ? LSCM_USAGE : LSCM_VALUE;
        *cases[k].where = cases[k].value;
        assert_fails(lscm_evaluate(&s, &estimate, &truth, &why), code, cases[k].part);
        *cases[k].where = before;
    }
    estimate.draws = 0;
    assert_fails(lscm_evaluate(&s, &estimate, &truth, &why), LSCM_USAGE, "no draw");
    estimate.draws = 2;
    truth.w = NULL;
    assert_fails(lscm_evaluate(&s, &estimate, &truth, &why), LSCM_MISSING, "'w' is missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_by_hand),
        cmocka_unit_test(given_edge_probabilities_are_used),
        cmocka_unit_test(where_rates_have_nothing_to_divide_by),
        cmocka_unit_test(one_node_has_no_edges_to_score),
        cmocka_unit_test(kl_by_hand),
        cmocka_unit_test(kl_against_the_covariances),
        cmocka_unit_test(kl_needs_scales_and_a_dag),
        cmocka_unit_test(coverage_against_sorted_draws),
        cmocka_unit_test(coverage_is_right_when_the_posterior_is),
        cmocka_unit_test(coverage_by_hand),
        cmocka_unit_test(cycles_are_named),
        cmocka_unit_test(what_is_not_a_number_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
