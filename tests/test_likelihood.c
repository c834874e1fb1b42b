/* One linear likelihood: against the density of y row by row (of the stacked rows of a set where
 * they share an intercept), its gradient against differences, the chain over graphs against all
 * graphs of three nodes, and the whole on noisy data that it can read. */
#include "anchor_testing.h"
#include "infer/anchored/anchored.h"
#include "infer/likelihood/likelihood.h"

#include <math.h>

enum { D = 3, COUNT = 2 * D * D + 3 * D };

static lscm_error why;

/* log N(x; 0, c), c (n, n) lost. */
static double log_normal(double *c, double *x, size_t n)
{
    int m = (int)n;
    double sum = -0.5 * (double)n * log(2 * 3.14159265358979323846);
    assert_int_equal(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', m, c, m), 0);
    assert_int_equal(LAPACKE_dtrtrs(LAPACK_ROW_MAJOR, 'L', 'N', 'N', m, 1, c, m, x, 1), 0);
    for (size_t i = 0; i < n; i++) {
        sum -= log(c[i * n + i]) + x[i] * x[i] / 2;
    }
    return sum;
}

static void invert(double *m)
{
    int pivot[D];
    assert_int_equal(LAPACKE_dgetrf(LAPACK_ROW_MAJOR, D, D, m, D, pivot), 0);
    assert_int_equal(LAPACKE_dgetri(LAPACK_ROW_MAJOR, D, m, D, pivot), 0);
}

static void times(const double *a, const double *b, double *out)
{
    for (size_t i = 0; i < D; i++) {
        for (size_t j = 0; j < D; j++) {
            out[i * D + j] = 0;
            for (size_t k = 0; k < D; k++) {
                out[i * D + j] += a[i * D + k] * b[k * D + j];
            }
        }
    }
}

/* out = m' diag(v) m */
static void around(const double *m, const double *v, double *out)
{
    for (size_t i = 0; i < D; i++) {
        for (size_t j = 0; j < D; j++) {
            out[i * D + j] = 0;
            for (size_t k = 0; k < D; k++) {
                out[i * D + j] += m[k * D + i] * v[k] * m[k * D + j];
            }
        }
    }
}

/* Rows of one set, stacked: z = (v t + c F + e + set's own) R, y = (z - a) B^-1 + noise. */
static double set_density(const made *m, const likelihood_sums *s, const double *effect,
                          const double *theta, size_t set)
{
    likelihood_at at = likelihood_layout(D);
    const design *from = &m->s.design;
    const uint8_t *target = from->target + set * D;
    size_t rows = from->first[set + 1] - from->first[set];
    double r[D * D];
    double back[D * D];
    double map[D * D];
    double own[D];
    double shared[D];
    double one[D * D];
    double both[D * D];
    double *c = zeros(rows * D * rows * D, sizeof *c);
    double *x = zeros(rows * D, sizeof *x);
    memcpy(back, theta, sizeof back);
    invert(back);
    for (size_t p = 0; p < D; p++) {
        double sigma = exp(theta[at.log_sigma + p]);
        own[p] = target[p] != 0 ? s->actuator[p] : sigma * sigma;
        shared[p] = target[p] != 0 ? 0 : sigma * sigma * effect[p];
        for (size_t i = 0; i < D; i++) {
            r[p * D + i] = (p == i ? 1 : 0) - (target[i] != 0 ? 0 : theta[at.weight + p * D + i]);
        }
    }
    invert(r);
    times(r, back, map);
    around(map, own, one);
    around(map, shared, both);
    for (size_t k = 0; k < rows; k++) {
        size_t row = from->row[from->first[set] + k];
        for (size_t i = 0; i < D; i++) {
            x[k * D + i] = (m->s.y[row * D + i] - s->y_mean[i]) / s->y_unit[i];
            for (size_t p = 0; p < D; p++) {
                double v = (m->values[row * D + p] - s->v_mean[p]) / s->unit[p];
                double mean = target[p] != 0 ? v : theta[at.centre + p];
                x[k * D + i] -= mean * map[p * D + i] - theta[at.shift + p] * back[p * D + i];
            }
            for (size_t l = 0; l < rows; l++) {
                for (size_t j = 0; j < D; j++) {
                    double noise = i == j ? s->noise[i] : 0;
                    c[(k * D + i) * rows * D + l * D + j] =
                        both[i * D + j] + (k == l ? one[i * D + j] + noise : 0);
                }
            }
        }
    }
    double value = log_normal(c, x, rows * D);
    free(c);
    free(x);
    return value;
}

/* The same with what is known of B and sigma beforehand. */
static double density(const made *m, const likelihood_sums *s, const likelihood_fixed *f,
                      const double *theta)
{
    likelihood_at at = likelihood_layout(D);
    double b[D * D];
    int pivot[D];
    double value = 0;
    memcpy(b, theta, sizeof b);
    assert_int_equal(LAPACKE_dgetrf(LAPACK_ROW_MAJOR, D, D, b, D, pivot), 0);
    for (size_t i = 0; i < D; i++) {
        double share = f->ridge * exp(-2 * theta[at.log_sigma + i]);
        value -= (D + 1) * log(fabs(b[i * D + i]));
        value -= f->dof[i] * theta[at.log_sigma + i] + share / 2;
    }
    for (size_t set = 0; set < m->s.design.sets; set++) {
        value += set_density(m, s, f->effect, theta, set);
    }
    return value;
}

static void random_theta(lcg *g, double *theta)
{
    likelihood_at at = likelihood_layout(D);
    for (size_t k = 0; k < COUNT; k++) {
        theta[k] = 0.4 * lcg_normal(g);
    }
    for (size_t i = 0; i < D; i++) {
        theta[i * D + i] += 1;
        for (size_t p = i; p < D; p++) {
            theta[at.weight + p * D + i] = 0; /* 0 before 1 before 2 */
        }
    }
}

static made noisy_rows(uint64_t seed)
{
    made_rows c = {.d = D, .observational = 5, .sets = 6, .per_set = 4, .noise = 1, .value = 2};
    c.x_noise = 0.5;
    c.seed = seed;
    made m = make(&c);
    m.s.kind = VIEW_LINEAR;
    return m;
}

static void check_density(uint64_t seed, bool split)
{
    double unit[D] = {1, 2, 0.5};
    double actuator[D] = {0.1, 0.2, 0.3};
    double effect[D] = {split ? 0.5 : 0, 0, split ? 2 : 0};
    double dof[D] = {3, 4, 5};
    likelihood_fixed fixed = {effect, dof, 0.1};
    likelihood_sums s;
    double theta[COUNT];
    double gradient[COUNT];
    double *work = zeros(likelihood_work(D), sizeof *work);
    lcg g = {seed};
    made m = noisy_rows(seed);
    double apart = 0;
    assert_ok(likelihood_sums_of(&s, &m.s, NULL, unit, actuator, split, &why));
    for (size_t k = 0; k < 4; k++) {
        random_theta(&g, theta);
        double value = likelihood_value(&s, &fixed, theta, gradient, work);
        double constant = density(&m, &s, &fixed, theta) - value;
        apart = k == 0 ? constant : apart;
        assert_near(constant, apart, 1e-7 * (1 + fabs(value)));
        for (size_t e = 0; e < COUNT; e++) {
            likelihood_at at = likelihood_layout(D);
            double kept = theta[e];
            bool own = e >= at.weight && (e - at.weight) / D == (e - at.weight) % D;
            theta[e] = kept + 1e-5;
            double above = likelihood_value(&s, &fixed, theta, NULL, work);
            theta[e] = kept - 1e-5;
            double below = likelihood_value(&s, &fixed, theta, NULL, work);
            theta[e] = kept;
            double slope = own ? 0 : (above - below) / 2e-5;
            assert_near(gradient[e], slope, 1e-5 * (10 + fabs(slope)));
        }
    }
    free(work);
    likelihood_sums_close(&s);
    made_free(&m);
}

static void test_density(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        check_density(seed, false);
        check_density(seed, true);
    }
}

/* A quadratic by hand: L positive, h so that edges are in doubt. */
static void make_quadratic(likelihood_quadratic *q, double *l, double *h, double *theta)
{
    lcg g = {77};
    *q = (likelihood_quadratic){.d = D, .nuisances = likelihood_layout(D).weight};
    q->l = l;
    q->h = h;
    q->theta = theta;
    for (size_t i = 0; i < D * D; i++) {
        h[i] = 6 * lcg_normal(&g);
        for (size_t j = 0; j <= i; j++) {
            l[i * D * D + j] = l[j * D * D + i] = (i == j ? 20 : 0) + lcg_normal(&g);
        }
    }
}

static bool is_dag(const uint32_t *parents)
{
    uint32_t done = 0;
    for (size_t k = 0; k < D; k++) {
        for (size_t i = 0; i < D; i++) {
            done |= (parents[i] & ~done) == 0 ? (uint32_t)1 << i : 0;
        }
    }
    return done == (1U << D) - 1;
}

/* Of all 25 graphs of three nodes, edge probabilities by enumeration and by the chain. */
static void test_graphs(void **state)
{
    (void)state;
    enum { DRAWS = 4000 };
    double l[D * D * D * D];
    double h[D * D];
    double theta[COUNT] = {0};
    double exact[D * D] = {0};
    double total = 0;
    uint32_t allowed[D] = {6, 5, 3};
    uint32_t required[D] = {0};
    likelihood_quadratic q;
    hyper_grid grid = {.slabs = 1, .edges = 1, .ridge = {0.5}, .edge = {0.3}, .pairs = 3};
    likelihood_prior prior = {&grid, 3, allowed, required};
    double *scratch = zeros(likelihood_scratch(D), sizeof *scratch);
    likelihood_draw at = {.ridge = 0.5, .log_odds = log(0.3 / 0.7)};
    likelihood_draw *draws = zeros(DRAWS, sizeof *draws);
    make_quadratic(&q, l, h, theta);
    for (uint32_t code = 0; code < 512; code++) {
        uint32_t parents[D] = {code & 7, code >> 3 & 7, code >> 6};
        if (((parents[0] & 1) | (parents[1] & 2) | (parents[2] & 4)) != 0 || !is_dag(parents)) {
            continue;
        }
        double edges = __builtin_popcount(code);
        double p = exp(likelihood_evidence(&q, &prior, parents, 0.5, false, scratch) +
                       edges * at.log_odds);
        total += p;
        for (size_t e = 0; e < D * D; e++) {
            exact[e] += (parents[e % D] >> (e / D) & 1) != 0 ? p : 0;
        }
    }
    likelihood_chain(&q, &prior, 40 * DRAWS, (rng){1, 2}, &at, draws, DRAWS, scratch);
    for (size_t e = 0; e < D * D; e++) {
        double found = 0;
        for (size_t k = 0; k < DRAWS; k++) {
            found += (draws[k].parents[e % D] >> (e / D) & 1) != 0 ? 1.0 / DRAWS : 0;
        }
        assert_near(found, exact[e] / total, 0.05);
    }
    free(scratch);
    free(draws);
}

/* Noisy x: the likelihood answers; edges are right, intervals of z cover, threads change nothing.
 */
static void test_whole(void **state)
{
    (void)state;
    lscm_fit_settings settings;
    lscm_settings_defaults(lscm_fit_table(), &settings);
    size_t covered = 0;
    size_t all = 0;
    size_t wrong = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        made_rows c = {.d = 4, .observational = 200, .sets = 12, .per_set = 40, .noise = 1};
        c.value = 3;
        c.x_noise = 1.5;
        c.seed = seed;
        made m = make(&c);
        anchored a;
        m.s.kind = VIEW_LINEAR;
        anchored_input in = {.view = &m.s, .settings = &settings, .draws = 400};
        assert_ok(anchored_infer(&a, &in, &why));
        assert_int_equal(a.sampler, SAMPLER_LIKELIHOOD);
        for (size_t k = 0; k < m.s.rows * 4; k++) {
            if (!design_is_set(&m.s.design, k / 4, k % 4)) {
                all++;
                covered += fabs(a.z[k] - m.z[k]) <= 1.6449 * a.z_sd[k] ? 1 : 0;
            }
        }
        for (size_t e = 0; e < 16; e++) {
            bool edge = m.w[e] != 0;
            wrong += a.edge_prob[e] > 0.99 && !edge ? 1 : 0;
            wrong += a.edge_prob[e] < 0.01 && edge ? 1 : 0;
        }
        anchored_close(&a);
        made_free(&m);
    }
    assert_int_equal(wrong, 0);
    assert_near((double)covered / (double)all, 0.9, 0.03);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_density),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
