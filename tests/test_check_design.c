/* Columns and designs before any model: constants, copies and steps against what was put in, units;
 * what moves whenever anything is set. */
#include "design_testing.h"
#include "infer/check/check.h"
#include "lcg.h"

#include "testing.h"

static lscm_error why;

enum { ROWS = 300, COLUMNS = 40 };

/* Every fifth column is a copy of the one four before, every seventh is constant, every ninth has
 * steps of 1/4; one has rounding where it is a copy. */
static void test_columns(void **state)
{
    (void)state;
    static double x[ROWS * COLUMNS];
    lcg g = {3};
    check_columns c = {0};
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t i = 0; i < COLUMNS; i++) {
            double *to = &x[r * COLUMNS + i];
            double unit = pow(10, (double)(i % 3) - 1);
            *to = unit * lcg_normal(&g);
            *to = i % 9 == 8 ? nearbyint(4 * *to / unit) / 4 : *to;
            *to = i % 7 == 6 ? 1e5 : *to;
            *to = i % 5 == 4 && i % 7 != 6 ? -3 * to[-4] + 7 + 1e-6 * lcg_normal(&g) : *to;
        }
    }
    assert_ok(check_columns_of(&c, x, ROWS, COLUMNS, NULL, &why));
    assert_int_equal(c.count, COLUMNS);
    for (size_t i = 0; i < COLUMNS; i++) {
        bool still = i % 7 == 6;
        bool copy = i % 5 == 4 && !still && (i - 4) % 7 != 6;
        assert_true((c.sd[i] == 0) == still);
        assert_int_equal(c.copied[i], copy ? i - 4 : i);
        if (i % 9 == 8 && !still && i % 5 != 4) {
            assert_near(c.coarse[i], 1.0 / 16 / 12, 1e-12);
        } else if (!still && !copy) {
            assert_true(c.coarse[i] < 1e-4 * c.sd[i] * c.sd[i]);
        }
    }
    assert_true(c.decades > 1.7);
    check_columns_close(&c);
}

/* ---- Sets of one target each, node 0 free in all of them */

enum { D = 6, PER_SET = 30, N = D * PER_SET, TIMES = 400 };

/* Sets have intercepts of their own, sd 1/2; all but the first are moved by `response`. */
static double respond(double response, lcg *g)
{
    static double told[N * D];
    static double values[N * D];
    static uint8_t mask[N * D];
    static size_t first[D + 1];
    double slope = 0.7;
    check_term term = {{1, 1}, 0, 1};
    check_family f = {.f = {1, 1, false, &term}, .coef = &slope, .left = 1};
    linear_view view = {.rows = N, .d = D};
    check_input in = {.view = &view};
    double own[D];
    for (size_t set = 0; set < D; set++) {
        own[set] = lcg_normal(g) / 2 + (set > 0 ? response : 0);
        first[set + 1] = (set + 1) * PER_SET;
    }
    memset(mask, 0, sizeof mask);
    for (size_t r = 0; r < N; r++) {
        size_t set = r / PER_SET;
        mask[r * D + set] = set > 0 ? 1 : 0;
        for (size_t i = 1; i < D; i++) {
            told[r * D + i] = 3 * lcg_normal(g);
        }
        told[r * D] = 0.7 * told[r * D + 1] + own[set] + lcg_normal(g);
    }
    design_again(&view.design, N, D, mask, values);
    check_rows t = {.in = &in,
                    .n = N,
                    .d = D,
                    .sets = view.design.sets,
                    .first = first,
                    .target = view.design.target,
                    .told = told};
    double chance = check_response(&t, 0, &f);
    design_close(&view.design);
    return chance;
}

static void test_response(void **state)
{
    (void)state;
    lcg g = {5};
    size_t alarms = 0;
    size_t found = 0;
    for (size_t k = 0; k < TIMES; k++) {
        alarms += respond(0, &g) < 0.05 ? 1 : 0;
        found += respond(5, &g) < 0.01 ? 1 : 0;
    }
    assert_in_range(alarms, 8, 36); /* 20, sd 4.4 */
    assert_in_range(found, TIMES * 9 / 10, TIMES);
}

/* ---- The whole check */

enum { SEEN = 400, NODES = 4 };
typedef enum fault { NOTHING, COPY, STILL, COARSE } fault;

static lscm_posterior *check(fault what)
{
    static const char *const names[] = {"alpha", "beta", "gamma", "delta"};
    static double x[SEEN * NODES];
    static uint8_t targets[SEEN * NODES];
    lcg g = {8};
    lscm_dataset *data = NULL;
    lscm_posterior *p = NULL;
    for (size_t r = 0; r < SEEN; r++) {
        double *z = x + r * NODES;
        for (size_t i = 0; i < NODES; i++) {
            bool set = r % 6 == i + 1;
            targets[r * NODES + i] = set ? 1 : 0;
            z[i] = set ? 2 * lcg_normal(&g) : (i > 0 ? z[i - 1] : 0) + lcg_normal(&g);
        }
        z[3] = what == COPY ? 1e6 * z[1] - 4 : what == STILL ? 2.5 : z[3];
        z[3] = what == COARSE && targets[r * NODES + 3] == 0 ? 3 * nearbyint(z[3] / 3) : z[3];
        z[0] *= 1e8; /* units do not matter */
    }
    assert_ok(lscm_dataset_wrap(&data,
                                &(lscm_arrays){.rows = SEEN,
                                               .nodes = NODES,
                                               .features = NODES,
                                               .x = x,
                                               .targets = targets,
                                               .node_names = names},
                                &why));
    assert_ok(lscm_check(&p, data, NULL, &why));
    lscm_dataset_free(data);
    return p;
}

static const lscm_finding *named(const lscm_posterior *p, const char *check_name)
{
    const lscm_diagnostics *d = lscm_posterior_diagnostics(p);
    for (size_t k = 0; k < d->findings; k++) {
        if (strcmp(d->finding[k]->check, check_name) == 0) {
            return d->finding[k];
        }
    }
    return NULL;
}

static void test_findings(void **state)
{
    (void)state;
    static const struct {
        const char *check, *verdict;
    } expected[] = {
        {"units", "good"}, {"copies", "found"}, {"constant", "noted"}, {"digits", "found"}};
    for (fault what = NOTHING; what <= COARSE; what++) {
        lscm_posterior *p = check(what);
        const lscm_diagnostics *d = lscm_posterior_diagnostics(p);
        const lscm_finding *f = named(p, expected[what].check);
        assert_string_equal(f->verdict, expected[what].verdict);
        assert_true(named(p, "units")->figure > 7);
        if (what == NOTHING) {
            assert_int_equal(d->found, 0);
        } else {
            assert_true(d->warnings > 0);
            assert_int_equal(f->nodes, 1);
            assert_string_equal(f->node[0], "delta");
            assert_true(f->figure > f->limit && f->remedy[0] != '\0');
        }
        if (what == STILL) { /* less is known; nothing is broken */
            assert_int_equal(d->found, 0);
        }
        lscm_posterior_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_response),
        cmocka_unit_test(test_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
