/* Graphs as DOT text: every node and edge, escapes, colours and widths; and the text parses with
 * Graphviz where that is installed. */
#include "data/drawing/drawing.h"

#include "scratch.h"

#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static lscm_error why;
static char path[300];

static int set_up(void **state)
{
    int made = scratch_make(state);
    (void)scratch_path(path, "graph.dot");
    return made;
}

/* names may be NULL. */
static lscm_dataset *graph_of(const double *w, size_t d, const char *const *names)
{
    lscm_dataset *data = NULL;
    assert_ok(dataset_new(&data, "data.nc", "netCDF-4", &why));
    data->nodes = d;
    data->shape[LSCM_W] = (array_shape){true, DTYPE_FLOAT64, 2, {d, d}};
    data->whole[LSCM_W] = malloc(d * d * sizeof *w);
    assert_non_null(data->whole[LSCM_W]);
    memcpy(data->whole[LSCM_W], w, d * d * sizeof *w);
    if (names != NULL) {
        data->node_names = calloc(d, sizeof *data->node_names);
        assert_non_null(data->node_names);
        for (size_t i = 0; i < d; i++) {
            data->node_names[i] = strdup(names[i]);
        }
    }
    return data;
}

static char *drawing_of(const double *w, size_t d, const char *const *names)
{
    lscm_dataset *data = graph_of(w, d, names);
    assert_ok(dot_write(data, path, &why));
    lscm_dataset_free(data);
    return scratch_read_text(path);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *p = strstr(text, part); p != NULL; p = strstr(p + 1, part)) {
        count++;
    }
    return count;
}

/* Lays the drawing out with `dot`, where that is installed, and counts what it found there. */
static void assert_parses(size_t nodes, size_t edges)
{
    char plain[300];
    char *const arguments[] = {"dot", "-Tplain", "-o", scratch_path(plain, "plain"), path, NULL};
    pid_t child = 0;
    int ended = 0;
    if (posix_spawnp(&child, "dot", NULL, NULL, arguments, environ) != 0) {
        return;
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    char *text = scratch_read_text(plain);
    assert_int_equal(count_of(text, "\nnode "), nodes);
    assert_int_equal(count_of(text, "\nedge "), edges);
    free(text);
}

static void weights_show_as_label_colour_and_width(void **state)
{
    (void)state;
    static const double w[] = {0, 1.504, -2, 0, 0, 1e-5, 0, 0, 0};
    char *text = drawing_of(w, 3, NULL);
    assert_int_equal(strncmp(text, "digraph", 7), 0);
    assert_non_null(strstr(text, "rankdir=TB"));
    assert_non_null(strstr(text, "n2 [label=\"2\"]"));
    assert_int_equal(count_of(text, " -> "), 3);
    /* 0.6 + 2.4 |w| / 2 */
    assert_non_null(strstr(text, "n0 -> n1 [color=\"#0072b2\", fontcolor=\"#0072b2\", "
                                 "penwidth=2.40, label=\" 1.50\"]"));
    assert_non_null(strstr(text, "n0 -> n2 [color=\"#d55e00\", fontcolor=\"#d55e00\", "
                                 "penwidth=3.00, label=\" -2.00\"]"));
    assert_non_null(strstr(text, "penwidth=0.60, label=\" 1e-05\"]"));
    assert_parses(3, 3);
    free(text);
}

static void zeros_and_ones_are_plain(void **state)
{
    (void)state;
    static const double w[] = {0, 1, 0, 0};
    char *text = drawing_of(w, 2, NULL);
    assert_non_null(strstr(text, "n0 -> n1;\n"));
    assert_null(strstr(text, "penwidth"));
    assert_parses(2, 1);
    free(text);
}

static void an_empty_graph_has_its_nodes(void **state)
{
    (void)state;
    static const double w[4] = {0};
    char *text = drawing_of(w, 2, NULL);
    assert_int_equal(count_of(text, " -> "), 0);
    assert_parses(2, 0);
    free(text);
}

static void names_are_escaped(void **state)
{
    (void)state;
    static const double w[16] = {0, 1, 1, 1};
    static const char *const names[] = {"say \"hi\"", "a\\N&lt;", "two\nlines", "<b>\xC3\xA4</b>"};
    char *text = drawing_of(w, 4, names);
    assert_non_null(strstr(text, "n0 [label=\"say \\\"hi\\\"\"]"));
    assert_non_null(strstr(text, "n1 [label=\"a\\\\N&amp;lt;\"]"));
    assert_non_null(strstr(text, "n2 [label=\"two\\nlines\"]"));
    assert_non_null(strstr(text, "n3 [label=\"<b>\xC3\xA4</b>\"]"));
    assert_parses(4, 3);
    free(text);
}

static void what_cannot_be_drawn_is_said(void **state)
{
    (void)state;
    static const double w[4] = {0, 1, 0, 0};
    lscm_dataset *data = graph_of(w, 2, NULL);
    assert_fails(dot_write(data, "/dev/full", &why), LSCM_WRITE, "data.nc: No space left");
    assert_fails(dot_write(data, "/nowhere/a.dot", &why), LSCM_WRITE, "No such file");
    data->shape[LSCM_W].present = false;
    assert_fails(dot_write(data, path, &why), LSCM_MISSING, "data.nc: there is no true graph");
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_show_as_label_colour_and_width),
        cmocka_unit_test(zeros_and_ones_are_plain),
        cmocka_unit_test(an_empty_graph_has_its_nodes),
        cmocka_unit_test(names_are_escaped),
        cmocka_unit_test(what_cannot_be_drawn_is_said),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_remove);
}
