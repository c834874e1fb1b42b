/* The mean of draws of mechanisms as one model, and its slopes: against the draws themselves, one
 * by one, and central differences. */
#include "scm/mechanism/mechanism.h"

#include "lcg.h"
#include "testing.h"

#include <string.h>

enum { D = 5, DRAWS = 40, MOST = D * (D + D * D), STILL = 3 };

typedef struct world {
    curve_basis basis[D];
    uint64_t first[DRAWS * D + 1];
    int32_t parent[2 * DRAWS * MOST];
    double coef[DRAWS * MOST * CURVE_WIDTH];
    double w[DRAWS * D * D], intercept[DRAWS * D];
    bent_mechanisms bent;
    curve_basis mean_basis[D];
    uint64_t mean_first[D + 1];
    int32_t mean_parent[2 * MOST];
    double mean_coef[MOST * CURVE_WIDTH], mean_w[D * D], mean_intercept[D];
    bent_mechanisms mean;
} world;

/* Any numbers at the knots make splines; the first is a line. Node STILL never changed. */
static void make_curves(world *x, lcg *g)
{
    for (size_t j = 0; j < D; j++) {
        curve_basis *b = &x->basis[j];
        b->knots = j == STILL ? 0 : 4 + j;
        for (size_t m = 0; m < b->knots; m++) {
            b->knot[m] = (m > 0 ? b->knot[m - 1] : -2) + 0.2 + lcg_uniform(g);
            b->value[m][0] = (b->knot[m] - 0.7) / 1.9;
            for (size_t k = 1; k + 1 < b->knots; k++) {
                b->value[m][k] = lcg_normal(g);
                b->second[m][k] = m > 0 && m + 1 < b->knots ? lcg_normal(g) : 0;
            }
        }
    }
}

static void add_term(world *x, int32_t p, int32_t q, lcg *g)
{
    size_t t = x->bent.terms++;
    x->parent[2 * t] = p;
    x->parent[2 * t + 1] = q;
    for (size_t k = 0; k < (q < 0 ? CURVE_WIDTH : CURVE_PAIRS); k++) {
        x->coef[t * CURVE_WIDTH + k] = lcg_normal(g);
    }
}

/* Nodes before a node are its parents, or not; it is straight, curved, or they act together. Node 1
 * is straight in all draws. */
static void make(world *x, uint64_t seed)
{
    lcg g = {seed};
    memset(x, 0, sizeof *x);
    x->bent = (bent_mechanisms){DRAWS, D, 0, x->basis, x->first, x->parent, x->coef};
    x->mean =
        (bent_mechanisms){0, 0, 0, x->mean_basis, x->mean_first, x->mean_parent, x->mean_coef};
    make_curves(x, &g);
    for (size_t k = 0; k < DRAWS; k++) {
        for (size_t i = 0; i < D; i++) {
            size_t kind = i > 1 ? (size_t)(3 * lcg_uniform(&g)) : 0;
            x->first[k * D + i] = x->bent.terms;
            x->intercept[k * D + i] = lcg_normal(&g);
            for (size_t p = 0; p < i; p++) {
                if (lcg_uniform(&g) < 0.7) {
                    x->w[(k * D + p) * D + i] = lcg_normal(&g);
                    if (kind > 0) {
                        add_term(x, (int32_t)p, BENT_ALONE, &g);
                    }
                    if (kind > 1 && p > 0) {
                        add_term(x, 0, (int32_t)p, &g);
                    }
                }
            }
        }
    }
    x->first[DRAWS * D] = x->bent.terms;
    const drawn_mechanisms of = {DRAWS, D, x->w, x->intercept, &x->bent};
    bent_mean(&of, MOST, &x->mean, x->mean_w, x->mean_intercept);
}

static void row(double *z, lcg *g)
{
    for (size_t j = 0; j < D; j++) { /* beyond the knots, too */
        z[j] = j == STILL ? 1.7 : 4 * lcg_normal(g);
    }
}

static mechanism_model draw_of(const world *x, size_t k)
{
    return (mechanism_model){.d = D,
                             .w = x->w + k * D * D,
                             .intercept = x->intercept + k * D,
                             .bent = &x->bent,
                             .draw = k};
}

static mechanism_model mean_of(const world *x)
{
    return (mechanism_model){
        .d = D, .w = x->mean_w, .intercept = x->mean_intercept, .bent = &x->mean};
}

/* It leaves of a row what the draws leave on average. */
static void residuals(void **state)
{
    static world x;
    lcg g = {5};
    (void)state;
    make(&x, 4);
    const mechanism_model mean = mean_of(&x);
    assert_false(mechanism_bends(&mean, 0) || mechanism_bends(&mean, 1));
    assert_true(mechanism_bends(&mean, 2) && mechanism_bends(&mean, D - 1));
    for (size_t r = 0; r < 50; r++) {
        double z[D];
        double all[D];
        row(z, &g);
        mechanism_residuals(&mean, z, all);
        for (size_t i = 0; i < D; i++) {
            double sum = 0;
            double size = 1;
            for (size_t k = 0; k < DRAWS; k++) {
                const mechanism_model one = draw_of(&x, k);
                double e = mechanism_residual(&one, i, z);
                sum += e / DRAWS;
                size = fmax(size, fabs(e));
            }
            assert_near(mechanism_residual(&mean, i, z), sum, 1e-12 * size);
            assert_near(all[i], sum, 1e-12 * size);
        }
    }
}

static void slopes(void **state)
{
    static world x;
    lcg g = {6};
    (void)state;
    make(&x, 7);
    const mechanism_model mean = mean_of(&x);
    for (size_t r = 0; r < 50; r++) {
        double z[D];
        row(z, &g);
        for (size_t i = 0; i < D; i++) {
            double slope[D] = {0};
            mechanism_slopes(&mean, i, z, slope);
            for (size_t j = 0; j < D; j++) {
                double away[2][D];
                memcpy(away[0], z, sizeof z);
                memcpy(away[1], z, sizeof z);
                away[0][j] -= 1e-5;
                away[1][j] += 1e-5;
                double rise =
                    mechanism_residual(&mean, i, away[1]) - mechanism_residual(&mean, i, away[0]);
                assert_near(slope[j], (i == j ? 1 : 0) - rise / 2e-5, 1e-5 * (1 + fabs(slope[j])));
            }
        }
    }
}

/* One draw is its own mean; draws that are straight have the mean of their weights and no terms. */
static void alone(void **state)
{
    static world x;
    double w[D * D];
    double c[D];
    (void)state;
    make(&x, 9);
    const drawn_mechanisms straight = {DRAWS, D, x.w, x.intercept, NULL};
    bent_mean(&straight, MOST, &x.mean, w, c);
    assert_int_equal(x.mean.terms, 0);
    assert_memory_equal(w, x.mean_w, sizeof w);
    x.bent.draws = 1;
    const drawn_mechanisms one = {1, D, x.w, x.intercept, &x.bent};
    bent_mean(&one, MOST, &x.mean, w, c);
    assert_memory_equal(w, x.w, sizeof w);
    assert_memory_equal(c, x.intercept, sizeof c);
    assert_memory_equal(x.mean.first, x.first, sizeof x.mean_first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals),
        cmocka_unit_test(slopes),
        cmocka_unit_test(alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
