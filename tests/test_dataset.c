/* Data sets: wrapping, reading, walking, and the overview recomputed plainly. */
#include "made.h"

#include "data/dataset/dataset.h"

#include "arrays.h"
#include "testing.h"

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
static void a_copy_is_called_what_it_is_of(void **state)
{
    (void)state;
    lscm_error why;
    lscm_dataset *data = NULL;
    arrays a;
    double out[N * NODES];
    lscm_arrays some = fill(&a);
    some.values = NULL;
    assert_ok(lscm_dataset_wrap(&data, &some, &why));
    for (int turn = 0; turn < 2; turn++) { /* the second time, too */
        const char *path = turn == 0 ? "cells.parquet" : "other.feather";
        char sentence[64];
        (void)snprintf(sentence, sizeof sentence, "%s: there is no 'values'", path);
        assert_ok(lscm_dataset_set_path(data, path, &why));
        assert_fails(lscm_dataset_read(data, LSCM_VALUES, 0, N, out, &why), LSCM_MISSING, sentence);
    }
    lscm_dataset_free(data);
}

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
        cmocka_unit_test(a_copy_is_called_what_it_is_of),
        cmocka_unit_test(other_types_are_read_as_double),
        cmocka_unit_test(blocks_meet_every_row_once),
        cmocka_unit_test(progress_may_stop),
        cmocka_unit_test(the_overview_is_what_a_plain_sum_gives),
        cmocka_unit_test(sets_are_counted_exactly_then_nearly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
