/* The score of a family against numerical integration, the table of all sets against single ones,
 * score equivalence, hopeless input, and draws against their closed forms. */
#include "infer/mechanism/mechanism.h"
#include "lcg.h"
#include "made_families.h"
#include "testing.h"

static const double PI = 3.14159265358979323846;

static void table_of(const family *f, const dag_prior *prior, family_table table, double *score)
{
    family_regress(f, prior, 0, &table);
    family_scores(f, prior, 0, &table, score);
}

static void table_equals_single(void **state)
{
    (void)state;
    static double rest[1 << 11];
    static double log_det[1 << 11];
    static double score[1 << 11];
    for (size_t d = 1; d <= 12; d++) {
        made_families m;
        made_families_of(&m, d, 40, 1, 1, d);
        for (size_t kind = 0; kind < 4; kind++) {
            m.prior.variance = kind % 2 != 0 ? 0.8 : 0;
            m.prior.hole = kind / 2 != 0;
            family *f = &m.f[d / 2];
            f->required = d == 12 ? 0x5fa : d > 6 ? 0x12 : d > 2 ? 2 : 0;
            family_table table = {rest, log_det};
            table_of(f, &m.prior, table, score);
            size_t next = 0; /* sets with what is required, in their order */
            for (uint32_t set = 0; set < (uint32_t)1 << f->count; set++) {
                if ((set & f->required) == f->required) {
                    assert_near(score[next++], family_score(f, &m.prior, set), 1e-9);
                }
            }
            assert_int_equal(next, (size_t)1 << family_free(f));
            /* the same in the table's own memory */
            family_scores(f, &m.prior, 0, &table, rest);
            assert_memory_equal(rest, score, sizeof *score * next);
        }
    }
}

/* A node's own ridge is one of three: their scores one by one, also where rows are fewer than
 * parents. */
static void own_ridges_add_up(void **state)
{
    (void)state;
    const double factor[] = {1, 0.1, 10};
    const double share[] = {0.6, 0.2, 0.2};
    for (size_t kind = 0; kind < 8; kind++) {
        made_families m;
        made_families_of(&m, 12, kind % 2 == 0 ? 40 : 6, 1, 1, 30 + kind);
        m.prior.hole = kind / 2 % 2 != 0;
        m.prior.variance = kind / 4 != 0 ? 0.8 : 0;
        for (uint32_t set = 0; set < 1U << 11; set += 37) {
            double sum = 0;
            double top = 0;
            for (size_t k = 0; k < 3; k++) {
                dag_prior one = m.prior;
                one.ridge *= factor[k];
                double score = family_score(&m.f[3], &one, set);
                top = k == 0 ? score : top;
                sum += share[k] * exp(score - top);
            }
            m.prior.spread = 10;
            assert_near(family_score(&m.f[3], &m.prior, set), top + log(sum), 1e-8);
            m.prior.spread = 0;
        }
    }
}

/* log of the integral over c, w and s of the likelihood times the prior, by the trapezoid rule. */
static double integrated(const double *x, const double *y, size_t n, const dag_prior *prior,
                         bool parent)
{
    double t = prior->ridge;
    double mean_x = 0;
    double mean_y = 0;
    for (size_t r = 0; r < n; r++) {
        mean_x += x[r] / (double)n;
        mean_y += y[r] / (double)n;
    }
    double sxx = t * prior->unit[0] * prior->unit[0];
    double sxy = 0;
    for (size_t r = 0; r < n; r++) {
        sxx += (x[r] - mean_x) * (x[r] - mean_x);
        sxy += (x[r] - mean_x) * (y[r] - mean_y);
    }
    double nu = prior->dof + (parent ? 1 : 0);
    double scale = t * prior->unit[1] * prior->unit[1];
    bool equal = prior->variance > 0;
    double total = 0;
    for (int l = equal ? 0 : -120; l <= (equal ? 0 : 240); l++) {
        double v = equal ? prior->variance : exp(0.05 * l);
        /* density of log v where scale / v ~ chi2(nu) */
        double p_v =
            equal ? 1 : 0.05 * exp(nu / 2 * log(scale / v / 2) - scale / v / 2 - lgamma(nu / 2));
        double sd_w = sqrt(v / sxx);
        double sd_c = sqrt(v / (double)n);
        double prior_v = v / (t * prior->unit[0] * prior->unit[0]);
        for (int a = parent ? -18 : 0; a <= (parent ? 18 : 0); a++) {
            double w = parent ? sxy / sxx + 0.5 * a * sd_w : 0;
            double p_w =
                parent ? 0.5 * sd_w * exp(-w * w / (2 * prior_v)) / sqrt(2 * PI * prior_v) : 1;
            p_w *= parent && prior->hole ? w * w / prior_v : 1;
            for (int b = -18; b <= 18; b++) {
                double c = mean_y - w * mean_x + 0.5 * b * sd_c;
                double likelihood = 1;
                for (size_t r = 0; r < n; r++) {
                    double e = y[r] - c - w * x[r];
                    likelihood *= exp(-e * e / (2 * v)) / sqrt(2 * PI * v);
                }
                total += p_v * p_w * 0.5 * sd_c * likelihood;
            }
        }
    }
    return log(total) + (parent ? prior->log_odds : 0);
}

static void score_is_the_integral(void **state)
{
    (void)state;
    const double x[] = {0.3, -1.2, 0.8, 2.1};
    const double y[] = {1.0, -0.4, 1.9, 2.2};
    const double unit[] = {0.7, 1.6};
    const size_t candidate[] = {0};
    const size_t n = 4;
    double mean[2] = {0};
    double scatter[4] = {0};
    for (size_t r = 0; r < n; r++) {
        mean[0] += x[r] / (double)n;
        mean[1] += y[r] / (double)n;
    }
    for (size_t r = 0; r < n; r++) {
        double e[2] = {x[r] - mean[0], y[r] - mean[1]};
        for (size_t k = 0; k < 4; k++) {
            scatter[k] += e[k / 2] * e[k % 2];
        }
    }
    family f = {.node = 1,
                .count = 1,
                .candidate = candidate,
                .rows = (double)n,
                .levels = 1,
                .scatter = scatter,
                .mean = mean};
    dag_prior prior = {.ridge = 0.4, .dof = 3, .log_odds = -1.3, .unit = unit};
    for (size_t kind = 0; kind < 4; kind++) {
        prior.variance = kind % 2 != 0 ? 0.6 : 0;
        prior.hole = kind / 2 != 0;
        assert_near(family_score(&f, &prior, 0), integrated(x, y, n, &prior, false), 1e-8);
        assert_near(family_score(&f, &prior, 1), integrated(x, y, n, &prior, true), 1e-8);
    }
}

/* One scatter for all nodes: DAGs with the same skeleton and colliders score the same. */
static void score_equivalence(void **state)
{
    (void)state;
    made_families m;
    made_families_of(&m, 3, 50, 1, 1, 5);
    double s[9] = {0};
    double root[9];
    lcg g = {3};
    for (size_t k = 0; k < 9; k++) {
        root[k] = 3 * lcg_normal(&g);
    }
    for (size_t k = 0; k < 27; k++) {
        s[k / 9 * 3 + k / 3 % 3] += root[k / 9 * 3 + k % 3] * root[k / 3 % 3 * 3 + k % 3];
    }
    for (size_t i = 0; i < 3; i++) {
        m.f[i].rows = 17;
        size_t at[3] = {m.store[i].candidate[0], m.store[i].candidate[1], i};
        for (size_t k = 0; k < 9; k++) {
            m.store[i].scatter[k] = s[at[k / 3] * 3 + at[k % 3]];
        }
    }
    /* score of node i given the nodes in the mask */
#define SCORE(i, nodes)                                                                            \
    family_score(&m.f[i], &m.prior,                                                                \
                 (uint32_t)((nodes) & ((1 << (i)) - 1)) | (uint32_t)((nodes) >> ((i) + 1) << (i)))
    double pair = SCORE(0, 0) + SCORE(1, 1);
    assert_near(SCORE(1, 0) + SCORE(0, 2), pair, 1e-10);
    double chain = SCORE(0, 0) + SCORE(1, 1) + SCORE(2, 2);
    assert_near(SCORE(1, 0) + SCORE(0, 2) + SCORE(2, 2), chain, 1e-10);
    assert_near(SCORE(2, 0) + SCORE(1, 4) + SCORE(0, 2), chain, 1e-10);
    double collider = SCORE(0, 0) + SCORE(2, 0) + SCORE(1, 5);
    assert_true(fabs(collider - chain) > 0.1);
    double full = SCORE(0, 0) + SCORE(1, 1) + SCORE(2, 3);
    assert_near(SCORE(2, 0) + SCORE(1, 4) + SCORE(0, 6), full, 1e-10);
    assert_near(SCORE(1, 0) + SCORE(2, 2) + SCORE(0, 6), full, 1e-10);
#undef SCORE
}

/* Two parents: moments of w given s as they are for 2 x 2, over 1/s^2 by the trapezoid rule. With
 * weights that are not correlated the score is exact; else what it leaves out is known. */
static void hole_of_two_parents(void **state)
{
    (void)state;
    const double unit[] = {0.7, 1.6, 1.2};
    const size_t candidate[] = {0, 1};
    const double mean[3] = {0};
    const double between[] = {0, 9, -20};
    for (size_t k = 0; k < 3; k++) {
        const double s[9] = {30, between[k], 12, between[k], 50, 15, 12, 15, 21};
        family f = {.node = 2,
                    .count = 2,
                    .candidate = candidate,
                    .rows = 25,
                    .levels = 1,
                    .scatter = s,
                    .mean = mean};
        dag_prior prior = {.ridge = 0.4, .dof = 3, .unit = unit};
        double t[2] = {0.4 * 0.7 * 0.7, 0.4 * 1.6 * 1.6};
        double a[3] = {s[0] + t[0], s[1], s[4] + t[1]};
        double det = a[0] * a[2] - a[1] * a[1];
        double w[2] = {(a[2] * s[2] - a[1] * s[5]) / det, (a[0] * s[5] - a[1] * s[2]) / det};
        double v[3] = {a[2] / det, -a[1] / det, a[0] / det};
        double q = 0.4 * 1.2 * 1.2 + s[8] - w[0] * s[2] - w[1] * s[5];
        double shape = (3 + 2 + 25 - 1) / 2.0;
        double total = 0;
        for (int l = -4000; l <= 4000; l++) { /* x q / 2 = e^l is Gamma(shape) */
            double y = exp(0.001 * l + log(shape));
            double x = 2 * y / q;
            double density = 0.001 * exp(shape * log(y) - y - lgamma(shape));
            double both = (w[0] * w[0] * x + v[0]) * (w[1] * w[1] * x + v[2]);
            both += 2 * v[1] * v[1] + 4 * w[0] * w[1] * v[1] * x;
            total += density * t[0] * t[1] * both;
        }
        double plain = family_score(&f, &prior, 3);
        prior.hole = true;
        assert_near(family_score(&f, &prior, 3) - plain, log(total), k == 0 ? 1e-8 : 0.5);
    }
}

/* Copies, constants, huge numbers, few rows, a scatter that is no longer one. */
static void hopeless_input(void **state)
{
    (void)state;
    enum { COUNT = 5, SIDE = COUNT + 1, SETS = 1 << COUNT };
    const size_t candidate[COUNT] = {0, 1, 2, 3, 4};
    const double unit[SIDE] = {1, 1, 1, 1, 1, 1};
    const double sizes[] = {0, 1e-300, 1e-6, 1, 1e12, 1e20, 1e100};
    const double rows[] = {0, 1, 2, 1e6};
    double scatter[SIDE * SIDE];
    const double mean[SIDE] = {1, 2, 3, 4, 5, 6};
    for (size_t k = 0; k < 2 * 7 * 4 * 2; k++) {
        double size = sizes[k / 2 % 7];
        /* candidates 0 and 1 are copies of the node, 2 of each other with 3, 4 is constant */
        const double direction[SIDE][2] = {{1, 1}, {1, 1}, {1, 0}, {1, 0}, {0, 0}, {1, 1}};
        for (size_t a = 0; a < SIDE; a++) {
            for (size_t b = 0; b < SIDE; b++) {
                scatter[a * SIDE + b] = size * (direction[a][0] * direction[b][0] +
                                                3 * direction[a][1] * direction[b][1]);
            }
            scatter[a * SIDE + a] -= k / 56 != 0 ? 1e-3 * size : 0; /* too much taken off */
        }
        family f = {.node = COUNT,
                    .count = COUNT,
                    .candidate = candidate,
                    .required = 0,
                    .rows = rows[k / 14 % 4],
                    .levels = 1,
                    .scatter = scatter,
                    .mean = mean};
        dag_prior prior = {.ridge = 0.1,
                           .dof = 3,
                           .log_odds = -1,
                           .variance = k % 2 != 0 ? 0.25 : 0,
                           .unit = unit,
                           .hole = k % 3 == 0};
        double rest[SETS];
        double log_det[SETS];
        double score[SETS];
        table_of(&f, &prior, (family_table){rest, log_det}, score);
        for (uint32_t set = 0; set < SETS; set++) {
            assert_true(isfinite(score[set]) && isfinite(family_score(&f, &prior, set)));
            assert_true(rest[set] >= 0 && (prior.hole || log_det[set] >= 0));
            double w[SIDE] = {0};
            mechanism drawn = family_draw(&f, &prior, set, (rng){1, 2}, set, w, 1);
            assert_true(drawn.sigma > 0 && isfinite(drawn.sigma) && isfinite(drawn.intercept));
            for (size_t c = 0; c < COUNT; c++) {
                assert_true(isfinite(w[c]));
            }
        }
        if (k / 56 == 0 && size == 1e12) {
            /* two copies with a ridge are one copy with half of it: 4e12 (t/2) / (4e12 + t/2) */
            assert_near(rest[3], 0.05, 2e-2);
        }
    }
}

/* No row, or one: nothing is learnt. */
static void without_rows(void **state)
{
    (void)state;
    made_families m;
    made_families_of(&m, 4, 0, 1, 1, 2);
    for (uint32_t set = 0; set < 8; set++) {
        double edges = __builtin_popcount(set) * m.prior.log_odds;
        m.prior.hole = set % 3 != 0;
        m.f[2].rows = 0;
        assert_near(family_score(&m.f[2], &m.prior, set), edges, 1e-12);
        m.f[2].rows = 1;
        assert_near(family_score(&m.f[2], &m.prior, set), edges, 1e-12);
    }
}

/* Mean within five standard errors; returns the variance. */
static double check_mean(const double *x, size_t n, double expected)
{
    double sum = 0;
    double squares = 0;
    for (size_t k = 0; k < n; k++) {
        sum += x[k];
        squares += x[k] * x[k];
    }
    double mean = sum / (double)n;
    double variance = squares / (double)n - mean * mean;
    assert_near(mean, expected, 5 * sqrt(variance / (double)n));
    return variance;
}

enum { DRAWS = 20000 };

/* Two parents of four nodes: w, s and c against conjugate formulas written out for 2 x 2. */
static void draws_follow_the_posterior(void **state)
{
    (void)state;
    static double w[2][DRAWS];
    static double precision[DRAWS];
    static double intercept[DRAWS];
    static double product[DRAWS];
    static double scaled[3][DRAWS];
    made_families m;
    made_families_of(&m, 4, 12, 1, 1, 8);
    const family *f = &m.f[1]; /* candidates 0, 2, 3 */
    const double *s = f->scatter;
    double a = s[0] + 0.1 * m.unit[0] * m.unit[0];
    double b = s[2];
    double c = s[10] + 0.1 * m.unit[3] * m.unit[3];
    double det = a * c - b * b;
    double hat[2] = {(c * s[3] - b * s[11]) / det, (a * s[11] - b * s[3]) / det};
    double q = 0.1 * m.unit[1] * m.unit[1] + s[15] - s[3] * hat[0] - s[11] * hat[1];
    double nu = 3 + 2 + f->rows - 1;
    for (size_t k = 0; k < DRAWS; k++) {
        double column[4 * 4];
        for (size_t e = 0; e < 16; e++) {
            column[e] = 7;
        }
        mechanism drawn = family_draw(f, &m.prior, 5, (rng){3, 4}, k, column + 1, 4);
        w[0][k] = column[1];
        w[1][k] = column[13];
        /* node 2 is no parent, and what is not a candidate's is left alone */
        assert_true(column[9] == 0 && column[5] == 7 && column[0] == 7 && column[15] == 7);
        double v = drawn.sigma * drawn.sigma;
        precision[k] = 1 / v;
        double centre = f->mean[3] - f->mean[0] * w[0][k] - f->mean[2] * w[1][k];
        intercept[k] = (drawn.intercept - centre) * sqrt(f->rows / v);
        product[k] = (w[0][k] - hat[0]) * (w[1][k] - hat[1]) / v;
        scaled[0][k] = (w[0][k] - hat[0]) * (w[0][k] - hat[0]) / v;
        scaled[1][k] = (w[1][k] - hat[1]) * (w[1][k] - hat[1]) / v;
        scaled[2][k] = intercept[k] * (w[0][k] - hat[0]);
    }
    check_mean(w[0], DRAWS, hat[0]);
    check_mean(w[1], DRAWS, hat[1]);
    double spread = check_mean(precision, DRAWS, nu / q);
    assert_near(spread, 2 * nu / (q * q), 0.1 * 2 * nu / (q * q));
    assert_near(check_mean(intercept, DRAWS, 0), 1, 0.05);
    check_mean(product, DRAWS, -b / det);
    check_mean(scaled[0], DRAWS, c / det);
    check_mean(scaled[1], DRAWS, a / det);
    check_mean(scaled[2], DRAWS, 0);
}

/* Draws with a hole against those without, weighted. */
static void draws_with_a_hole(void **state)
{
    (void)state;
    made_families m;
    made_families_of(&m, 4, 12, 1, 1, 8);
    double weight = 0;
    double plain[3] = {0}; /* means of both weights and 1/s^2 */
    double holed[3] = {0};
    double squares[3] = {0};
    for (size_t k = 0; k < DRAWS; k++) {
        double column[16];
        m.prior.hole = false;
        mechanism drawn = family_draw(&m.f[1], &m.prior, 5, (rng){3, 4}, k, column, 4);
        double x[3] = {column[0], column[12], 1 / (drawn.sigma * drawn.sigma)};
        double own = x[0] * x[0] * x[1] * x[1] * x[2] * x[2];
        weight += own;
        m.prior.hole = true;
        drawn = family_draw(&m.f[1], &m.prior, 5, (rng){3, 6}, k, column, 4);
        double y[3] = {column[0], column[12], 1 / (drawn.sigma * drawn.sigma)};
        for (size_t e = 0; e < 3; e++) {
            plain[e] += own * x[e];
            squares[e] += own * x[e] * x[e];
            holed[e] += y[e] / DRAWS;
        }
    }
    for (size_t e = 0; e < 3; e++) {
        double mean = plain[e] / weight;
        assert_near(holed[e], mean, 0.1 * sqrt(squares[e] / weight - mean * mean));
    }
}

/* Without rows the prior is drawn from; with one variance for all, sigma is that. */
static void draws_of_the_prior(void **state)
{
    (void)state;
    static double precision[DRAWS];
    static double scaled[DRAWS];
    made_families m;
    made_families_of(&m, 2, 0, 1, 1, 8);
    for (size_t k = 0; k < DRAWS; k++) {
        double w[2] = {0};
        mechanism drawn = family_draw(&m.f[1], &m.prior, 1, (rng){3, 5}, k, w, 1);
        assert_true(drawn.intercept == 0);
        precision[k] = 1 / (drawn.sigma * drawn.sigma);
        scaled[k] = w[0] * w[0] * precision[k];
    }
    check_mean(precision, DRAWS, 4 / (0.1 * m.unit[1] * m.unit[1]));
    check_mean(scaled, DRAWS, 1 / (0.1 * m.unit[0] * m.unit[0]));
    m.prior.variance = 0.49;
    double w[2] = {0};
    assert_near(family_draw(&m.f[1], &m.prior, 1, (rng){3, 5}, 0, w, 1).sigma, 0.7, 1e-15);
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Whole shapes have a closed form: 1 - e^-x sum_{k < shape} x^k / k!. Kolmogorov-Smirnov. */
static void gamma_numbers(void **state)
{
    (void)state;
    static double x[DRAWS];
    for (size_t shape = 1; shape <= 4; shape++) {
        for (size_t k = 0; k < DRAWS; k++) {
            x[k] = rng_gamma((rng){5, shape}, k * RNG_GAMMA, (double)shape);
        }
        qsort(x, DRAWS, sizeof *x, ascending);
        double worst = 0;
        for (size_t k = 0; k < DRAWS; k++) {
            double power = 1;
            double sum = 0;
            for (size_t j = 0; j < shape; j++) {
                sum += power;
                power *= x[k] / (double)(j + 1);
            }
            double law = 1 - exp(-x[k]) * sum;
            worst = fmax(worst, fabs(law - ((double)k + 0.5) / DRAWS));
        }
        assert_true(worst * sqrt(DRAWS) < 1.95);
    }
    const double shapes[] = {1.5, 30.25, 5e5};
    for (size_t s = 0; s < 3; s++) {
        for (size_t k = 0; k < DRAWS; k++) {
            x[k] = rng_gamma((rng){6, s}, k * RNG_GAMMA, shapes[s]);
        }
        double variance = check_mean(x, DRAWS, shapes[s]);
        assert_near(variance / shapes[s], 1, 0.1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_equals_single),
        cmocka_unit_test(own_ridges_add_up),
        cmocka_unit_test(score_is_the_integral),
        cmocka_unit_test(score_equivalence),
        cmocka_unit_test(hopeless_input),
        cmocka_unit_test(without_rows),
        cmocka_unit_test(draws_follow_the_posterior),
        cmocka_unit_test(draws_of_the_prior),
        cmocka_unit_test(gamma_numbers),
        cmocka_unit_test(hole_of_two_parents),
        cmocka_unit_test(draws_with_a_hole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
