/* Held-out judgement of fits to simulated linear data, against the truth and against the same
 * numbers computed another way. */
#include "infer/anchored/anchored.h"
#include "infer/graph/graph.h"
#include "made_linear_view.h"

#include "testing.h"

#include <omp.h>

static lscm_error why;

static const made_design STRONG = {.d = 5,
                                   .observational = 200,
                                   .sets = 40,
                                   .per_set = 20,
                                   .plain = true,
                                   .value = 3,
                                   .ridge = 0.1,
                                   .dof = 3,
                                   .edge = 0.5};

static lscm_fit_settings defaults(void)
{
    lscm_fit_settings s;
    lscm_settings_defaults(lscm_fit_table(), &s);
    return s;
}

static lscm_status judge_view(judgement *j, const anchored_input *in, double share)
{
    judged again = anchored_judged(in);
    return judge(j, &again, share, &why);
}

/* E[z | do] (d) of a row under the true model. */
static void expect(const made_signal *m, size_t row, double *z)
{
    size_t d = m->s.d;
    for (size_t k = 0; k < d; k++) {
        size_t i = m->order[k];
        z[i] = m->values[row * d + i];
        for (size_t j = 0; j < d && m->mask[row * d + i] == 0; j++) {
            z[i] += m->w[j * d + i] != 0 ? m->w[j * d + i] * z[j] : 0;
        }
    }
}

/* Four nodes; `each` rows of the sets {0}, {1}, {2}, {3}, then `few` of {0, 1}: with a share of 0.1
 * only the last is small enough to be held out. */
static made_signal make_known(size_t each, size_t few, lcg *g)
{
    made_design c = STRONG;
    c.d = 4;
    c.observational = 0;
    c.sets = 1;
    c.per_set = 4 * each + few;
    made_signal m = made_signal_of(&c, g);
    for (size_t row = 0; row < m.s.rows; row++) {
        for (size_t i = 0; i < 4; i++) {
            bool target = row < 4 * each ? row / each == i : i < 2;
            m.mask[row * 4 + i] = target ? 1 : 0;
            m.values[row * 4 + i] = 0;
        }
        made_row(&m, &c, row, g);
    }
    made_again(&m);
    m.s.variance = 0;
    made_spectrum(&m);
    return m;
}

/* R2 of the true model over rows first .. and the mean of the free rows before. */
static double true_r2(const made_signal *m, size_t first, size_t i)
{
    size_t d = m->s.d;
    double missed = 0;
    double spread = 0;
    double mean = 0;
    double n = 0;
    double z[MADE_MOST];
    for (size_t row = 0; row < m->s.rows; row++) {
        double seen = m->z[row * d + i];
        if (row < first && m->mask[row * d + i] == 0) {
            mean = (mean * n + seen) / (n + 1);
            n += 1;
        } else if (row >= first) {
            expect(m, row, z);
            missed += (seen - z[i]) * (seen - z[i]);
            spread += (seen - mean) * (seen - mean);
        }
    }
    return 1 - missed / spread;
}

static void test_truth(void **state)
{
    (void)state;
    lcg g = {6};
    double inside = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        made_signal m = make_known(400, 150, &g);
        judgement j;
        lscm_fit_settings settings = defaults();
        settings.seed = (int64_t)seed;
        anchored_input in = {.view = &m.s, .settings = &settings, .draws = 100};
        assert_ok(judge_view(&j, &in, 0.1));
        assert_int_equal(j.sets, 1);
        assert_int_equal(j.rows, 150);
        for (size_t i = 0; i < 2; i++) { /* never free there */
            assert_true(isnan(j.r2[i]) && isnan(j.coverage[i]));
        }
        for (size_t i = 2; i < 4; i++) {
            assert_near(j.r2[i], true_r2(&m, 1600, i), 0.03);
            assert_near(j.coverage[i], 0.9, 0.08);
            inside += j.coverage[i] / 8;
        }
        assert_true(j.log_likelihood > j.log_likelihood_empty - 0.05);
        judgement_close(&j);
        made_signal_free(&m);
    }
    assert_near(inside, 0.9, 0.035);
}

/* log of a bivariate normal density at (x, y) with this mean and covariance. */
static double log_bivariate(double x, double y, const double *cov)
{
    double det = cov[0] * cov[3] - cov[1] * cov[2];
    double square = (cov[3] * x * x - (cov[1] + cov[2]) * x * y + cov[0] * y * y) / det;
    return -log(2 * acos(-1)) - 0.5 * log(det) - 0.5 * square;
}

/* Mean and covariance of nodes 2 and 3 under do(0, 1) for one draw, by a two by two inverse. */
static double log_density(const anchored *a, size_t k, const double *z)
{
    const double *w = a->w + k * 16;
    const double *c = a->intercept + k * 4;
    const double *s = a->sigma + k * 4;
    const double *own = a->effect + k * 4; /* of the set */
    double v2 = s[2] * s[2] + own[2] * own[2];
    double v3 = s[3] * s[3] + own[3] * own[3];
    double u = w[2 * 4 + 3];
    double v = w[3 * 4 + 2]; /* one of the two is 0 */
    double b2 = c[2] + z[0] * w[2] + z[1] * w[4 + 2];
    double b3 = c[3] + z[0] * w[3] + z[1] * w[4 + 3];
    double det = 1 - u * v;
    double mean2 = (b2 + v * b3) / det;
    double mean3 = (b3 + u * b2) / det;
    double cov[] = {(v2 + v * v * v3) / det / det, (u * v2 + v * v3) / det / det, 0,
                    (v3 + u * u * v2) / det / det};
    cov[2] = cov[1];
    return log_bivariate(z[2] - mean2, z[3] - mean3, cov);
}

/* The rest fitted with the same seed has the same draws. */
static void test_likelihood(void **state)
{
    (void)state;
    lcg g = {8};
    enum { EACH = 100, FEW = 20, ROWS = 4 * EACH + FEW };
    made_signal m = make_known(EACH, FEW, &g);
    uint8_t keep[ROWS] = {0};
    memset(keep, 1, 4 * EACH);
    lscm_fit_settings settings = defaults();
    anchored_input in = {.view = &m.s, .settings = &settings, .draws = 50};
    judgement j;
    assert_ok(judge_view(&j, &in, 0.1));
    assert_int_equal(j.sets, 1);
    assert_int_equal(j.rows, FEW);
    anchored a;
    in.draws = 200; /* as many as the judge takes */
    in.brief = true;
    in.keep = keep;
    assert_ok(anchored_infer(&a, &in, &why));
    double sum = 0;
    for (size_t row = 4 * EACH; row < ROWS; row++) {
        double mean = 0;
        for (size_t k = 0; k < a.draws; k++) {
            mean += exp(log_density(&a, k, a.z + row * 4)) / (double)a.draws;
        }
        sum += log(mean) / FEW;
    }
    assert_near(j.log_likelihood, sum, 1e-9 * fabs(sum));
    anchored_close(&a);
    judgement_close(&j);
    made_signal_free(&m);
}

/* A fit that says nothing of the errors of z. */
static judged noiseless;

static lscm_status fit_noiseless(const void *self, const uint8_t *keep, judged_fit *out,
                                 lscm_error *error)
{
    lscm_status status = noiseless.fit(self, keep, out, error);
    assert_int_equal(out->a.sampler, SAMPLER_LIKELIHOOD);
    out->blur = out->doubt = NULL;
    return status;
}

/* x so noisy that z read off it is wrong by as much as the mechanisms' noise: intervals are right,
 * and the sampler is the one of the fit. Without the errors of z in them they would not be. */
static void test_noisy(void **state)
{
    (void)state;
    lcg g = {41};
    double inside = 0;
    double without = 0;
    double nodes = 0;
    made_design c = STRONG;
    c.d = 3;
    c.sets = 24;
    c.per_set = 30;
    c.x_noise = 0.9;
    c.observational = 100;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        made_signal m = made_signal_of(&c, &g);
        lscm_fit_settings settings = defaults();
        settings.seed = (int64_t)seed;
        anchored_input in = {.view = &m.s, .settings = &settings, .draws = 100, .brief = true};
        judgement j;
        anchored a;
        judged blind = anchored_judged(&in);
        assert_ok(anchored_infer(&a, &in, &why));
        assert_int_equal(a.sampler, SAMPLER_LIKELIHOOD);
        assert_ok(judge(&j, &blind, 0.3, &why));
        for (size_t i = 0; i < c.d; i++) {
            inside += isnan(j.coverage[i]) ? 0 : j.coverage[i];
            nodes += isnan(j.coverage[i]) ? 0 : 1;
        }
        noiseless = blind;
        blind.fit = fit_noiseless;
        judgement_close(&j);
        assert_ok(judge(&j, &blind, 0.3, &why));
        for (size_t i = 0; i < c.d; i++) {
            without += isnan(j.coverage[i]) ? 0 : j.coverage[i];
        }
        judgement_close(&j);
        anchored_close(&a);
        made_signal_free(&m);
    }
    assert_near(inside / nodes, 0.9, 0.03);
    assert_true(without / nodes < inside / nodes - 0.04);
}

/* Designs in which every row counts: what is held out leaves an anchor to each node that has one,
 * or nothing is held out; a judgement never makes a fit fail. */
static void test_spare(void **state)
{
    (void)state;
    static const double shares[] = {0.05, 0.2, 0.5, 0.89};
    lcg g = {14};
    for (size_t per_set = 7; per_set <= 40; per_set += 11) {
        for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
            for (int single = 0; single < 2; single++) {
                made_design c = STRONG;
                c.observational = 20;
                c.sets = single != 0 ? 5 : 6;
                c.single = single != 0;
                c.per_set = per_set;
                made_signal m = made_signal_of(&c, &g);
                lscm_fit_settings settings = defaults();
                anchored_input in = {.view = &m.s, .settings = &settings, .draws = 20};
                judgement j;
                assert_ok(judge_view(&j, &in, shares[k]));
                for (size_t i = 0; i < j.d && j.rows > 0; i++) {
                    assert_true(isnan(j.r2[i]) || isfinite(j.r2[i]));
                    assert_true(isnan(j.coverage[i]) || (j.coverage[i] >= 0 && j.coverage[i] <= 1));
                }
                assert_true(j.rows == 0 || isfinite(j.log_likelihood));
                assert_true(j.rows == 0 || isfinite(j.log_likelihood_empty));
                judgement_close(&j);
                made_signal_free(&m);
            }
        }
    }
}

static void test_too_few(void **state)
{
    (void)state;
    lcg g = {15};
    made_design c = STRONG;
    c.observational = 300;
    c.sets = 5;
    c.single = true;
    c.per_set = 9;
    made_signal m = made_signal_of(&c, &g);
    lscm_fit_settings settings = defaults();
    anchored_input in = {.view = &m.s, .settings = &settings, .draws = 20};
    judgement j;
    assert_ok(judge_view(&j, &in, 0.1)); /* 4 rows */
    assert_int_equal(j.rows, 0);
    assert_int_equal(j.sets, 0);
    assert_null(judgement_json(&j, NULL));
    judgement_close(&j);
    made_signal_free(&m);
}

/* Beyond 20 nodes candidate parents are screened; once, by all rows, those held out among them.
 * Whatever stands in those, the candidates are the same. */
static void test_blind(void **state)
{
    (void)state;
    enum { MANY = 22, ROWS = 300 };
    static double z[ROWS * MANY];
    static uint8_t mask[ROWS * MANY];
    static uint8_t keep[ROWS];
    double unit[MANY];
    lcg g = {33};
    linear_view s = {.rows = ROWS, .d = MANY, .D = MANY, .rank = MANY, .y = z};
    lscm_fit_settings settings = defaults();
    settings.candidates = 3;
    graph_posterior found[2];
    for (size_t k = 0; k < ROWS * (size_t)MANY; k++) {
        double cause = k % MANY > 0 ? z[k - 1] : 0;
        mask[k] = lcg_uniform(&g) < 0.2;
        z[k] = lcg_normal(&g) + (mask[k] != 0 ? 0 : cause);
        unit[k % MANY] = 1;
        keep[k / MANY] = k / MANY % 4 != 0;
    }
    design_again(&s.design, ROWS, MANY, mask, NULL);
    anchored_input in = {.view = &s, .settings = &settings, .keep = keep, .draws = 4};
    in.brief = true;
    for (int round = 0; round < 2; round++) {
        assert_ok(graph_posterior_of(&found[round], &in, z, unit, NULL, 0, &why));
        for (size_t k = 0; k < ROWS * (size_t)MANY; k++) {
            z[k] = keep[k / MANY] != 0 ? z[k] : 10 * z[(k / MANY * MANY) + (k + 5) % MANY];
        }
    }
    assert_memory_equal(found[0].lists.count, found[1].lists.count, sizeof(size_t) * MANY);
    assert_memory_equal(found[0].lists.candidate, found[1].lists.candidate,
                        sizeof(size_t) * MANY * 3);
    assert_memory_equal(found[0].parents, found[1].parents, sizeof(uint32_t) * MANY * 4);
    graph_posterior_close(&found[0]);
    graph_posterior_close(&found[1]);
    design_close(&s.design);
}

/* ---- What draws say of a row, by matrices ---- */

enum { NODES = 7, DRAWN = 9, SEEN = 45, ASKED = 31 };

typedef struct made_draws {
    double w[DRAWN * NODES * NODES], sigma[DRAWN * NODES], intercept[DRAWN * NODES];
    double effect[DRAWN * NODES];
    size_t order[DRAWN * NODES];
    double z[SEEN * NODES], values[SEEN * NODES];
    double blur[NODES * NODES], doubt[SEEN * NODES], actuator;
    uint8_t mask[SEEN * NODES], keep[SEEN];
    bool errors; /* z has them */
} made_draws;

/* blur = V'V of some V */
static void make_errors(made_draws *m, lcg *g)
{
    double v[NODES * NODES];
    m->errors = true;
    m->actuator = 0.5;
    for (size_t k = 0; k < NODES * NODES; k++) {
        v[k] = 0.5 * lcg_normal(g);
    }
    for (size_t k = 0; k < NODES * NODES; k++) {
        for (size_t a = 0; a < NODES; a++) {
            m->blur[k] += v[a * NODES + k / NODES] * v[a * NODES + k % NODES];
        }
    }
    for (size_t k = 0; k < SEEN * NODES; k++) {
        m->doubt[k] = lcg_uniform(g);
    }
}

static void make_draws(made_draws *m, lcg *g)
{
    memset(m, 0, sizeof *m);
    for (size_t k = 0; k < DRAWN; k++) {
        size_t *order = m->order + k * NODES;
        lcg_order(g, NODES, order);
        for (size_t i = 0; i < NODES; i++) {
            m->sigma[k * NODES + i] = 0.5 + lcg_uniform(g);
            m->effect[k * NODES + i] = k % 2 != 0 ? lcg_uniform(g) : 0;
            m->intercept[k * NODES + i] = lcg_normal(g);
            for (size_t before = 0; before < i; before++) {
                double weight = lcg_uniform(g) < 0.5 ? lcg_normal(g) : 0;
                m->w[(k * NODES + order[before]) * NODES + order[i]] = weight;
            }
        }
    }
    for (size_t row = 0; row < SEEN; row++) {
        for (size_t i = 0; i < NODES; i++) {
            size_t at = row * NODES + i;
            m->mask[at] = row % 4 == 0 ? lcg_uniform(g) < 0.4 : i == row % 4; /* some alike */
            m->values[at] = m->mask[at] != 0 ? 2 * lcg_normal(g) : 0;
            m->z[at] = m->mask[at] != 0 ? m->values[at] : 2 * lcg_normal(g);
        }
    }
}

static bool same_set(const made_draws *m, size_t a, size_t b)
{
    return memcmp(m->mask + a * NODES, m->mask + b * NODES, NODES) == 0;
}

/* What the kept rows of this row's set say of its own intercept of node i, one after the other:
 * mean and variance. */
static double own_of(const made_draws *m, size_t k, size_t row, size_t i, double *variance)
{
    double mean = 0;
    double noise = m->sigma[k * NODES + i] * m->sigma[k * NODES + i];
    *variance = m->effect[k * NODES + i] * m->effect[k * NODES + i];
    for (size_t other = 0; other < SEEN; other++) {
        double rest = m->z[other * NODES + i] - m->intercept[k * NODES + i] - mean;
        if (m->keep[other] == 0 || !same_set(m, row, other)) {
            continue;
        }
        for (size_t p = 0; p < NODES; p++) {
            rest -= m->w[(k * NODES + p) * NODES + i] * m->z[other * NODES + p];
        }
        double gain = *variance / (*variance + noise);
        mean += gain * rest;
        *variance -= gain * *variance;
    }
    return mean;
}

/* Mean over the rows of the set that are asked for. */
static double doubt_of(const made_draws *m, size_t row, size_t i)
{
    double sum = 0;
    double rows = 0;
    for (size_t other = 0; other < SEEN; other++) {
        bool counts = m->keep[other] == 0 && same_set(m, row, other);
        sum += counts ? m->doubt[other * NODES + i] : 0;
        rows += counts ? 1 : 0;
    }
    return sum / rows;
}

/* With V the weights into free nodes, z = (b + e) (I + V + V^2 + ..): mean (NODES) and covariance
 * (NODES, NODES) of the z seen, all by full matrices. */
static void by_matrices(const made_draws *m, size_t k, size_t row, double *mean, double *cov)
{
    enum { N = NODES };
    double total[N * N] = {0};
    double next[N * N];
    double base[N];
    double noise[N];
    const uint8_t *mask = m->mask + row * N;
    for (size_t power = 0; power < N; power++) { /* Horner: T = I + T V */
        for (size_t a = 0; a < N; a++) {
            for (size_t i = 0; i < N; i++) {
                next[a * N + i] = a == i ? 1 : 0;
                for (size_t p = 0; p < N && mask[i] == 0; p++) {
                    next[a * N + i] += total[a * N + p] * m->w[(k * N + p) * N + i];
                }
            }
        }
        memcpy(total, next, sizeof total);
    }
    for (size_t a = 0; a < N; a++) {
        double own = own_of(m, k, row, a, &noise[a]) + m->intercept[k * N + a];
        base[a] = mask[a] != 0 ? m->values[row * N + a] : own;
        noise[a] += m->sigma[k * N + a] * m->sigma[k * N + a];
        noise[a] = mask[a] != 0 ? m->actuator * m->actuator : noise[a];
    }
    for (size_t i = 0; i < N; i++) {
        mean[i] = 0;
        for (size_t a = 0; a < N; a++) {
            mean[i] += base[a] * total[a * N + i];
        }
        for (size_t j = 0; j < N; j++) {
            cov[i * N + j] = m->blur[i * N + j] + (i == j ? doubt_of(m, row, i) : 0);
            for (size_t a = 0; a < N; a++) {
                cov[i * N + j] += noise[a] * total[a * N + i] * total[a * N + j];
            }
        }
    }
}

/* log density of z - mean over the free nodes: Cholesky of their covariance. */
static double log_free(const uint8_t *mask, const double *away, const double *cov)
{
    double factor[NODES * NODES];
    double u[NODES];
    size_t node[NODES];
    size_t n = 0;
    double sum = 0;
    for (size_t i = 0; i < NODES; i++) {
        if (mask[i] == 0) {
            node[n++] = i;
        }
    }
    for (size_t i = 0; i < n; i++) {
        u[i] = away[node[i]];
        for (size_t j = 0; j <= i; j++) {
            double rest = cov[node[i] * NODES + node[j]];
            for (size_t b = 0; b < j; b++) {
                rest -= factor[i * NODES + b] * factor[j * NODES + b];
            }
            factor[i * NODES + j] = i == j ? sqrt(rest) : rest / factor[j * NODES + j];
            u[i] -= j < i ? factor[i * NODES + j] * u[j] : 0;
        }
        u[i] /= factor[i * NODES + i];
        sum -= u[i] * u[i] / 2 + log(factor[i * NODES + i]) + log(2 * acos(-1)) / 2;
    }
    return sum;
}

static void check_row(const made_draws *m, const predictions *p, size_t n, size_t row)
{
    double mean[NODES] = {0};
    double below[NODES] = {0};
    double density = 0;
    for (size_t k = 0; k < DRAWN; k++) {
        double own[NODES];
        double away[NODES];
        double cov[NODES * NODES];
        by_matrices(m, k, row, own, cov);
        for (size_t i = 0; i < NODES; i++) {
            away[i] = m->z[row * NODES + i] - own[i];
            mean[i] += own[i] / DRAWN;
            below[i] += 0.5 * erfc(-away[i] / sqrt(2 * cov[i * NODES + i])) / DRAWN;
        }
        density += exp(log_free(m->mask + row * NODES, away, cov)) / DRAWN;
    }
    for (size_t i = 0; i < NODES; i++) {
        bool set = m->mask[row * NODES + i] != 0;
        assert_near(p->mean[n * NODES + i], set ? 0 : mean[i], 1e-10);
        assert_near(p->below[n * NODES + i], set ? 0 : below[i], 2e-7);
    }
    assert_near(p->log_p[n], log(density), 1e-9);
}

/* Rows of many masks, some of them alike, in any order; on one thread and on two; z as it is and
 * with errors; of sets of which some rows were kept. */
static void test_predictions(void **state)
{
    (void)state;
    static made_draws m;
    size_t row[SEEN];
    lcg g = {21};
    int threads = omp_get_max_threads();
    for (int round = 0; round < 6; round++) {
        predictions p;
        predictions again;
        make_draws(&m, &g);
        lcg_order(&g, SEEN, row);
        for (size_t k = ASKED; k < SEEN; k++) {
            m.keep[row[k]] = 1;
        }
        judged_fit f = {.a = {.d = NODES, .rank = NODES, .rows = SEEN, .draws = DRAWN}};
        f.a.w = m.w;
        f.a.sigma = m.sigma;
        f.a.effect = m.effect;
        f.a.intercept = m.intercept;
        f.a.order = m.order;
        f.a.z = m.z;
        if (round % 2 != 0) {
            make_errors(&m, &g);
            f.blur = m.blur;
            f.doubt = m.doubt;
            f.a.anchor.actuator_noise = m.actuator;
        }
        design s = {0};
        design_again(&s, SEEN, NODES, m.mask, m.values);
        judged_rows rows = {&s, m.keep, row, ASKED, false, 0};
        omp_set_num_threads(2);
        assert_ok(predictions_of(&p, &f, &rows, &why));
        omp_set_num_threads(1);
        assert_ok(predictions_of(&again, &f, &rows, &why));
        omp_set_num_threads(threads);
        for (size_t n = 0; n < ASKED; n++) {
            check_row(&m, &p, n, row[n]);
        }
        assert_memory_equal(p.mean, again.mean, ASKED * NODES * sizeof(double));
        assert_memory_equal(p.below, again.below, ASKED * NODES * sizeof(double));
        assert_memory_equal(p.log_p, again.log_p, ASKED * sizeof(double));
        predictions_close(&p);
        predictions_close(&again);
        design_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truth),   cmocka_unit_test(test_likelihood),
        cmocka_unit_test(test_noisy),   cmocka_unit_test(test_spare),
        cmocka_unit_test(test_too_few), cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_blind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
