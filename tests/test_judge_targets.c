/* Targets left out whole: the figures against the same by sums over pairs, for a way to fit that
 * knows the truth and one that has it backwards; who is left out when. */
#include "infer/judge/judge.h"

#include "design_testing.h"
#include "lcg.h"
#include "testing.h"

static lscm_error why;

enum { D = 5, OBSERVED = 200, PER_SET = 40, ROWS = OBSERVED + D * PER_SET, DRAWS = 2 };

/* Knock-outs: z under 0 -> 1 -> 2 -> 3 -> 4, each target set to one value of its own. */
typedef struct knock_out {
    double z[ROWS * D], values[ROWS * D];
    uint8_t mask[ROWS * D];
    design s;
    /* a way to fit: these draws, whatever is kept */
    double w[DRAWS * D * D], sigma[DRAWS * D], intercept[DRAWS * D], effect[DRAWS * D];
    size_t order[DRAWS * D];
} knock_out;

static knock_out made;
static size_t fits;     /* models that were asked for */
static size_t times[D]; /* that a target was left out */

static void chain_into(knock_out *m, bool backwards)
{
    for (size_t k = 0; k < DRAWS; k++) {
        memset(m->w + k * D * D, 0, D * D * sizeof(double));
        for (size_t i = 0; i < D; i++) {
            m->sigma[k * D + i] = 1;
            m->order[k * D + i] = backwards ? D - 1 - i : i;
            if (i > 0) {
                size_t at = backwards ? i * D + i - 1 : (i - 1) * D + i;
                m->w[k * D * D + at] = i % 2 == 0 ? 1.2 : -0.9;
            }
        }
    }
}

static void make(knock_out *m, double weight, lcg *g)
{
    design_close(&m->s);
    memset(m, 0, sizeof *m);
    for (size_t row = 0; row < ROWS; row++) {
        size_t target = row < OBSERVED ? D : (row - OBSERVED) / PER_SET;
        for (size_t i = 0; i < D; i++) {
            double *z = &m->z[row * D + i];
            *z = lcg_normal(g) + (i > 0 ? weight * (i % 2 == 0 ? 1.2 : -0.9) * z[-1] : 0);
            if (i == target) {
                m->mask[row * D + i] = 1;
                *z = m->values[row * D + i] = i % 2 == 0 ? 3 : -2 - (double)i;
            }
        }
    }
    design_again(&m->s, ROWS, D, m->mask, m->values);
}

/* Asks that a target's rows are all there, or none. */
static lscm_status known(const void *self, const uint8_t *keep, judged_fit *out, lscm_error *error)
{
    (void)error;
    const knock_out *asked = self;
    knock_out *m = &made;
    assert_ptr_equal(asked, m);
    for (size_t row = 0; row < ROWS; row++) {
        size_t first = row < OBSERVED ? 0 : row - (row - OBSERVED) % PER_SET;
        assert_int_equal(keep[row], keep[first]);
    }
    assert_int_equal(keep[0], 1);
    for (size_t t = 0; t < D; t++) {
        times[t] += keep[OBSERVED + t * PER_SET] == 0 ? 1 : 0;
    }
    fits++;
    out->a = (anchored){.d = D, .rank = D, .rows = ROWS, .draws = DRAWS};
    out->a.z = m->z;
    out->a.w = m->w;
    out->a.sigma = m->sigma;
    out->a.intercept = m->intercept;
    out->a.effect = m->effect;
    out->a.order = m->order;
    return LSCM_OK;
}

static judged way(const knock_out *m, size_t labels)
{
    return (judged){&m->s, 3, labels, known, m};
}

/* ---- The same by sums ---- */

typedef struct pairs {
    size_t count;
    double seen[D * D], model[D * D], others[D * D], correlation[D * D];
} pairs;

static double mean_in(const knock_out *m, size_t first, size_t rows, size_t i)
{
    double sum = 0;
    for (size_t row = first; row < first + rows; row++) {
        sum += m->z[row * D + i] / (double)rows;
    }
    return sum;
}

static double covariance(const knock_out *m, size_t i, size_t j)
{
    double sum = 0;
    for (size_t row = 0; row < OBSERVED; row++) {
        sum += (m->z[row * D + i] - mean_in(m, 0, OBSERVED, i)) *
               (m->z[row * D + j] - mean_in(m, 0, OBSERVED, j)) / OBSERVED;
    }
    return sum;
}

/* E z under do(target), a draw's. */
static void follow(const knock_out *m, size_t target, double value, double *z)
{
    for (size_t at = 0; at < D; at++) {
        size_t i = m->order[at];
        z[i] = i == target ? value : 0;
        for (size_t p = 0; p < D && i != target; p++) {
            z[i] += m->w[p * D + i] != 0 ? m->w[p * D + i] * z[p] : 0;
        }
    }
}

static void find_pairs(const knock_out *m, pairs *out)
{
    out->count = 0;
    for (size_t t = 0; t < D; t++) {
        double z[D];
        double value = m->values[(OBSERVED + t * PER_SET) * D + t];
        double shift = value - mean_in(m, 0, OBSERVED, t);
        double sign = shift > 0 ? 1 : -1;
        follow(m, t, value, z);
        for (size_t i = 0; i < D; i++) {
            double mean = mean_in(m, 0, OBSERVED, i);
            double scale = sign / sqrt(covariance(m, i, i));
            double others = 0;
            size_t at = out->count;
            for (size_t k = 0; k < D; k++) {
                bool counts = k != t && k != i;
                others += counts ? mean_in(m, OBSERVED + k * PER_SET, PER_SET, i) - mean : 0;
            }
            if (i == t) {
                continue;
            }
            out->seen[at] = scale * (mean_in(m, OBSERVED + t * PER_SET, PER_SET, i) - mean);
            out->model[at] = nearbyint(scale * (z[i] - mean) * 1e9) / 1e9;
            out->others[at] = scale * others / (D - 2);
            out->correlation[at] = scale * covariance(m, t, i) / covariance(m, t, t) * shift;
            out->count++;
        }
    }
}

/* Twice the rank about its mean: how many are below less how many are above. */
static double rank_of(const double *x, size_t n, size_t at)
{
    double rank = 0;
    for (size_t k = 0; k < n; k++) {
        rank += (x[k] < x[at] ? 1 : 0) - (x[k] > x[at] ? 1 : 0);
    }
    return rank;
}

static void check(const effect_score *found, const double *seen, const double *by, size_t n)
{
    double missed = 0;
    double total = 0;
    double xx = 0;
    double yy = 0;
    double xy = 0;
    for (size_t k = 0; k < n; k++) {
        missed += pow(seen[k] - by[k], 2);
        total += pow(seen[k], 2);
        xx += pow(rank_of(seen, n, k), 2);
        yy += pow(rank_of(by, n, k), 2);
        xy += rank_of(seen, n, k) * rank_of(by, n, k);
    }
    assert_near(found->r2, 1 - missed / total, 1e-8);
    assert_near(found->spearman, xy / sqrt(xx * yy), 1e-9);
}

static void test_figures(void **state)
{
    (void)state;
    pairs p;
    lcg g = {3};
    for (int round = 0; round < 6; round++) {
        bool backwards = round % 2 != 0;
        left_out l;
        make(&made, 1, &g);
        chain_into(&made, backwards);
        judged by = way(&made, 0);
        assert_ok(judge_targets(&l, &by, D, &why));
        find_pairs(&made, &p);
        assert_int_equal(l.targets, D);
        assert_int_equal(l.of, D);
        assert_int_equal(l.fits, D);
        assert_int_equal(l.pairs, p.count);
        check(&l.model, p.seen, p.model, p.count);
        check(&l.others, p.seen, p.others, p.count);
        check(&l.correlation, p.seen, p.correlation, p.count);
        assert_true(l.telling);
        assert_true(backwards ? l.model.r2 < 0.3 : l.model.r2 > 0.95);
        assert_true(left_out_beaten(&l) == backwards);
    }
    design_close(&made.s);
}

/* Nothing moves and nothing is said to: nothing to tell by, and nobody is beaten. */
static void test_nothing(void **state)
{
    (void)state;
    lcg g = {5};
    left_out l;
    make(&made, 0, &g);
    chain_into(&made, false);
    memset(made.w, 0, sizeof made.w);
    judged by = way(&made, 0);
    assert_ok(judge_targets(&l, &by, D, &why));
    assert_true(!l.telling && !left_out_beaten(&l) && fabs(l.model.r2) < 0.5);
    design_close(&made.s);
}

/* Each target once, and as many fits as may be; none where labels are needed. */
static void test_who(void **state)
{
    (void)state;
    lcg g = {6};
    left_out l;
    make(&made, 1, &g);
    chain_into(&made, false);
    for (size_t most = 1; most <= D + 1; most++) {
        size_t left = most < D ? most : D;
        size_t sum = 0;
        judged by = way(&made, 0);
        fits = 0;
        memset(times, 0, sizeof times);
        assert_ok(judge_targets(&l, &by, most, &why));
        assert_int_equal(fits, left);
        assert_int_equal(l.targets, left);
        for (size_t t = 0; t < D; t++) {
            assert_true(times[t] <= 1);
            sum += times[t];
        }
        assert_int_equal(sum, left);
        by = way(&made, 1);
        assert_ok(judge_targets(&l, &by, most, &why));
        assert_int_equal(fits, left);
        assert_int_equal(l.targets, 0);
    }
    design_close(&made.s);
}

/* Ratios of sums over sets: rows of a set are alike, and chance deals out sets. At one in twenty,
 * one trial in twenty is beyond it; by rows it were one in three. */
static void test_ratio(void **state)
{
    (void)state;
    enum { TRIALS = 4000, SETS = 20, EACH = 50 };
    lcg g = {7};
    double beyond = 0;
    double by_rows = 0;
    for (size_t trial = 0; trial < TRIALS; trial++) {
        set_ratio r = {0};
        for (size_t k = 0; k < SETS; k++) {
            double p = lcg_uniform(&g) < 0.5 ? 0.8 : 1;
            for (size_t row = 0; row < EACH; row++) {
                set_ratio_add(&r, lcg_uniform(&g) < p ? 1 : 0, 1);
            }
            set_ratio_next(&r);
        }
        double least = 0.9 * 0.1 / r.b;
        beyond += fabs(set_ratio_beyond(&r, 0.9, least)) > 1.96 ? 1.0 / TRIALS : 0;
        by_rows += fabs(set_ratio_of(&r) - 0.9) > 1.96 * sqrt(least) ? 1.0 / TRIALS : 0;
    }
    assert_near(beyond, 0.05, 0.02);
    assert_true(by_rows > 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_who),
        cmocka_unit_test(test_ratio),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
