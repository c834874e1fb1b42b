/* NPZ files as data sets: everything comes back bit for bit, whatever order, compression or
 * endianness it was stored in, and what goes wrong while writing says so. */
#include "npy_testing.h"

#include "data/npy/npy.h"

#include <signal.h>
#include <sys/resource.h>
#include <zip.h>

static lscm_dataset *open_npz(const char *path)
{
    lscm_dataset *data = NULL;
    lscm_error why;
    assert_ok(dataset_new(&data, path, "NPZ", &why));
    assert_ok(npz_open(data, &why));
    assert_ok(dataset_check_shapes(data, false, &why));
    return data;
}

static lscm_status write_npz(const lscm_dataset *data, const char *path,
                             const lscm_progress *progress, lscm_error *why)
{
    meter m = meter_over(data, progress, "writing test.npz");
    return npz_write(data, path, &m, why);
}

static void every_type_comes_back(void **state)
{
    static const dtype masks[] = {DTYPE_BOOL, DTYPE_UINT8, DTYPE_INT64, DTYPE_FLOAT32,
                                  DTYPE_FLOAT64};
    (void)state;
    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        char path[300];
        lscm_error why;
        lscm_dataset *data =
            full_data(EVERY_TYPE[i], masks[i % 5], i % 2 == 0 ? DTYPE_INT64 : DTYPE_UINT8);
        assert_ok(write_npz(data, scratch_path(path, "a.npz"), NULL, &why));
        lscm_dataset *back = open_npz(path);
        assert_same_data(data, back);
        lscm_dataset_free(back);
        lscm_dataset_free(data);
    }
}

static void optional_parts_may_lack(void **state)
{
    char path[300];
    lscm_error why;
    lscm_dataset *data = made_new();
    (void)state;
    (void)made_field(data, LSCM_X, DTYPE_FLOAT32, 4, 6, 0, 0);
    (void)made_field(data, LSCM_TARGETS, DTYPE_UINT8, 4, 2, 0, 0);
    assert_ok(write_npz(data, scratch_path(path, "few.npz"), NULL, &why));
    lscm_dataset *back = open_npz(path);
    assert_same_data(data, back);
    lscm_dataset_free(back);
    lscm_dataset_free(data);
}

static void the_same_data_give_the_same_bytes(void **state)
{
    char path[2][300];
    lscm_error why;
    struct zip_stat about;
    lscm_dataset *data = full_data(DTYPE_FLOAT64, DTYPE_UINT8, DTYPE_INT64);
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_ok(write_npz(data, scratch_path(path[i], i == 0 ? "1.npz" : "2.npz"), NULL, &why));
    }
    zip_t *zip = zip_open(path[0], ZIP_RDONLY | ZIP_CHECKCONS, NULL);
    assert_non_null(zip);
    for (zip_uint64_t i = 0; i < 10; i++) {
        assert_int_equal(zip_stat_index(zip, i, 0, &about), 0);
        assert_int_equal(about.comp_method, ZIP_CM_STORE);
    }
    zip_discard(zip);
    FILE *one = fopen(path[0], "rb");
    FILE *two = fopen(path[1], "rb");
    int byte = 0;
    while (byte != EOF) {
        byte = fgetc(one);
        assert_int_equal(byte, fgetc(two));
    }
    (void)fclose(one);
    (void)fclose(two);
    lscm_dataset_free(data);
}

/* ---- Entries as others write them ---- */

typedef struct entry {
    const char *name;
    unsigned char bytes[4096];
    size_t size;
} entry;

static void make_zip(const char *path, const entry *entries, size_t count, zip_int32_t method)
{
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    assert_non_null(zip);
    for (size_t i = 0; i < count; i++) {
        zip_source_t *source = zip_source_buffer(zip, entries[i].bytes, entries[i].size, 0);
        zip_int64_t index = zip_file_add(zip, entries[i].name, source, 0);
        assert_int_equal(index, i);
        assert_int_equal(zip_set_file_compression(zip, (zip_uint64_t)index, method, 9), 0);
    }
    assert_int_equal(zip_close(zip), 0);
}

/* x (30, 3) with x[r][c] = 100 r + c as int16, in either order and endianness; targets zeros. */
static void make_foreign(const char *path, bool fortran, bool big, zip_int32_t method)
{
    entry entries[3] = {{.name = "x.npy"}, {.name = "targets.npy"}, {.name = "pickled.npy"}};
    char head[200];
    (void)snprintf(head, sizeof head, "{'descr': '%ci2', 'fortran_order': %s, 'shape': (30, 3)}",
                   big ? '>' : '<', fortran ? "True" : "False");
    entries[0].size = npy_head(entries[0].bytes, 2, head);
    for (size_t i = 0; i < 90; i++) {
        size_t r = fortran ? i % 30 : i / 3;
        size_t c = fortran ? i / 30 : i % 3;
        unsigned value = (unsigned)(100 * r + c);
        unsigned char *at = entries[0].bytes + entries[0].size;
        at[big ? 1 : 0] = (unsigned char)(value & 0xff);
        at[big ? 0 : 1] = (unsigned char)(value >> 8);
        entries[0].size += 2;
    }
    entries[1].size =
        npy_head(entries[1].bytes, 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (30, 2)}");
    entries[1].size += 60;
    entries[2].size =
        npy_head(entries[2].bytes, 1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}");
    entries[2].size += 10; /* an unknown key: nobody looks */
    make_zip(path, entries, 3, method);
}

static void foreign_layouts_are_read_in_any_order(void **state)
{
    static const size_t walk[][2] = {{0, 10}, {10, 10}, {20, 10}, {5, 20}, {0, 30}, {29, 1}};
    (void)state;
    for (int flags = 0; flags < 8; flags++) {
        char path[300];
        int16_t rows[90];
        lscm_error why;
        make_foreign(scratch_path(path, "foreign.npz"), (flags & 1) != 0, (flags & 2) != 0,
                     (flags & 4) != 0 ? ZIP_CM_DEFLATE : ZIP_CM_STORE);
        lscm_dataset *data = open_npz(path);
        assert_int_equal(data->shape[LSCM_X].type, DTYPE_INT16);
        for (size_t k = 0; k < sizeof walk / sizeof walk[0]; k++) {
            assert_ok(dataset_read_raw(data, LSCM_X, walk[k][0], walk[k][1], rows, &why));
            for (size_t i = 0; i < 3 * walk[k][1]; i++) {
                assert_int_equal(rows[i], 100 * (walk[k][0] + i / 3) + i % 3);
            }
        }
        lscm_dataset_free(data);
    }
}

/* Forward needs no disk; going back, or Fortran order, inflates into TMPDIR. */
static void inflating_to_disk_needs_room(void **state)
{
    static const char *const folders[] = {"/proc", "/nonexistent"}; /* full, as disks go; missing */
    char path[300];
    int16_t rows[90];
    lscm_error why;
    const char *before = getenv("TMPDIR");
    char *kept = before != NULL ? strdup(before) : NULL;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(setenv("TMPDIR", folders[i], 1), 0);
        make_foreign(scratch_path(path, "room.npz"), false, false, ZIP_CM_DEFLATE);
        lscm_dataset *data = open_npz(path);
        assert_ok(dataset_read_raw(data, LSCM_X, 0, 10, rows, &why));
        assert_ok(dataset_read_raw(data, LSCM_X, 15, 15, rows, &why));
        assert_int_equal(rows[0], 1500);
        assert_fails(dataset_read_raw(data, LSCM_X, 0, 1, rows, &why), LSCM_READ, "set TMPDIR");
        assert_non_null(strstr(why.text, i == 0 ? "only 0.0 MB are free in /proc" : "No such"));
        lscm_dataset_free(data);
        make_foreign(path, true, false, ZIP_CM_DEFLATE);
        data = open_npz(path);
        assert_fails(dataset_read_raw(data, LSCM_X, 0, 1, rows, &why), LSCM_READ, "set TMPDIR");
        lscm_dataset_free(data);
    }
    assert_int_equal(kept != NULL ? setenv("TMPDIR", kept, 1) : unsetenv("TMPDIR"), 0);
    free(kept);
}

/* ---- Named arrays as double ---- */

static void arrays_are_read_by_name(void **state)
{
    char path[300];
    lscm_error why;
    npz_file *file = NULL;
    array_shape shape;
    double *whole = NULL;
    double rows[9];
    (void)state;
    make_foreign(scratch_path(path, "named.npz"), true, true, ZIP_CM_DEFLATE);
    assert_ok(npz_file_open(&file, path, &why));
    assert_ok(npz_file_shape(file, "x", &shape, &why));
    assert_true(shape.present && shape.ndim == 2 && shape.dims[0] == 30 && shape.dims[1] == 3);
    assert_ok(npz_file_rows_double(file, "x", 7, 3, rows, &why));
    for (size_t i = 0; i < 9; i++) {
        size_t expected = 700 + 100 * (i / 3) + i % 3;
        assert_near(rows[i], (double)expected, 0);
    }
    assert_ok(npz_file_read_double(file, "x", &whole, &shape, &why));
    for (size_t i = 0; i < 90; i++) {
        size_t expected = 100 * (i / 3) + i % 3;
        assert_near(whole[i], (double)expected, 0);
    }
    free(whole);
    assert_ok(npz_file_read_double(file, "z", &whole, &shape, &why));
    assert_true(whole == NULL && !shape.present);
    assert_fails(npz_file_rows_double(file, "z", 0, 1, rows, &why), LSCM_MISSING, "no 'z'");
    assert_fails(npz_file_shape(file, "pickled", &shape, &why), LSCM_FORMAT, "pickle");
    assert_fails(npz_file_rows_double(file, "x", 29, 2, rows, &why), LSCM_USAGE, "30 rows");
    npz_file_close(file);
    npz_file_close(NULL);
}

static void a_single_number_is_one_row(void **state)
{
    char path[300];
    lscm_error why;
    npz_file *file = NULL;
    array_shape shape;
    double *number = NULL;
    entry one = {.name = "s.npy"};
    (void)state;
    one.size = npy_head(one.bytes, 1, "{'descr': '|i1', 'fortran_order': True, 'shape': ()}");
    one.bytes[one.size++] = 0xfe;
    make_zip(scratch_path(path, "one.npz"), &one, 1, ZIP_CM_STORE);
    assert_ok(npz_file_open(&file, path, &why));
    assert_ok(npz_file_read_double(file, "s", &number, &shape, &why));
    assert_near(number[0], -2, 0);
    free(number);
    npz_file_close(file);
}

/* ---- Failing while writing ---- */

static bool stop(void *self, const char *what, uint64_t done, uint64_t total)
{
    (void)self;
    (void)what;
    return done * 2 < total;
}

static void failures_in_the_middle_are_told(void **state)
{
    char path[300];
    lscm_error why;
    lscm_progress progress = {stop, NULL};
    lscm_dataset *data = made_new();
    double *x = made_field(data, LSCM_X, DTYPE_FLOAT64, 40000, 6, 0, 0);
    (void)state;
    (void)made_field(data, LSCM_TARGETS, DTYPE_UINT8, 40000, 2, 0, 0);
    scratch_path(path, "failed.npz");
    assert_fails(write_npz(data, path, &progress, &why), LSCM_STOPPED, "stopped");
    x[6 * 30001 + 2] = INFINITY;
    assert_fails(write_npz(data, path, NULL, &why), LSCM_VALUE, "30001");
    x[6 * 30001 + 2] = 0;
    data->recipe = strdup("\xff");
    assert_fails(write_npz(data, path, NULL, &why), LSCM_VALUE, "UTF-8");
    data->recipe[0] = '\0';
    assert_int_equal(access(path, F_OK), -1);
    assert_fails(write_npz(data, "/nonexistent/a.npz", NULL, &why), LSCM_WRITE, "No such file");
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    struct rlimit small = {1 << 20, limit.rlim_max};
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    lscm_status status = write_npz(data, path, NULL, &why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    (void)signal(SIGXFSZ, before);
    assert_int_equal(status, LSCM_WRITE);
    assert_non_null(strstr(why.text, "writing test.npz: File too large"));
    assert_int_equal(access(path, F_OK), -1);
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_comes_back),
        cmocka_unit_test(optional_parts_may_lack),
        cmocka_unit_test(the_same_data_give_the_same_bytes),
        cmocka_unit_test(foreign_layouts_are_read_in_any_order),
        cmocka_unit_test(inflating_to_disk_needs_room),
        cmocka_unit_test(arrays_are_read_by_name),
        cmocka_unit_test(a_single_number_is_one_row),
        cmocka_unit_test(failures_in_the_middle_are_told),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
