/* The anchored method from signal to draws: small simulated cases, background knowledge, priors
 * against enumeration. */
#include "enumerate_dags.h"

#include "anchored_testing.h"
#include "invert.h"
#include "made_linear_view.h"

#include <omp.h>

static const made_design PLAIN = {.d = 4,
                                  .observational = 100,
                                  .sets = 12,
                                  .per_set = 20,
                                  .plain = true,
                                  .value = 2,
                                  .ridge = 0.1,
                                  .dof = 3,
                                  .edge = 0.5};

/* Edges over one half are those of w (d, d). */
static void check_graph(const anchored *a, const double *w)
{
    for (size_t e = 0; e < a->d * a->d; e++) {
        if ((a->edge_prob[e] > 0.5) != (w[e] != 0)) {
            print_error("edge %zu -> %zu: probability %.3f, weight %.3f\n", e / a->d, e % a->d,
                        a->edge_prob[e], w[e]);
            fail();
        }
    }
}

/* ---- Presets ---- */

static void fit_preset(const char *preset, int64_t nodes, int64_t seed, const char *targets)
{
    lscm_simulation settings;
    lscm_dataset *data = NULL;
    linear_view s;
    anchored a;
    lscm_fit_settings asked = defaults();
    double *w = calloc((size_t)(nodes * nodes), sizeof *w);
    assert_non_null(w);
    assert_ok(lscm_simulation_preset(&settings, preset, nodes, &why));
    settings.seed = seed;
    assert_ok(lscm_settings_set(lscm_simulation_table(), &settings, "targets", targets, &why));
    assert_ok(lscm_simulate(&data, &settings, preset, &why));
    assert_ok(lscm_dataset_read(data, LSCM_W, 0, (size_t)nodes, w, &why));
    assert_ok(linear_view_of(&s, data, 0, NULL, &why));
    anchored_input in = {.view = &s, .settings = &asked, .draws = 64};
    assert_ok(anchored_infer(&a, &in, &why));
    check_graph(&a, w);
    check_finite(&a, &s);
    anchored_close(&a);
    linear_view_close(&s);
    lscm_dataset_free(data);
    free(w);
}

static void test_presets(void **state)
{
    (void)state;
    for (int64_t seed = 1; seed <= 2; seed++) {
        fit_preset("paper-linear", 5, seed, "multi");
        fit_preset("revised-linear", 5, seed, "multi");
        fit_preset("revised-linear", 5, seed, "cycle");
    }
}

/* ---- Observed variables, knowledge, order, variance ---- */

/* z itself as the signal. */
static void make_identity(made_signal *m, view_kind kind)
{
    free(m->s.basis);
    m->s.basis = NULL;
    m->s.kind = kind;
    memcpy(m->s.y, m->z, m->s.rows * m->s.d * sizeof(double));
}

/* ---- What is not known of the prior ---- */

/* Graphs of four nodes, every one of them at every scale of the weights and every share of edges,
 * with a hole at 0 and without. */
static void test_learned_prior(void **state)
{
    (void)state;
    static const double ridges[] = {1e-4, 1e-3, 1e-2, 1e-1, 1, 10};
    static const double edges[] = {0.5 / 3, 1.0 / 3, 0.5};
    lcg g = {71};
    made_signal m = made_signal_of(&PLAIN, &g);
    lscm_fit_settings settings = defaults();
    anchored a;
    families f;
    size_t count[] = {3, 3, 3, 3};
    size_t candidate[] = {1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2};
    double top = -INFINITY;
    double total = 0;
    double sum[16] = {0};
    make_identity(&m, VIEW_OBSERVED);
    anchored_input in = {.view = &m.s, .settings = &settings, .draws = 100};
    assert_ok(anchored_infer(&a, &in, &why));
    assert_ok(families_of(&f, &(latent_rows){&m.s.design, m.z, NULL, true},
                          &(candidate_lists){3, count, candidate, NULL}, &why));
    for (size_t h = 0; h < 36; h++) {
        double p = edges[h % 3];
        dag_prior prior = {.ridge = ridges[h / 3 % 6],
                           .dof = 3,
                           .log_odds = log(p / (1 - p)),
                           .unit = a.unit,
                           .spread = 10,
                           .hole = h >= 18};
        dag_yardstick truth;
        enumerate_dags(&truth, f.list, 4, &prior, NULL, NULL, NULL);
        double weight = truth.log_evidence + 6 * log(1 - p);
        double shrink = weight > top ? exp(top - weight) : 1;
        top = fmax(top, weight);
        total = total * shrink + exp(weight - top);
        for (size_t e = 0; e < 16; e++) {
            sum[e] = sum[e] * shrink + exp(weight - top) * truth.edge_prob[e];
        }
    }
    for (size_t e = 0; e < 16; e++) {
        assert_near(a.edge_prob[e], sum[e] / total, 1e-8);
    }
    assert_near(a.log_evidence, top + log(total / 36), 1e-8 * fabs(top));
    families_close(&f);
    anchored_close(&a);
    made_signal_free(&m);
}

static double mean_of(const double *x, size_t first, size_t step, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        sum += x[first + k * step] / (double)count;
    }
    return sum;
}

static void test_identity(void **state)
{
    (void)state;
    lcg g = {31};
    made_signal m = made_signal_of(&PLAIN, &g);
    lscm_fit_settings settings = defaults();
    anchored a;
    make_identity(&m, VIEW_OBSERVED);
    anchored_input in = {.view = &m.s, .settings = &settings, .draws = 200};
    assert_ok(anchored_infer(&a, &in, &why));
    assert_int_equal(a.sampler, SAMPLER_EXACT);
    check_graph(&a, m.w);
    check_finite(&a, &m.s);
    assert_memory_equal(a.z, m.z, m.s.rows * m.s.d * sizeof(double));
    for (size_t e = 0; e < 16; e++) {
        assert_near(mean_of(a.w, e, 16, a.draws), m.w[e], 0.15);
    }
    anchored_close(&a);
    made_signal_free(&m);
}

/* Variables read off x: beyond its reach only z's side is known, rows count for less where much
 * leaks, and the scale is known to a tenth. Weights and noise stay where they are, and the draws
 * spread as told: the sd of a root's log s is that of its gain, plus the little of its rows. */
static void test_errors(void **state)
{
    (void)state;
    lcg g = {32};
    made_design big = PLAIN;
    big.observational = 400;
    big.per_set = 100;
    made_signal m = made_signal_of(&big, &g);
    lscm_fit_settings settings = defaults();
    anchored a;
    const double reach[4] = {2.5, 2.5, 2.5, 2.5};
    double leak[16];
    for (size_t e = 0; e < 16; e++) {
        leak[e] = e / 4 != e % 4 ? 0.03 : 0;
    }
    make_identity(&m, VIEW_READ_OFF);
    for (size_t k = 0; k < m.s.rows * 4; k++) {
        m.s.y[k] = m.mask[k] != 0 ? m.s.y[k] : fmax(fmin(m.s.y[k], 2.5), -2.5);
    }
    anchored_input in = {.view = &m.s,
                         .settings = &settings,
                         .draws = 1000,
                         .reach = reach,
                         .leak = leak,
                         .gain = 0.1};
    assert_ok(anchored_infer(&a, &in, &why));
    assert_int_equal(a.sampler, SAMPLER_LATENT);
    assert_true(a.dispersion > 1.5);
    check_graph(&a, m.w);
    check_finite(&a, &m.s);
    for (size_t e = 0; e < 16; e++) {
        assert_near(mean_of(a.w, e, 16, a.draws), m.w[e], 0.2);
    }
    for (size_t j = 0; j < 4; j++) {
        double log_sigma = 0;
        double squares = 0;
        for (size_t k = 0; k < a.draws; k++) {
            double one = log(a.sigma[k * 4 + j] / m.sigma[j]);
            log_sigma += one / (double)a.draws;
            squares += one * one / (double)a.draws;
        }
        assert_near(log_sigma, 0, 0.15);
        assert_near(sqrt(squares - log_sigma * log_sigma), 0.11, 0.03);
    }
    anchored_close(&a);
    made_signal_free(&m);
}

/* b (d, d): the coefficients of z_i on all before it, where i is free, by normal equations; sigma
 * (d): sd of what they leave. */
static void regress(const made_signal *m, double *b, double *sigma)
{
    size_t d = m->s.d;
    memset(b, 0, d * d * sizeof *b);
    for (size_t at = 0; at < d; at++) {
        size_t i = m->order[at];
        double gram[16] = {0};
        double inverse[16];
        double right[4] = {0};
        double squares = 0;
        double rows = 0;
        for (size_t r = 0; r < m->s.rows; r++) {
            double x[4];
            const double *z = m->s.y + r * d;
            for (size_t p = 0; p < at; p++) {
                x[p] = z[m->order[p]];
            }
            x[at] = 1;
            for (size_t p = 0; p <= at && m->mask[r * d + i] == 0; p++) {
                for (size_t q = 0; q <= at; q++) {
                    gram[p * (at + 1) + q] += x[p] * x[q];
                }
                right[p] += x[p] * z[i];
            }
            squares += m->mask[r * d + i] == 0 ? z[i] * z[i] : 0;
            rows += m->mask[r * d + i] == 0 ? 1 : 0;
        }
        (void)invert(gram, at + 1, inverse);
        for (size_t p = 0; p <= at; p++) {
            double slope = 0;
            for (size_t q = 0; q <= at; q++) {
                slope += inverse[p * (at + 1) + q] * right[q];
            }
            squares -= slope * right[p];
            b[p < at ? m->order[p] * d + i : i * d + i] = slope;
        }
        sigma[i] = sqrt(squares / rows);
    }
}

static const double PI = 3.14159265358979323846;

static double normal_density(double x, double variance)
{
    return exp(-x * x / (2 * variance)) / sqrt(2 * PI * variance);
}

/* With many rows b is known, and what leaks decides: edges have the odds of anchored_errors.c, by
 * coefficients found another way, whatever was read off by then; where they are sure, weights
 * spread by leaks. */
static void test_leaks_leave_doubt(void **state)
{
    (void)state;
    lcg g = {91};
    size_t doubtful = 0;
    size_t spread = 0;
    for (int round = 0; round < 8; round++) {
        made_design c = PLAIN;
        c.observational = 2000;
        c.per_set = 400;
        made_signal m = made_signal_of(&c, &g);
        lscm_fit_settings settings = defaults();
        anchored a;
        double b[16];
        double sigma[4];
        double open[16];
        make_identity(&m, VIEW_READ_OFF);
        regress(&m, b, sigma);
        settings.ridge = 0.05;
        settings.degree = 0.75; /* at d = 4 an edge is as likely as not */
        for (size_t e = 0; e < 16; e++) {
            double size = (round < 4 ? 0.4 : 0.05) * (1 + 0.1 * (double)e);
            open[e] = e / 4 != e % 4 ? size : 0;
        }
        anchored_input in = {
            .view = &m.s, .settings = &settings, .order = m.order, .draws = 2000, .leak = open};
        assert_ok(anchored_infer(&a, &in, &why));
        for (size_t e = 0; e < 16; e++) {
            double mean = mean_of(a.w, e, 16, a.draws);
            double l = 0; /* by itself and through parents, whose weights are about b */
            for (size_t q = 0; q < 4; q++) {
                double through = q == e % 4 ? 1 : m.w[q * 4 + e % 4];
                l += pow(through * open[e / 4 * 4 + q], 2);
            }
            double v = pow(sigma[e % 4] / a.unit[e / 4], 2) / settings.ridge;
            double odds = normal_density(b[e], v + l) / normal_density(b[e], l);
            double squares = 0;
            for (size_t k = 0; k < a.draws; k++) {
                squares += pow(a.w[k * 16 + e] - mean, 2) / (double)a.draws;
                assert_true(isfinite(a.log_p[k]) && isfinite(a.log_q[k]));
            }
            if (m.w[e] == 0) { /* z asks for no coefficient but by chance */
                assert_true(a.edge_prob[e] < 0.3);
                continue;
            }
            assert_near(a.edge_prob[e], 1 / (1 + 1 / odds), 0.06);
            doubtful += a.edge_prob[e] > 0.05 && a.edge_prob[e] < 0.95 ? 1 : 0;
            if (odds > 1e4) {
                assert_near(mean, b[e] * v / (v + l), 0.2 * sqrt(l));
                double ratio = sqrt(squares / (v * l / (v + l)));
                assert_true(ratio > 0.75 && ratio < 2.5); /* rows that count less add to it */
                spread++;
            }
        }
        anchored_close(&a);
        made_signal_free(&m);
    }
    assert_true(doubtful > 2 && spread > 2);
}

/* The last node of a full graph is read off far worse than its causes. Its rows must not count less
 * than theirs for it: then it would be cheap to let it cause them. */
static void test_uneven_errors(void **state)
{
    (void)state;
    lcg g = {36};
    made_design full = PLAIN;
    full.observational = 400;
    full.per_set = 100;
    full.edge = 1;
    for (int round = 0; round < 10; round++) {
        made_signal m = made_signal_of(&full, &g);
        lscm_fit_settings settings = defaults();
        anchored a;
        double leak[16];
        size_t last = m.order[3];
        for (size_t e = 0; e < 16; e++) {
            leak[e] = e / 4 == e % 4 ? 0 : e % 4 == last ? 0.1 : 0.003;
        }
        make_identity(&m, VIEW_READ_OFF);
        anchored_input in = {.view = &m.s, .settings = &settings, .draws = 100, .leak = leak};
        assert_ok(anchored_infer(&a, &in, &why));
        assert_true(a.dispersion > 1.5);
        for (size_t i = 0; i < 4; i++) {
            assert_true(a.edge_prob[last * 4 + i] < 0.5);
        }
        anchored_close(&a);
        made_signal_free(&m);
    }
}

/* Exact to the last draw, whichever sampler is at work. */
static void test_knowledge(void **state)
{
    (void)state;
    lcg g = {32};
    for (int round = 0; round < 4; round++) {
        made_design c = PLAIN;
        c.actuator = round % 2 == 0 ? 0 : 0.3;
        c.untouched = round < 2 ? 0 : 1;
        made_signal m = made_signal_of(&c, &g);
        lscm_fit_settings settings = defaults();
        anchored a;
        uint8_t forbidden[16] = {0};
        uint8_t required[16] = {0};
        size_t from = m.order[0];
        size_t to = m.order[1];
        forbidden[from * 4 + to] = 1; /* against the truth, which has room for it */
        required[m.order[2] * 4 + m.order[3]] = 1;
        anchored_input in = {.view = &m.s,
                             .settings = &settings,
                             .forbidden = forbidden,
                             .required = required,
                             .mechanism = LSCM_MECHANISM_LINEAR, /* a false graph asks for bends */
                             .draws = 100};
        assert_ok(anchored_infer(&a, &in, &why));
        check_finite(&a, &m.s);
        assert_true((a.sampler == SAMPLER_JOINT) == (round > 0));
        assert_near(a.edge_prob[from * 4 + to], 0, 0);
        assert_near(a.edge_prob[m.order[2] * 4 + m.order[3]], 1, 1e-12);
        for (size_t k = 0; k < a.draws; k++) {
            assert_true(a.w[k * 16 + from * 4 + to] == 0);
            assert_true(a.w[k * 16 + m.order[2] * 4 + m.order[3]] != 0);
        }
        anchored_close(&a);
        made_signal_free(&m);
    }
}

static void test_order(void **state)
{
    (void)state;
    lcg g = {33};
    for (int round = 0; round < 2; round++) {
        made_design c = PLAIN;
        c.actuator = round == 0 ? 0 : 0.3;
        made_signal m = made_signal_of(&c, &g);
        lscm_fit_settings settings = defaults();
        anchored a;
        const size_t order[] = {m.order[1], m.order[0], m.order[2], m.order[3]};
        anchored_input in = {.view = &m.s, .settings = &settings, .order = order, .draws = 100};
        assert_ok(anchored_infer(&a, &in, &why));
        check_finite(&a, &m.s);
        for (size_t k = 0; k < a.draws; k++) {
            assert_memory_equal(a.order + k * 4, order, sizeof order);
            for (size_t late = 0; late < 4; late++) {
                for (size_t early = 0; early < late; early++) {
                    assert_true(a.w[k * 16 + order[late] * 4 + order[early]] == 0);
                }
            }
        }
        anchored_close(&a);
        made_signal_free(&m);
    }
}

static void test_equal(void **state)
{
    (void)state;
    lcg g = {34};
    for (int round = 0; round < 2; round++) {
        made_design c = PLAIN;
        c.equal = true;
        c.actuator = round == 0 ? 0 : 0.1;
        made_signal m = made_signal_of(&c, &g);
        lscm_fit_settings settings = defaults();
        anchored a;
        assert_ok(lscm_settings_set(lscm_fit_table(), &settings, "noise", "equal", &why));
        anchored_input in = {.view = &m.s, .settings = &settings, .draws = 200};
        assert_ok(anchored_infer(&a, &in, &why));
        check_finite(&a, &m.s);
        check_graph(&a, m.w);
        double mean = 0;
        for (size_t k = 0; k < a.draws * 4; k++) {
            assert_near(a.sigma[k], a.sigma[k - k % 4], 1e-12 * a.sigma[k]);
            mean += a.sigma[k] / (double)(a.draws * 4);
        }
        assert_near(mean, 0.7, 0.07);
        anchored_close(&a);
        made_signal_free(&m);
    }
}

/* ---- Priors over graphs ---- */

static void test_graph_prior(void **state)
{
    (void)state;
    lcg g = {35};
    for (int round = 0; round < 6; round++) {
        made_design c = {.d = 3,
                         .observational = 10,
                         .sets = 4,
                         .per_set = 10,
                         .value = 2,
                         .ridge = 1,
                         .dof = 3,
                         .edge = 0.6};
        made_signal m = made_signal_of(&c, &g);
        lscm_fit_settings settings = defaults();
        anchored a;
        families f;
        dag_yardstick truth;
        size_t count[] = {2, 2, 2};
        size_t candidate[] = {1, 2, 0, 2, 0, 1};
        make_identity(&m, VIEW_OBSERVED);
        settings.graph_prior = (lscm_graph_prior)(round % 2);
        settings.ridge = 0.5;
        settings.degree = 0.5; /* at d = 3 an even chance for every pair */
        anchored_input in = {.view = &m.s,
                             .settings = &settings,
                             .mechanism = LSCM_MECHANISM_LINEAR,
                             .draws = 20000};
        assert_ok(anchored_infer(&a, &in, &why));
        dag_prior prior = {.ridge = 0.5, .dof = 3, .unit = a.unit};
        assert_ok(families_of(&f, &(latent_rows){&m.s.design, m.z, NULL, true},
                              &(candidate_lists){2, count, candidate, NULL}, &why));
        enumerate_dags(&truth, f.list, 3, &prior, NULL, NULL, NULL);
        for (size_t e = 0; e < 9; e++) {
            assert_near(a.edge_prob[e],
                        settings.graph_prior == 1 ? truth.uniform_prob[e] : truth.edge_prob[e],
                        settings.graph_prior == 1 ? 0.02 : 1e-9);
            double share = 0;
            for (size_t k = 0; k < a.draws; k++) {
                share += a.w[k * 9 + e] != 0 ? 1 / (double)a.draws : 0;
            }
            assert_near(share, a.edge_prob[e], 0.02);
        }
        families_close(&f);
        anchored_close(&a);
        made_signal_free(&m);
    }
}

/* ---- Threads ---- */

static void test_threads(void **state)
{
    (void)state;
    lcg g = {38};
    made_design c = PLAIN;
    c.actuator = 0.3;
    made_signal m = made_signal_of(&c, &g);
    lscm_fit_settings settings = defaults();
    anchored one;
    anchored two;
    int before = omp_get_max_threads();
    anchored_input in = {.view = &m.s, .settings = &settings, .draws = 40};
    omp_set_num_threads(1);
    assert_ok(anchored_infer(&one, &in, &why));
    omp_set_num_threads(2);
    assert_ok(anchored_infer(&two, &in, &why));
    omp_set_num_threads(before);
    assert_memory_equal(one.w, two.w, 40 * 16 * sizeof(double));
    assert_memory_equal(one.z, two.z, m.s.rows * 4 * sizeof(double));
    assert_memory_equal(one.edge_prob, two.edge_prob, 16 * sizeof(double));
    anchored_close(&one);
    anchored_close(&two);
    made_signal_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),       cmocka_unit_test(test_learned_prior),
        cmocka_unit_test(test_identity),      cmocka_unit_test(test_errors),
        cmocka_unit_test(test_knowledge),     cmocka_unit_test(test_leaks_leave_doubt),
        cmocka_unit_test(test_uneven_errors), cmocka_unit_test(test_order),
        cmocka_unit_test(test_equal),         cmocka_unit_test(test_graph_prior),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
