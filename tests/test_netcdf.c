/* Writing the native format: everything comes back as it went in, the layout is what others expect
 * (looked at through the netCDF library itself), and a failure leaves nothing behind. */
#include "made.h"

#include "data/csv/csv.h"
#include "data/netcdf/netcdf.h"
#include "data/npy/npy.h"
#include "data/picture/picture.h"

#include "testing.h"

#include "home.h"

#include <netcdf.h>
#include <signal.h>
#include <sys/resource.h>

enum { N = 11, NODES = 3 };

/* Bytes that differ everywhere, yet are finite numbers and 0/1 where they must be. */
static void scatter(dtype type, void *raw, size_t n, unsigned salt)
{
    unsigned char *bytes = raw;
    size_t size = dtype_size(type);
    for (size_t i = 0; i < n * size; i++) {
        bool top = i % size == size - 1;
        bytes[i] = (unsigned char)(i * 37 + i / 251 + salt);
        if (type == DTYPE_BOOL) {
            bytes[i] &= 1U;
        } else if (top && type >= DTYPE_FLOAT16) {
            bytes[i] &= 0xbfU; /* an exponent that is not all ones */
        }
    }
}

static lscm_dataset *full(dtype type)
{
    lscm_dataset *data = made_new();
    scatter(type, made_field(data, LSCM_X, type, N, 4, 0, 0), (size_t)N * 4, 1);
    uint8_t *targets = made_field(data, LSCM_TARGETS, DTYPE_BOOL, N, NODES, 0, 0);
    targets[4] = targets[8] = 1;
    scatter(type, made_field(data, LSCM_VALUES, type, N, NODES, 0, 0), (size_t)N * NODES, 2);
    scatter(type, made_field(data, LSCM_Z, type, N, NODES, 0, 0), (size_t)N * NODES, 3);
    float *w = made_field(data, LSCM_W, DTYPE_FLOAT32, NODES, NODES, 0, 0);
    w[2 * NODES + 0] = 0.1F;
    uint16_t *sigma = made_field(data, LSCM_SIGMA, DTYPE_FLOAT16, NODES, 0, 0, 0);
    sigma[0] = sigma[1] = sigma[2] = 0x3c01;
    int8_t *order = made_field(data, LSCM_ORDER, DTYPE_INT8, NODES, 0, 0, 0);
    order[0] = 2;
    order[1] = 0;
    order[2] = 1;
    return data;
}

static void assert_same_field(const lscm_dataset *a, const lscm_dataset *b, lscm_field field)
{
    lscm_error why;
    const array_shape *left = &a->shape[field];
    const array_shape *right = &b->shape[field];
    assert_int_equal(left->present, right->present);
    if (!left->present) {
        return;
    }
    assert_string_equal(dtype_name(left->type), dtype_name(right->type));
    assert_int_equal(left->ndim, right->ndim);
    assert_memory_equal(left->dims, right->dims, sizeof left->dims);
    size_t bytes = shape_bytes(left);
    void *raw = malloc(2 * bytes);
    assert_non_null(raw);
    assert_ok(dataset_read_raw(a, field, 0, left->dims[0], raw, &why));
    assert_ok(dataset_read_raw(b, field, 0, left->dims[0], (char *)raw + bytes, &why));
    assert_memory_equal(raw, (char *)raw + bytes, bytes);
    /* and one row in the middle */
    size_t row = shape_row_bytes(left);
    assert_ok(dataset_read_raw(b, field, left->dims[0] / 2, 1, (char *)raw + bytes, &why));
    assert_memory_equal((char *)raw + left->dims[0] / 2 * row, (char *)raw + bytes, row);
    free(raw);
}

static void assert_same(const lscm_dataset *a, const lscm_dataset *b)
{
    for (int field = 0; field < LSCM_FIELDS; field++) {
        assert_same_field(a, b, (lscm_field)field);
    }
    assert_int_equal(lscm_dataset_rows(a), lscm_dataset_rows(b));
    assert_int_equal(lscm_dataset_nodes(a), lscm_dataset_nodes(b));
}

static void every_type_comes_back(void **state)
{
    (void)state;
    lscm_error why;
    for (int type = 0; type < DTYPE_COUNT; type++) {
        lscm_dataset *data = full((dtype)type);
        lscm_dataset *again = NULL;
        assert_ok(lscm_dataset_save(data, at("a.nc"), true, NULL, &why));
        assert_ok(lscm_dataset_open(&again, at("a.nc"), NULL, &why));
        assert_string_equal(lscm_dataset_format(again), "netCDF-4");
        assert_same(data, again);
        assert_null(lscm_dataset_recipe(again));
        assert_null(lscm_dataset_node_name(again, 0));
        lscm_dataset_free(data);
        lscm_dataset_free(again);
    }
    assert_int_equal(entries(), 1);
}

static void pictures_come_back(void **state)
{
    (void)state;
    lscm_error why;
    for (size_t channels = 0; channels <= 3; channels += 3) {
        lscm_dataset *data = made_new();
        lscm_dataset *again = NULL;
        size_t count = (size_t)N * 5 * 6 * (channels > 0 ? channels : 1);
        uint8_t *x = made_field(data, LSCM_X, DTYPE_UINT8, N, 5, 6, channels);
        scatter(DTYPE_UINT8, x, count, 9);
        made_field(data, LSCM_TARGETS, DTYPE_UINT8, N, NODES, 0, 0);
        assert_ok(lscm_dataset_save(data, at("p.nc4"), true, NULL, &why));
        assert_ok(lscm_dataset_open(&again, at("p.nc4"), NULL, &why));
        assert_same(data, again);
        lscm_dataset_free(data);
        lscm_dataset_free(again);
    }
}

/* More than one block, in halves, and NaN where no intervention acted. */
static void long_arrays_stream(void **state)
{
    (void)state;
    lscm_error why;
    enum { ROWS = 100000, COLS = 7 };
    lscm_dataset *data = made_new();
    lscm_dataset *again = NULL;
    lscm_dataset *third = NULL;
    uint16_t *x = made_field(data, LSCM_X, DTYPE_FLOAT16, ROWS, COLS, 0, 0);
    scatter(DTYPE_FLOAT16, x, (size_t)ROWS * COLS, 4);
    made_field(data, LSCM_TARGETS, DTYPE_UINT8, ROWS, NODES, 0, 0);
    float *values = made_field(data, LSCM_VALUES, DTYPE_FLOAT32, ROWS, NODES, 0, 0);
    for (size_t i = 0; i < (size_t)ROWS * NODES; i++) {
        values[i] = NAN;
    }
    assert_ok(lscm_dataset_save(data, at("a.nc"), false, NULL, &why));
    assert_ok(lscm_dataset_open(&again, at("a.nc"), NULL, &why));
    assert_same(data, again);
    assert_ok(lscm_dataset_save(again, at("b.nc"), false, NULL, &why)); /* from file to file */
    assert_ok(lscm_dataset_open(&third, at("b.nc"), NULL, &why));
    assert_same(data, third);
    lscm_dataset_free(data);
    lscm_dataset_free(again);
    lscm_dataset_free(third);
}

static void names_and_recipe_come_back(void **state)
{
    (void)state;
    lscm_error why;
    static const char recipe[] =
        "{\"preset\":\"paper-linear\",\"seed\":9007199254740991,"
        "\"degree\":1.0,\"noise\":0.10000000000000001,\"paired\":false,\"big\":true,"
        "\"empty\":\"\",\"text\":\"12\",\"umlaut\":\"\xc3\xbc\","
        "\"list\":[1,2.5],\"none\":null,\"a\":-1}";
    lscm_dataset *data = full(DTYPE_FLOAT64);
    lscm_dataset *again = NULL;
    data->node_names = made_names("raf,mek \xce\xb2,erk", NODES);
    data->feature_names = made_names("p,q,r,s", 4);
    data->recipe = strdup(recipe);
    assert_ok(lscm_dataset_save(data, at("a.nc"), false, NULL, &why));
    assert_ok(lscm_dataset_open(&again, at("a.nc"), NULL, &why));
    assert_string_equal(lscm_dataset_node_name(again, 1), "mek \xce\xb2");
    assert_string_equal(lscm_dataset_feature_name(again, 3), "s");
    assert_string_equal(lscm_dataset_recipe(again), recipe);
    lscm_dataset_free(again);
    lscm_open_options options = {.names = " a,b ,c"};
    assert_ok(lscm_dataset_open(&again, at("a.nc"), &options, &why));
    assert_string_equal(lscm_dataset_node_name(again, 1), "b");
    lscm_dataset_free(again);
    options.names = "a,b";
    assert_fails(lscm_dataset_open(&again, at("a.nc"), &options, &why), LSCM_USAGE,
                 "2 names are given for 3 nodes");
    options.names = "a,b,a";
    assert_fails(lscm_dataset_open(&again, at("a.nc"), &options, &why), LSCM_VALUE,
                 "two nodes are named 'a'");
    free(data->recipe);
    data->recipe = strdup("[1]");
    assert_fails(lscm_dataset_save(data, at("b.nc"), false, NULL, &why), LSCM_FORMAT,
                 "not a JSON object");
    free(data->recipe);
    data->recipe = strdup("{\"a/b\":1}");
    assert_fails(lscm_dataset_save(data, at("b.nc"), false, NULL, &why), LSCM_WRITE, "recipe");
    assert_int_equal(entries(), 1);
    lscm_dataset_free(data);
}

/* As ncdump and xarray see it: dimensions, groups, attributes. */
static void the_layout_is_as_documented(void **state)
{
    (void)state;
    lscm_error why;
    int file = 0;
    int truth = 0;
    int id = 0;
    int dims[2];
    int version = 0;
    char name[NC_MAX_NAME + 1] = "";
    char text[64] = "";
    nc_type type = NC_NAT;
    lscm_dataset *data = full(DTYPE_FLOAT32);
    assert_ok(lscm_dataset_save(data, at("a.nc"), false, NULL, &why));
    assert_int_equal(nc_open(at("a.nc"), NC_NOWRITE, &file), NC_NOERR);
    assert_int_equal(nc_get_att_int(file, NC_GLOBAL, "format_version", &version), NC_NOERR);
    assert_int_equal(version, 1);
    assert_int_equal(nc_inq_varid(file, "x", &id), NC_NOERR);
    assert_int_equal(nc_inq_vardimid(file, id, dims), NC_NOERR);
    assert_int_equal(nc_inq_dimname(file, dims[0], name), NC_NOERR);
    assert_string_equal(name, "sample");
    assert_int_equal(nc_inq_dimname(file, dims[1], name), NC_NOERR);
    assert_string_equal(name, "feature");
    assert_int_equal(nc_inq_varid(file, "targets", &id), NC_NOERR);
    assert_int_equal(nc_inq_vartype(file, id, &type), NC_NOERR);
    assert_int_equal(type, NC_UBYTE);
    assert_int_equal(nc_get_att_text(file, id, "dtype", text), NC_NOERR);
    assert_string_equal(text, "bool");
    assert_int_equal(nc_inq_varid(file, "w", &id), NC_ENOTVAR);
    assert_int_equal(nc_inq_grp_ncid(file, "truth", &truth), NC_NOERR);
    assert_int_equal(nc_inq_varid(truth, "w", &id), NC_NOERR);
    assert_int_equal(nc_inq_vardimid(truth, id, dims), NC_NOERR);
    assert_int_equal(nc_inq_dimname(truth, dims[0], name), NC_NOERR);
    assert_string_equal(name, "parent");
    assert_int_not_equal(dims[0], dims[1]); /* xarray refuses a dimension twice */
    assert_int_equal(nc_close(file), NC_NOERR);
    lscm_dataset_free(data);
}

static void the_truth_alone_is_kept(void **state)
{
    (void)state;
    lscm_error why;
    lscm_dataset *data = made_new();
    lscm_dataset *again = NULL;
    lscm_open_options options = {.truth_only = true};
    double *w = made_field(data, LSCM_W, DTYPE_FLOAT64, NODES, NODES, 0, 0);
    w[1] = 0.3;
    assert_ok(lscm_dataset_save(data, at("w.nc"), false, NULL, &why));
    assert_fails(lscm_dataset_open(&again, at("w.nc"), NULL, &why), LSCM_MISSING, "'x' is missing");
    assert_null(again);
    assert_ok(lscm_dataset_open(&again, at("w.nc"), &options, &why));
    assert_same(data, again);
    lscm_dataset_free(data);
    lscm_dataset_free(again);
}

static void output_is_whole_or_absent(void **state)
{
    (void)state;
    lscm_error why;
    lscm_dataset *data = full(DTYPE_FLOAT64);
    lscm_dataset *again = NULL;
    double *x = ((made_source *)(void *)data->source)->raw[LSCM_X];
    x[9] = INFINITY;
    assert_fails(lscm_dataset_save(data, at("a.nc"), false, NULL, &why), LSCM_VALUE,
                 "'x' is infinite at row 2, column 1 (0-based)");
    assert_int_equal(entries(), 0);
    x[9] = 1;
    assert_ok(lscm_dataset_save(data, at("a.nc"), false, NULL, &why));
    assert_fails(lscm_dataset_save(data, at("a.nc"), false, NULL, &why), LSCM_EXISTS, "--force");
    assert_fails(lscm_dataset_save(data, at("a.hdf"), false, NULL, &why), LSCM_USAGE, "'.hdf'");
    assert_fails(lscm_dataset_save(data, "", false, NULL, &why), LSCM_USAGE, "empty");
    assert_fails(lscm_dataset_save(data, at("b\\c.nc"), false, NULL, &why), LSCM_WRITE, "'\\'");
    assert_int_equal(symlink("a.nc", at("link.nc")), 0);
    assert_fails(lscm_dataset_save(data, at("link.nc"), true, NULL, &why), LSCM_EXISTS, "symbolic");
    /* links are followed when reading, and a file may replace the one it is read from */
    assert_ok(lscm_dataset_open(&again, at("link.nc"), NULL, &why));
    assert_ok(lscm_dataset_save(again, at("a.nc"), true, NULL, &why));
    assert_same(data, again);
    lscm_dataset_free(again);
    assert_ok(lscm_dataset_open(&again, at("a.nc"), NULL, &why));
    assert_same(data, again);
    lscm_dataset_free(again);
    lscm_dataset_free(data);
    assert_int_equal(entries(), 2);
}

/* A limit on the size of files stands for a full disk: writing fails at some depth of the library,
 * which must neither keep the file nor be left unusable. */
static void a_full_disk_is_reported(void **state)
{
    (void)state;
    lscm_error why;
    struct rlimit old;
    lscm_dataset *data = made_new();
    made_field(data, LSCM_X, DTYPE_FLOAT64, 20000, 10, 0, 0);
    made_field(data, LSCM_TARGETS, DTYPE_UINT8, 20000, NODES, 0, 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (rlim_t bytes = 100; bytes < 1700000; bytes += 400000) {
        struct rlimit small = {bytes, old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        lscm_status status = lscm_dataset_save(data, at("a.nc"), false, NULL, &why);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(status, LSCM_WRITE);
        assert_non_null(strstr(why.text, "a.nc"));
        assert_int_equal(entries(), 0);
    }
    (void)signal(SIGXFSZ, handler);
    assert_ok(lscm_dataset_save(data, at("a.nc"), false, NULL, &why));
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_AT_HOME(every_type_comes_back),       TEST_AT_HOME(pictures_come_back),
        TEST_AT_HOME(long_arrays_stream),          TEST_AT_HOME(names_and_recipe_come_back),
        TEST_AT_HOME(the_layout_is_as_documented), TEST_AT_HOME(the_truth_alone_is_kept),
        TEST_AT_HOME(output_is_whole_or_absent),   TEST_AT_HOME(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
