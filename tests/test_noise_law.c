/* Laws of noise as scale mixtures: densities against integrals over what rows count; draws of a law
 * and its scale against the posterior on a fine grid; sums of rows that count differently for each
 * node against rows that stand there several times. */
#include "infer/evidence/evidence.h"
#include "infer/mechanism/mechanism.h"

#include "anchored_testing.h"
#include "design_testing.h"
#include "lcg.h"

#include <math.h>

/* ---- Densities ---- */

static double normal_density(double x, double variance)
{
    return exp(-x * x / (2 * variance)) / sqrt(2 * 3.14159265358979323846 * variance);
}

/* Over l by the trapezium in log l. */
static double student_integral(double dof, double x)
{
    const double step = 1e-3;
    double sum = 0;
    for (int k = 0; k < 36000; k++) {
        double u = -30 + step * k;
        double l = exp(u);
        double gamma = dof / 2 * log(dof / 2) - lgamma(dof / 2) + dof / 2 * u - dof / 2 * l;
        sum += step * exp(gamma) * normal_density(x, 1 / l);
    }
    return sum;
}

static void densities_are_mixtures_of_normal_ones(void **state)
{
    (void)state;
    const noise_grid all = noise_grid_of(LSCM_NOISE_KIND_AUTO);
    double prior = 0;
    for (size_t p = 0; p < all.count; p++) {
        const noise_point *at = &all.point[p];
        prior += exp(at->log_prior);
        for (int place = -6; place <= 6; place++) {
            double x = 1.5 * place;
            double own = exp(noise_log_density(at, x));
            double k = at->ratio;
            double made = isfinite(at->dof) ? student_integral(at->dof, x)
                                            : (1 - at->share) * normal_density(x, 1) +
                                                  at->share * normal_density(x, k * k);
            assert_near(own / made, 1, 1e-6);
        }
    }
    assert_near(prior, 1, 1e-12);
    assert_int_equal(noise_grid_of(LSCM_NOISE_KIND_GAUSSIAN).count, 1);
}

static void variances_are_those_of_the_densities(void **state)
{
    (void)state;
    const noise_grid all = noise_grid_of(LSCM_NOISE_KIND_AUTO);
    for (size_t p = 0; p < all.count; p++) {
        double sum = 0;
        const double step = 1e-3;
        if (all.point[p].dof < 5) { /* an integral that converges too slowly */
            continue;
        }
        for (int k = 0; k < 24000; k++) { /* x = e^u, both sides */
            double x = exp(-12 + step * k);
            sum += 2 * step * x * x * x * exp(noise_log_density(&all.point[p], x));
        }
        assert_near(sum / noise_variance(&all.point[p]), 1, 1e-4);
    }
    assert_near(noise_variance(&all.point[3]), 3, 1e-12); /* nu = 3 */
}

/* ---- Draws ---- */

enum { FEW = 30, DRAWS = 6000 };

/* The law and its scale given residuals, l integrated out: on a grid of log s, against chains of
 * noise_draw, each from where the last one ended. */
static void laws_and_scales_are_drawn_from_their_posterior(void **state)
{
    (void)state;
    const noise_grid all = noise_grid_of(LSCM_NOISE_KIND_AUTO);
    static double e[FEW];
    static double weight[FEW];
    static double x[FEW];
    static uint32_t batch[FEW];
    double own[2];
    double exact[NOISE_POINTS] = {0};
    double drawn[NOISE_POINTS] = {0};
    double total = 0;
    double scale = 0;
    double mean = 0;
    lcg g = {5};
    for (size_t k = 0; k < FEW; k++) {
        e[k] = 2 * lcg_normal(&g) * (k % 6 == 0 ? 4 : 1);
    }
    for (int at = 0; at < 900; at++) {
        double u = -4 + 0.01 * at;
        for (size_t p = 0; p < all.count; p++) {
            double log_sum = all.point[p].log_prior;
            for (size_t k = 0; k < FEW; k++) {
                log_sum += noise_log_density(&all.point[p], e[k] / exp(u)) - u;
            }
            exact[p] += exp(log_sum + 70);
            scale += exp(log_sum + 70) * u;
            total += exp(log_sum + 70);
        }
    }
    noise_state s = {.sigma = 1};
    const noise_rows rows = {FEW, 1, e, batch};
    for (size_t k = 0; k < DRAWS; k++) {
        noise_draw(&all, &rows, &s, weight, x, own, (rng){3, 1}, k * NOISE_PARTS);
        drawn[s.point] += 1.0 / DRAWS;
        mean += log(s.sigma) / DRAWS;
    }
    for (size_t p = 0; p < all.count; p++) {
        assert_near(drawn[p], exact[p] / total, 0.03);
    }
    assert_near(mean, scale / total, 0.03);
}

enum { MANY = 4000, SETS = 4 };

/* Residuals of t3, or normal, about batches of their own. */
static void make_residuals(lcg *g, bool heavy, double *e, uint32_t *batch)
{
    for (size_t k = 0; k < MANY; k++) {
        double chi2 = 0;
        for (size_t c = 0; c < 3; c++) {
            double own = lcg_normal(g);
            chi2 += own * own;
        }
        batch[k] = (uint32_t)(k % SETS);
        e[k] = 2 * lcg_normal(g) / (heavy ? sqrt(chi2 / 3) : 1) + (double)batch[k];
    }
}

static void tails_are_told_from_normal_noise(void **state)
{
    (void)state;
    const noise_grid all = noise_grid_of(LSCM_NOISE_KIND_AUTO);
    static double e[MANY];
    static double weight[MANY];
    static double x[MANY];
    static uint32_t batch[MANY];
    double own[2 * SETS];
    lcg g = {1};
    const noise_rows rows = {MANY, SETS, e, batch};
    noise_state s = {.sigma = 2, .effect = 2};
    for (size_t k = 0; k < 20; k++) {
        make_residuals(&g, false, e, batch);
        assert_true(noise_evidence(&all, &rows, &s, weight, x, own) < 2);
    }
    make_residuals(&g, true, e, batch);
    assert_true(noise_evidence(&all, &rows, &s, weight, x, own) > 100);
    noise_draw(&all, &rows, &s, weight, x, own, (rng){1, 2}, 0);
    assert_in_range((unsigned)all.point[s.point].dof, 2, 4);
    assert_near(s.sigma, 2, 0.2);
    double far = 0;
    double near = 0;
    for (size_t k = 0; k < MANY; k++) {
        far = fabs(x[k]) > 10 ? fmax(far, weight[k]) : far;
        near = fabs(x[k]) < 1 ? fmax(near, weight[k]) : near;
    }
    assert_true(far < 1.2 && near > 1.5);
}

/* ---- Sums ---- */

enum { D = 4, ROWS = 60, TIMES = 3, ALL = ROWS * TIMES };

static double z[ALL * D];
static uint8_t mask[ALL * D];
static double weight[D * ALL];

static void open_families(families *f, design *by, size_t rows, const double *counts)
{
    size_t count[D] = {D - 1, D - 1, D - 1, D - 1};
    size_t candidate[D * (D - 1)] = {1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2};
    design_again(by, rows, D, mask, NULL);
    assert_ok(families_of(f, &(latent_rows){by, z, NULL, true},
                          &(candidate_lists){D - 1, count, candidate, NULL}, &why));
    if (counts != NULL) {
        f->node_weight = counts;
        assert_ok(families_update(f, z, &why));
    }
}

/* A row that counts twice is one that stands there twice, for everything but how many there are. */
static void rows_count_for_each_node(void **state)
{
    (void)state;
    lcg g = {9};
    families weighed;
    design once = {0};
    size_t times[D][ROWS];
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t j = 0; j < D; j++) {
            z[r * D + j] = 3 + lcg_normal(&g) + (j > 0 ? z[r * D + j - 1] : 0);
            mask[r * D + j] = r % 5 == j + 1;
            times[j][r] = (size_t)(lcg_uniform(&g) * TIMES) + 1;
            weight[j * ROWS + r] = (double)times[j][r];
        }
    }
    open_families(&weighed, &once, ROWS, weight);
    for (size_t i = 0; i < D; i++) {
        families plain;
        design often = {0};
        size_t n = ROWS;
        const family *a = &weighed.list[i];
        for (size_t r = 0; r < ROWS; r++) {
            for (size_t t = 1; t < times[i][r]; t++, n++) {
                for (size_t j = 0; j < D; j++) {
                    z[n * D + j] = z[r * D + j];
                    mask[n * D + j] = mask[r * D + j];
                }
            }
        }
        open_families(&plain, &often, n, NULL);
        const family *b = &plain.list[i];
        assert_int_equal(a->levels, b->levels);
        assert_near(family_heft(a, 0), b->rows, 1e-9);
        assert_near(a->rows, ROWS - ROWS / 5.0, 0);
        for (size_t l = 0; l < a->levels; l++) {
            assert_near(family_heft(a, l), family_heft(b, l), 1e-9);
            assert_near(a->level[l].log_spread, b->level[l].log_spread, 1e-9);
        }
        for (size_t k = 0; k < a->levels * D * D; k++) {
            assert_near(a->scatter[k], b->scatter[k], 1e-8 * (1 + fabs(b->scatter[k])));
        }
        for (size_t k = 0; k < a->levels * D; k++) {
            assert_near(a->mean[k], b->mean[k], 1e-9);
        }
        families_close(&plain);
        design_close(&often);
    }
    families_close(&weighed);
    design_close(&once);
}

/* Functions of bends, row by row. */
static void bends_count_rows_the_same(void **state)
{
    (void)state;
    lcg g = {4};
    families f;
    bends b;
    design by = {0};
    const double unit[D] = {1, 1, 1, 1};
    const dag_prior prior = {.ridge = 0.01, .dof = 4, .unit = unit};
    for (size_t k = 0; k < ROWS * D; k++) {
        z[k] = lcg_normal(&g);
        mask[k] = k % 7 == 0;
        weight[k] = exp(lcg_normal(&g));
    }
    open_families(&f, &by, ROWS, weight);
    assert_ok(
        bends_of(&b, &f, &(latent_rows){&by, z, NULL, true}, BEND_CURVED, &prior, NULL, &why));
    for (size_t i = 0; i < D; i++) {
        const bend_family *own = &b.list[i];
        size_t p = own->candidate[0];
        double heft = 0;
        double sums[2] = {0};
        double product = 0;
        for (size_t r = 0; r < ROWS; r++) {
            double at[CURVE_WIDTH];
            double l = mask[r * D + i] != 0 ? 0 : weight[i * ROWS + r];
            curve_values(&b.basis[p], z[r * D + p], at);
            heft += l;
            sums[0] += l * at[1];
            sums[1] += l * z[r * D + i];
            product += l * at[1] * z[r * D + i];
        }
        assert_near(own->heft[0], heft, 1e-9);
        assert_near(own->scatter[1 * own->width + own->width - 1],
                    product - sums[0] * sums[1] / heft, 1e-8);
        assert_near(own->mean[own->width - 1] + own->middle, sums[1] / heft, 1e-9);
        assert_near(own->rows, f.list[i].rows, 0);
    }
    bends_close(&b);
    families_close(&f);
    design_close(&by);
}

/* ---- All together ---- */

enum { PAIRS = 120 };

typedef struct slope_law {
    double mean, sd;
} slope_law;

/* The slope of z_1 on z_0, everything else integrated out on a grid, under Student's law: no l. */
static slope_law slope_by_grid(const double *pairs, const uint8_t *set)
{
    const noise_grid laws = noise_grid_of(LSCM_NOISE_KIND_STUDENT);
    double sum[3] = {0};
    for (int i = 0; i < 40; i++) {
        double w = 0.2 + 0.03 * i;
        for (int j = 0; j < 20; j++) {
            double c = -0.6 + 0.06 * j;
            for (int k = 0; k < 20; k++) {
                double u = -1 + 0.09 * k;
                for (size_t p = 0; p < laws.count; p++) {
                    double at = laws.point[p].log_prior;
                    for (size_t r = 0; r < PAIRS; r++) {
                        double e = pairs[2 * r + 1] - c - w * pairs[2 * r];
                        at += set[2 * r + 1] != 0
                                  ? 0
                                  : noise_log_density(&laws.point[p], e / exp(u)) - u;
                    }
                    double share = exp(at + 160);
                    sum[0] += share;
                    sum[1] += share * w;
                    sum[2] += share * w * w;
                }
            }
        }
    }
    double mean = sum[1] / sum[0];
    return (slope_law){mean, sqrt(sum[2] / sum[0] - mean * mean)};
}

static double mean_slope(const anchored *a)
{
    double sum = 0;
    for (size_t k = 0; k < a->draws; k++) {
        sum += a->w[4 * k + 1] / (double)a->draws;
    }
    return sum;
}

/* Heavy tails and one row far out: rounds have the slope that the integral has, and not that of
 * least squares. */
static void rounds_have_the_slope_of_the_integral(void **state)
{
    (void)state;
    static double pairs[PAIRS * 2];
    static uint8_t set[PAIRS * 2];
    double spectrum[2] = {1, 1};
    const size_t order[2] = {0, 1};
    const uint8_t required[4] = {0, 1, 0, 0};
    lscm_fit_settings settings = defaults();
    anchored a = {0};
    lcg g = {12};
    double mean = 0;
    double square = 0;
    for (size_t r = 0; r < PAIRS; r++) {
        double chi2 = 0;
        for (size_t c = 0; c < 3; c++) {
            double own = lcg_normal(&g);
            chi2 += own * own;
        }
        set[2 * r] = r % 3 == 0;
        set[2 * r + 1] = r % 9 == 1;
        pairs[2 * r] = lcg_normal(&g);
        pairs[2 * r + 1] = 0.8 * pairs[2 * r] + lcg_normal(&g) / sqrt(chi2 / 3);
    }
    pairs[2 * 5] = 2.5;
    pairs[2 * 5 + 1] = -12;
    linear_view s = {.kind = VIEW_OBSERVED,
                     .rows = PAIRS,
                     .d = 2,
                     .D = 2,
                     .rank = 2,
                     .y = pairs,
                     .spectrum = spectrum};
    design_again(&s.design, PAIRS, 2, set, pairs);
    settings.noise_law = LSCM_NOISE_KIND_STUDENT;
    settings.ridge = 1e-6;
    anchored_input in = {.view = &s,
                         .settings = &settings,
                         .order = order,
                         .required = required,
                         .mechanism = LSCM_MECHANISM_LINEAR,
                         .draws = 1600};
    assert_ok(anchored_infer_noise(&a, &in, &why));
    slope_law exact = slope_by_grid(pairs, set);
    for (size_t k = 0; k < a.draws; k++) {
        mean += a.w[4 * k + 1] / (double)a.draws;
        square += a.w[4 * k + 1] * a.w[4 * k + 1] / (double)a.draws;
        assert_true(a.noise.dof[2 * k + 1] > 2 && a.noise.share[2 * k + 1] <= 0);
    }
    assert_near(mean, exact.mean, 0.4 * exact.sd);
    assert_near(sqrt(square - mean * mean) / exact.sd, 1, 0.25);
    anchored_close(&a);
    settings.noise_law = LSCM_NOISE_KIND_GAUSSIAN;
    a = (anchored){0};
    assert_ok(anchored_infer(&a, &in, &why));
    assert_ok(anchored_infer_noise(&a, &in, &why));
    assert_null(a.noise.dof);
    assert_true(fabs(mean_slope(&a) - exact.mean) > exact.sd); /* dragged by the row far out */
    anchored_close(&a);
    design_close(&s.design);
}

/* ---- Directions ---- */

/* Without interventions: z_0 -> z_1, both of heavy tails, gain more than z_1 -> z_0 does; normal
 * ones gain nothing. */
static void tails_tell_directions(void **state)
{
    (void)state;
    static double pairs[MANY * 2];
    static uint8_t set[MANY * 2];
    const noise_grid laws = noise_grid_of(LSCM_NOISE_KIND_AUTO);
    for (int heavy = 0; heavy < 2; heavy++) {
        double gain[8] = {0};
        lcg g = {77};
        linear_view s = {
            .kind = VIEW_OBSERVED, .rows = MANY, .d = 2, .D = 2, .rank = 2, .y = pairs};
        const anchored_input in = {.view = &s};
        for (size_t r = 0; r < MANY; r++) {
            double a = lcg_normal(&g);
            double b = lcg_normal(&g);
            pairs[2 * r] = heavy != 0 ? a * a * a : a;
            pairs[2 * r + 1] = pairs[2 * r] + (heavy != 0 ? b * b * b : b);
        }
        design_again(&s.design, MANY, 2, set, NULL);
        assert_ok(noise_gains(gain, &laws, &in, pairs, &why));
        double forward = gain[0] + gain[4 + 1];
        double backward = gain[4] + gain[2];
        if (heavy != 0) {
            assert_true(forward > backward + 100);
        } else {
            assert_near(forward, backward, 1);
        }
        design_close(&s.design);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(densities_are_mixtures_of_normal_ones),
        cmocka_unit_test(variances_are_those_of_the_densities),
        cmocka_unit_test(laws_and_scales_are_drawn_from_their_posterior),
        cmocka_unit_test(tails_are_told_from_normal_noise),
        cmocka_unit_test(rows_count_for_each_node),
        cmocka_unit_test(bends_count_rows_the_same),
        cmocka_unit_test(rounds_have_the_slope_of_the_integral),
        cmocka_unit_test(tails_tell_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
