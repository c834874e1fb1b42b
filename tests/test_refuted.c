/* Edges that do() refutes, against regressions on rows made by hand; and fits in which a hidden
 * cause of two nodes makes an edge of rows in which neither is set. */
#include "infer/evidence/evidence.h"

#include "design_testing.h"
#include "lcg.h"
#include "testing.h"

#include <string.h>

static lscm_error why;

enum { D = 3, P = 0, I = 1, SETS = 9, PER_SET = 60, ROWS = SETS * PER_SET };

static double z[ROWS * D], values[ROWS * D];
static uint8_t mask[ROWS * D];
static design under;

/* What p does to i where do() set it, and where it did not. */
typedef struct made {
    double set, free; /* slopes */
    double bowl;      /* where set: of z_p^2 */
    double batch;     /* sd of what sets have of their own */
    double middle;    /* of the values of do() */
} made;

/* Sets 0 to 5: p is free; 3 to 5 set the third node. 6 to 8 set p. */
static void make(const made *m, uint64_t seed)
{
    lcg g = {seed};
    memset(mask, 0, sizeof mask);
    for (size_t set = 0; set < SETS; set++) {
        double own = m->batch * lcg_normal(&g);
        for (size_t k = 0; k < PER_SET; k++) {
            size_t row = set * PER_SET + k;
            double *at = &z[row * D];
            mask[row * D + P] = set >= 6 ? 1 : 0;
            mask[row * D + 2] = (set >= 3 && set < 6) || set == 8 ? 1 : 0;
            at[2] = mask[row * D + 2] != 0 ? 2 * lcg_uniform(&g) : lcg_normal(&g);
            at[P] = set >= 6 ? m->middle + 3 * lcg_uniform(&g) : 2 + lcg_normal(&g);
            at[I] = 5 + own + 0.3 * lcg_normal(&g) - at[2];
            at[I] += set >= 6 ? m->set * (at[P] - 2) + m->bowl * (at[P] - 2) * (at[P] - 2)
                              : m->free * (at[P] - 2);
            memcpy(values + row * D, at, sizeof *at * D);
        }
    }
    design_again(&under, ROWS, D, mask, values);
}

/* Asked of draws with p -> i of slope `slope` and the third node -> i of -1; s, or NAN. */
static double ask(double slope, double effect)
{
    enum { DRAWS = 4 };
    double w[DRAWS * D * D] = {0};
    double sigma[DRAWS * D];
    double intercept[DRAWS * D] = {0};
    double effects[DRAWS * D];
    double prob[D * D] = {0};
    double share[D * D];
    size_t samples[D] = {3 * PER_SET, 0, 3 * PER_SET};
    size_t count = 0;
    for (size_t k = 0; k < DRAWS; k++) {
        w[(k * D + P) * D + I] = slope;
        w[(k * D + 2) * D + I] = -1;
        intercept[k * D + I] = 5 - 2 * slope;
    }
    for (size_t k = 0; k < DRAWS * D; k++) {
        sigma[k] = 0.3;
        effects[k] = effect;
    }
    prob[P * D + I] = prob[2 * D + I] = 1;
    const linear_view view = {
        .kind = VIEW_OBSERVED, .rows = ROWS, .d = D, .D = D, .rank = D, .y = z, .design = under};
    const anchored_input in = {.view = &view};
    const anchored a = {.d = D,
                        .rows = ROWS,
                        .draws = DRAWS,
                        .z = z,
                        .w = w,
                        .sigma = sigma,
                        .intercept = intercept,
                        .effect = effects,
                        .edge_prob = prob,
                        .anchor = {.samples = samples}};
    assert_ok(refuted_edges(share, &count, &in, &a, &why));
    for (size_t k = 0; k < D * D; k++) {
        assert_true(k == P * D + I || isnan(share[k])); /* the third node's edge is right */
    }
    assert_int_equal(count, isnan(share[P * D + I]) ? 0 : 1);
    return share[P * D + I];
}

/* s from its definition: what is seen of i, the third node's part taken off, along what the edge
 * says, both from the middle of z_p where it is free. */
static double share_by_hand(double slope)
{
    double middle = 0;
    double left = 0;
    double gy = 0;
    double gg = 0;
    for (size_t row = 0; row < 6 * PER_SET; row++) {
        middle += z[row * D + P] / (6 * PER_SET);
        left += (z[row * D + I] + z[row * D + 2] - slope * z[row * D + P]) / (6 * PER_SET);
    }
    for (size_t row = 6 * PER_SET; row < ROWS; row++) {
        double g = slope * (z[row * D + P] - middle);
        double y = z[row * D + I] + z[row * D + 2] - left - slope * middle;
        gy += g * y;
        gg += g * g;
    }
    return gy / gg;
}

static void what_do_does_not_show(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        make(&(made){.set = 0, .free = 1, .middle = 0.5}, seed);
        assert_near(ask(1, 0), share_by_hand(1), 1e-9);
        make(&(made){.set = 0, .free = 1, .middle = 4, .batch = 2}, seed); /* slopes within sets */
        assert_near(ask(1, 2), 0, 0.3);
    }
}

static void what_do_shows(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        make(&(made){.set = 1, .free = 1, .middle = 0.5}, seed);
        assert_true(isnan(ask(1, 0)));
        make(&(made){.set = 1, .free = 1, .middle = 0.5, .batch = 2}, seed); /* batches */
        assert_true(isnan(ask(1, 2)));
        make(&(made){.set = 0.6, .free = 1, .middle = 0.5}, seed); /* less, but there */
        assert_true(isnan(ask(1, 0)));
        make(&(made){.set = 0, .free = 1, .bowl = 1, .middle = 0.5}, seed); /* another shape */
        assert_true(isnan(ask(1, 0)));
        make(&(made){.set = 0.02, .free = 0.02, .middle = 0.5}, seed); /* too small to tell */
        assert_true(isnan(ask(0.02, 0)));
    }
}

/* A hidden cause of p and i: an edge where only such rows speak, and none once do() does. */
static void fits_leave_them_out(void **state)
{
    enum { N = 1500, FREE = 600 };
    static double x[N * D];
    static uint8_t targets[N * D];
    lcg g = {5};
    (void)state;
    memset(targets, 0, sizeof targets);
    for (size_t row = 0; row < N; row++) {
        double h = lcg_normal(&g);
        double value = 4 * lcg_uniform(&g) - 2;
        double *at = &x[row * D];
        size_t target = row < FREE ? D : row % D;
        at[P] = target == P ? value : h + 0.5 * lcg_normal(&g);
        at[I] = target == I ? value : h + 0.5 * lcg_normal(&g);
        at[2] = target == 2 ? value : at[I] + 0.5 * lcg_normal(&g);
        if (target < D) {
            targets[row * D + target] = 1;
        }
    }
    const lscm_arrays arrays = {.x = x, .targets = targets, .rows = N, .features = D, .nodes = D};
    lscm_dataset *data = NULL;
    lscm_posterior *p = NULL;
    lscm_fit_settings *s = lscm_fit_settings_new();
    assert_non_null(s);
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    s->draws = 100;
    assert_ok(lscm_fit(&p, data, s, NULL, NULL, &why));
    const double *prob = lscm_posterior_edge_prob(p);
    assert_true(prob[P * D + I] < 0.01 && prob[I * D + P] < 0.01);
    assert_true(prob[I * D + 2] > 0.99);
    assert_non_null(strstr(lscm_posterior_summary(p), "\"refuted\""));
    assert_non_null(strstr(lscm_posterior_summary(p), "do() refutes edges"));
    lscm_posterior_free(p);
    lscm_dataset_free(data);
    lscm_fit_settings_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_do_does_not_show),
        cmocka_unit_test(what_do_shows),
        cmocka_unit_test(fits_leave_them_out),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    design_close(&under);
    return failed;
}
