/* Exports read back by other means: NPZ by the reader of data, edges re-derived from the draws. */
#include "made_posterior.h"

#include "data/npy/npy.h"
#include "data/text/text.h"

#include "testing.h"

#include "home.h"

#include <jansson.h>

static lscm_error why;

static char *text_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    (void)!fread(text, 1, (1 << 16) - 1, file);
    (void)fclose(file);
    return text;
}

static void arrays_come_back_from_npz(void **state)
{
    (void)state;
    lscm_posterior *p = made_linear();
    const struct {
        const char *name;
        size_t count;
        const double *values;
    } wanted[] = {{"w", 54, p->w},        {"sigma", 18, p->sigma}, {"intercept", 18, p->intercept},
                  {"log_p", 6, p->log_p}, {"log_q", 6, p->log_q},  {"edge_prob", 9, p->edge_prob},
                  {"z", 15, p->z},        {"z_sd", 15, p->z_sd}};
    npz_file *file = NULL;
    array_shape shape;
    double *numbers = NULL;
    assert_ok(lscm_posterior_export(p, at("out.npz"), false, &why));
    assert_ok(npz_file_open(&file, at("out.npz"), &why));
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
        assert_ok(npz_file_read_double(file, wanted[k].name, &numbers, &shape, &why));
        assert_non_null(numbers);
        assert_int_equal(shape_count(&shape), wanted[k].count);
        assert_memory_equal(numbers, wanted[k].values, wanted[k].count * sizeof *numbers);
        free(numbers);
    }
    assert_ok(npz_file_read_double(file, "order", &numbers, &shape, &why));
    assert_int_equal(shape.dims[0], 6);
    assert_int_equal(shape.dims[1], 3);
    for (size_t k = 0; k < 18; k++) {
        assert_near(numbers[k], (double)p->order[k], 0);
    }
    free(numbers);
    assert_ok(npz_file_shape(file, "names", &shape, &why));
    assert_false(shape.present);
    npz_file_close(file);
    lscm_posterior_free(p);
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return left < right ? -1 : left > right ? 1 : 0;
}

/* probability, mean, sd, 5% and 95% quantile. Six draws: the 5% quantile lies a quarter of the way
 * from the first to the second. */
static void expect_edge(const lscm_posterior *p, size_t from, size_t to, double wanted[5])
{
    double w[6];
    double mean = 0;
    double square = 0;
    for (size_t s = 0; s < 6; s++) {
        w[s] = p->w[s * 9 + from * 3 + to];
        mean += w[s] / 6;
        square += w[s] * w[s] / 6;
    }
    qsort(w, 6, sizeof *w, by_size);
    wanted[0] = p->edge_prob[from * 3 + to];
    wanted[1] = mean;
    wanted[2] = sqrt(square - mean * mean);
    wanted[3] = 0.75 * w[0] + 0.25 * w[1];
    wanted[4] = 0.25 * w[4] + 0.75 * w[5];
}

static void assert_edge(const lscm_posterior *p, const csv_lines *in, size_t from, size_t to)
{
    double wanted[5];
    expect_edge(p, from, to, wanted);
    for (size_t k = 0; k < 5; k++) {
        assert_near(strtod(in->cells[2 + k], NULL), wanted[k], 1e-7);
    }
}

static void edges_are_listed_by_probability(void **state)
{
    static char *const names[] = {"raf", "m,\"k", "erk"};
    csv_lines in = {0};
    double last = 2;
    size_t seen = 0;
    (void)state;
    lscm_posterior *p = made_linear();
    p->node_names = names_copy(names, 3);
    assert_ok(lscm_posterior_export(p, at("edges.csv"), false, &why));
    assert_ok(csv_lines_open(&in, at("edges.csv"), &why));
    assert_ok(csv_lines_next(&in, &why));
    assert_int_equal(in.count, 8);
    assert_string_equal(in.cells[6], "q95");
    for (;;) {
        size_t from = 0;
        size_t to = 0;
        assert_ok(csv_lines_next(&in, &why));
        if (in.count == 0) {
            break;
        }
        while (strcmp(in.cells[0], names[from]) != 0) {
            assert_true(++from < 3);
        }
        while (strcmp(in.cells[1], names[to]) != 0) {
            assert_true(++to < 3);
        }
        assert_true(from != to);
        assert_edge(p, &in, from, to);
        double probability = strtod(in.cells[2], NULL);
        assert_true(probability <= last);
        last = probability;
        seen++;
    }
    assert_int_equal(seen, 6);
    csv_lines_close(&in);
    lscm_posterior_free(p);
}

static void likely_edges_are_drawn(void **state)
{
    (void)state;
    lscm_posterior *p = made_linear();
    memset(p->edge_prob, 0, 9 * sizeof *p->edge_prob);
    p->edge_prob[0 * 3 + 2] = 1;
    p->edge_prob[1 * 3 + 0] = 0.75;
    p->edge_prob[2 * 3 + 1] = 0.5;
    for (size_t s = 0; s < 6; s++) {
        p->w[s * 9 + 2] = s < 3 ? -2 : -1;
        p->w[s * 9 + 3] = 0.25;
    }
    assert_ok(lscm_posterior_export(p, at("graph.dot"), false, &why));
    char *text = text_of(at("graph.dot"));
    assert_non_null(strstr(text, "n0 -> n2 [color=\"#d55e00\", fontcolor=\"#d55e00\", "
                                 "penwidth=3.00, label=\" -1.50\"]"));
    assert_non_null(strstr(text, "n1 -> n0 [color=\"#0072b2\", fontcolor=\"#0072b2\", "
                                 "penwidth=2.40, label=\" 0.25\"]"));
    assert_null(strstr(text, "n2 -> n1"));
    free(text);
    lscm_posterior_free(p);
}

/* ---- GraphML ---- */

/* The number of a key of an edge, in the text from that edge on. */
static double data_of(const char *edge, const char *key)
{
    char tag[64];
    (void)snprintf(tag, sizeof tag, "<data key=\"%s\">", key);
    const char *found = strstr(edge, tag);
    assert_non_null(found);
    assert_true(found < strstr(edge, "</edge>"));
    return strtod(found + strlen(tag), NULL);
}

static void likely_edges_go_to_graphml(void **state)
{
    static char *const names[] = {"a & b", "<m>\x01", "\xC3\xA9rk"};
    double wanted[5];
    (void)state;
    lscm_posterior *p = made_linear();
    p->node_names = names_copy(names, 3);
    memset(p->edge_prob, 0, 9 * sizeof *p->edge_prob);
    p->edge_prob[0 * 3 + 2] = 0.875;
    p->edge_prob[2 * 3 + 1] = 0.5;
    p->edge_prob[1 * 3 + 0] = 0.51;
    for (size_t s = 0; s < 6; s++) {
        p->w[s * 9 + 2] = 0.25 * (double)s - 2;
    }
    assert_ok(lscm_posterior_export(p, at("graph.graphml"), false, &why));
    char *text = text_of(at("graph.graphml"));
    assert_non_null(strstr(text, "edgedefault=\"directed\""));
    assert_non_null(strstr(text, "<node id=\"n0\"><data key=\"name\">a &amp; b</data>"));
    assert_non_null(strstr(text, "<data key=\"label\">&lt;m&gt;\xEF\xBF\xBD</data>"));
    assert_non_null(strstr(text, "<data key=\"name\">\xC3\xA9rk</data>"));
    const char *edge = strstr(text, "<edge source=\"n0\" target=\"n2\">");
    const char *other = strstr(text, "<edge source=\"n1\" target=\"n0\">");
    assert_non_null(edge);
    assert_true(other > edge); /* the likelier first */
    assert_null(strstr(other + 1, "<edge "));
    expect_edge(p, 0, 2, wanted);
    assert_near(data_of(edge, "probability"), 0.875, 0);
    assert_near(data_of(edge, "mean"), wanted[1], 1e-12);
    assert_near(data_of(edge, "sd"), wanted[2], 1e-7);
    assert_near(data_of(edge, "sign"), -1, 0);
    free(text);
    lscm_posterior_free(p);
}

/* ---- JSON ---- */

static json_t *json_at(const char *name)
{
    json_error_t error;
    json_t *object = json_load_file(at(name), 0, &error);
    if (object == NULL) {
        print_error("%s: %s\n", name, error.text);
    }
    assert_non_null(object);
    return object;
}

static double number_in(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void json_has_every_pair_with_a_probability(void **state)
{
    static const char *const keys[] = {"probability", "mean", "sd", "q05", "q95"};
    (void)state;
    lscm_posterior *p = made_linear();
    p->edge_prob[1 * 3 + 2] = 0;
    assert_ok(lscm_posterior_export(p, at("graph.json"), false, &why));
    json_t *all = json_at("graph.json");
    const json_t *edges = json_object_get(all, "edges");
    assert_true(json_is_true(json_object_get(all, "directed")));
    assert_true(json_is_false(json_object_get(all, "multigraph")));
    assert_int_equal(json_array_size(edges), 5);
    for (size_t e = 0; e < 5; e++) {
        const json_t *edge = json_array_get(edges, e);
        double wanted[5];
        expect_edge(p, (size_t)number_in(edge, "source"), (size_t)number_in(edge, "target"),
                    wanted);
        for (size_t k = 0; k < 5; k++) {
            assert_near(number_in(edge, keys[k]), wanted[k], 1e-7);
        }
        assert_true(e == 0 || wanted[0] <= number_in(json_array_get(edges, e - 1), "probability"));
    }
    json_decref(all);
    lscm_posterior_free(p);
}

/* Positions by counting, for every node, the nodes before it. */
static void json_has_nodes_order_and_settings(void **state)
{
    static char *const names[] = {"raf", "mek", "erk"};
    double last = -1;
    (void)state;
    lscm_posterior *p = made_linear();
    p->node_names = names_copy(names, 3);
    p->config = strdup("{\"seed\": 7}");
    p->summary = strdup("{\"method\": \"made\"}");
    assert_ok(lscm_posterior_export(p, at("graph.json"), false, &why));
    json_t *all = json_at("graph.json");
    const json_t *about = json_object_get(all, "graph");
    const json_t *nodes = json_object_get(all, "nodes");
    const json_t *order = json_object_get(about, "order");
    assert_string_equal(json_string_value(json_object_get(about, "kind")), "posterior");
    assert_near(number_in(about, "draws"), 6, 0);
    assert_near(number_in(about, "rows"), 5, 0);
    assert_near(number_in(about, "features"), 4, 0);
    assert_near(number_in(json_object_get(about, "config"), "seed"), 7, 0);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(about, "summary"), "method")), "made");
    assert_int_equal(json_array_size(nodes), 3);
    assert_int_equal(json_array_size(order), 3);
    for (size_t k = 0; k < 3; k++) {
        size_t i = 0;
        while (strcmp(json_string_value(json_array_get(order, k)), names[i]) != 0) {
            assert_true(++i < 3);
        }
        const json_t *node = json_array_get(nodes, i);
        double before = 0;
        double sigma = 0;
        for (size_t s = 0; s < 6; s++) {
            for (size_t at_node = 0; p->order[s * 3 + at_node] != i; at_node++) {
                before += 1.0 / 6;
            }
            sigma += p->sigma[s * 3 + i] / 6;
        }
        assert_string_equal(json_string_value(json_object_get(node, "id")), names[i]);
        assert_near(number_in(node, "position"), before, 1e-11);
        assert_near(number_in(node, "sigma"), sigma, 1e-11);
        assert_true(before >= last);
        last = before;
    }
    json_decref(all);
    lscm_posterior_free(p);
}

/* ---- The true graph of a data set ---- */

static void truth_goes_to_the_same_forms(void **state)
{
    static const double x[] = {1, 2, 3, 4};
    static const uint8_t targets[] = {0, 1, 0, 0};
    static const double w[] = {0, 0, -1.5, 0};
    static const double sigma[] = {0.5, 2};
    lscm_dataset *data = NULL;
    (void)state;
    lscm_arrays arrays = {2, 2, 2, .x = x, .targets = targets, .values = x, .w = w, .sigma = sigma};
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    assert_ok(lscm_dataset_save_graph(data, at("truth.graphml"), false, &why));
    char *text = text_of(at("truth.graphml"));
    const char *edge = strstr(text, "<edge source=\"n1\" target=\"n0\">");
    assert_non_null(edge);
    assert_near(data_of(edge, "probability"), 1, 0);
    assert_near(data_of(edge, "mean"), -1.5, 0);
    assert_near(data_of(edge, "sd"), 0, 0);
    assert_near(data_of(edge, "sign"), -1, 0);
    assert_null(strstr(edge + 1, "<edge "));
    free(text);

    assert_ok(lscm_dataset_save_graph(data, at("truth.json"), false, &why));
    json_t *all = json_at("truth.json");
    const json_t *only = json_array_get(json_object_get(all, "edges"), 0);
    assert_int_equal(json_array_size(json_object_get(all, "edges")), 1);
    assert_near(number_in(only, "source"), 1, 0);
    assert_near(number_in(only, "target"), 0, 0);
    assert_near(number_in(only, "q05"), -1.5, 0);
    assert_near(number_in(json_array_get(json_object_get(all, "nodes"), 1), "sigma"), 2, 0);
    json_decref(all);

    assert_ok(lscm_dataset_save_graph(data, at("truth.dot"), false, &why));
    assert_fails(lscm_dataset_save_graph(data, at("truth.csv"), false, &why), LSCM_USAGE,
                 "a graph goes to .dot, .graphml or .json");
    assert_fails(lscm_dataset_save_graph(data, at("truth.json"), false, &why), LSCM_EXISTS,
                 "--force");
    lscm_dataset_free(data);
    arrays.w = NULL;
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    assert_fails(lscm_dataset_save_graph(data, at("none.json"), false, &why), LSCM_MISSING,
                 "there is no true graph");
    assert_int_equal(entries(), 3);
    lscm_dataset_free(data);
}

static void one_node_alone_is_fine(void **state)
{
    static const char *const paths[] = {"one.npz", "one.csv", "one.dot", "one.graphml", "one.json"};
    static const size_t none[] = {0};
    (void)state;
    const decoder g = made_decoder(DECODER_LINEAR, 1, none, 2);
    lscm_posterior *p = made_posterior(1, 0, &g);
    for (int k = 0; k < 5; k++) {
        assert_ok(lscm_posterior_export(p, at(paths[k]), false, &why));
    }
    char *text = text_of(at("one.csv"));
    assert_string_equal(text, "from,to,probability,mean,sd,q05,q95,directed\n");
    free(text);
    lscm_posterior_free(p);
}

static void output_is_whole_or_not_there(void **state)
{
    (void)state;
    lscm_posterior *p = made_linear();
    assert_fails(lscm_posterior_export(p, at("out.xlsx"), false, &why), LSCM_USAGE, ".npz, .dot");
    assert_fails(lscm_posterior_export(p, at("out"), false, &why), LSCM_USAGE, ".csv");
    assert_fails(lscm_posterior_export(p, at("no/where.csv"), false, &why), LSCM_WRITE, "folder");
    assert_int_equal(entries(), 0);
    assert_ok(lscm_posterior_export(p, at("OUT.CSV"), false, &why));
    assert_fails(lscm_posterior_export(p, at("OUT.CSV"), false, &why), LSCM_EXISTS, "--force");
    assert_ok(lscm_posterior_export(p, at("OUT.CSV"), true, &why));
    assert_int_equal(entries(), 1);
    lscm_posterior_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_AT_HOME(arrays_come_back_from_npz),
        TEST_AT_HOME(edges_are_listed_by_probability),
        TEST_AT_HOME(likely_edges_are_drawn),
        TEST_AT_HOME(one_node_alone_is_fine),
        TEST_AT_HOME(output_is_whole_or_not_there),
        TEST_AT_HOME(likely_edges_go_to_graphml),
        TEST_AT_HOME(json_has_every_pair_with_a_probability),
        TEST_AT_HOME(json_has_nodes_order_and_settings),
        TEST_AT_HOME(truth_goes_to_the_same_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
