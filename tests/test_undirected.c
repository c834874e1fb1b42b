/* Edges that nothing directs: read from the summary, drawn without a head, once for both ways. */
#include "made_posterior.h"

#include "testing.h"

#include "home.h"

#include <jansson.h>

static lscm_error why;

static char *text_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 18);
    assert_non_null(text);
    (void)!fread(text, 1, (1 << 18) - 1, file);
    (void)fclose(file);
    return text;
}

/* 0 - 1 has 0.55 and 0.4, 1 -> 2 has 0.9, 0 -> 2 has nothing; in each draw 0 and 1 have one edge.
 */
static lscm_posterior *made(const char *summary)
{
    static const double prob[] = {0, 0.55, 0, 0.4, 0, 0.9, 0, 0, 0};
    lscm_posterior *p = made_linear();
    memcpy(p->edge_prob, prob, sizeof prob);
    memset(p->w, 0, p->draws * 9 * sizeof *p->w);
    for (size_t s = 0; s < p->draws; s++) {
        p->w[s * 9 + (s % 2 == 0 ? 1 : 3)] = 2;
        p->w[s * 9 + 5] = -1;
    }
    p->summary = strdup(summary);
    assert_ok(posterior_diagnose(p, &why));
    return p;
}

static const char PAIRS[] = "{\"method\": \"made\", \"pairs\": {\"undirected\": [[0, 1], [7, 1], "
                            "[2, 2], [-1, 0], \"x\", [0.5, 2], [1]]}}";

static void pairs_come_from_the_summary(void **state)
{
    static const uint8_t wanted[] = {0, 1, 0, 1, 0, 0, 0, 0, 0};
    (void)state;
    lscm_posterior *p = made(PAIRS);
    assert_memory_equal(lscm_posterior_undirected(p), wanted, sizeof wanted);
    free(p->summary);
    p->summary = strdup("{}");
    assert_ok(posterior_diagnose(p, &why));
    for (size_t k = 0; k < 9; k++) {
        assert_int_equal(lscm_posterior_undirected(p)[k], 0);
    }
    lscm_posterior_free(p);
}

static void dot_has_one_line_without_a_head(void **state)
{
    (void)state;
    lscm_posterior *p = made(PAIRS);
    assert_ok(lscm_posterior_export(p, at("graph.dot"), true, &why));
    char *text = text_of(at("graph.dot"));
    const char *line = strstr(text, "n0 -> n1");
    assert_non_null(line);
    assert_non_null(strstr(line, "label=\" 2.00\", dir=none];"));
    assert_null(strstr(text, "n1 -> n0"));
    char *head = strstr(text, "n1 -> n2");
    assert_non_null(head);
    *strchr(head, '\n') = '\0';
    assert_null(strstr(head, "dir=none"));
    free(text);
    lscm_posterior_free(p);
}

static void graphml_and_json_say_it_of_both_ways(void **state)
{
    size_t unknown = 0;
    (void)state;
    lscm_posterior *p = made(PAIRS);
    assert_ok(lscm_posterior_export(p, at("graph.graphml"), true, &why));
    char *text = text_of(at("graph.graphml"));
    assert_non_null(strstr(text, "source=\"n0\" target=\"n1\""));
    const char *back =
        strstr(text, "source=\"n1\" target=\"n0\""); /* 0.4 alone would be too little */
    assert_non_null(back);
    assert_non_null(strstr(back, "<data key=\"directed\">false</data>"));
    const char *known = strstr(text, "source=\"n1\" target=\"n2\"");
    assert_non_null(known);
    assert_int_equal(strncmp(strstr(known, "\"directed\">"), "\"directed\">true", 15), 0);
    free(text);
    assert_ok(lscm_posterior_export(p, at("graph.json"), true, &why));
    json_t *all = json_load_file(at("graph.json"), 0, NULL);
    const json_t *edges = json_object_get(all, "edges");
    assert_int_equal(json_array_size(edges), 3);
    for (size_t k = 0; k < 3; k++) {
        unknown += json_is_false(json_object_get(json_array_get(edges, k), "directed")) ? 1 : 0;
    }
    assert_int_equal(unknown, 2);
    json_decref(all);
    lscm_posterior_free(p);
}

static void csv_says_it_too(void **state)
{
    (void)state;
    lscm_posterior *p = made(PAIRS);
    assert_ok(lscm_posterior_export(p, at("edges.csv"), true, &why));
    char *text = text_of(at("edges.csv"));
    assert_non_null(strstr(text, "from,to,probability,mean,sd,q05,q95,directed\n"));
    assert_non_null(strstr(text, "1,2,0.9,-1,0,-1,-1,1\n"));
    assert_non_null(strstr(text, "0,1,0.55,1,1,0,2,0\n"));
    assert_non_null(strstr(text, "1,0,0.4,1,1,0,2,0\n"));
    free(text);
    lscm_posterior_free(p);
}

/* Two edges, one arrowhead; 95% together, so the line is sure, though neither way is. */
static void drawing_and_page_have_one_arrowhead(void **state)
{
    char *svg = NULL;
    size_t heads = 0;
    (void)state;
    lscm_posterior *p = made(PAIRS);
    assert_ok(lscm_posterior_draw(&svg, p, &why));
    for (const char *c = svg; (c = strstr(c, "<polygon")) != NULL; c++) {
        heads++;
    }
    assert_int_equal(heads, 1);
    assert_non_null(strstr(svg, "0 \xe2\x80\x94 1: probability 0.95, mean weight 2"));
    lscm_text_free(svg);
    assert_ok(lscm_report(p, at("page.html"), &(lscm_report_options){.force = true}, &why));
    char *page = text_of(at("page.html"));
    assert_non_null(strstr(page, "<b>1 of these has no direction</b>"));
    assert_non_null(strstr(page, "A line without a head"));
    assert_non_null(strstr(page, "<b>one is nearly certain</b>, one is doubtful and three are "));
    assert_null(strstr(page, "The strongest of the certain effects is z0"));
    free(page);
    lscm_posterior_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_come_from_the_summary),
        cmocka_unit_test(dot_has_one_line_without_a_head),
        cmocka_unit_test(graphml_and_json_say_it_of_both_ways),
        cmocka_unit_test(csv_says_it_too),
        cmocka_unit_test(drawing_and_page_have_one_arrowhead),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
