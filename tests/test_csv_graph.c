/* Graphs as CSV matrices: matched by name or place, and what is wrong with them. */
#include "csv_testing.h"

static char path[300];       /* the file under test */
static char graph_path[300]; /* its graph */

static int set_up(void **state)
{
    int made = scratch_make(state);
    (void)scratch_path(path, "data.csv");
    (void)scratch_path(graph_path, "dag.csv");
    return made;
}

static void graphs_are_matched(void **state)
{
    (void)state;
    /* always a -> b with weight 2, a -> c with 1, c -> b with -0.5: order a, c, b */
    static const char *const texts[] = {
        "a,b,c\n0,2,1\n0,0,0\n0,-0.5,0\n",          "c,a,b\n0,0,-0.5\n1,0,2\n0,0,0\n",
        ",c,a,b\nb,0,0,0\nc,0,0,-0.5\na,1,0,2\n",   "from,a,b,c\na,0,2,1\nb,0,0,0\nc,0,-0.5,0\n",
        "a,b,c\na,0,2,1\nc,0,-0.5,0\nb,0,0,0\n",    "0,2,1\n0,0,0\n0,-0.5,0\n",
        "0,1,2\n0,2,1\n0,0,0\n0,-0.5,0\n",          ",0,1,2\n0,0,2,1\n1,0,0,0\n2,0,-0.5,0\n",
        ",a,b,c\n0,0,2,1\n1,0,0,0\n2,0,-0.5,0\n\n",
    };
    static const double w[] = {0, 2, 1, 0, 0, 0, 0, -0.5, 0};
    static const double order[] = {0, 2, 1};
    scratch_write_text(path, "a,b,c\n1,2,3\n3,4,5\n");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        lscm_dataset *data = NULL;
        double read[9];
        scratch_write_text(graph_path, texts[i]);
        assert_ok(open_csv(path, NULL, &data));
        assert_ok(csv_read_graph(data, graph_path, &why));
        assert_ok(csv_read_graph(data, graph_path, &why)); /* replaces the first */
        assert_ok(dataset_check_shapes(data, false, &why));
        assert_ok(lscm_dataset_read(data, LSCM_W, 0, 3, read, &why));
        for (size_t k = 0; k < 9; k++) {
            assert_near(read[k], w[k], 0);
        }
        assert_ok(lscm_dataset_read(data, LSCM_ORDER, 0, 3, read, &why));
        for (size_t k = 0; k < 3; k++) {
            assert_near(read[k], order[k], 0);
        }
        lscm_dataset_free(data);
    }
}

static void bad_graphs_get_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        lscm_status status;
        const char *part;
    } cases[] = {
        {"", LSCM_FORMAT, "is empty"},
        {"a,b\n", LSCM_SHAPE, "no rows"},
        {"a,b\n0,1\n", LSCM_SHAPE, "has 1 rows and 2 columns"},
        {"a,b\n0,1\n0,0\n0,0\n", LSCM_SHAPE, "one row too many"},
        {"0,1\n0,0\n0,0\n0,0\n", LSCM_SHAPE, "one row too many"},
        {"1,1\n0,0\n0,0\n", LSCM_SHAPE, "has 3 rows and 2 columns"},
        {"a,b\n0,1\n0\n", LSCM_SHAPE, "line 3 has 1 cells"},
        {"a,b,c,d\n0,1\n0,0\n", LSCM_SHAPE, "line 2 has 2 cells but line 1 has 4"},
        {"a,a\n0,1\n0,0\n", LSCM_FORMAT, "two columns are named 'a'"},
        {"a,b\n0,?\n0,0\n", LSCM_VALUE, "line 2, column 'b' holds '?', not a number"},
        {"0,1\n0,?\n", LSCM_VALUE, "line 2, cell 2 holds '?'"},
        {"0,1\n0,\n", LSCM_VALUE, "line 2, cell 2 has no number"},
        {",a,b\na,0,1\nc,0,0\n", LSCM_FORMAT, "line 3: there is no column 'c' for this row"},
        {",a,b\na,0,1\na,0,0\n", LSCM_FORMAT, "line 3: there are two rows for 'a'"},
        {"a,b,env\n0,1,0\n0,0,0\n0,0,0\n", LSCM_SHAPE,
         "'env' is not a node of data.csv (if it was left out with --ignore"},
        {"a,B\n0,1\n0,0\n", LSCM_SHAPE, "'B' is not a node of data.csv"},
        {"a\n0\n", LSCM_SHAPE, "there is no column 'b', which is a node of data.csv"},
        {"0,1,0\n0,0,0\n0,0,0\n", LSCM_SHAPE, "3 nodes but data.csv has 2"},
    };
    lscm_dataset *data = NULL;
    scratch_write_text(path, "a,b\n1,2\n3,4\n");
    assert_ok(open_csv(path, NULL, &data));
    free(data->path);
    data->path = strdup("data.csv");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scratch_write_text(graph_path, cases[i].text);
        assert_fails(csv_read_graph(data, graph_path, &why), cases[i].status, cases[i].part);
        assert_non_null(strstr(why.text, graph_path));
        assert_false(data->shape[LSCM_W].present);
    }
    lscm_dataset_free(data);
}

static void a_graph_stands_alone(void **state)
{
    (void)state;
    lscm_open_options options = {.truth_only = true};
    lscm_dataset *data = NULL;
    scratch_write_text(graph_path, "raf,mek\n0,1\n0,0\n");
    assert_ok(dataset_new(&data, graph_path, "CSV", &why));
    assert_ok(csv_open(data, &options, &why));
    assert_int_equal(lscm_dataset_nodes(data), 2);
    assert_string_equal(lscm_dataset_node_name(data, 1), "mek");
    assert_true(data->shape[LSCM_ORDER].present);
    lscm_dataset_free(data);

    scratch_write_text(graph_path, "raf,mek\n0,1\n1,0\n");
    assert_ok(dataset_new(&data, graph_path, "CSV", &why));
    assert_fails(csv_open(data, &options, &why), LSCM_CYCLE, "cycle");
    assert_false(data->shape[LSCM_ORDER].present);
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_are_matched),
        cmocka_unit_test(bad_graphs_get_a_sentence),
        cmocka_unit_test(a_graph_stands_alone),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_remove);
}
