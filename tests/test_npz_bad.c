/* NPZ files that are damaged or mean harm: each is refused with a sentence that says what is wrong.
 * Zip files are made whole and then changed in their bytes. */
#include "npy_testing.h"

#include <sys/stat.h>
#include <zip.h>

#define X_HEAD "{'descr': '|u1', 'fortran_order': False, 'shape': (20, 50)}"

enum { DATA = 1000 }; /* bytes of x */

/* Adds NPY bytes with `data` bytes of content behind the header. */
static void add(zip_t *zip, const char *name, const char *head, size_t data, zip_int32_t method)
{
    unsigned char *bytes = calloc(400 + data, 1); /* libzip frees it */
    size_t size = npy_head(bytes, 1, head);
    for (size_t i = 0; i < data; i++) {
        bytes[size + i] = (unsigned char)(i * i % 251 & 1);
    }
    zip_int64_t index = zip_file_add(zip, name, zip_source_buffer(zip, bytes, size + data, 1), 0);
    assert_true(index >= 0);
    assert_int_equal(zip_set_file_compression(zip, (zip_uint64_t)index, method, 9), 0);
}

/* x and targets; x may have another name, header or size than it should. */
static char *make(char *path, const char *name, const char *head, size_t data, zip_int32_t method)
{
    zip_t *zip = zip_open(scratch_path(path, "bad.npz"), ZIP_CREATE | ZIP_TRUNCATE, NULL);
    assert_non_null(zip);
    add(zip, name, head, data, method);
    add(zip, "targets.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (20, 3)}", 60,
        ZIP_CM_STORE);
    assert_int_equal(zip_close(zip), 0);
    return path;
}

/* Opens and reads everything. */
static lscm_status read_all(const char *path, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_dataset *data = NULL;
    char rows[2 * DATA];
    TRY(dataset_new(&data, path, "NPZ", why));
    TRY(npz_open(data, why));
    TRY(dataset_check_shapes(data, false, why));
    TRY(dataset_read_raw(data, LSCM_X, 0, 7, rows, why));
    TRY(dataset_read_raw(data, LSCM_X, 7, data->rows - 7, rows, why));
    TRY(dataset_read_raw(data, LSCM_TARGETS, 0, data->rows, rows, why));
done:
    lscm_dataset_free(data);
    return status;
}

typedef struct patch {
    unsigned char *bytes;
    size_t size;
    unsigned char *central; /* the directory's record of the first entry */
} patch;

static patch load(const char *path)
{
    struct stat about;
    patch p = {0};
    assert_int_equal(stat(path, &about), 0);
    p.size = (size_t)about.st_size;
    p.bytes = (unsigned char *)scratch_read_text(path);
    for (size_t i = 0; i + 4 < p.size && p.central == NULL; i++) {
        p.central = memcmp(p.bytes + i, "PK\1\2", 4) == 0 ? p.bytes + i : NULL;
    }
    assert_non_null(p.central);
    return p;
}

static void store(const char *path, patch *p)
{
    scratch_write(path, (char *)p->bytes, p->size);
    free(p->bytes);
}

static void put32(unsigned char *at, uint32_t value)
{
    for (int k = 0; k < 4; k++) {
        at[k] = (unsigned char)(value >> 8 * k);
    }
}

static uint32_t get32(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void the_whole_one_is_fine(void **state)
{
    char path[300];
    lscm_error why;
    (void)state;
    assert_ok(read_all(make(path, "x.npy", X_HEAD, DATA, ZIP_CM_STORE), &why));
    assert_ok(read_all(make(path, "x.npy", X_HEAD, DATA, ZIP_CM_DEFLATE), &why));
}

static void names_with_paths_are_refused(void **state)
{
    static const char *const names[] = {"../x.npy", "/x.npy", "a/x.npy", "a\\x.npy",
                                        "c:x.npy",  "..",     "x..npy",  "sub/"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[300];
        lscm_error why;
        make(path, names[i], X_HEAD, DATA, ZIP_CM_STORE);
        assert_fails(read_all(path, &why), LSCM_FORMAT, "has a path in its name");
        assert_non_null(strstr(why.text, names[i]));
    }
}

static void a_name_may_not_be_there_twice(void **state)
{
    char path[300];
    lscm_error why;
    (void)state;
    patch p = load(make(path, "targetz.npy", X_HEAD, DATA, ZIP_CM_STORE));
    p.central[46 + 6] = 's';
    store(path, &p);
    assert_fails(read_all(path, &why), LSCM_FORMAT, "'targets.npy' is there twice");
}

static void names_cannot_disturb_a_terminal(void **state)
{
    char path[300];
    lscm_error why;
    (void)state;
    make(path, "\x1b[2J/x", X_HEAD, DATA, ZIP_CM_STORE);
    assert_fails(read_all(path, &why), LSCM_FORMAT, "?[2J/x'");
}

static void sizes_must_agree_with_the_header(void **state)
{
    char path[300];
    lscm_error why;
    (void)state;
    for (int deflate = 0; deflate < 2; deflate++) {
        zip_int32_t method = deflate == 1 ? ZIP_CM_DEFLATE : ZIP_CM_STORE;
        assert_fails(read_all(make(path, "x.npy", X_HEAD, DATA - 1, method), &why), LSCM_FORMAT,
                     "truncated: its shape needs 1000 bytes but only 999");
        assert_fails(read_all(make(path, "x.npy", X_HEAD, DATA + 1, method), &why), LSCM_FORMAT,
                     "1 bytes more");
    }
    /* a few bytes that claim to be petabytes */
    assert_fails(read_all(make(path, "x.npy",
                               "{'descr': '<f8', 'fortran_order': False, 'shape': "
                               "(1000000000, 1000000)}",
                               DATA, ZIP_CM_DEFLATE),
                          &why),
                 LSCM_FORMAT, "truncated");
}

/* The directory agrees with the header but the packed stream with neither. */
static void streams_of_another_length_are_refused(void **state)
{
    char path[300];
    lscm_error why;
    (void)state;
    patch p = load(make(path, "x.npy", X_HEAD, DATA - 10, ZIP_CM_DEFLATE));
    put32(p.central + 24, get32(p.central + 24) + 10);
    store(path, &p);
    assert_fails(read_all(path, &why), LSCM_READ, "ends before its last byte");
    p = load(make(path, "x.npy", X_HEAD, DATA + 10, ZIP_CM_DEFLATE));
    put32(p.central + 24, get32(p.central + 24) - 10);
    store(path, &p);
    assert_fails(read_all(path, &why), LSCM_FORMAT, "longer than the zip directory says");
    p = load(make(path, "x.npy", X_HEAD, DATA, ZIP_CM_DEFLATE)); /* packed bytes cut off */
    put32(p.central + 20, get32(p.central + 20) - 20);
    store(path, &p);
    assert_int_not_equal(read_all(path, &why), LSCM_OK);
    p = load(make(path, "x.npy", X_HEAD, DATA, ZIP_CM_STORE));
    put32(p.central + 20, get32(p.central + 20) + 1);
    store(path, &p);
    assert_fails(read_all(path, &why), LSCM_FORMAT, "sizes disagree");
}

static void changed_bytes_break_the_checksum(void **state)
{
    char path[300];
    lscm_error why;
    (void)state;
    patch p = load(make(path, "x.npy", X_HEAD, DATA, ZIP_CM_STORE));
    p.bytes[600] ^= 1;
    store(path, &p);
    assert_fails(read_all(path, &why), LSCM_FORMAT, "checksum is wrong");
    p = load(make(path, "x.npy", X_HEAD, DATA, ZIP_CM_DEFLATE));
    put32(p.central + 16, get32(p.central + 16) ^ 1);
    store(path, &p);
    assert_fails(read_all(path, &why), LSCM_FORMAT, "checksum is wrong");
    for (size_t at = 45; at < 120; at++) { /* anywhere in the packed stream: never a crash */
        p = load(make(path, "x.npy", X_HEAD, DATA, ZIP_CM_DEFLATE));
        p.bytes[at] ^= 0x55;
        store(path, &p);
        assert_int_not_equal(read_all(path, &why), LSCM_OK);
    }
}

static void encryption_and_other_methods_are_refused(void **state)
{
    char path[300];
    lscm_error why;
    (void)state;
    patch p = load(make(path, "x.npy", X_HEAD, DATA, ZIP_CM_STORE));
    p.central[8] |= 1;
    store(path, &p);
    assert_fails(read_all(path, &why), LSCM_FORMAT, "'x' is encrypted");
    p = load(make(path, "x.npy", X_HEAD, DATA, ZIP_CM_STORE));
    p.central[10] = 12; /* bzip2 */
    store(path, &p);
    assert_fails(read_all(path, &why), LSCM_FORMAT, "method 12");
}

static void cut_files_are_refused(void **state)
{
    char path[300];
    lscm_error why;
    (void)state;
    patch whole = load(make(path, "x.npy", X_HEAD, DATA, ZIP_CM_DEFLATE));
    for (size_t size = 0; size < whole.size; size += 1 + size / 20) {
        scratch_write(path, (char *)whole.bytes, size);
        assert_int_equal(read_all(path, &why), LSCM_FORMAT);
    }
    scratch_write(path, "", 0);
    assert_fails(read_all(path, &why), LSCM_FORMAT, "is empty");
    scratch_write_text(path, "not a zip file at all, but longer than the smallest one");
    assert_fails(read_all(path, &why), LSCM_FORMAT, "is not an NPZ (zip) file");
    free(whole.bytes);
    assert_fails(read_all("/nonexistent.npz", &why), LSCM_MISSING, "/nonexistent.npz: No such");
    assert_fails(read_all("/dev/null", &why), LSCM_READ, "regular file");
    assert_fails(read_all("/", &why), LSCM_READ, "regular file");
}

/* The truth is read into memory: its shape must fit the data before that happens. */
static void the_truth_must_fit(void **state)
{
    static const struct {
        const char *name, *head;
        size_t data;
        const char *part;
    } table[] = {
        {"w.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 4)}", 12,
         "'w' has a dimension of 4 but there are 3 nodes"},
        {"sigma.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (1000000,)}", 1000000,
         "'sigma' has a dimension of 1000000"},
        {"order.npy", "{'descr': '|S3', 'fortran_order': False, 'shape': (3,)}", 9, "holds text"},
        {"z.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': ()}", 1, "single number"},
        {"values.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (0, 3)}", 0,
         "without elements"},
        {"names.npy", "{'descr': '|S1', 'fortran_order': False, 'shape': (2,)}", 2,
         "'names' holds 2 texts but there should be 3"},
        {"features.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (50,)}", 50,
         "list of texts"},
        {"recipe.npy", "{'descr': '|O', 'fortran_order': False, 'shape': ()}", 5, "pickle"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char path[300];
        lscm_error why;
        make(path, "x.npy", X_HEAD, DATA, ZIP_CM_STORE);
        zip_t *zip = zip_open(path, 0, NULL);
        assert_non_null(zip);
        add(zip, table[i].name, table[i].head, table[i].data, ZIP_CM_DEFLATE);
        assert_int_equal(zip_close(zip), 0);
        assert_int_not_equal(read_all(path, &why), LSCM_OK);
        if (strstr(why.text, table[i].part) == NULL) {
            fail_msg("%s: %s", table[i].name, why.text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_one_is_fine),
        cmocka_unit_test(names_with_paths_are_refused),
        cmocka_unit_test(a_name_may_not_be_there_twice),
        cmocka_unit_test(names_cannot_disturb_a_terminal),
        cmocka_unit_test(sizes_must_agree_with_the_header),
        cmocka_unit_test(streams_of_another_length_are_refused),
        cmocka_unit_test(changed_bytes_break_the_checksum),
        cmocka_unit_test(encryption_and_other_methods_are_refused),
        cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(the_truth_must_fit),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
