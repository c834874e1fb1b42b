/* Exports read back by other means: NPZ by the reader of data, edges re-derived from the draws. */
#include "made_posterior.h"

#include "data/csv_line.h"
#include "data/npz.h"

#include "testing.h"

#include "home.h"

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

/* Six draws: the 5% quantile lies a quarter of the way from the first to the second. */
static void assert_edge(const lscm_posterior *p, const csv_lines *in, size_t from, size_t to)
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
    const double wanted[] = {p->edge_prob[from * 3 + to], mean, sqrt(square - mean * mean),
                             0.75 * w[0] + 0.25 * w[1], 0.25 * w[4] + 0.75 * w[5]};
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
    assert_int_equal(in.count, 7);
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

static void one_node_alone_is_fine(void **state)
{
    static const char *const paths[] = {"one.npz", "one.csv", "one.dot"};
    static const size_t none[] = {0};
    (void)state;
    const decoder g = made_decoder(DECODER_LINEAR, 1, none, 2);
    lscm_posterior *p = made_posterior(1, 0, &g);
    for (int k = 0; k < 3; k++) {
        assert_ok(lscm_posterior_export(p, at(paths[k]), false, &why));
    }
    char *text = text_of(at("one.csv"));
    assert_string_equal(text, "from,to,probability,mean,sd,q05,q95\n");
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
        TEST_AT_HOME(arrays_come_back_from_npz),    TEST_AT_HOME(edges_are_listed_by_probability),
        TEST_AT_HOME(likely_edges_are_drawn),       TEST_AT_HOME(one_node_alone_is_fine),
        TEST_AT_HOME(output_is_whole_or_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
