/* Intercepts that sets have of their own. With V = I + tau^2 (1 where two rows are of one set) and
 * L L' = V, rows L^-1 z are independent: their sums about the direction L^-1 1 must be those of the
 * level, and a draw must be of a level as often as its score says. */
#include "infer/mechanism/mechanism.h"

#include "base/rng.h"
#include "design_testing.h"
#include "testing.h"

static lscm_error why;

enum { D = 4, ROWS = 60 };

typedef struct problem {
    double z[ROWS * D];
    uint8_t mask[ROWS * D], keep[ROWS];
    design design;
    families f;
} problem;

static void make(problem *p, uint64_t seed)
{
    static const uint8_t targets[5][D] = {
        {0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {1, 0, 1, 0}};
    rng r = {seed, 1};
    size_t count[D] = {3, 3, 3, 3};
    size_t candidate[D * 3] = {1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2};
    for (size_t k = 0; k < ROWS; k++) {
        size_t set = k * 5 / ROWS * k % 5;
        p->keep[k] = k % 7 != 3;
        for (size_t i = 0; i < D; i++) {
            p->mask[k * D + i] = targets[set][i];
            p->z[k * D + i] = 3 + rng_normal(r, k * D + i) + (double)(set * i) / 3;
        }
    }
    design_again(&p->design, ROWS, D, p->mask, NULL);
    assert_ok(families_of(&p->f, &(latent_rows){&p->design, p->z, p->keep, true},
                          &(candidate_lists){3, count, candidate, NULL}, &why));
}

static void discard(problem *p)
{
    families_close(&p->f);
    design_close(&p->design);
}

/* Rows in which node i is free: z and 1 by column, (n, D + 1), made independent at this tau;
 * returns n, *log_det = log |V|. */
static size_t whiten(const problem *p, size_t i, double tau, double *out, double *log_det)
{
    static double v[ROWS][ROWS];
    size_t row[ROWS];
    size_t n = 0;
    *log_det = 0;
    for (size_t k = 0; k < ROWS; k++) {
        if (p->keep[k] != 0 && p->mask[k * D + i] == 0) {
            row[n++] = k;
        }
    }
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b <= a; b++) {
            bool same = memcmp(p->mask + row[a] * D, p->mask + row[b] * D, D) == 0;
            double sum = (a == b ? 1 : 0) + (same ? tau * tau : 0);
            for (size_t c = 0; c < b; c++) {
                sum -= v[a][c] * v[b][c];
            }
            v[a][b] = a == b ? sqrt(sum) : sum / v[b][b];
        }
        *log_det += 2 * log(v[a][a]);
        for (size_t c = 0; c <= D; c++) {
            double x = c < D ? p->z[row[a] * D + c] : 1;
            for (size_t b = 0; b < a; b++) {
                x -= v[a][b] * out[b * (D + 1) + c];
            }
            out[a * (D + 1) + c] = x / v[a][a];
        }
    }
    return n;
}

static double dot(const double *x, size_t n, size_t a, size_t b)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        sum += x[k * (D + 1) + a] * x[k * (D + 1) + b];
    }
    return sum;
}

static void sums_are_those_of_independent_rows(void **state)
{
    (void)state;
    static problem p;
    static double x[ROWS * (D + 1)];
    make(&p, 5);
    for (size_t i = 0; i < D; i++) {
        const family *f = &p.f.list[i];
        assert_int_equal(f->levels, FAMILY_LEVELS);
        for (size_t l = 0; l < f->levels; l++) {
            double log_det = 0;
            size_t n = whiten(&p, i, f->level[l].tau, x, &log_det);
            double heft = dot(x, n, D, D);
            assert_near(f->rows, (double)n, 0);
            assert_near(l > 0 ? f->level[l].heft : f->rows, heft, 1e-10 * heft);
            assert_near(f->level[l].log_spread, log_det, 1e-9 * (1 + log_det));
            for (size_t a = 0; a <= f->count; a++) {
                size_t node = a < f->count ? f->candidate[a] : i;
                double mean = dot(x, n, node, D) / heft;
                assert_near(f->mean[l * 4 + a], mean, 1e-10 * fabs(mean));
                for (size_t b = 0; b <= f->count; b++) {
                    size_t other = b < f->count ? f->candidate[b] : i;
                    double s = dot(x, n, node, other) - mean * dot(x, n, other, D);
                    assert_near(f->scatter[(l * 4 + a) * 4 + b], s, 1e-8);
                }
            }
        }
    }
    discard(&p);
}

static void tables_and_single_sets_agree(void **state)
{
    (void)state;
    static problem p;
    const double unit[D] = {1, 2, 0.5, 1};
    dag_prior prior = {.ridge = 0.1, .dof = 3, .log_odds = -1, .unit = unit, .spread = 10};
    make(&p, 6);
    for (size_t i = 0; i < D; i++) {
        prior.hole = i % 2 == 0;
        double rest[8];
        double log_det[8];
        double score[8];
        family_scores_all(&p.f.list[i], &prior, &(family_table){rest, log_det}, score);
        for (uint32_t set = 0; set < 8; set++) {
            double single = family_score(&p.f.list[i], &prior, set);
            assert_near(score[set], single, 1e-10 * fabs(single));
        }
    }
    discard(&p);
}

/* Noise of one row alone, row after row, has together the scatter that is taken off. */
static void noise_is_taken_off_every_level(void **state)
{
    (void)state;
    static problem p;
    static double one[ROWS * D];
    double before[FAMILY_LEVELS * 16];
    double added[FAMILY_LEVELS] = {0};
    double psi[D * D] = {0};
    make(&p, 8);
    const family *f = &p.f.list[3]; /* node 0 is its first candidate */
    psi[0] = 1e-3;
    for (size_t k = 0; k < ROWS; k++) {
        one[k * D] = 1;
        assert_ok(families_update(&p.f, one, &why));
        for (size_t l = 0; l < FAMILY_LEVELS; l++) {
            added[l] += 1e-3 * f->scatter[l * 16];
        }
        one[k * D] = 0;
    }
    assert_ok(families_update(&p.f, p.z, &why));
    memcpy(before, f->scatter, sizeof before);
    families_correct(&p.f, psi, 0, 1);
    for (size_t l = 0; l < FAMILY_LEVELS; l++) {
        assert_near(before[l * 16] - f->scatter[l * 16], added[l], 1e-12);
    }
    discard(&p);
}

static void draws_have_levels_in_proportion(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    static problem p;
    const double unit[D] = {1, 1, 1, 1};
    const dag_prior prior = {.ridge = 0.1, .dof = 3, .unit = unit};
    double seen[FAMILY_LEVELS] = {0};
    make(&p, 7);
    family one = p.f.list[3];
    double all = family_score(&one, &prior, 2);
    for (uint64_t k = 0; k < DRAWS; k++) {
        double w[D] = {0};
        mechanism m = family_draw(&p.f.list[3], &prior, 2, (rng){8, 1}, k, w, 1);
        size_t level = 0;
        while (fabs(m.effect - p.f.list[3].level[level].tau * m.sigma) > 1e-9 * m.sigma) {
            level++;
        }
        seen[level] += 1.0 / DRAWS;
    }
    for (size_t l = 0; l < FAMILY_LEVELS; l++) { /* a family of this level alone */
        one.levels = 1;
        one.level[0] = p.f.list[3].level[l];
        one.scatter = p.f.list[3].scatter + l * 16;
        one.mean = p.f.list[3].mean + l * 4;
        assert_near(seen[l], exp(family_score(&one, &prior, 2) - all), 0.015);
    }
    discard(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_independent_rows),
        cmocka_unit_test(tables_and_single_sets_agree),
        cmocka_unit_test(noise_is_taken_off_every_level),
        cmocka_unit_test(draws_have_levels_in_proportion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
