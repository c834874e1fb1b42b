/* Writing CSV: the text itself, and reading it back. */
#include "csv_testing.h"

static char path[300];     /* the file under test */
static char out_path[300]; /* what is written */

static int set_up(void **state)
{
    int made = scratch_make(state);
    (void)scratch_path(path, "data.csv");
    (void)scratch_path(out_path, "out.csv");
    return made;
}

static void written_files_read_back(void **state)
{
    (void)state;
    static const struct {
        const char *text, *written;
    } cases[] = {
        {"a,b,target\n1,-2.50,b\n1e-3,4,0;1\n5,6,-1\n",
         "a,b,target\n1,-2.5,b\n0.001,4,a;b\n5,6,-1\n"},
        /* names that need quotes, as numbers where they could not be told apart */
        {"\"a,\"\"\",b,target\n1,2,0\n3,4,1;0\n",
         "\"a,\"\"\",b,target\n1,2,\"a,\"\"\"\n3,4,\"a,\"\";b\"\n"},
        {"a;b,c,target\n1,2,a;b\n3,4,0;1\n", "\"a;b\",c,target\n1,2,0\n3,4,0;1\n"},
        {"\" a\",c,target\n1,2,0\n3,4,c\n", "\" a\",c,target\n1,2,0\n3,4,1\n"},
        {"1,0,target\n1,2,1\n3,4,0;1\n", "1,0,target\n1,2,1\n3,4,1;0\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lscm_dataset *data = NULL;
        lscm_dataset *again = NULL;
        scratch_write_text(path, cases[i].text);
        assert_ok(open_csv(path, NULL, &data));
        meter m = meter_over(data, NULL, "writing out.csv");
        assert_ok(csv_write(data, out_path, ',', &m, &why));
        assert_int_equal(m.done, m.total);
        char *text = scratch_read_text(out_path);
        assert_string_equal(text, cases[i].written);
        free(text);
        assert_ok(open_csv(out_path, NULL, &again));
        double x[2][6];
        uint8_t targets[2][6];
        assert_ok(dataset_read_raw(data, LSCM_X, 0, data->rows, x[0], &why));
        assert_ok(dataset_read_raw(again, LSCM_X, 0, data->rows, x[1], &why));
        assert_ok(dataset_read_raw(data, LSCM_TARGETS, 0, data->rows, targets[0], &why));
        assert_ok(dataset_read_raw(again, LSCM_TARGETS, 0, data->rows, targets[1], &why));
        for (size_t k = 0; k < data->rows * 2; k++) {
            assert_near(x[0][k], x[1][k], 0);
            assert_int_equal(targets[0][k], targets[1][k]);
        }
        lscm_dataset_free(data);
        lscm_dataset_free(again);
    }
}

static void arrays_without_names_are_written(void **state)
{
    (void)state;
    static const double x[] = {1, 0.1, -3, 4, 5e-9, 6};
    static const uint8_t targets[] = {1, 1, 0, 0};
    lscm_arrays arrays = {.rows = 2, .nodes = 2, .features = 3, .x = x, .targets = targets};
    lscm_dataset *data = NULL;
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    meter m = meter_over(data, NULL, "writing out.csv");
    assert_ok(csv_write(data, out_path, ',', &m, &why));
    char *text = scratch_read_text(out_path);
    assert_string_equal(text, "x0,x1,x2,do:0,do:1\n1,0.1,-3,set,set\n4,5e-9,6,,\n");
    free(text);
    assert_fails(csv_write(data, "/dev/full", ',', &m, &why), LSCM_WRITE,
                 "writing out.csv: No space left");
    assert_fails(csv_write(data, "/nowhere/out.csv", ',', &m, &why), LSCM_WRITE,
                 "writing out.csv: ");
    data->shape[LSCM_X] = (array_shape){true, DTYPE_FLOAT64, 3, {2, 1, 3}};
    assert_fails(csv_write(data, out_path, ',', &m, &why), LSCM_SHAPE, "x holds pictures");
    lscm_dataset_free(data);
}

static void names_that_would_not_read_back_are_refused(void **state)
{
    (void)state;
    static const char *const names[][3] = {
        {"a", "target", "c"}, {"a", "b", "a"}, {"a", "7", "c"}, {"a", "do:b", "c"}};
    static const char *const parts[] = {"a feature is named 'target'", "two columns are named 'a'",
                                        "the feature named '7'", "a feature is named 'do:b'"};
    static const double x[6] = {0};
    static const uint8_t targets[6] = {0};
    lscm_arrays arrays = {.rows = 2, .nodes = 3, .features = 3, .x = x, .targets = targets};
    for (size_t i = 0; i < 4; i++) {
        lscm_dataset *data = NULL;
        assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
        data->feature_names = calloc(3, sizeof *data->feature_names);
        assert_non_null(data->feature_names);
        for (size_t k = 0; k < 3; k++) {
            data->feature_names[k] = strdup(names[i][k]);
        }
        meter m = meter_over(data, NULL, "writing out.csv");
        lscm_status status = i == 1 ? LSCM_FORMAT : LSCM_VALUE;
        assert_fails(csv_write(data, out_path, ',', &m, &why), status, parts[i]);
        lscm_dataset_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_files_read_back),
        cmocka_unit_test(arrays_without_names_are_written),
        cmocka_unit_test(names_that_would_not_read_back_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_remove);
}
