/* Tables of latent data: nothing is lost between a data set and its table, both layouts are read,
 * and where a file could be observed or latent, it is asked. */
#include "csv_testing.h"

static char path[300];

static int set_up(void **state)
{
    int made = scratch_make(state);
    (void)scratch_path(path, "data.csv");
    return made;
}

enum { ROWS = 40, NODES = 3, FEATURES = 5 };

/* Awkward doubles: thirds of all sizes, exact ones, a negative zero. */
static double awkward(size_t k)
{
    double sign = k % 2 == 0 ? 1 : -1;
    return k % 7 == 0 ? sign * 0.0 : sign * ldexp((double)(k + 1) / 3, (int)(k % 90) - 45);
}

typedef struct made {
    double x[ROWS * FEATURES], values[ROWS * NODES], z[ROWS * NODES];
    uint8_t targets[ROWS * NODES];
} made;

/* Row r acts on the nodes of the bits of r % 8, or of one node only. */
static void make(made *m, bool single)
{
    for (size_t k = 0; k < ROWS * FEATURES; k++) {
        m->x[k] = awkward(k);
    }
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t i = 0; i < NODES; i++) {
            size_t k = r * NODES + i;
            m->targets[k] = single ? r % 4 == i + 1 : (r % 8 >> i & 1) != 0;
            m->values[k] = m->targets[k] != 0 ? awkward(3 * k + 1) : 0;
            m->z[k] = awkward(5 * k + 2);
        }
    }
}

static void check_same(const lscm_dataset *data, lscm_field field, const void *expected,
                       size_t bytes)
{
    static double raw[ROWS * FEATURES];
    assert_ok(dataset_read_raw(data, field, 0, ROWS, raw, &why));
    assert_memory_equal(raw, expected, bytes);
}

/* Through `separator`, with names or without, with what is known. */
static void check_round_trip(const made *m, char separator, bool named, bool valued, bool truth)
{
    static const char *const nodes[] = {"raf", "m,e;k", "7"};
    static const char *const features[] = {"a", "x;y", "c\td", "raf", "0"};
    const lscm_arrays arrays = {.rows = ROWS,
                                .nodes = NODES,
                                .features = FEATURES,
                                .x = m->x,
                                .targets = m->targets,
                                .values = valued ? m->values : NULL,
                                .z = truth ? m->z : NULL,
                                .node_names = named ? nodes : NULL,
                                .feature_names = named ? features : NULL};
    lscm_dataset *data = NULL;
    lscm_dataset *again = NULL;
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    meter writing = meter_over(data, NULL, "writing data.csv");
    assert_ok(csv_write(data, path, separator, &writing, &why));
    assert_int_equal(writing.done, writing.total);
    assert_ok(open_csv(path, NULL, &again));
    assert_int_equal(lscm_dataset_nodes(again), NODES);
    assert_int_equal(lscm_dataset_features(again), FEATURES);
    assert_int_equal(again->shape[LSCM_VALUES].present, valued);
    assert_int_equal(again->shape[LSCM_Z].present, truth);
    check_same(again, LSCM_X, m->x, sizeof m->x);
    check_same(again, LSCM_TARGETS, m->targets, sizeof m->targets);
    if (valued) {
        check_same(again, LSCM_VALUES, m->values, sizeof m->values);
    }
    if (truth) {
        check_same(again, LSCM_Z, m->z, sizeof m->z);
    }
    for (size_t i = 0; i < NODES; i++) {
        const char *name = lscm_dataset_node_name(again, i);
        assert_true(named ? strcmp(name, nodes[i]) == 0 : name == NULL);
    }
    assert_string_equal(lscm_dataset_feature_name(again, 1), named ? features[1] : "x1");
    lscm_dataset_free(data);
    lscm_dataset_free(again);
}

static void round_trips_lose_no_bit(void **state)
{
    (void)state;
    static made m;
    for (int k = 0; k < 32; k++) {
        make(&m, (k & 1) != 0);
        check_round_trip(&m, (k & 2) != 0 ? '\t' : ',', (k & 4) != 0, (k & 8) != 0, (k & 16) != 0);
    }
}

/* As many nodes as features: observed, if nothing but x and targets is said; else latent. */
static void observed_variables_are_told_apart(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 4};
    static const uint8_t targets[] = {0, 0, 0, 1};
    static const double values[] = {7, 7, 7, 4};
    static const double others[] = {0, 0, 0, 4.5};
    static const struct {
        const double *values, *z;
        const char *text;
    } cases[] = {
        {NULL, NULL, "x0,x1,target\n1,2,-1\n3,4,1\n"},
        {values, NULL, "x0,x1,target\n1,2,-1\n3,4,1\n"},
        {values, x, "x0,x1,target\n1,2,-1\n3,4,1\n"},
        {others, x, "x0,x1,do:0,do:1,z:0,z:1\n1,2,,,1,2\n3,4,,4.5,3,4\n"},
        {values, others, "x0,x1,do:0,do:1,z:0,z:1\n1,2,,,0,0\n3,4,,4,0,4.5\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const lscm_arrays arrays = {.rows = 2,
                                    .nodes = 2,
                                    .features = 2,
                                    .x = x,
                                    .targets = targets,
                                    .values = cases[i].values,
                                    .z = cases[i].z};
        lscm_dataset *data = NULL;
        assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
        meter m = meter_over(data, NULL, "writing data.csv");
        assert_ok(csv_write(data, path, ',', &m, &why));
        assert_int_equal(m.done, m.total);
        char *text = scratch_read_text(path);
        assert_string_equal(text, cases[i].text);
        free(text);
        lscm_dataset_free(data);
    }
}

/* target and value columns, by any name: the same as do:NAME. */
static void both_layouts_say_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *text, *target, *value, *control;
    } cases[] = {
        {"a,b,c,do:raf,do:mek\n1,2,3,,\n4,5,6,1.5,\n7,8,9,-2,3\n", NULL, NULL, NULL},
        {"do:raf,a,do:mek,b,c\nNA,1,,2,3\n1.5,4,nan,5,6\n-2,7,3,8,9\n", NULL, NULL, NULL},
        {"a,b,c,target,value\n1,2,3,,\n4,5,6,raf,1.5\n7,8,9,raf;mek,-2;3\n", NULL, NULL, NULL},
        {"a,b,c,target,value\n1,2,3,CONTROL,0\n4,5,6,raf,1.5\n7,8,9,mek;raf,3 ; -2\n", "target",
         "value", NULL},
        {"dose,a,b,c,Guide\n,1,2,3,scramble\n1.5,4,5,6,raf\n-2;3,7,8,9,raf;Scramble;mek\n", "Guide",
         "dose", "NT, SCRAMBLE"},
        /* other signs between targets; the only column that sounds like values; columns of words */
        {"a,b,c,drug,Dose (uM)\n1,2,3,DMSO,0\n4,5,6,raf,1.5\n7,8,9,raf + mek,-2+3\n", "drug", NULL,
         NULL},
        {"a,b,c,drug,dose,dose_unit\n1,2,3,,NA,uM\n4,5,6,raf,15e-1,uM\n7,8,9,raf|mek,-2;3,nM\n",
         "drug", NULL, NULL},
        {"cell,a,b,c,t,v\nu,1,2,3,NA,NA\nu,4,5,6,raf,1.5\nw,7,8,9,\"raf,mek\",\"-2,3\"\n", "t", "v",
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lscm_dataset *data = NULL;
        double x[9];
        double values[6];
        uint8_t targets[6];
        const lscm_open_options options = {.target_column = cases[i].target,
                                           .value_column = cases[i].value,
                                           .control = cases[i].control};
        scratch_write_text(path, cases[i].text);
        assert_ok(dataset_new(&data, path, "CSV", &why));
        assert_ok(csv_open(data, &options, &why));
        assert_int_equal(lscm_dataset_nodes(data), 2);
        assert_string_equal(lscm_dataset_node_name(data, 0), "raf");
        assert_string_equal(lscm_dataset_node_name(data, 1), "mek");
        assert_ok(dataset_read_raw(data, LSCM_X, 0, 3, x, &why));
        assert_ok(dataset_read_raw(data, LSCM_TARGETS, 0, 3, targets, &why));
        assert_ok(dataset_read_raw(data, LSCM_VALUES, 0, 3, values, &why));
        assert_memory_equal(x, ((double[]){1, 2, 3, 4, 5, 6, 7, 8, 9}), sizeof x);
        assert_memory_equal(targets, ((uint8_t[]){0, 0, 1, 0, 1, 1}), sizeof targets);
        assert_memory_equal(values, ((double[]){0, 0, 1.5, 0, -2, 3}), sizeof values);
        lscm_dataset_free(data);
    }
}

static void numbers_are_nodes_where_values_stand(void **state)
{
    (void)state;
    lscm_dataset *data = NULL;
    uint8_t targets[6];
    scratch_write_text(path, "a,b,c,target,value\n1,2,3,-1,\n4,5,6,2,1.5\n");
    assert_ok(open_csv(path, NULL, &data));
    assert_int_equal(lscm_dataset_nodes(data), 3);
    assert_null(lscm_dataset_node_name(data, 0));
    assert_ok(dataset_read_raw(data, LSCM_TARGETS, 0, 2, targets, &why));
    assert_memory_equal(targets, ((uint8_t[]){0, 0, 0, 0, 0, 1}), sizeof targets);
    lscm_dataset_free(data);
}

/* Observed variables: the column of targets by another name, with words for none. */
static void observed_targets_have_any_name(void **state)
{
    (void)state;
    static const struct {
        const char *text, *column, *control;
        uint8_t targets[6];
    } cases[] = {
        {"a,b,condition\n1,2,a\n3,4,NT\n5,6,b;A0\n", "condition", "nt,a0", {1, 0, 0, 0, 0, 1}},
        {"condition,a,b\nDmso,1,2\nb;ctrl,3,4\n1,5,6\n", "condition", NULL, {0, 0, 0, 1, 0, 1}},
        /* a column may be called as a control is, unless somebody says what that means */
        {"a,control,target\n1,2,control\n3,4,none\n5,6,\n", NULL, NULL, {0, 1, 0, 0, 0, 0}},
        {"a,control,target\n1,2,control\n3,4,a\n5,6,\n", NULL, "control", {0, 0, 1, 0, 0, 0}},
        {"Target,b\n0,2\n1,4\n0,6\n", "none", NULL, {0}},
        {"a,b,target\n1,2,a+b\n3,4,a|b\n5,6,b+ctrl\n", NULL, NULL, {1, 1, 1, 1, 0, 1}},
        {"gene 1,gene 2\n0,2\n1,1\n0,1\n", NULL, NULL, {0}},
        {"a,treatment\n0.5,1\n1,0\n0,1\n", "none", NULL, {0}},
        {"Unnamed: 0.1,Unnamed: 0,a,b,target\n0,0,1,2,b\n1,1,3,4,\n2,2,5,6,a\n",
         NULL,
         NULL,
         {0, 1, 0, 0, 1, 0}},
        {"a+b,c,target\n1,2,a+b\n3,4,c;a+b\n5,6,c\n", NULL, NULL, {1, 0, 1, 1, 0, 1}},
        {"cell,a,b,batch,gene\nu,1,2,p,NA\nv,3,4,p,b \nw,5,6,q,a\n",
         "gene",
         NULL,
         {0, 0, 0, 1, 1, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lscm_dataset *data = NULL;
        uint8_t targets[6];
        const lscm_open_options options = {.target_column = cases[i].column,
                                           .control = cases[i].control};
        scratch_write_text(path, cases[i].text);
        assert_ok(dataset_new(&data, path, "CSV", &why));
        assert_ok(csv_open(data, &options, &why));
        assert_false(data->shape[LSCM_VALUES].present);
        assert_ok(dataset_read_raw(data, LSCM_TARGETS, 0, 3, targets, &why));
        assert_memory_equal(targets, cases[i].targets, sizeof targets);
        lscm_dataset_free(data);
    }
}

static void what_does_not_fit_is_asked(void **state)
{
    (void)state;
    static const struct {
        const char *text, *target, *value;
        lscm_status status;
        const char *part;
    } cases[] = {
        {"a,b,target,value\n1,2,a,1\n3,4,,\n", NULL, NULL, LSCM_VALUE,
         "target 'a' is a column, so the variables are observed and what do() set stands there; "
         "leave the column of values out: --ignore value"},
        {"a,b,target\n1,2,a\n3,4,\n", NULL, "b", LSCM_VALUE, "do without --value-column"},
        {"a,dose,target\n1,2,a\n3,4,\n", NULL, NULL, LSCM_VALUE,
         "--ignore dose; if it is a variable like the others: --value-column none"},
        /* names that may be meant for the same */
        {"a,b,target,value\n1,2,raf,1\n3,4,Raf,2\n", NULL, NULL, LSCM_VALUE,
         "line 3: target 'Raf' is written 'raf' before; write it alike"},
        {"raf,b,target,value\n1,2,RAF,1\n3,4,mek,2\n", NULL, NULL, LSCM_VALUE,
         "line 2: is target 'RAF' the column 'raf'? Then write it alike"},
        {"a,b,target,value\n1,2,raf,1\n3,4,,2\n", NULL, NULL, LSCM_VALUE,
         "line 3: a value is set (2), but column 'target' is empty"},
        /* a variable, perhaps, that was written badly is not left out */
        {"a,b,target\n1,5 mg,a\n3,6 mg,\n", NULL, NULL, LSCM_VALUE, "column 'b' holds '5 mg'"},
        {"a,b,target\n1,TRUE,a\n3,FALSE,\n", NULL, NULL, LSCM_VALUE, "column 'b' holds 'TRUE'"},
        {"a,b,target\n1,x,a\n3,2,\n", NULL, NULL, LSCM_VALUE, "column 'b' holds 'x'"},
        {"a,b,target,value\n1,2,raf,\n3,4,,\n", NULL, NULL, LSCM_VALUE,
         "do() acted on 'raf', but column 'value' does not say what it set"},
        {"a,b,target,value\n1,2,raf;mek,1\n3,4,,\n", NULL, NULL, LSCM_VALUE, "acted on 'mek'"},
        {"a,b,target,value\n1,2,raf,1;2\n3,4,,\n", NULL, NULL, LSCM_VALUE, "more values than"},
        {"a,b,target,value\n1,2,raf,much\n3,4,,\n", NULL, NULL, LSCM_VALUE,
         "column 'value' holds 'much', not a number"},
        {"a,b,target,value\n1,2,,\n3,4,,\n", NULL, NULL, LSCM_VALUE, "names no target"},
        {"a,b,dose\n1,2,3\n3,4,5\n", NULL, "dose", LSCM_USAGE, "name it: --target-column NAME"},
        {"a,b,dose\n1,2,3\n3,4,5\n", "dos", NULL, LSCM_USAGE,
         "no column 'dos' for --target-column; did you mean 'dose'?"},
        {"a,do:b,target\n1,2,\n3,4,\n", NULL, NULL, LSCM_FORMAT, "--ignore target"},
        {"a,z:b\n1,2\n3,4\n", NULL, NULL, LSCM_FORMAT, "no column 'do:b'"},
        {"a,b,do:u,do:v,z:u\n1,2,,,3\n3,4,,,5\n", NULL, NULL, LSCM_FORMAT, "only 1 columns"},
        {"a,do:u\n1,set\n3,2\n", NULL, NULL, LSCM_VALUE,
         "line 3 has a value that do() set, but line 2 only says 'set'"},
        {"a,do:u\n1,some\n3,2\n", NULL, NULL, LSCM_VALUE, "column 'do:u' holds 'some'"},
        {"a,do:u,do:v\n1,,\n3,2,\n", NULL, NULL, LSCM_SHAPE, "at least as many features"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lscm_dataset *data = NULL;
        const lscm_open_options options = {.target_column = cases[i].target,
                                           .value_column = cases[i].value};
        scratch_write_text(path, cases[i].text);
        assert_ok(dataset_new(&data, path, "CSV", &why));
        assert_fails(csv_open(data, &options, &why), cases[i].status, cases[i].part);
        assert_non_null(strstr(why.text, path));
        lscm_dataset_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips_lose_no_bit),
        cmocka_unit_test(observed_variables_are_told_apart),
        cmocka_unit_test(both_layouts_say_the_same),
        cmocka_unit_test(numbers_are_nodes_where_values_stand),
        cmocka_unit_test(observed_targets_have_any_name),
        cmocka_unit_test(what_does_not_fit_is_asked),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_remove);
}
