/* Graphs that no set tells apart count alike: of a path of D nodes without do() each of the D
 * orientations with one root is as likely, so that P(i -> i + 1) = (i + 1)/D, the share of roots
 * at or before i; do() on a node decides what it tells apart, and nothing else. */
#include "lscm.h"

#include "lcg.h"
#include "testing.h"

#include <math.h>
#include <string.h>

enum { D = 8, ROWS = 3000 };

static lscm_error why;
static double x[ROWS * D];
static uint8_t targets[ROWS * D];

/* z_i = 1.5 z_{i-1} + e_i; the last rows with do() on `node`, unless it is D. */
static void make(size_t node)
{
    lcg g = {17 + node};
    memset(targets, 0, sizeof targets);
    for (size_t r = 0; r < ROWS; r++) {
        double *z = x + r * D;
        for (size_t i = 0; i < D; i++) {
            bool set = i == node && r >= ROWS / 2;
            double before = i > 0 ? 1.5 * z[i - 1] / sqrt(1 + 2.25) : 0;
            z[i] = set ? 3 * lcg_normal(&g) : before + lcg_normal(&g);
            targets[r * D + i] = set;
        }
    }
}

static lscm_posterior *fit(void)
{
    lscm_arrays arrays = {.rows = ROWS, .nodes = D, .features = D, .x = x, .targets = targets};
    lscm_fit_settings *s = lscm_fit_settings_new();
    lscm_dataset *data = NULL;
    lscm_posterior *p = NULL;
    assert_non_null(s);
    s->holdout = 0;
    s->draws = 2000;
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    assert_ok(lscm_fit(&p, data, s, NULL, NULL, &why));
    lscm_dataset_free(data);
    lscm_fit_settings_free(s);
    return p;
}

/* Draws are of the graphs that edges are told by, and acyclic in their orders. */
static void check_draws(const lscm_posterior *p)
{
    const double *w = lscm_posterior_weights(p);
    const double *told = lscm_posterior_edge_prob(p);
    size_t draws = lscm_posterior_draws(p);
    for (size_t i = 0; i + 1 < D; i++) {
        double share = 0;
        for (size_t k = 0; k < draws; k++) {
            share += w[(k * D + i) * D + i + 1] != 0 ? 1 / (double)draws : 0;
            assert_true(w[(k * D + i) * D + i + 1] == 0 || w[(k * D + i + 1) * D + i] == 0);
        }
        assert_near(share, told[i * D + i + 1], 0.05);
    }
}

static void roots_are_alike(void **state)
{
    (void)state;
    make(D);
    lscm_posterior *p = fit();
    const double *told = lscm_posterior_edge_prob(p);
    for (size_t i = 0; i + 1 < D; i++) {
        double forward = told[i * D + i + 1];
        double backward = told[(i + 1) * D + i];
        assert_near(forward + backward, 1, 1e-3);
        assert_near(forward, (double)(i + 1) / D, 0.08);
    }
    check_draws(p);
    lscm_posterior_free(p);
}

/* do() on node 3 tells all edges from 2 on; the root is 0, 1 or 2, and nothing says which. */
static void do_decides(void **state)
{
    (void)state;
    make(3);
    lscm_posterior *p = fit();
    const double *told = lscm_posterior_edge_prob(p);
    for (size_t i = 2; i + 1 < D; i++) {
        assert_true(told[i * D + i + 1] > 0.99);
    }
    assert_near(told[1], 1.0 / 3, 0.08);
    assert_near(told[D + 2], 2.0 / 3, 0.08);
    check_draws(p);
    lscm_posterior_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_are_alike),
        cmocka_unit_test(do_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
