/* Orders sampled by Markov chains against all DAGs of five nodes; convergence figures against
 * series whose answers are known. */
#include "enumerate_dags.h" /* first: it has a parameter named like a type of gram.h */

#include "infer/graph/graph.h"
#include "infer/mechanism/mechanism.h"

#include "design_testing.h"
#include "lcg.h"
#include "testing.h"

enum { D = 5, DRAWS = 4000 };

static const double units[D] = {1, 1, 1, 1, 1};

static dag_prior plain_prior(void)
{
    return (dag_prior){.ridge = 0.1, .dof = 3, .log_odds = -0.5, .unit = units};
}

typedef struct knowledge {
    uint8_t forbidden[D * D], required[D * D];
} knowledge;

/* Few rows of a random model under interventions, so that a lot stays in doubt. */
static void make_families(families *out, uint64_t seed, size_t rows, const knowledge *k)
{
    lscm_error why = {0};
    lcg g = {seed};
    double w[D * D];
    double z[200 * D];
    uint8_t mask[200 * D];
    size_t order[D] = {0};
    size_t count[D];
    size_t candidate[D * (D - 1)];
    design s = {0};
    lcg_weights(&g, D, 0.6, order, w);
    for (size_t r = 0; r < rows; r++) {
        for (size_t p = 0; p < D; p++) {
            size_t i = order[p];
            mask[r * D + i] = lcg_uniform(&g) < 0.15 ? 1 : 0;
            z[r * D + i] = (1.0 + 0.3 * (double)i) * lcg_normal(&g);
            for (size_t q = 0; q < p && mask[r * D + i] == 0; q++) {
                z[r * D + i] += 0.3 * w[order[q] * D + i] * z[r * D + order[q]];
            }
        }
    }
    for (size_t i = 0; i < D; i++) {
        count[i] = 0;
        for (size_t j = 0; j < D; j++) {
            if (j != i && (k == NULL || k->forbidden[j * D + i] == 0)) {
                candidate[i * (D - 1) + count[i]++] = j;
            }
        }
    }
    design_again(&s, rows, D, mask, NULL);
    assert_ok(families_of(
        out, &(latent_rows){&s, z, NULL, false},
        &(candidate_lists){D - 1, count, candidate, k != NULL ? k->required : NULL}, &why));
    design_close(&s);
}

typedef struct sampled {
    uint32_t parents[DRAWS * D];
    size_t order[DRAWS * D];
    double edge_prob[D * D], share[D * D]; /* share: of the draws */
    dag_draws draws;
    dag_result result;
} sampled;

static sampled *sample_as(const family *list, const dag_prior *prior, const size_t *order,
                          size_t steps, uint64_t seed, bool uniform)
{
    lscm_error why = {0};
    sampled *s = calloc(1, sizeof *s);
    s->draws = (dag_draws){DRAWS, D, s->parents, s->order};
    s->result.edge_prob = s->edge_prob;
    dag_mcmc_settings settings = {.steps = steps, .uniform = uniform};
    assert_ok(dag_mcmc(&(dag_problem){&(mechanisms){&linear_gaussian, D, list, *prior}, order,
                                      (rng){seed, 1}, NULL, NULL},
                       &settings, &s->draws, &s->result, &why));
    for (size_t k = 0; k < DRAWS; k++) {
        size_t place[D] = {0};
        for (size_t p = 0; p < D; p++) {
            place[s->order[k * D + p]] += p + 1; /* 0 would be a node left out */
        }
        for (size_t i = 0; i < D; i++) {
            assert_in_range(place[i], 1, D);
            assert_int_equal(s->order[k * D + place[i] - 1], i);
            for (size_t c = 0; c < list[i].count; c++) {
                size_t j = list[i].candidate[c];
                if ((s->parents[k * D + i] >> c & 1) != 0) {
                    assert_true(place[j] < place[i]);
                    s->share[j * D + i] += 1.0 / DRAWS;
                }
            }
            assert_int_equal(s->parents[k * D + i] & list[i].required, list[i].required);
        }
    }
    return s;
}

static sampled *sample(const family *list, const dag_prior *prior, const size_t *order,
                       size_t steps, uint64_t seed)
{
    return sample_as(list, prior, order, steps, seed, false);
}

static void compare(const sampled *s, const dag_yardstick *truth, double tolerance)
{
    for (size_t k = 0; k < (size_t)D * D; k++) {
        assert_near(s->edge_prob[k], truth->edge_prob[k], tolerance);
        assert_near(s->share[k], truth->edge_prob[k], tolerance + 0.02);
    }
}

/* Every graph once, also where some edges may not be and others must. */
static void uniform_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        knowledge k = {0};
        families f;
        dag_yardstick truth;
        dag_prior prior = plain_prior();
        k.forbidden[1] = k.forbidden[2 * D + 4] = 1;
        k.required[3 * D + 0] = 1;
        make_families(&f, seed, 20 + 20 * (size_t)seed, seed > 2 ? &k : NULL);
        dag_prior halves = prior; /* a pair has two ways to be an edge, and one order only one */
        halves.log_odds -= log(2);
        enumerate_dags(&truth, f.list, D, &halves, NULL, NULL, NULL);
        sampled *s = sample_as(f.list, &prior, NULL, 40000, seed, true);
        for (size_t e = 0; e < (size_t)D * D; e++) {
            assert_near(s->edge_prob[e], truth.uniform_prob[e], 0.035);
            assert_near(s->share[e], s->edge_prob[e], 1e-9);
        }
        assert_true(s->result.r_hat < 1.05 && s->result.ess > 400);
        free(s);
        families_close(&f);
    }
}

/* A path that nothing orients has a root anywhere: its k-th edge points on with probability k/d. By
 * orders its ends would be all but sure. */
static void path(void **state)
{
    (void)state;
    enum { LONG = 14, ROWS = 400, MANY = 1000 };
    static double z[ROWS * LONG], edge_prob[LONG * LONG];
    static uint8_t mask[ROWS * LONG];
    static uint32_t parents[MANY * LONG];
    static size_t orders[MANY * LONG], count[LONG], candidate[LONG * 4];
    double unit[LONG];
    lscm_error why = {0};
    lcg g = {11};
    families f;
    design s = {0};
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t i = 0; i < LONG; i++) {
            z[r * LONG + i] = lcg_normal(&g) + (i > 0 ? 1.5 * z[r * LONG + i - 1] : 0);
        }
    }
    for (size_t i = 0; i < LONG; i++) {
        unit[i] = 1;
        for (size_t j = i < 2 ? 0 : i - 2; j <= i + 2 && j < LONG; j++) {
            if (j != i) {
                candidate[i * 4 + count[i]++] = j;
            }
        }
    }
    design_again(&s, ROWS, LONG, mask, NULL);
    assert_ok(families_of(&f, &(latent_rows){&s, z, NULL, false},
                          &(candidate_lists){4, count, candidate, NULL}, &why));
    dag_prior prior = {.ridge = 0.01, .dof = 3, .log_odds = -9, .unit = unit};
    dag_draws draws = {MANY, LONG, parents, orders};
    dag_result result = {.edge_prob = edge_prob};
    dag_mcmc_settings settings = {.steps = 40000, .uniform = true};
    assert_ok(dag_mcmc(&(dag_problem){&(mechanisms){&linear_gaussian, LONG, f.list, prior}, NULL,
                                      (rng){5, 1}, NULL, NULL},
                       &settings, &draws, &result, &why));
    for (size_t i = 0; i + 1 < LONG; i++) {
        double onward = (double)(i + 1) / LONG;
        assert_near(edge_prob[i * LONG + i + 1], onward, 0.08);
        assert_near(edge_prob[(i + 1) * LONG + i], 1 - onward, 0.08);
    }
    design_close(&s);
    families_close(&f);
}

static void all_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        families f;
        dag_yardstick truth;
        dag_prior prior = plain_prior();
        prior.variance = seed == 3 ? 2 : 0;
        make_families(&f, seed, 30 + 40 * (size_t)seed, NULL);
        enumerate_dags(&truth, f.list, D, &prior, NULL, NULL, NULL);
        sampled *s = sample(f.list, &prior, NULL, 60000, seed);
        compare(s, &truth, 0.025);
        assert_true(s->result.r_hat >= 1 && s->result.r_hat < 1.05);
        assert_true(s->result.ess > 400 && s->result.ess <= DRAWS);
        free(s);
        families_close(&f);
    }
}

static void background_knowledge(void **state)
{
    (void)state;
    knowledge k = {0};
    k.forbidden[0 * D + 1] = 1;
    k.forbidden[3 * D + 2] = 1;
    k.required[4 * D + 0] = 1;
    k.required[2 * D + 4] = 1;
    k.required[1 * D + 3] = 1;
    families f;
    dag_yardstick truth;
    dag_prior prior = plain_prior();
    make_families(&f, 8, 60, &k);
    enumerate_dags(&truth, f.list, D, &prior, NULL, NULL, NULL);
    sampled *s = sample(f.list, &prior, NULL, 60000, 8);
    compare(s, &truth, 0.025);
    assert_near(s->edge_prob[4 * D + 0], 1, 0);
    assert_near(s->edge_prob[0 * D + 1], 0, 0);
    free(s);
    families_close(&f);

    k.required[0 * D + 2] = 1; /* 2 -> 4 -> 0 -> 2 */
    make_families(&f, 8, 60, &k);
    lscm_error why = {0};
    double edge_prob[D * D];
    dag_draws none = {.d = D};
    dag_result result = {.edge_prob = edge_prob};
    dag_mcmc_settings settings = {.steps = 100};
    assert_fails(dag_mcmc(&(dag_problem){&(mechanisms){&linear_gaussian, D, f.list, prior}, NULL,
                                         (rng){1, 1}, NULL, NULL},
                          &settings, &none, &result, &why),
                 LSCM_VALUE, "round in a circle");
    families_close(&f);
}

static void order_given(void **state)
{
    (void)state;
    const size_t order[D] = {3, 1, 4, 0, 2};
    families f;
    dag_yardstick truth;
    dag_prior prior = plain_prior();
    make_families(&f, 5, 50, NULL);
    enumerate_dags(&truth, f.list, D, &prior, order, NULL, NULL);
    sampled *s = sample(f.list, &prior, order, 0, 5);
    for (size_t k = 0; k < (size_t)D * D; k++) {
        assert_near(s->edge_prob[k], truth.edge_prob[k], 1e-9);
        assert_near(s->share[k], truth.edge_prob[k], 0.04);
    }
    for (size_t k = 0; k < DRAWS; k++) {
        assert_memory_equal(s->order + k * D, order, sizeof order);
    }
    free(s);
    families_close(&f);
}

/* Too few steps for chains to find the sharp mode: those that went on from the best one's place
 * must not pass for agreement. With time enough there is nothing to replace, and one R-hat. */
static void replaced_chains(void **state)
{
    (void)state;
    enum { WIDE = 60, NEAR = 4, ROWS = 400 };
    lscm_error why = {0};
    lcg g = {9};
    static double z[ROWS * WIDE];
    static uint8_t mask[ROWS * WIDE];
    static double edge_prob[WIDE * WIDE];
    double unit[WIDE];
    size_t count[WIDE] = {0};
    size_t candidate[WIDE * 2 * NEAR];
    families f;
    design s = {0};
    for (size_t k = 0; k < (size_t)ROWS * WIDE; k++) { /* each follows the four before it */
        size_t i = k % WIDE;
        mask[k] = lcg_uniform(&g) < 0.1 ? 1 : 0;
        z[k] = lcg_normal(&g);
        for (size_t back = 1; back <= NEAR && back <= i && mask[k] == 0; back++) {
            z[k] += 0.5 * z[k - back];
        }
    }
    for (size_t i = 0; i < WIDE; i++) {
        unit[i] = 1;
        for (size_t j = i > NEAR ? i - NEAR : 0; j < WIDE && j <= i + NEAR; j++) {
            if (j != i) {
                candidate[i * 2 * NEAR + count[i]++] = j;
            }
        }
    }
    design_again(&s, ROWS, WIDE, mask, NULL);
    assert_ok(families_of(&f, &(latent_rows){&s, z, NULL, false},
                          &(candidate_lists){2 * NEAR, count, candidate, NULL}, &why));
    dag_prior prior = {.ridge = 0.1, .dof = 3, .log_odds = -0.5, .unit = unit};
    dag_draws none = {.d = WIDE};
    for (int k = 0; k < 2; k++) {
        dag_result out = {.edge_prob = edge_prob};
        dag_mcmc_settings settings = {.steps = k == 0 ? 1000 : 60000};
        const mechanisms all = {&linear_gaussian, WIDE, f.list, prior};
        const dag_problem problem = {&all, NULL, {3, 1}, NULL, NULL};
        assert_ok(dag_mcmc(&problem, &settings, &none, &out, &why));
        assert_true(k == 0 ? out.replaced > 0 && out.replaced < 4 : out.replaced == 0);
        assert_true(k == 0 ? out.r_hat > 1.5 : out.r_hat == out.r_hat_kept);
        assert_true(out.r_hat_kept >= 1 && out.r_hat_kept < (k == 0 ? out.r_hat : 1.1));
    }
    families_close(&f);
    design_close(&s);
}

static void any_thread_count(void **state)
{
    (void)state;
    families f;
    dag_prior prior = plain_prior();
    make_families(&f, 2, 80, NULL);
    lscm_set_threads(1);
    sampled *a = sample(f.list, &prior, NULL, 9000, 4);
    lscm_set_threads(3);
    sampled *b = sample(f.list, &prior, NULL, 9000, 4);
    assert_memory_equal(a->parents, b->parents, sizeof a->parents);
    assert_memory_equal(a->order, b->order, sizeof a->order);
    assert_memory_equal(a->edge_prob, b->edge_prob, sizeof a->edge_prob);
    assert_near(a->result.ess, b->result.ess, 0);
    free(a);
    free(b);
    families_close(&f);
}

static bool stop_at_once(void *self, const char *what, uint64_t done, uint64_t total)
{
    (void)what;
    (void)done;
    (void)total;
    return ++*(uint64_t *)self < 3;
}

static void stopping(void **state)
{
    (void)state;
    lscm_error why = {0};
    families f;
    dag_prior prior = plain_prior();
    uint64_t seen = 0;
    lscm_progress progress = {stop_at_once, &seen};
    double edge_prob[D * D];
    dag_draws none = {.d = D};
    dag_result result = {.edge_prob = edge_prob};
    dag_mcmc_settings settings = {.steps = 2000};
    make_families(&f, 2, 80, NULL);
    assert_fails(dag_mcmc(&(dag_problem){&(mechanisms){&linear_gaussian, D, f.list, prior}, NULL,
                                         (rng){1, 1}, &progress, NULL},
                          &settings, &none, &result, &why),
                 LSCM_STOPPED, "stopped");
    assert_int_equal(seen, 3);
    families_close(&f);
}

/* Chains that go to and fro about means of their own: W and B are known. */
static void r_hat(void **state)
{
    (void)state;
    enum { N = 100 };
    double x[3 * N];
    const double mean[3] = {0, 1, 4};
    for (size_t t = 0; t < (size_t)3 * N; t++) {
        x[t] = mean[t / N] + (t % 2 == 0 ? 1 : -1);
    }
    double half = N / 2.0;
    double within = half / (half - 1);
    double middle = 5.0 / 3;
    double between =
        2 * (middle * middle + (1 - middle) * (1 - middle) + (4 - middle) * (4 - middle)) / 5;
    assert_near(split_r_hat(x, 3, N), sqrt(((half - 1) / half * within + between) / within), 1e-12);
    /* a trend within one chain is seen, since it is split */
    for (size_t t = 0; t < N; t++) {
        x[t] = (double)t;
    }
    assert_true(split_r_hat(x, 1, N) > 1.5);
    for (size_t t = 0; t < (size_t)3 * N; t++) {
        x[t] = 0.7;
    }
    assert_near(split_r_hat(x, 3, N), 1, 0);
    assert_near(effective_samples(x, 3, N), 3 * N, 0);
    for (size_t t = 0; t < N; t++) {
        x[t] = 0.2; /* each chain constant, and not the same */
    }
    assert_true(split_r_hat(x, 3, N) > 1e3 && isfinite(split_r_hat(x, 3, N)));
    assert_true(effective_samples(x, 3, N) < 5);
}

/* AR(1): n (1 - phi)/(1 + phi). */
static void ess(void **state)
{
    (void)state;
    enum { N = 20000, M = 2 };
    double *x = malloc((size_t)M * N * sizeof *x);
    const double phi[] = {0, 0.5, 0.9};
    lcg g = {3};
    for (size_t p = 0; p < 3; p++) {
        for (size_t c = 0; c < M; c++) {
            double value = lcg_normal(&g) / sqrt(1 - phi[p] * phi[p]);
            for (size_t t = 0; t < N; t++) {
                x[c * N + t] = value;
                value = phi[p] * value + lcg_normal(&g);
            }
        }
        double expected = (double)M * N * (1 - phi[p]) / (1 + phi[p]);
        assert_near(effective_samples(x, M, N), expected, 0.12 * expected);
        assert_near(split_r_hat(x, M, N), 1, 0.01);
    }
    free(x);
}

/* Weights that are all alike change nothing; independent draws with weights are worth p (1 - p)
 * over the variance of a ratio, which is that over many repetitions; repeating draws, as drawing
 * again does, adds none. */
static void weighted(void **state)
{
    (void)state;
    enum { N = 2000, M = 2, TIMES = 400 };
    static double x[M * N], w[M * N], work[M * N];
    lcg g = {8};
    double sum = 0;
    double squares = 0;
    double mean = 0;
    for (size_t k = 0; k < TIMES; k++) {
        double total = 0;
        double present = 0;
        for (size_t t = 0; t < (size_t)M * N; t++) {
            x[t] = lcg_uniform(&g) < 0.3 ? 1 : 0;
            w[t] = exp(x[t] * 0.7 + 0.8 * lcg_normal(&g));
            total += w[t];
            present += w[t] * x[t];
        }
        double p = present / total;
        sum += p / TIMES;
        squares += p * p / TIMES;
        mean += weighted_samples(x, w, M, N, work) / TIMES;
    }
    double expected = sum * (1 - sum) / (squares - sum * sum);
    assert_near(mean, expected, 0.2 * expected);
    assert_true(mean < 0.75 * M * N);
    for (size_t t = 0; t < (size_t)M * N; t++) {
        w[t] = 3;
        x[t] = t % 10 == 0 ? (lcg_uniform(&g) < 0.3 ? 1 : 0) : x[t - 1];
    }
    double plain = effective_samples(x, M, N);
    assert_near(weighted_samples(x, w, M, N, work), plain, 1e-2 * plain);
    assert_near(plain, (double)M * N / 10, 0.35 * M * N / 10);
}

/* Chains that stand still in places of their own are sure of nothing; those that agree of as much
 * as they are worth. */
static void told(void **state)
{
    (void)state;
    double x[400];
    for (size_t t = 0; t < 400; t++) {
        x[t] = t < 100 ? 1 : 0;
    }
    double worth = effective_samples(x, 4, 100);
    assert_true(chains_told(1, worth, 0.2) < 0.99 && chains_told(0, worth, 0.2) > 0.01);
    assert_near(chains_told(0.25, worth, 0.2), 0.25, 0.15);
    assert_near(chains_told(0.25, 4000, 0.2), 0.25, 1e-4);
    assert_near(chains_told(1, 4000, 0.2), 1, 2e-4);
    assert_near(chains_told(0.5, 2, 0.5), 0.5, 1e-15);
}

/* However little chains are worth, they say of how many edges there are what their shares say, up
 * to what one pair more would; and no pair is surer than the draws allow. */
static void told_edges(void **state)
{
    (void)state;
    enum { NODES = 10 };
    size_t candidate[NODES][NODES - 1];
    family list[NODES] = {{0}};
    double p[NODES * NODES] = {0};
    double before = 0;
    double after = 0;
    for (size_t i = 0; i < NODES; i++) {
        for (size_t j = 0, n = 0; j < NODES; j++) {
            if (j != i) {
                candidate[i][n++] = j;
            }
        }
        list[i] = (family){.node = i, .count = NODES - 1, .candidate = candidate[i]};
        p[i * NODES + (i + 1) % NODES] = 1;
        before += 1;
    }
    edges_told(p, &(mechanisms){.d = NODES, .family = list}, 3);
    for (size_t e = 0; e < NODES * NODES; e++) {
        after += p[e];
        assert_true(e / NODES == e % NODES ? p[e] == 0 : p[e] > 0.01 && p[e] < 0.99);
    }
    assert_near(after, before, 1);
}

/* Whoever does without edge probabilities gets the same draws, and no word on convergence. */
static void without_edges(void **state)
{
    (void)state;
    lscm_error why = {0};
    families f;
    static uint32_t parents[DRAWS * D];
    static size_t order[DRAWS * D];
    dag_prior prior = plain_prior();
    make_families(&f, 5, 100, NULL);
    sampled *s = sample(f.list, &prior, NULL, 4000, 9);
    const dag_draws draws = {DRAWS, D, parents, order};
    dag_result out = {0};
    const mechanisms all = {&linear_gaussian, D, f.list, prior};
    assert_ok(dag_mcmc(&(dag_problem){&all, NULL, {9, 1}, NULL, NULL},
                       &(dag_mcmc_settings){.steps = 4000}, &draws, &out, &why));
    assert_true(isnan(out.r_hat) && isnan(out.ess) && !isnan(s->result.r_hat));
    assert_memory_equal(parents, s->parents, sizeof parents);
    assert_memory_equal(order, s->order, sizeof order);
    free(s);
    families_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_edges),
        cmocka_unit_test(all_graphs),
        cmocka_unit_test(uniform_graphs),
        cmocka_unit_test(path),
        cmocka_unit_test(background_knowledge),
        cmocka_unit_test(order_given),
        cmocka_unit_test(any_thread_count),
        cmocka_unit_test(replaced_chains),
        cmocka_unit_test(stopping),
        cmocka_unit_test(r_hat),
        cmocka_unit_test(ess),
        cmocka_unit_test(weighted),
        cmocka_unit_test(told),
        cmocka_unit_test(told_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
