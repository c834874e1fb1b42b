/* What a fit must say of itself, through the interface alone: directions that only the prior chose,
 * knowledge that the rows contradict, values that were never seen. z0 -> z1 -> z2, observed. */
#include "lscm.h"

#include "lcg.h"

#include "testing.h"

enum { D = 3, EACH = 120, SETS = D + 1 };

static lscm_error why;

typedef struct rows {
    double x[SETS * EACH * D];
    uint8_t targets[SETS * EACH * D];
    lscm_dataset *data;
} rows;

/* A set without do(), and where `sets` one of each node. */
static rows *made_rows(bool sets)
{
    static const char *const names[] = {"raf", "mek", "erk"};
    rows *r = calloc(1, sizeof *r);
    lcg random = {7};
    assert_non_null(r);
    for (size_t row = 0; row < SETS * EACH; row++) {
        double *x = r->x + row * D;
        for (size_t i = 0; i < D; i++) {
            bool set = sets && row / EACH == i + 1;
            r->targets[row * D + i] = set ? 1 : 0;
            x[i] = set ? 4 * lcg_uniform(&random) - 2
                       : (i > 0 ? 0.9 * x[i - 1] : 0) + 0.7 * lcg_normal(&random);
        }
    }
    const lscm_arrays arrays = {.rows = SETS * EACH,
                                .nodes = D,
                                .features = D,
                                .x = r->x,
                                .targets = r->targets,
                                .node_names = names,
                                .feature_names = names};
    assert_ok(lscm_dataset_wrap(&r->data, &arrays, &why));
    return r;
}

static void free_rows(rows *r)
{
    lscm_dataset_free(r->data);
    free(r);
}

static lscm_posterior *fit(const rows *r, const lscm_run_options *run)
{
    lscm_posterior *p = NULL;
    assert_ok(lscm_fit(&p, r->data, NULL, run, NULL, &why));
    return p;
}

static bool warns(const lscm_posterior *p, const char *part)
{
    const lscm_diagnostics *d = lscm_posterior_diagnostics(p);
    bool found = false;
    for (size_t k = 0; k < d->warnings; k++) {
        found = found || strstr(d->warning[k], part) != NULL;
    }
    return found;
}

static void without_interventions_only_the_class_is_known(void **state)
{
    (void)state;
    rows *r = made_rows(false);
    lscm_posterior *p = fit(r, NULL);
    const uint8_t *undirected = lscm_posterior_undirected(p);
    assert_true(undirected[1] == 1 && undirected[3] == 1 && undirected[5] == 1);
    assert_true(warns(p, "no interventions in these data: of 2 likely edges 2 have no direction"));
    assert_true(warns(p, "(raf -- mek, mek -- erk)"));
    lscm_posterior_free(p);
    const size_t order[] = {0, 1, 2};
    p = fit(r, &(lscm_run_options){.order = order}); /* the user says which way */
    assert_false(warns(p, "no direction"));
    lscm_posterior_free(p);
    free_rows(r);
}

/* One direction told directs the other by Meek's first rule: raf -> mek, and no v-structure. */
static void a_direction_told_directs_the_next(void **state)
{
    uint8_t required[D * D] = {0, 1, 0, 0, 0, 0, 0, 0, 0};
    (void)state;
    rows *r = made_rows(false);
    lscm_posterior *p = fit(r, &(lscm_run_options){.required = required});
    assert_false(warns(p, "no direction"));
    assert_false(warns(p, "contradicts"));
    assert_true(lscm_posterior_edge_prob(p)[5] > 0.8);
    lscm_posterior_free(p);
    free_rows(r);
}

static void interventions_direct(void **state)
{
    (void)state;
    rows *r = made_rows(true);
    lscm_posterior *p = fit(r, NULL);
    assert_false(warns(p, "no direction"));
    for (size_t k = 0; k < (size_t)D * D; k++) {
        assert_int_equal(lscm_posterior_undirected(p)[k], 0);
    }
    lscm_posterior_free(p);
    free_rows(r);
}

static void knowledge_against_the_rows_is_named(void **state)
{
    uint8_t forbidden[D * D] = {0, 1, 0, 0, 0, 0, 0, 0, 0};
    uint8_t both[D * D] = {0, 0, 0, 0, 0, 1, 0, 1, 0};
    uint8_t required[D * D] = {0, 0, 0, 0, 0, 0, 1, 0, 0};
    size_t backwards[] = {2, 1, 0};
    size_t forwards[] = {0, 1, 2};
    const struct {
        lscm_run_options run;
        const char *part; /* NULL: it agrees */
    } cases[] = {
        {{.forbidden = forbidden}, "raf->mek is forbidden, and has 1.000"},
        {{.forbidden = both}, "mek -- erk is forbidden both ways, and has 1.000"},
        {{.required = required}, "erk->raf is required, and has 0.000"},
        {{.tiers = backwards}, "raf->mek is forbidden, and has 1.000; mek->erk is forbidden"},
        {{.tiers = forwards}, NULL},
    };
    (void)state;
    rows *r = made_rows(true);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        lscm_posterior *p = fit(r, &cases[k].run);
        assert_int_equal(warns(p, "what was told contradicts the data"), cases[k].part != NULL);
        assert_true(cases[k].part == NULL || warns(p, cases[k].part));
        lscm_posterior_free(p);
    }
    free_rows(r);
}

/* Without interventions each way of raf - mek has half of it, and so has each of mek - erk. mek
 * must not be caused by either: then both are its effects, and that is the class. It must not cause
 * either: a collider, which is not. */
static void knowledge_may_contradict_as_a_whole(void **state)
{
    uint8_t no_cause[D * D] = {0, 1, 0, 0, 0, 0, 0, 1, 0};
    uint8_t no_effect[D * D] = {0, 0, 0, 1, 0, 1, 0, 0, 0};
    (void)state;
    rows *r = made_rows(false);
    lscm_posterior *p = fit(r, &(lscm_run_options){.forbidden = no_cause});
    assert_false(warns(p, "contradicts"));
    lscm_posterior_free(p);
    p = fit(r, &(lscm_run_options){.forbidden = no_effect});
    bool joined = lscm_posterior_edge_prob(p)[2] + lscm_posterior_edge_prob(p)[6] > 0.5;
    assert_true(joined); /* a graph of all three edges has no collider to contradict: no word */
    assert_false(warns(p, "contradicts"));
    lscm_posterior_free(p);
    no_effect[2] = no_effect[6] = 1; /* nor may they be joined */
    p = fit(r, &(lscm_run_options){.forbidden = no_effect});
    assert_true(warns(p, "what was told contradicts the data"));
    lscm_posterior_free(p);
    free_rows(r);
}

/* Beyond 20 nodes chains draw the graphs, without an evidence: rows held out tell. do() sets others
 * than the chain of three, so that no piece of what is told is sure to be wrong by itself. */
static void chains_compare_by_rows_held_out(void **state)
{
    enum { NODES = 22, ROWS = 200 };
    double *x = calloc((size_t)ROWS * NODES, sizeof *x);
    uint8_t *targets = calloc((size_t)ROWS * NODES, 1);
    uint8_t *forbidden = calloc((size_t)NODES, NODES);
    lcg random = {11};
    lscm_dataset *data = NULL;
    lscm_posterior *p = NULL;
    (void)state;
    assert_true(x != NULL && targets != NULL && forbidden != NULL);
    for (size_t k = 0; k < (size_t)ROWS * NODES; k++) {
        size_t row = k / NODES;
        size_t i = k % NODES;
        targets[k] = i >= 3 && row % 10 == i % 10 ? 1 : 0;
        x[k] = (i == 1 || i == 2 ? 1.5 * x[k - 1] : 0) + lcg_normal(&random);
    }
    const lscm_arrays arrays = {
        .rows = ROWS, .nodes = NODES, .features = NODES, .x = x, .targets = targets};
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    lscm_fit_settings *settings = lscm_fit_settings_new();
    assert_non_null(settings);
    settings->draws = 200;
    settings->chains = 2;
    settings->steps = 2000;
    forbidden[NODES + 0] = forbidden[NODES + 2] = 1; /* 1 causes neither, */
    forbidden[2] = forbidden[2 * NODES] = 1;         /* and they are not joined */
    const lscm_run_options collider = {.forbidden = forbidden};
    assert_ok(lscm_fit(&p, data, settings, &collider, NULL, &why));
    assert_non_null(strstr(lscm_posterior_summary(p), "\"mcmc\""));
    assert_true(warns(p, "as a whole, though no piece of it alone: with nothing told, held-out"));
    lscm_posterior_free(p);
    lscm_fit_settings_free(settings);
    lscm_dataset_free(data);
    free(x);
    free(targets);
    free(forbidden);
}

static size_t lines(const lscm_posterior *p, const uint8_t *targets, const double *values,
                    const char *part)
{
    char *text = NULL;
    size_t count = 0;
    assert_ok(lscm_posterior_beyond(&text, p, targets, values, &why));
    for (const char *c = text; (c = strchr(c, '\n')) != NULL; c++) {
        count++;
    }
    assert_true(part == NULL || strstr(text, part) != NULL);
    lscm_text_free(text);
    return count;
}

static void values_never_seen_are_told(void **state)
{
    static const uint8_t first[D] = {1, 0, 0};
    static const uint8_t all[D] = {1, 1, 1};
    double most[D] = {-INFINITY, -INFINITY, -INFINITY};
    (void)state;
    rows *r = made_rows(true);
    lscm_posterior *p = fit(r, NULL);
    for (size_t k = 0; k < SETS * EACH * D; k++) {
        most[k % D] = fmax(most[k % D], r->x[k]);
    }
    assert_int_equal(lines(p, all, most, NULL), 0);
    most[1] += 1e-3;
    assert_int_equal(lines(p, first, most, NULL), 0);
    assert_int_equal(lines(p, all, most, "do() would set mek to "), 1);
    const double far[D] = {500, -500, 0};
    assert_int_equal(lines(p, all, far,
                           "do() would set raf to 500, beyond all that was seen of it: "
                           "do() set it between -"),
                     2);
    lscm_posterior_free(p);
    free_rows(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_interventions_only_the_class_is_known),
        cmocka_unit_test(a_direction_told_directs_the_next),
        cmocka_unit_test(interventions_direct),
        cmocka_unit_test(knowledge_against_the_rows_is_named),
        cmocka_unit_test(knowledge_may_contradict_as_a_whole),
        cmocka_unit_test(chains_compare_by_rows_held_out),
        cmocka_unit_test(values_never_seen_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
