/* Every bad data set gets its sentence: shapes, truth, and numbers in the rows. */
#include "made.h"

#include "arrays.h"
#include "testing.h"

/* ---- Bad shapes and bad truth ---- */

static void absent_and_misshapen_fields_are_named(void **state)
{
    (void)state;
    lscm_error why;
    lscm_dataset *data = made_new();
    assert_fails(dataset_check_shapes(data, false, &why), LSCM_MISSING, "'x' is missing");
    assert_fails(dataset_check_x(data, &why), LSCM_MISSING, "'x' is missing");
    assert_fails(dataset_check_shapes(data, true, &why), LSCM_MISSING, "'w'");
    made_field(data, LSCM_X, DTYPE_FLOAT64, N, D, 0, 0);
    assert_fails(dataset_check_shapes(data, false, &why), LSCM_MISSING, "'targets' is missing");
    assert_ok(dataset_check_x(data, &why));
    assert_ok(dataset_check_shapes(data, true, &why));
    made_field(data, LSCM_TARGETS, DTYPE_UINT8, N, NODES, 0, 0);
    assert_ok(dataset_check_shapes(data, false, &why));
    made_field(data, LSCM_VALUES, DTYPE_UINT8, N - 1, NODES, 0, 0);
    assert_fails(dataset_check_shapes(data, false, &why), LSCM_SHAPE,
                 "'x' has 7 rows but 'values' has 6; they must match");
    made_field(data, LSCM_VALUES, DTYPE_UINT8, N, NODES + 1, 0, 0);
    assert_fails(dataset_check_shapes(data, false, &why), LSCM_SHAPE,
                 "'targets' has 3 columns but 'values' has 4; they must match");
    made_field(data, LSCM_VALUES, DTYPE_UINT8, N, NODES, 2, 0);
    assert_fails(dataset_check_shapes(data, false, &why), LSCM_SHAPE, "'values' has 3 dimensions");
    made_field(data, LSCM_VALUES, DTYPE_UINT8, N, NODES, 0, 0);
    made_field(data, LSCM_SIGMA, DTYPE_FLOAT64, NODES - 1, 0, 0, 0);
    assert_fails(dataset_check_shapes(data, false, &why), LSCM_SHAPE,
                 "'targets' has 3 columns but 'sigma' has 2");
    data->shape[LSCM_SIGMA].present = false;
    made_field(data, LSCM_W, DTYPE_FLOAT64, NODES + 1, NODES, 0, 0);
    assert_fails(dataset_check_shapes(data, false, &why), LSCM_SHAPE, "'w' is 4 x 3");
    data->shape[LSCM_W].present = false;
    made_field(data, LSCM_X, DTYPE_FLOAT64, N, 0, 0, 0);
    assert_fails(dataset_check_shapes(data, false, &why), LSCM_SHAPE, "'x' has 1 dimension;");
    made_field(data, LSCM_X, DTYPE_FLOAT64, N, 2, 0, 0);
    assert_fails(dataset_check_shapes(data, false, &why), LSCM_SHAPE, "'x' has 2 features");
    made_field(data, LSCM_X, DTYPE_FLOAT64, N, 1, 2, 2);
    assert_ok(dataset_check_shapes(data, false, &why));
    data->shape[LSCM_X].dims[2] = 0;
    assert_fails(dataset_check_shapes(data, false, &why), LSCM_SHAPE, "length 0");
    data->shape[LSCM_X].dims[2] = SIZE_MAX / 4;
    assert_fails(dataset_check_shapes(data, false, &why), LSCM_SHAPE, "absurdly large");
    lscm_dataset_free(data);
}

static void one_sample_is_too_few(void **state)
{
    (void)state;
    lscm_error why;
    lscm_dataset *data = made_new();
    made_field(data, LSCM_X, DTYPE_FLOAT64, 1, D, 0, 0);
    made_field(data, LSCM_TARGETS, DTYPE_UINT8, 1, NODES, 0, 0);
    assert_fails(dataset_check_shapes(data, false, &why), LSCM_SHAPE, "one sample");
    assert_ok(dataset_check_x(data, &why));
    lscm_dataset_free(data);
}

static void names_must_differ(void **state)
{
    (void)state;
    lscm_error why;
    static const char *const texts[] = {"a,b,c", "b,a,b", "a,,c"};
    static const char *const sentences[] = {NULL, "two nodes are named 'b'", "node 1 (0-based)"};
    for (int i = 0; i < 3; i++) {
        lscm_dataset *data = made_new();
        made_field(data, LSCM_W, DTYPE_FLOAT64, NODES, NODES, 0, 0);
        data->node_names = made_names(texts[i], NODES);
        if (sentences[i] == NULL) {
            assert_ok(dataset_check_shapes(data, true, &why));
            assert_string_equal(lscm_dataset_node_name(data, 2), "c");
            assert_null(lscm_dataset_node_name(data, 3));
        } else {
            assert_fails(dataset_check_shapes(data, true, &why), LSCM_VALUE, sentences[i]);
        }
        lscm_dataset_free(data);
    }
}

static void a_bad_truth_is_refused(void **state)
{
    (void)state;
    lscm_error why;
    lscm_dataset *data = NULL;
    arrays a;
    lscm_arrays all = fill(&a);
    a.w[1 * NODES + 2] = 0.25; /* 1 -> 2 -> 0 -> 1 */
    assert_fails(lscm_dataset_wrap(&data, &all, &why), LSCM_CYCLE, "cycle: ");
    assert_non_null(strstr(why.text, "1 <- 0"));
    assert_non_null(strstr(why.text, "0 <- 2"));
    assert_non_null(strstr(why.text, "2 <- 1"));
    (void)fill(&a);
    a.w[NODES + 1] = 1;
    assert_fails(lscm_dataset_wrap(&data, &all, &why), LSCM_CYCLE, "cycle: 1 <- 1 ");
    (void)fill(&a);
    a.w[NODES + 2] = NAN;
    assert_fails(lscm_dataset_wrap(&data, &all, &why), LSCM_VALUE, "row 1, column 2 (0-based)");
    static const double bad[] = {-0.1, -INFINITY, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        (void)fill(&a);
        a.sigma[1] = bad[i];
        assert_fails(lscm_dataset_wrap(&data, &all, &why), LSCM_VALUE, "at node 1 (0-based)");
    }
}

/* A long cycle behind nodes that are not on it is still said, shortened. */
static void a_long_cycle_is_shortened(void **state)
{
    (void)state;
    lscm_error why;
    enum { MANY = 40 };
    lscm_dataset *data = made_new();
    double *w = made_field(data, LSCM_W, DTYPE_FLOAT64, MANY, MANY, 0, 0);
    for (size_t i = 0; i + 1 < MANY; i++) {
        w[i * MANY + i + 1] = 1;
    }
    w[(size_t)(MANY - 2) * MANY + 5] = 1; /* 5 -> 6 ... -> 38 -> 5; 39 hangs on it */
    assert_fails(dataset_check_shapes(data, true, &why), LSCM_CYCLE, "... <- ");
    lscm_dataset_free(data);
}

static void an_order_must_be_one(void **state)
{
    (void)state;
    lscm_error why;
    static const struct {
        double order[NODES];
        const char *sentence;
    } cases[] = {
        {{2, 0, 1}, NULL},
        {{0, 2, 1}, "does not fit 'w'"},
        {{2, 0, 2}, "entry 2 is 2 again"},
        {{2, 0, 3}, "entry 2 is 3"},
        {{2, 0, -1}, "entry 2 is -1"},
        {{2, 0.5, 1}, "entry 1 is 0.5"},
        {{2, NAN, 1}, "entry 1 is"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lscm_dataset *data = made_new();
        float *w = made_field(data, LSCM_W, DTYPE_FLOAT32, NODES, NODES, 0, 0);
        double *order = made_field(data, LSCM_ORDER, DTYPE_FLOAT64, NODES, 0, 0, 0);
        w[2 * NODES + 0] = w[0 * NODES + 1] = 1;
        memcpy(order, cases[i].order, sizeof cases[i].order);
        if (cases[i].sentence == NULL) {
            assert_ok(dataset_check_shapes(data, true, &why));
        } else {
            assert_fails(dataset_check_shapes(data, true, &why), LSCM_VALUE, cases[i].sentence);
        }
        lscm_dataset_free(data);
    }
}

/* ---- Bad rows ---- */

static void bad_numbers_are_found_in_place(void **state)
{
    (void)state;
    lscm_error why;
    lscm_dataset *data = NULL;
    lscm_overview overview = {0};
    arrays a;
    lscm_arrays all = fill(&a);
    assert_ok(lscm_dataset_wrap(&data, &all, &why));
    assert_ok(lscm_dataset_check(data, &overview, NULL, &why));
    a.x[5 * D + 3] = NAN;
    assert_ok(lscm_dataset_check(data, &overview, NULL, &why));
    assert_int_equal(overview.missing, 1);
    assert_fails(check_pass(data, NULL, &why), LSCM_VALUE,
                 "memory: 'x' is missing (NaN) at row 5, column 3 (0-based); missing entries are "
                 "filled in where");
    a.x[5 * D + 3] = -INFINITY;
    data->feature_names = made_names("p,q,r,raf", D);
    assert_fails(lscm_dataset_check(data, &overview, NULL, &why), LSCM_VALUE,
                 "'x' is infinite at row 5, column 3 'raf' (0-based)");
    (void)fill(&a);
    a.targets[4 * NODES + 1] = 2;
    assert_fails(lscm_dataset_check(data, &overview, NULL, &why), LSCM_VALUE,
                 "'targets' is 2 at row 4, column 1 (0-based)");
    (void)fill(&a);
    a.targets[6 * NODES + 2] = 1;
    a.values[6 * NODES + 2] = NAN;
    data->node_names = made_names("u,v,erk", NODES);
    assert_fails(lscm_dataset_check(data, &overview, NULL, &why), LSCM_VALUE,
                 "'values' is NaN at row 6, column 2 'erk' (0-based), where 'targets' is 1");
    lscm_dataset_free(data);
}

/* In the second block and in a picture; masks of every type. */
static void bad_pixels_and_masks_are_found(void **state)
{
    (void)state;
    lscm_error why;
    enum { ROWS = 2000, PIXELS = 10 * 10 * 3 };
    lscm_overview overview = {0};
    lscm_dataset *data = made_new();
    float *x = made_field(data, LSCM_X, DTYPE_FLOAT32, ROWS, 10, 10, 3);
    double *targets = made_field(data, LSCM_TARGETS, DTYPE_FLOAT64, ROWS, NODES, 0, 0);
    targets[0] = targets[5] = 1;
    assert_ok(lscm_dataset_check(data, &overview, NULL, &why));
    x[1999 * PIXELS + 7 * 30 + 4 * 3 + 2] = INFINITY;
    assert_fails(lscm_dataset_check(data, &overview, NULL, &why), LSCM_VALUE,
                 "row 1999, pixel (7, 4), channel 2 (0-based)");
    x = made_field(data, LSCM_X, DTYPE_FLOAT32, ROWS, 10, 30, 0);
    x[3 * PIXELS + 7 * 30 + 4] = INFINITY;
    assert_fails(lscm_dataset_check(data, &overview, NULL, &why), LSCM_VALUE,
                 "row 3, pixel (7, 4) (0-based)");
    static const double bad[] = {0.5, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        targets[1998 * NODES + 1] = bad[i];
        assert_fails(lscm_dataset_check(data, &overview, NULL, &why), LSCM_VALUE,
                     "at row 1998, column 1 (0-based)");
    }
    int8_t *small = made_field(data, LSCM_TARGETS, DTYPE_INT8, ROWS, NODES, 0, 0);
    small[17 * NODES] = -1;
    assert_fails(lscm_dataset_check(data, &overview, NULL, &why), LSCM_VALUE,
                 "'targets' is -1 at row 17, column 0 (0-based)");
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent_and_misshapen_fields_are_named),
        cmocka_unit_test(one_sample_is_too_few),
        cmocka_unit_test(names_must_differ),
        cmocka_unit_test(a_bad_truth_is_refused),
        cmocka_unit_test(a_long_cycle_is_shortened),
        cmocka_unit_test(an_order_must_be_one),
        cmocka_unit_test(bad_numbers_are_found_in_place),
        cmocka_unit_test(bad_pixels_and_masks_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
