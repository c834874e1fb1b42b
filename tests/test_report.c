/* Reports of posteriors made by hand: every page is a tree of tags, says the numbers that are
 * counted again here, and survives names, shapes and programs that are not what they should be. */
#include "made_bent.h"

#include "data/picture/picture.h"
#include "result/report/report.h"

#include "testing.h"

#define at home_at /* report_page.h has coordinates by that name */
#include "home.h"
#undef at

#include <locale.h>
#include <sys/stat.h>

static lscm_error why;

static char *text_of(const char *path)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &info), 0);
    char *text = calloc(1, (size_t)info.st_size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)info.st_size, file), (size_t)info.st_size);
    (void)fclose(file);
    return text;
}

/* Every tag is closed in turn, every & begins an entity. Of the style sheet only the end is
 * looked for. */
static void assert_tree(const char *text)
{
    char open[64][32];
    size_t depth = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '&') {
            size_t length = strcspn(c, ";");
            assert_true(length > 1 && length < 8);
        }
        if (*c != '<' || c[1] == '!') {
            assert_true(*c != '<' || strncmp(c, "<!DOCTYPE", 9) == 0);
            continue;
        }
        const char *end = strchr(c, '>');
        assert_non_null(end);
        char name[32] = "";
        size_t length = strcspn(c + 1 + (c[1] == '/'), " />");
        assert_true(length > 0 && length < sizeof name);
        memcpy(name, c + 1 + (c[1] == '/'), length);
        if (c[1] == '/') {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (end[-1] != '/') {
            assert_true(depth < 64);
            memcpy(open[depth++], name, sizeof name);
        }
        c = strcmp(name, "style") == 0 && c[1] != '/' ? strstr(c, "</style>") - 1 : end;
    }
    assert_int_equal(depth, 0);
}

/* The page, checked as a tree; the caller frees it. */
static char *page_of(const lscm_posterior *p, const lscm_dataset *truth)
{
    const lscm_report_options options = {.folder = home, .truth = truth, .force = true};
    assert_ok(lscm_report(p, home_at("report.html"), &options, &why));
    char *text = text_of(home_at("report.html"));
    assert_tree(text);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        print_error("'%s' is not on the page\n", part);
        fail();
    }
}

static void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL) {
        print_error("'%s' is on the page\n", part);
        fail();
    }
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *c = strstr(text, part); c != NULL; c = strstr(c + 1, part)) {
        count++;
    }
    return count;
}

static lscm_posterior *made(size_t draws, size_t d)
{
    const size_t none[] = {0};
    const decoder g = made_decoder(DECODER_LINEAR, d, none, d + 1);
    return made_posterior(draws, 5, &g);
}

/* ---- */

static void numbers_are_short_and_know_no_locale(void **state)
{
    (void)state;
    const char *locales[] = {"C", "de_DE.UTF-8"};
    for (size_t k = 0; k < 2; k++) {
        if (setlocale(LC_ALL, locales[k]) == NULL) {
            continue;
        }
        assert_string_equal(fixed(-1.005, 1).text, "-1.0");
        assert_string_equal(fixed(-0.004, 2).text, "0.00");
        assert_string_equal(coordinate(2.5).text, "2.5");
        assert_string_equal(coordinate(-2.0).text, "-2");
        assert_string_equal(coordinate(100).text, "100");
        assert_string_equal(few_digits(-1.234).text, "\xe2\x88\x92"
                                                     "1.23");
        assert_string_equal(few_digits(1234.6).text, "1235");
        assert_string_equal(few_digits(0).text, "0");
        assert_string_equal(few_digits(2.34e-9).text, "2.3e\xe2\x88\x92"
                                                      "9");
        assert_string_equal(few_digits(9.99e-9).text, "1.0e\xe2\x88\x92"
                                                      "8");
        assert_string_equal(few_digits(1e300).text, "1.0e300");
        assert_string_equal(few_digits(NAN).text, "\xe2\x80\x93");
        assert_string_equal(fixed(INFINITY, 2).text, "\xe2\x80\x93");
        assert_string_equal(round_number(-2.50).text, "\xe2\x88\x92"
                                                      "2.5");
        assert_string_equal(tiny(0.0042).text, "4e\xe2\x88\x92"
                                               "3");
        assert_string_equal(tiny(0.00099).text, "1e\xe2\x88\x92"
                                                "3");
        assert_string_equal(percent(0.9999).text, "over 99&#160;%");
        assert_string_equal(percent(1).text, "100&#160;%");
        assert_string_equal(percent(0.001).text, "under 1&#160;%");
        assert_int_equal(decimals_for(0.0018), 4);
        assert_int_equal(decimals_for(50), 2);
        assert_int_equal(decimals_for(0), 2);
    }
    (void)setlocale(LC_ALL, "C");
}

static void names_cannot_break_the_page(void **state)
{
    (void)state;
    char *const names[] = {"<script>alert(1)</script>", "a \"b\" & 'c'", "caf\xc3\xa9 \xff\x01"};
    lscm_posterior *p = made_linear();
    p->node_names = calloc(3, sizeof *p->node_names);
    for (size_t i = 0; i < 3; i++) {
        p->node_names[i] = strdup(names[i]);
    }
    p->config = strdup("{\"data\": \"<img src=x> '; rm.nc\", \"method\": \"anchored\", \"tiers\": "
                       "[[\"a\"], [\"b\", \"it's\"]], \"forbid\": [\"a->b\"], \"seed\": 3, "
                       "\"full_run\": true, \"order\": \"given\", \"order_given\": [2, 0, 1]}");
    p->summary = strdup("{\"warnings\": [\"beware of </body> & more\"], \"method\": \"<b>\"}");
    char *text = page_of(p, NULL);
    assert_lacks(text, "<script");
    assert_lacks(text, "<img src=x");
    assert_lacks(text, "://");
    assert_has(text, "&lt;script&gt;alert(1)&lt;/script&gt;");
    assert_has(text, "a &quot;b&quot; &amp; &#39;c&#39;");
    assert_has(text, "caf\xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd");
    assert_has(text, "beware of &lt;/body&gt; &amp; more");
    assert_has(text,
               "lscm fit &#39;&lt;img src=x&gt; &#39;\\&#39;&#39;; rm.nc&#39; --out again.run "
               "--method anchored --full-run --seed 3 --order 2,0,1 --forbid "
               "&#39;a-&gt;b&#39; --tiers &#39;a;b,it&#39;\\&#39;&#39;s&#39;<");
    free(text);
    lscm_posterior_free(p);
}

static void the_headline_counts_the_edges(void **state)
{
    (void)state;
    lscm_posterior *p = made(6, 4);
    for (size_t k = 0; k < 16; k++) {
        p->edge_prob[k] = k == 1 || k == 7 ? 0.95 : k == 4 ? 0.94 : k == 8 ? 0.051 : 0.05;
    }
    char *text = page_of(p, NULL);
    assert_has(text, "Of the 12 possible edges between 4 causal variables, <b>two are nearly "
                     "certain</b>, two are doubtful and eight are ruled out.");
    assert_has(text, "The fit has no warnings");
    assert_int_equal(count_of(text, "<g class=\"node\">"), 4);
    assert_int_equal(count_of(text, "<g class=\"edge"), 3); /* 0.051 is too little to draw */
    assert_int_equal(count_of(text, " maybe\""), 1);
    assert_lacks(text, "id=\"scores\"");
    assert_lacks(text, "id=\"training\"");
    assert_lacks(text, "id=\"pictures\"");
    free(text);
    lscm_posterior_free(p);
}

static void the_same_run_is_the_same_page(void **state)
{
    (void)state;
    lscm_posterior *p = made(20, 5);
    const lscm_report_options options = {.folder = "runs/first.run/"};
    assert_ok(lscm_report(p, home_at("one.html"), &options, &why));
    assert_ok(lscm_report(p, home_at("two.html"), &options, &why));
    assert_fails(lscm_report(p, home_at("two.html"), &options, &why), LSCM_EXISTS, "two.html");
    assert_fails(lscm_report(p, home_at("no/two.html"), &options, &why), LSCM_WRITE, "two.html");
    char *one = text_of(home_at("one.html"));
    char *two = text_of(home_at("two.html"));
    assert_string_equal(one, two);
    assert_has(one, "<h1>first.run</h1>");
    assert_int_equal(entries(), 2);
    free(one);
    free(two);
    lscm_posterior_free(p);
}

static void one_answer_is_not_called_sure(void **state)
{
    (void)state;
    lscm_posterior *p = made(6, 4);
    char *text = page_of(p, NULL);
    assert_lacks(text, "All draws are the same");
    assert_has(text, "Standard deviation");
    free(text);
    for (size_t s = 1; s < 6; s++) {
        memcpy(p->w + s * 16, p->w, 16 * sizeof *p->w);
    }
    text = page_of(p, NULL);
    assert_has(text, "All draws are the same");
    assert_lacks(text, "Standard deviation");
    free(text);
    lscm_posterior_free(p);
}

/* ---- The truth ---- */

static void a_truth_is_compared_with(void **state)
{
    (void)state;
    lscm_posterior *p = made_linear();
    const double w[9] = {0, 1.5, 0, 0, 0, 0, 0, -0.7, 0};
    const double prob[9] = {0, 1, 0.9, 0, 0, 1, 0, 0, 0}; /* one found, one turned, one wrong */
    memcpy(p->edge_prob, prob, sizeof prob);
    uint8_t targets[15] = {1};
    double x[20] = {0};
    lscm_dataset *data = NULL;
    lscm_arrays arrays = {.rows = 5,
                          .nodes = 3,
                          .features = 4,
                          .x = x,
                          .targets = targets,
                          .values = p->z,
                          .z = p->z,
                          .w = w};
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    char *text = page_of(p, data);
    assert_has(text, "<b>1 of the 2 true edges</b>, one turned around and one that is not there");
    assert_has(text, "class=\"tick\" text-anchor=\"middle\""); /* dots have axes with numbers */
    assert_has(text, "True, but ruled out: 2 \xe2\x86\x92 1.");
    assert_has(text, "True weights");
    assert_has(text, "id=\"latents\"");
    assert_has(text, "id=\"scores\"");
    assert_has(text, "correlation 1.000");
    assert_has(text, "w_mse");
    assert_int_equal(count_of(text, "class=\"mark\""), count_of(text, "Posterior of the weight"));
    free(text);
    lscm_dataset_free(data);

    const double plain[9] = {0, 1, 1, 0, 0, 1, 0, 0, 0};
    arrays.w = plain;
    arrays.z = NULL;
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    text = page_of(p, data);
    assert_has(text, "<b>the graph is exactly right</b> (3 edges)");
    assert_has(text, "True graph");
    assert_lacks(text, "w_mse");
    assert_lacks(text, "class=\"mark\"");
    assert_lacks(text, "id=\"latents\"");
    free(text);
    lscm_dataset_free(data);

    const lscm_report_options options = {.truth = NULL};
    lscm_posterior *other = made(6, 4);
    arrays.w = w;
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    const lscm_report_options wrong = {.truth = data, .force = true};
    assert_fails(lscm_report(other, home_at("report.html"), &wrong, &why), LSCM_SHAPE, "4 nodes");
    assert_ok(lscm_report(other, home_at("other.html"), &options, &why));
    assert_int_equal(entries(), 2);
    lscm_dataset_free(data);
    lscm_posterior_free(other);
    lscm_posterior_free(p);
}

/* ---- Sizes ---- */

static void any_number_of_nodes_will_do(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 2, 12, 40, 70, 210};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        lscm_posterior *p = made(3, sizes[k]);
        char *text = page_of(p, NULL);
        assert_int_equal(count_of(text, "<g class=\"heat"), 0);
        assert_int_equal(count_of(text, "class=\"heat\"") > 0, sizes[k] <= 200);
        assert_int_equal(count_of(text, "this drawing has only the ") > 0, sizes[k] >= 12);
        assert_true(count_of(text, "<g class=\"edge") <= (sizes[k] > 60 ? 150 : 90));
        assert_true(strlen(text) < 3u << 20);
        free(text);
        memset(p->edge_prob, 0, sizes[k] * sizes[k] * sizeof *p->edge_prob);
        text = page_of(p, NULL);
        assert_has(text, "No edge has a probability of 0.1 or more");
        assert_lacks(text, "id=\"posteriors\"");
        free(text);
        lscm_posterior_free(p);
    }
}

static void without_graphviz_there_is_a_circle(void **state)
{
    (void)state;
    const char *path = getenv("PATH");
    char *before = strdup(path != NULL ? path : "/usr/bin:/bin");
    lscm_posterior *p = made_linear();
    (void)setenv("PATH", "/nowhere", 1);
    char *text = page_of(p, NULL);
    (void)setenv("PATH", before, 1);
    assert_has(text, "stand on a circle");
    assert_int_equal(count_of(text, "<g class=\"node\">"), 3);
    free(text);
    free(before);
    lscm_posterior_free(p);
}

/* ---- Curves and pictures ---- */

static void write_trace(const char *text)
{
    FILE *file = fopen(home_at("trace.csv"), "w");
    assert_non_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

static void curves_come_from_the_trace(void **state)
{
    (void)state;
    lscm_posterior *p = made_linear();
    write_trace("restart,step,loss,auroc,strange <&>,tp\n0,0,1000,,1,1\n0,10,1,0.5,2,1\n"
                "1,0,900,nan,3,1\n1,10,2,0.9,x,1\n");
    char *text = page_of(p, NULL);
    assert_has(text, "id=\"training\"");
    assert_has(text, "<b>Loss</b> <span class=\"soft\">(logarithmic)");
    assert_has(text, "<b>strange &lt;&amp;&gt;</b>");
    assert_lacks(text, "<b>tp</b>");
    const char *line = strstr(strstr(text, "<b>Loss</b>"), "class=\"line\" d=\"");
    size_t length = strcspn(line + 16, "\"");
    char path[256] = "";
    memcpy(path, line + 16, length < 255 ? length : 255);
    assert_int_equal(count_of(path, "M"), 2); /* a line for each restart */
    assert_int_equal(count_of(path, "L"), 2);
    free(text);
    const char *const odd[] = {"",
                               "step",
                               "step,loss\n",
                               "step,loss\n1,2\n",
                               ",,,\n,,\n",
                               "\n\n",
                               "step,loss\nx,y\n1\n1,2,3,4\n",
                               "loss\n1\n2\n"};
    for (size_t k = 0; k < sizeof odd / sizeof odd[0]; k++) {
        write_trace(odd[k]);
        free(page_of(p, NULL));
    }
    lscm_posterior_free(p);
}

static int digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return (int)(strchr(digits, c) - digits);
}

/* The bytes of a data URI into a file. */
static void save_picture(const char *base64, const char *path)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (; base64[0] != '"'; base64 += 4) {
        int all = digit(base64[0]) << 18 | digit(base64[1]) << 12;
        all |= base64[2] != '=' ? digit(base64[2]) << 6 : 0;
        all |= base64[3] != '=' ? digit(base64[3]) : 0;
        (void)fputc(all >> 16 & 255, file);
        if (base64[2] != '=') {
            (void)fputc(all >> 8 & 255, file);
        }
        if (base64[3] != '=') {
            (void)fputc(all & 255, file);
        }
    }
    (void)fclose(file);
}

static void pictures_are_shown_under_do(void **state)
{
    (void)state;
    const size_t none[] = {0};
    const size_t shapes[][3] = {{7, 5, 1}, {100, 97, 1}, {4, 6, 3}};
    for (size_t k = 0; k < 3; k++) {
        const size_t *s = shapes[k];
        const decoder g = made_decoder(DECODER_LINEAR, 2, none, s[0] * s[1] * s[2]);
        lscm_posterior *p = made_posterior(6, 5, &g);
        p->x_ndim = s[2] == 1 ? 3 : 4;
        memcpy(p->x_dims, s, sizeof p->x_dims);
        char *text = page_of(p, NULL);
        png_size size;
        assert_has(text, "id=\"pictures\"");
        assert_int_equal(count_of(text, "data:image/png;base64,"), 1 + 2 * 2 * 5);
        assert_int_equal(count_of(text, " alt=\""), 1 + 2 * 2 * 5);
        save_picture(strstr(text, "base64,") + 7, home_at("first.png"));
        assert_ok(png_picture_size(home_at("first.png"), &size, &why));
        assert_int_equal(size.height, s[0] > 96 ? 50 : s[0]);
        assert_int_equal(size.width, s[0] > 96 ? 49 : s[1]);
        assert_int_equal(size.channels, s[2]);
        free(text);
        lscm_posterior_free(p);
    }
}

/* A panel for each edge over 1/2, with a band and a line within what the rows have and one on
 * either side beyond. */
static void curves_are_drawn_where_mechanisms_bend(void **state)
{
    static char *const names[] = {"a<b", "light", "red", "motor"};
    (void)state;
    lscm_posterior *p = made(40, 4);
    for (size_t k = 0; k < 16; k++) {
        p->edge_prob[k] = k == 1 ? 0.9 : k == 11 ? 0.8 : 0.2;
    }
    char *straight = page_of(p, NULL);
    assert_lacks(straight, "Response curves");
    assert_lacks(straight, "average slope");
    assert_lacks(straight, ">bends<");
    free(straight);
    p->node_names = names_copy(names, 4);
    made_to_bend(p);
    char *text = page_of(p, NULL);
    assert_has(text, "<h2 id=\"curves-title\">Response curves</h2>");
    assert_has(text, "<a href=\"#curves\">Response curves</a>");
    assert_has(text, "<b>average slope</b>");
    assert_has(text, "<title>Effect of a&lt;b on light:");
    assert_has(text, "<title>Effect of red on motor:");
    assert_has(text, "effect on motor</text>");
    assert_int_equal(count_of(text, "class=\"area\""), 2);
    assert_int_equal(count_of(text, "class=\"area beyond\""), 4);
    assert_int_equal(count_of(text, "class=\"line beyond\""), 4);
    assert_int_equal(count_of(text, "class=\"seen\""), 2);
    assert_lacks(text, "nan");
    free(text);
    for (size_t k = 0; k < 16; k++) { /* nothing is likely: nothing is drawn */
        p->edge_prob[k] = 0.2;
    }
    text = page_of(p, NULL);
    assert_lacks(text, "id=\"curves\"");
    assert_has(text, "<b>average slope</b>");
    free(text);
    lscm_posterior_free(p);
}

/* A cause that never differs has no range, and draws without the edge no curve. */
static void curves_that_cannot_be_drawn_are_left_out(void **state)
{
    (void)state;
    lscm_posterior *p = made_to_bend(made(40, 3));
    for (size_t k = 0; k < 9; k++) {
        p->edge_prob[k] = k == 1 || k == 5 ? 0.9 : 0;
    }
    for (size_t row = 0; row < p->rows; row++) {
        p->z[row * 3] = 2;
    }
    for (size_t s = 0; s < p->draws; s++) {
        p->w[s * 9 + 5] = 0;
    }
    char *text = page_of(p, NULL);
    assert_has(text, "id=\"curves\"");
    assert_int_equal(count_of(text, "class=\"area\""), 0);
    free(text);
    lscm_posterior_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_short_and_know_no_locale),
        TEST_AT_HOME(curves_are_drawn_where_mechanisms_bend),
        TEST_AT_HOME(curves_that_cannot_be_drawn_are_left_out),
        TEST_AT_HOME(names_cannot_break_the_page),
        TEST_AT_HOME(the_headline_counts_the_edges),
        TEST_AT_HOME(the_same_run_is_the_same_page),
        TEST_AT_HOME(one_answer_is_not_called_sure),
        TEST_AT_HOME(a_truth_is_compared_with),
        TEST_AT_HOME(any_number_of_nodes_will_do),
        TEST_AT_HOME(without_graphviz_there_is_a_circle),
        TEST_AT_HOME(curves_come_from_the_trace),
        TEST_AT_HOME(pictures_are_shown_under_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
