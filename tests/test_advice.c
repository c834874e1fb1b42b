/* Warnings and what summary.json gets of anchors and held-out sets. */
#include "infer/anchored/anchored.h"
#include "infer/check/check.h"
#include "made_linear_view.h"

#include "testing.h"

static lscm_error why;

static const made_design PLAIN = {.d = 4,
                                  .observational = 60,
                                  .sets = 8,
                                  .per_set = 20,
                                  .single = true,
                                  .plain = true,
                                  .value = 2,
                                  .ridge = 0.1,
                                  .dof = 3,
                                  .edge = 0.5};

static char *const NAMES[] = {"alpha", "beta", "gamma", "delta"};

static anchored infer(const made_signal *m)
{
    lscm_fit_settings settings;
    anchored a;
    lscm_settings_defaults(lscm_fit_table(), &settings);
    anchored_input in = {.view = &m->s, .settings = &settings, .draws = 20};
    assert_ok(anchored_infer(&a, &in, &why));
    return a;
}

/* How many of the warnings contain both texts; `b` may be NULL. */
static size_t count_of(const json_t *warnings, const char *a, const char *b)
{
    size_t count = 0;
    for (size_t k = 0; k < json_array_size(warnings); k++) {
        const char *text = json_string_value(json_array_get(warnings, k));
        assert_non_null(text);
        count += strstr(text, a) != NULL && (b == NULL || strstr(text, b) != NULL) ? 1 : 0;
    }
    return count;
}

static json_t *advice_on(const made_signal *m, char *const *names)
{
    anchored a = infer(m);
    json_t *warnings = json_array();
    advise(&m->s, &a, names, warnings);
    anchored_close(&a);
    return warnings;
}

/* Good data, no word. */
static void test_silence(void **state)
{
    (void)state;
    lcg g = {51};
    made_signal m = made_signal_of(&PLAIN, &g);
    json_t *warnings = advice_on(&m, NAMES);
    assert_int_equal(json_array_size(warnings), 0);
    json_decref(warnings);
    made_signal_free(&m);
}

/* Noise that matters, column by column: 4 nodes take 8 columns, (8 - 4)^2 >= 8 + 4, and 7 are too
 * few; columns of one unit have one noise, which 7 tell. */
static void test_few_columns(void **state)
{
    (void)state;
    lcg g = {53};
    double unit[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    made_design c = PLAIN;
    c.x_noise = 0.3;
    made_signal m = made_signal_of(&c, &g);
    double *own = m.s.scale;
    m.s.scale = unit;
    for (size_t columns = 7; columns <= 8; columns++) {
        m.s.D = columns;
        json_t *warnings = advice_on(&m, NAMES);
        assert_int_equal(count_of(warnings, "too few to tell how noisy", "7 columns"),
                         columns == 7 ? 1 : 0);
        json_decref(warnings);
    }
    m.s.D = 7;
    for (size_t k = 0; k < 8; k++) {
        unit[k] = 1;
    }
    json_t *warnings = advice_on(&m, NAMES);
    assert_int_equal(count_of(warnings, "too few to tell how noisy", NULL), 0);
    json_decref(warnings);
    m.s.scale = own;
    made_signal_free(&m);
}

static void test_design(void **state)
{
    (void)state;
    lcg g = {52};
    made_design c = PLAIN;
    c.untouched = 1;
    made_signal m = made_signal_of(&c, &g);
    json_t *warnings = advice_on(&m, NAMES);
    assert_int_equal(count_of(warnings, "never intervened on", "delta"), 1);
    json_decref(warnings);
    warnings = advice_on(&m, NULL); /* numbers where there are no names */
    assert_int_equal(count_of(warnings, "never intervened on", "3"), 1);
    json_decref(warnings);
    /* three rows for the last node */
    for (size_t row = 0; row < 3; row++) {
        m.mask[row * 4 + 3] = 1;
        m.values[row * 4 + 3] = m.z[row * 4 + 3];
    }
    made_again(&m);
    warnings = advice_on(&m, NAMES);
    assert_int_equal(count_of(warnings, "fewer than 6 rows", "delta"), 1);
    assert_int_equal(count_of(warnings, "never intervened on", NULL), 0);
    json_decref(warnings);
    made_signal_free(&m);
}

static void test_always(void **state)
{
    (void)state;
    lcg g = {53};
    made_signal m = made_signal_of(&PLAIN, &g);
    for (size_t row = 0; row < m.s.rows; row++) {
        m.mask[row * 4 + 1] = 1;
        m.values[row * 4 + 1] = m.z[row * 4 + 1];
    }
    made_again(&m);
    json_t *warnings = advice_on(&m, NAMES);
    assert_int_equal(count_of(warnings, "in every row", "beta"), 1);
    json_decref(warnings);
    made_signal_free(&m);
}

/* What the check "decoder" says. */
static const char *decoder_of(const made_signal *m)
{
    const check_input in = {.view = &m->s, .z = m->z};
    static char verdict[16];
    json_t *checks = json_array();
    assert_ok(check_design(checks, &in, NULL, NULL, &why));
    for (size_t k = 0; k < json_array_size(checks); k++) {
        const json_t *one = json_array_get(checks, k);
        if (strcmp(json_string_value(json_object_get(one, "check")), "decoder") == 0) {
            (void)snprintf(verdict, sizeof verdict, "%s",
                           json_string_value(json_object_get(one, "verdict")));
        }
    }
    json_decref(checks);
    return verdict;
}

static void test_decoder(void **state)
{
    (void)state;
    lcg g = {54};
    made_signal m = made_signal_of(&PLAIN, &g);
    assert_string_equal(decoder_of(&m), "good");
    m.s.variance *= 2; /* as if half of x were outside, in one direction */
    m.s.next = m.s.variance / 2;
    m.s.x_noise = 1e-3;
    assert_string_equal(decoder_of(&m), "found");
    m.s.x_noise = sqrt(m.s.next); /* nothing but noise there */
    assert_string_equal(decoder_of(&m), "good");
    made_signal_free(&m);
}

static void test_mixing(void **state)
{
    (void)state;
    lcg g = {55};
    made_signal m = made_signal_of(&PLAIN, &g);
    anchored a = {.d = 0, .sampler = SAMPLER_MCMC};
    static const double r_hats[] = {1.01, 1.5, NAN};
    for (size_t k = 0; k < 3; k++) {
        json_t *warnings = json_array();
        a.r_hat = r_hats[k];
        advise(&m.s, &a, NAMES, warnings);
        assert_int_equal(count_of(warnings, "have not mixed", NULL), k == 0 ? 0 : 1);
        json_decref(warnings);
    }
    a.replaced = 2; /* what chains say after they were made to agree does not count */
    a.r_hat = 3.25;
    a.r_hat_kept = 1.01;
    json_t *warnings = json_array();
    advise(&m.s, &a, NAMES, warnings);
    assert_int_equal(count_of(warnings, "2 of them", "R-hat 3.25 before, 1.01 after"), 1);
    json_decref(warnings);
    made_signal_free(&m);
}

/* Names of any length and alphabet: a list that is cut must stay a sentence, and valid UTF-8. */
static void test_long_names(void **state)
{
    (void)state;
    enum { NODES = 11 };
    lcg g = {56};
    made_design c = PLAIN;
    c.d = NODES;
    made_signal m = made_signal_of(&c, &g);
    anchor_kind kind[NODES];
    size_t samples[NODES] = {0};
    anchored a = {.d = NODES, .rank = NODES, .r_hat = 1, .dispersion = 1};
    a.anchor.kind = kind;
    a.anchor.samples = samples;
    for (size_t i = 0; i < NODES; i++) {
        kind[i] = ANCHOR_NONE;
    }
    for (size_t pad = 0; pad < 3; pad++) {
        char text[NODES][80];
        char *names[NODES];
        for (size_t i = 0; i < NODES; i++) {
            memset(text[i], 'x', pad);
            for (size_t k = 0; k < 18; k++) {
                memcpy(text[i] + pad + 2 * k, "\xc3\xa9", 2); /* e with an accent */
            }
            text[i][pad + 36] = (char)('a' + i);
            text[i][pad + 37] = '\0';
            names[i] = text[i];
        }
        json_t *warnings = json_array();
        advise(&m.s, &a, names, warnings);
        assert_int_equal(count_of(warnings, "never intervened on", names[1]), 1);
        json_decref(warnings);
    }
    made_signal_free(&m);
}

static void test_json(void **state)
{
    (void)state;
    lcg g = {57};
    made_design c = PLAIN;
    c.untouched = 1;
    made_signal m = made_signal_of(&c, &g);
    anchored a = infer(&m);
    json_t *anchors = anchors_json(&a, NAMES);
    assert_int_equal(json_object_size(anchors), 4);
    const json_t *first = json_object_get(anchors, "alpha");
    const json_t *last = json_object_get(anchors, "delta");
    assert_string_equal(json_string_value(json_object_get(first, "anchor")), "values");
    assert_string_equal(json_string_value(json_object_get(last, "anchor")), "none");
    assert_int_equal(json_integer_value(json_object_get(first, "samples")), a.anchor.samples[0]);
    assert_near(json_real_value(json_object_get(first, "r2")), a.anchor.r2[0], 0);
    char *text = json_dumps(anchors, 0);
    assert_non_null(text); /* no NaN */
    free(text);
    json_decref(anchors);

    double r2[] = {0.5, NAN, 0.25, 1};
    double coverage[] = {0.9, NAN, 0.8, 1};
    judgement j = {.d = 4, .sets = 2, .rows = 30, .r2 = r2, .coverage = coverage};
    j.log_likelihood = -1.5;
    j.log_likelihood_empty = -2.5;
    json_t *held = judgement_json(&j, NAMES);
    assert_int_equal(json_integer_value(json_object_get(held, "rows")), 30);
    assert_near(json_real_value(json_object_get(held, "log_likelihood")), -1.5, 0);
    assert_true(json_is_null(json_object_get(json_object_get(held, "r2"), "beta")));
    assert_near(json_real_value(json_object_get(json_object_get(held, "r2"), "gamma")), 0.25, 0);
    json_decref(held);
    j.rows = 0;
    assert_null(judgement_json(&j, NAMES));
    anchored_close(&a);
    made_signal_free(&m);
}

/* Figures in the table that nobody should use are said, whatever chance says: R2 below 0 where the
 * node has causes, or far below; intervals that hold much less than 90%. */
static void test_bad_figures(void **state)
{
    double prob[16] = {0, 1, 0, 0};          /* alpha -> beta */
    double r2[] = {-0.02, -0.01, 0.5, -0.3}; /* alpha: by chance */
    double coverage[] = {0.9, 0.85, 0.79, 1};
    double chance[4] = {0};
    const anchored a = {.d = 4, .edge_prob = prob};
    judgement j = {.d = 4, .sets = 2, .rows = 30, .r2 = r2, .coverage = coverage};
    (void)state;
    j.closer = j.wider = chance;
    j.log_likelihood = -1;
    j.log_likelihood_empty = -2;
    json_t *warnings = json_array();
    advise_on_judgement(&j, &a, NAMES, warnings);
    assert_int_equal(json_array_size(warnings), 2);
    assert_int_equal(count_of(warnings, "(R2 below 0): beta, delta", NULL), 1);
    assert_int_equal(count_of(warnings, "outside of its 90% interval", "held out: gamma."), 1);
    json_decref(warnings);
    j.log_likelihood = -2;
    warnings = json_array();
    advise_on_judgement(&j, &a, NAMES, warnings);
    assert_int_equal(count_of(warnings, "no better than without any edge", NULL), 1);
    json_decref(warnings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silence),     cmocka_unit_test(test_few_columns),
        cmocka_unit_test(test_design),      cmocka_unit_test(test_always),
        cmocka_unit_test(test_decoder),     cmocka_unit_test(test_mixing),
        cmocka_unit_test(test_long_names),  cmocka_unit_test(test_json),
        cmocka_unit_test(test_bad_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
