/* A posterior as a user sees it: its arrays, its folder, its drawing. */
#include "made_posterior.h"

#include "testing.h"

#include "home.h"

static lscm_error why;

static void arrays_are_its_own(void **state)
{
    (void)state;
    const size_t hidden[] = {0};
    const decoder g = made_decoder(DECODER_LINEAR, 3, hidden, 24);
    lscm_posterior *p = made_posterior(6, 5, &g);
    assert_ptr_equal(lscm_posterior_weights(p), p->w);
    assert_ptr_equal(lscm_posterior_sigma(p), p->sigma);
    assert_ptr_equal(lscm_posterior_intercept(p), p->intercept);
    assert_ptr_equal(lscm_posterior_order(p), p->order);
    assert_ptr_equal(lscm_posterior_log_p(p), p->log_p);
    assert_ptr_equal(lscm_posterior_log_q(p), p->log_q);
    assert_ptr_equal(lscm_posterior_edge_prob(p), p->edge_prob);
    assert_ptr_equal(lscm_posterior_z(p), p->z);
    assert_ptr_equal(lscm_posterior_z_sd(p), p->z_sd);
    assert_near(lscm_posterior_threshold(p), 0.3, 0);
    lscm_shape x = lscm_posterior_x_shape(p);
    assert_true(x.present && x.ndim == 1 && x.dims[0] == 24);
    p->x_ndim = 4;
    p->x_dims[0] = 2;
    p->x_dims[1] = 4;
    p->x_dims[2] = 3;
    x = lscm_posterior_x_shape(p);
    assert_true(x.ndim == 3 && x.dims[0] == 2 && x.dims[1] == 4 && x.dims[2] == 3);
    lscm_posterior_free(p);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void saved_runs_open_again(void **state)
{
    (void)state;
    lscm_posterior *p = made_linear();
    lscm_posterior *back = NULL;
    assert_ok(lscm_posterior_save(p, at("run"), false, &why));
    assert_ok(lscm_posterior_open(&back, at("run"), &why));
    assert_memory_equal(back->w, p->w, p->draws * p->d * p->d * sizeof *p->w);
    assert_memory_equal(back->z, p->z, p->rows * p->d * sizeof *p->z);
    lscm_posterior_free(back);
    assert_fails(lscm_posterior_save(p, at("run"), false, &why), LSCM_EXISTS, "holds a run");
    put(at("run/trace.csv"), "old");
    put(at("run/report.html"), "old");
    put(at("run/notes.txt"), "old");
    p->threshold = 0.125;
    assert_ok(lscm_posterior_save(p, at("run/"), true, &why));
    assert_false(is_there(at("run/trace.csv")) || is_there(at("run/report.html")));
    assert_true(is_there(at("run/notes.txt")));
    assert_ok(lscm_posterior_open(&back, at("run"), &why));
    assert_near(lscm_posterior_threshold(back), 0.125, 0);
    lscm_posterior_free(back);
    lscm_posterior_free(p);
}

static void say(lscm_posterior *p, const char *summary)
{
    free(p->summary);
    p->summary = strdup(summary);
    assert_non_null(p->summary);
    assert_ok(posterior_diagnose(p, &why));
}

/* The figures of the summary, by name of the node or by its number, and again from the folder. */
static void diagnostics_are_those_of_the_summary(void **state)
{
    (void)state;
    lscm_posterior *p = made_linear();
    const lscm_diagnostics *d = lscm_posterior_diagnostics(p);
    assert_true(isnan(d->r_hat) && isnan(d->ess) && isnan(d->bound) && d->warnings == 0);
    assert_true(d->left_out_targets == 0 && isnan(d->left_out_r2));
    assert_true(d->held_out_rows == 0 && isnan(d->held_out_r2[2]) && isnan(d->anchor_r2[0]));
    say(p, "{\"r_hat\": 1.25, \"ess\": 40, \"warnings\": [\"one\", 2, \"two\"],"
           " \"anchors\": {\"1\": {\"r2\": 0.5}, \"2\": {}, \"3\": {\"r2\": 1}},"
           " \"held_out\": {\"sets\": 2, \"rows\": 30, \"log_likelihood\": -1.5,"
           " \"log_likelihood_without_edges\": -2, \"r2\": {\"0\": 0.25, \"1\": null},"
           " \"coverage_90\": {\"2\": 0.875}},"
           " \"left_out_targets\": {\"targets\": 4, \"model\": {\"r2\": 0.75, \"spearman\": null},"
           " \"mean_of_others\": {\"r2\": -1}}}");
    lscm_posterior *back = NULL;
    assert_ok(lscm_posterior_save(p, at("run"), false, &why));
    assert_ok(lscm_posterior_open(&back, at("run"), &why));
    for (int k = 0; k < 2; k++) {
        d = lscm_posterior_diagnostics(k == 0 ? p : back);
        assert_true(d->r_hat == 1.25 && d->ess == 40 && isnan(d->bound));
        assert_int_equal(d->warnings, 2);
        assert_string_equal(d->warning[0], "one");
        assert_string_equal(d->warning[1], "two");
        assert_true(d->held_out_sets == 2 && d->held_out_rows == 30);
        assert_near(d->held_out_log_likelihood, -1.5, 0);
        assert_near(d->held_out_log_likelihood_without_edges, -2, 0);
        assert_near(d->held_out_r2[0], 0.25, 0);
        assert_true(isnan(d->held_out_r2[1]) && isnan(d->held_out_coverage_90[0]));
        assert_near(d->held_out_coverage_90[2], 0.875, 0);
        assert_near(d->anchor_r2[1], 0.5, 0);
        assert_int_equal(d->left_out_targets, 4);
        assert_near(d->left_out_r2, 0.75, 0);
        assert_near(d->left_out_r2_others, -1, 0);
        assert_true(isnan(d->left_out_spearman) && isnan(d->left_out_r2_correlation));
        assert_true(isnan(d->anchor_r2[0]) && isnan(d->anchor_r2[2]));
    }
    lscm_posterior_free(back);
    p->node_names = calloc(3, sizeof *p->node_names);
    assert_non_null(p->node_names);
    p->node_names[0] = strdup("raf");
    p->node_names[1] = strdup("mek");
    p->node_names[2] = strdup("erk");
    say(p, "{\"bound\": -7, \"held_out\": {\"rows\": -1, \"r2\": {\"mek\": 1, \"0\": 2}}}");
    d = lscm_posterior_diagnostics(p);
    assert_near(d->bound, -7, 0);
    assert_true(isnan(d->r_hat) && d->warnings == 0 && d->held_out_rows == 0);
    assert_true(isnan(d->held_out_r2[0]) && d->held_out_r2[1] == 1);
    lscm_posterior_free(p);
}

static void a_folder_that_cannot_be_is_said(void **state)
{
    (void)state;
    lscm_posterior *p = made_linear();
    put(at("file"), "old");
    assert_fails(lscm_posterior_save(p, at("file"), true, &why), LSCM_EXISTS, "is a file");
    assert_fails(lscm_posterior_save(p, at("no/where"), false, &why), LSCM_WRITE, "cannot be made");
    put(at("checkpoint"), "old");
    assert_fails(lscm_posterior_save(p, home, false, &why), LSCM_EXISTS, "holds a run");
    lscm_posterior_free(p);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at_part = strstr(text, part); at_part != NULL;
         at_part = strstr(at_part + 1, part)) {
        count++;
    }
    return count;
}

static void drawings_show_nodes_and_edges(void **state)
{
    (void)state;
    lscm_posterior *p = made_linear();
    char *svg = NULL;
    const double probabilities[9] = {0, 0.99, 0.05, 0.02, 0, 0.4, 0, 0, 0};
    memcpy(p->edge_prob, probabilities, sizeof probabilities);
    p->node_names = calloc(3, sizeof *p->node_names);
    assert_non_null(p->node_names);
    p->node_names[0] = strdup("a<b>&\"c\"");
    p->node_names[1] = strdup("mek");
    p->node_names[2] = strdup("erk");
    assert_ok(lscm_posterior_draw(&svg, p, &why));
    assert_int_equal(strncmp(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\"", 39), 0);
    assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
    assert_int_equal(count_of(svg, "<g class=\"node\">"), 3);
    assert_int_equal(count_of(svg, "<g class=\"edge "), 2);
    assert_int_equal(count_of(svg, " maybe\">"), 1);
    assert_non_null(strstr(svg, "a&lt;b&gt;&amp;&quot;c&quot; \xe2\x86\x92 mek"));
    assert_int_equal(count_of(svg, "<g"), count_of(svg, "</g>"));
    assert_int_equal(count_of(svg, " id="), 0); /* several may stand on one page */
    assert_null(strstr(svg, "nan"));
    lscm_text_free(svg);
    lscm_text_free(NULL);
    memset(p->edge_prob, 0, sizeof probabilities); /* no edges at all */
    assert_ok(lscm_posterior_draw(&svg, p, &why));
    assert_int_equal(count_of(svg, "<g class=\"node\">"), 3);
    lscm_text_free(svg);
    lscm_posterior_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_its_own),
        TEST_AT_HOME(saved_runs_open_again),
        TEST_AT_HOME(diagnostics_are_those_of_the_summary),
        TEST_AT_HOME(a_folder_that_cannot_be_is_said),
        cmocka_unit_test(drawings_show_nodes_and_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
