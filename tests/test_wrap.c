/* Data sets over arrays: x in single precision is the same data, names are copied and checked. */
#include "arrays.h"
#include "testing.h"

static lscm_error why;

static void single_x_is_the_same_numbers(void **state)
{
    (void)state;
    arrays a;
    lscm_arrays all = fill(&a);
    float x[N * D];
    double back[N * D];
    lscm_dataset *data = NULL;
    lscm_overview overview = {0};
    for (size_t k = 0; k < (size_t)N * D; k++) {
        x[k] = (float)a.x[k];
    }
    all.x = NULL;
    all.x_single = x;
    assert_ok(lscm_dataset_wrap(&data, &all, &why));
    assert_int_equal(lscm_dataset_features(data), D);
    lscm_shape shape = lscm_dataset_shape(data, LSCM_X);
    assert_string_equal(shape.dtype, "float32");
    assert_true(shape.ndim == 2 && shape.dims[0] == N && shape.dims[1] == D);
    assert_ok(lscm_dataset_read(data, LSCM_X, 0, N, back, &why));
    for (size_t k = 0; k < (size_t)N * D; k++) {
        assert_near(back[k], x[k], 0);
    }
    x[5] = INFINITY; /* it is looked at where it is */
    assert_fails(lscm_dataset_check(data, &overview, NULL, &why), LSCM_VALUE, "row 1");
    lscm_dataset_free(data);
}

static void single_pictures_keep_their_shape(void **state)
{
    (void)state;
    const float x[2 * 4 * 6] = {[7] = 0.25F};
    double back[24];
    lscm_dataset *data = NULL;
    lscm_arrays all = {.rows = 2, .features = 24, .x_single = x, .height = 4, .width = 6};
    assert_ok(lscm_dataset_wrap(&data, &all, &why));
    lscm_shape shape = lscm_dataset_shape(data, LSCM_X);
    assert_string_equal(shape.dtype, "float32");
    assert_true(shape.ndim == 3 && shape.dims[1] == 4 && shape.dims[2] == 6);
    assert_ok(lscm_dataset_read(data, LSCM_X, 0, 1, back, &why));
    assert_near(back[7], 0.25, 0);
    lscm_dataset_free(data);
    all.width = 5;
    assert_fails(lscm_dataset_wrap(&data, &all, &why), LSCM_SHAPE, "4 x 5");
    assert_null(data);
}

static void x_comes_once(void **state)
{
    (void)state;
    arrays a;
    lscm_arrays all = fill(&a);
    const float x[N * D] = {0};
    lscm_dataset *data = NULL;
    all.x_single = x;
    assert_fails(lscm_dataset_wrap(&data, &all, &why), LSCM_USAGE, "both precisions");
    assert_null(data);
}

static void names_are_copied_and_checked(void **state)
{
    (void)state;
    arrays a;
    lscm_arrays all = fill(&a);
    char first[] = "raf";
    const char *nodes[NODES] = {first, "mek", "erk"};
    const char *features[D] = {"a", "b", "c", "d"};
    lscm_dataset *data = NULL;
    all.node_names = nodes;
    all.feature_names = features;
    assert_ok(lscm_dataset_wrap(&data, &all, &why));
    first[0] = 'R';
    assert_string_equal(lscm_dataset_node_name(data, 0), "raf");
    assert_string_equal(lscm_dataset_node_name(data, 2), "erk");
    assert_string_equal(lscm_dataset_feature_name(data, 3), "d");
    assert_null(lscm_dataset_node_name(data, NODES));
    assert_null(lscm_dataset_feature_name(data, D));
    lscm_dataset_free(data);
    nodes[1] = "erk";
    assert_fails(lscm_dataset_wrap(&data, &all, &why), LSCM_VALUE, "two nodes are named 'erk'");
    nodes[1] = "";
    assert_fails(lscm_dataset_wrap(&data, &all, &why), LSCM_VALUE, "node 1 (0-based)");
}

/* Data for less than a fit once divided by zero there. */
static void fits_need_x_and_targets(void **state)
{
    (void)state;
    arrays a;
    lscm_fit_settings settings;
    lscm_posterior *posterior = NULL;
    lscm_settings_defaults(lscm_fit_table(), &settings);
    for (int method = 0; method < 5; method++) {
        settings.method = (lscm_method)method;
        for (int lacks = 0; lacks < 3; lacks++) {
            lscm_arrays some = fill(&a);
            lscm_dataset *data = NULL;
            some.x = lacks == 0 ? NULL : some.x;
            if (lacks > 0) {
                some = (lscm_arrays){.rows = lacks == 1 ? N : 1, .features = D, .x = some.x};
            }
            assert_ok(lscm_dataset_wrap(&data, &some, &why));
            assert_int_not_equal(lscm_fit(&posterior, data, &settings, NULL, NULL, &why), LSCM_OK);
            assert_non_null(strstr(why.text, lacks == 0 ? "'x'" : "'targets'"));
            lscm_dataset_free(data);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_x_is_the_same_numbers),
        cmocka_unit_test(single_pictures_keep_their_shape),
        cmocka_unit_test(x_comes_once),
        cmocka_unit_test(names_are_copied_and_checked),
        cmocka_unit_test(fits_need_x_and_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
