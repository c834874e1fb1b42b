/* Data sets: wrapping, reading, walking, every bad input, and the overview recomputed plainly. */
#include "made.h"

#include "data/blocks.h"

#include "lcg.h"
#include "testing.h"

enum { N = 7, D = 4, NODES = 3 };

typedef struct arrays {
    double x[N * D];
    uint8_t targets[N * NODES];
    double values[N * NODES], z[N * NODES];
    double w[NODES * NODES], sigma[NODES];
} arrays;

/* Everything right: edges 2 -> 0 and 0 -> 1. */
static lscm_arrays fill(arrays *a)
{
    lcg g = {1};
    for (size_t i = 0; i < (size_t)N * D; i++) {
        a->x[i] = lcg_normal(&g);
    }
    for (size_t i = 0; i < (size_t)N * NODES; i++) {
        a->targets[i] = lcg_uniform(&g) < 0.4 ? 1 : 0;
        a->values[i] = a->targets[i] ? lcg_normal(&g) : NAN;
        a->z[i] = lcg_normal(&g);
    }
    memset(a->w, 0, sizeof a->w);
    a->w[2 * NODES + 0] = 1.5;
    a->w[0 * NODES + 1] = -0.5;
    a->sigma[0] = a->sigma[1] = a->sigma[2] = 0.1;
    return (lscm_arrays){N, NODES, D, a->x, a->targets, a->values, a->z, a->w, a->sigma};
}

static void wrapped_arrays_are_read_back(void **state)
{
    (void)state;
    lscm_error why;
    lscm_dataset *data = NULL;
    arrays a;
    lscm_arrays all = fill(&a);
    double out[N * D];
    assert_ok(lscm_dataset_wrap(&data, &all, &why));
    assert_int_equal(lscm_dataset_rows(data), N);
    assert_int_equal(lscm_dataset_nodes(data), NODES);
    assert_int_equal(lscm_dataset_features(data), D);
    assert_string_equal(lscm_dataset_format(data), "memory");
    assert_null(lscm_dataset_recipe(data));
    assert_null(lscm_dataset_node_name(data, 0));
    assert_null(lscm_dataset_feature_name(data, 0));
    lscm_shape shape = lscm_dataset_shape(data, LSCM_TARGETS);
    assert_true(shape.present && shape.ndim == 2 && shape.dims[0] == N && shape.dims[1] == NODES);
    assert_string_equal(shape.dtype, "uint8");
    assert_ok(lscm_dataset_read(data, LSCM_X, 0, N, out, &why));
    assert_memory_equal(out, a.x, sizeof a.x);
    assert_ok(lscm_dataset_read(data, LSCM_TARGETS, 2, 3, out, &why));
    for (size_t i = 0; i < (size_t)3 * NODES; i++) {
        assert_near(out[i], a.targets[2 * NODES + i], 0);
    }
    memset(a.w, 0, sizeof a.w); /* small arrays were copied */
    assert_ok(lscm_dataset_read(data, LSCM_W, 2, 1, out, &why));
    assert_near(out[0], 1.5, 0);
    assert_ok(lscm_dataset_read(data, LSCM_ORDER, 0, NODES, out, &why));
    assert_near(out[0], 2, 0);
    assert_near(out[1], 0, 0);
    assert_near(out[2], 1, 0);
    assert_fails(lscm_dataset_read(data, LSCM_X, N, 1, out, &why), LSCM_USAGE, "it has 7");
    assert_fails(lscm_dataset_read(data, LSCM_X, 1, SIZE_MAX, out, &why), LSCM_USAGE, "it has 7");
    assert_ok(lscm_dataset_read(data, LSCM_X, N, 0, out, &why));
    lscm_dataset_free(data);
    lscm_dataset_free(NULL);
}

static void parts_may_lack(void **state)
{
    (void)state;
    lscm_error why;
    lscm_dataset *data = NULL;
    arrays a;
    double out[N * NODES];
    lscm_arrays some = fill(&a);
    some.values = some.z = some.w = some.sigma = NULL;
    assert_ok(lscm_dataset_wrap(&data, &some, &why));
    assert_false(lscm_dataset_shape(data, LSCM_W).present);
    assert_fails(lscm_dataset_read(data, LSCM_VALUES, 0, N, out, &why), LSCM_MISSING, "'values'");
    lscm_dataset_free(data);
    some = fill(&a);
    some.x = NULL; /* truth alone */
    assert_ok(lscm_dataset_wrap(&data, &some, &why));
    assert_int_equal(lscm_dataset_features(data), 0);
    lscm_dataset_free(data);
    some.w = NULL;
    assert_fails(lscm_dataset_wrap(&data, &some, &why), LSCM_MISSING, "no graph");
    assert_null(data);
    some = fill(&a);
    some.targets = NULL;
    assert_fails(lscm_dataset_wrap(&data, &some, &why), LSCM_MISSING, "'targets' is missing");
}

/* Conversion goes through a buffer of its own: more rows than fit into it. */
static void other_types_are_read_as_double(void **state)
{
    (void)state;
    lscm_error why;
    enum { ROWS = 3000, COLS = 50 };
    lscm_dataset *data = made_new();
    int16_t *x = made_field(data, LSCM_X, DTYPE_INT16, ROWS, 5, 10, 0);
    double *out = malloc((size_t)ROWS * COLS * sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < (size_t)ROWS * COLS; i++) {
        x[i] = (int16_t)(i * 7);
    }
    assert_int_equal(lscm_dataset_features(data), COLS);
    assert_ok(lscm_dataset_read(data, LSCM_X, 1, ROWS - 1, out, &why));
    for (size_t i = 0; i < (size_t)(ROWS - 1) * COLS; i++) {
        assert_near(out[i], (int16_t)((i + COLS) * 7), 0);
    }
    free(out);
    lscm_dataset_free(data);
}

static void blocks_meet_every_row_once(void **state)
{
    (void)state;
    lscm_error why;
    enum { ROWS = 40000, COLS = 9 };
    lscm_dataset *data = made_new();
    uint32_t *x = made_field(data, LSCM_X, DTYPE_UINT32, ROWS, COLS, 0, 0);
    meter m = meter_over(data, NULL, "walking");
    row_blocks walk;
    size_t next = 0;
    int blocks = 0;
    for (uint32_t i = 0; i < ROWS * COLS; i++) {
        x[i] = i;
    }
    assert_ok(blocks_begin(&walk, data, LSCM_X, &m, &why));
    for (;;) {
        assert_ok(blocks_next(&walk, &why));
        if (walk.count == 0) {
            break;
        }
        assert_int_equal(walk.first * COLS, next);
        for (size_t i = 0; i < walk.count * COLS; i++) {
            assert_int_equal(((const uint32_t *)walk.raw)[i], next++);
        }
        blocks++;
    }
    blocks_end(&walk);
    assert_true(blocks > 1);
    assert_int_equal(next, ROWS * COLS);
    assert_int_equal(m.done, ROWS * COLS * 4);
    assert_int_equal(m.total, m.done);
    assert_fails(blocks_begin(&walk, data, LSCM_Z, &m, &why), LSCM_MISSING, "no 'z'");
    blocks_end(&walk);
    lscm_dataset_free(data);
}

static bool stop_at_once(void *self, const char *what, uint64_t done, uint64_t total)
{
    assert_string_equal(what, "checking");
    assert_true(done <= total);
    ++*(int *)self;
    return false;
}

static void progress_may_stop(void **state)
{
    (void)state;
    lscm_error why;
    arrays a;
    lscm_arrays all = fill(&a);
    lscm_dataset *data = NULL;
    lscm_overview overview = {0};
    int calls = 0;
    lscm_progress progress = {stop_at_once, &calls};
    assert_ok(lscm_dataset_wrap(&data, &all, &why));
    assert_fails(lscm_dataset_check(data, &overview, &progress, &why), LSCM_STOPPED, "stopped");
    assert_int_equal(calls, 1);
    lscm_dataset_free(data);
}

/* ---- Bad shapes and bad truth ---- */

static void absent_and_misshapen_fields_are_named(void **state)
{
    (void)state;
    lscm_error why;
    lscm_dataset *data = made_new();
    assert_fails(dataset_check_shapes(data, false, &why), LSCM_MISSING, "'x' is missing");
    assert_fails(dataset_check_shapes(data, true, &why), LSCM_MISSING, "'w'");
    made_field(data, LSCM_X, DTYPE_FLOAT64, N, D, 0, 0);
    assert_fails(dataset_check_shapes(data, false, &why), LSCM_MISSING, "'targets' is missing");
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
    static const double bad[] = {0, -1, NAN, INFINITY};
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
    assert_fails(lscm_dataset_check(data, &overview, NULL, &why), LSCM_VALUE,
                 "memory: 'x' is NaN at row 5, column 3 (0-based); remove or impute that row");
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
    x[1999 * PIXELS + 7 * 30 + 4 * 3 + 2] = NAN;
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

/* ---- Overview ---- */

static void the_overview_is_what_a_plain_sum_gives(void **state)
{
    (void)state;
    lscm_error why;
    enum { ROWS = 3001, COLS = 57 };
    lcg g = {5};
    size_t per_node[NODES] = {9, 9, 9};
    size_t expected_nodes[NODES] = {0};
    size_t observational = 0;
    bool seen[1 << NODES] = {false};
    lscm_overview overview = {.per_node = per_node};
    lscm_dataset *data = made_new();
    double *x = made_field(data, LSCM_X, DTYPE_FLOAT64, ROWS, COLS, 0, 0);
    int32_t *targets = made_field(data, LSCM_TARGETS, DTYPE_INT32, ROWS, NODES, 0, 0);
    long double sum = 0;
    long double squares = 0;
    double least = INFINITY;
    double most = -INFINITY;
    for (size_t i = 0; i < (size_t)ROWS * COLS; i++) {
        x[i] = 1e9 + lcg_normal(&g); /* a sum of squares in double would lose the spread */
        sum += x[i];
        least = fmin(least, x[i]);
        most = fmax(most, x[i]);
    }
    long double mean = sum / ((long double)ROWS * COLS);
    for (size_t i = 0; i < (size_t)ROWS * COLS; i++) {
        squares += (x[i] - mean) * (x[i] - mean);
    }
    for (size_t row = 0; row < ROWS; row++) {
        unsigned mask = lcg_below(&g, 3) == 0 ? 0 : (unsigned)lcg_below(&g, 6);
        for (unsigned i = 0; i < NODES; i++) {
            targets[row * NODES + i] = (int32_t)(mask >> i & 1U);
            expected_nodes[i] += mask >> i & 1U;
        }
        observational += mask == 0 ? 1 : 0;
        seen[mask] = true;
    }
    size_t sets = 0;
    for (int mask = 1; mask < 1 << NODES; mask++) {
        sets += seen[mask] ? 1 : 0;
    }
    assert_ok(lscm_dataset_check(data, &overview, NULL, &why));
    assert_near(overview.x_min, least, 0);
    assert_near(overview.x_max, most, 0);
    assert_near(overview.x_mean, (double)mean, 1e-6);
    assert_near(overview.x_sd, (double)sqrtl(squares / ((long double)ROWS * COLS)), 1e-9);
    assert_int_equal(overview.observational, observational);
    assert_int_equal(overview.sets, sets);
    assert_true(sets > 3);
    assert_memory_equal(per_node, expected_nodes, sizeof per_node);
    lscm_dataset_free(data);
}

/* Row k acts on the nodes of the binary digits of k, each mask twice. */
static size_t count_sets(size_t masks)
{
    lscm_error why;
    enum { BITS = 21 };
    size_t rows = 2 * masks;
    lscm_overview overview = {0};
    lscm_dataset *data = made_new();
    uint8_t *targets = made_field(data, LSCM_TARGETS, DTYPE_UINT8, rows, BITS, 0, 0);
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < BITS; i++) {
            targets[row * BITS + i] = (uint8_t)((row % masks + 1) >> i & 1U);
        }
    }
    assert_ok(lscm_dataset_check(data, &overview, NULL, &why));
    assert_int_equal(overview.observational, 0);
    assert_true(isnan(overview.x_mean) && isnan(overview.x_sd) && isnan(overview.x_max));
    lscm_dataset_free(data);
    return overview.sets;
}

static void sets_are_counted_exactly_then_nearly(void **state)
{
    (void)state;
    assert_int_equal(count_sets(1), 1);
    assert_int_equal(count_sets(4097), 4097);
    assert_near((double)count_sets(1300000), 1.3e6, 1.3e4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrapped_arrays_are_read_back),
        cmocka_unit_test(parts_may_lack),
        cmocka_unit_test(other_types_are_read_as_double),
        cmocka_unit_test(blocks_meet_every_row_once),
        cmocka_unit_test(progress_may_stop),
        cmocka_unit_test(absent_and_misshapen_fields_are_named),
        cmocka_unit_test(one_sample_is_too_few),
        cmocka_unit_test(names_must_differ),
        cmocka_unit_test(a_bad_truth_is_refused),
        cmocka_unit_test(a_long_cycle_is_shortened),
        cmocka_unit_test(an_order_must_be_one),
        cmocka_unit_test(bad_numbers_are_found_in_place),
        cmocka_unit_test(bad_pixels_and_masks_are_found),
        cmocka_unit_test(the_overview_is_what_a_plain_sum_gives),
        cmocka_unit_test(sets_are_counted_exactly_then_nearly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
