/* BIOLS folders: what we write reads back bit for bit, the derived files are what their definitions
 * say, and folders as the public code writes them are read. */
#include "npy_testing.h"

#include "data/npy/npy.h"

#include "lcg.h"
#include "read_all.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void clear(const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry = dir != NULL ? readdir(dir) : NULL; entry != NULL;
         entry = readdir(dir)) {
        char path[600];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)unlink(path);
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    (void)rmdir(folder);
}

/* An empty folder. */
static char *fresh(char *path)
{
    clear(scratch_path(path, "folder"));
    assert_int_equal(mkdir(path, 0777), 0);
    return path;
}

static int remove_all(void **state)
{
    char path[300];
    clear(scratch_path(path, "folder"));
    return scratch_remove(state);
}

static lscm_status write_folder(const lscm_dataset *data, const char *path,
                                const lscm_progress *progress, lscm_error *why)
{
    meter m = meter_over(data, progress, "writing folder");
    return folder_write(data, path, &m, why);
}

static lscm_status open_folder(lscm_dataset **data, const char *path, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(dataset_new(data, path, "BIOLS folder", why));
    TRY(folder_open(*data, why));
    TRY(dataset_check_shapes(*data, false, why));
done:
    return status;
}

static void everything_comes_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        char path[300];
        lscm_error why;
        lscm_dataset *back = NULL;
        lscm_dataset *data =
            full_data(EVERY_TYPE[i], DTYPE_BOOL, i % 2 == 0 ? DTYPE_INT64 : DTYPE_UINT8);
        assert_ok(write_folder(data, fresh(path), NULL, &why));
        assert_ok(open_folder(&back, path, &why));
        assert_same_data(data, back);
        lscm_dataset_free(back);
        lscm_dataset_free(data);
    }
}

/* A file of the folder as double, with its shape checked. */
static double *load(const char *folder, const char *name, dtype type, size_t rows, size_t cols)
{
    char path[600];
    byte_source *source = NULL;
    npy_array *array = NULL;
    lscm_error why;
    double *out = malloc(rows * cols * sizeof *out);
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(byte_source_file(&source, path, name, &why));
    assert_ok(npy_array_open(&array, source, &why));
    assert_int_equal(array->header.shape.type, type);
    assert_int_equal(array->header.shape.ndim, 2);
    assert_int_equal(array->header.shape.dims[0], rows);
    assert_int_equal(array->header.shape.dims[1], cols);
    assert_ok(npy_array_rows_double(array, 0, rows, out, &why));
    npy_array_close(array);
    return out;
}

enum { DERIVED_ROWS = 60000, DERIVED_D = 4 };

/* Random targets, values, z and weights w along an order. */
static lscm_dataset *make_truth(size_t *order)
{
    lcg random = {5};
    lscm_dataset *data = made_new();
    (void)made_field(data, LSCM_X, DTYPE_UINT8, DERIVED_ROWS, DERIVED_D, 0, 0);
    uint8_t *targets = made_field(data, LSCM_TARGETS, DTYPE_UINT8, DERIVED_ROWS, DERIVED_D, 0, 0);
    double *values = made_field(data, LSCM_VALUES, DTYPE_FLOAT64, DERIVED_ROWS, DERIVED_D, 0, 0);
    double *z = made_field(data, LSCM_Z, DTYPE_FLOAT64, DERIVED_ROWS, DERIVED_D, 0, 0);
    double *w = made_field(data, LSCM_W, DTYPE_FLOAT64, DERIVED_D, DERIVED_D, 0, 0);
    int32_t *kept = made_field(data, LSCM_ORDER, DTYPE_INT32, DERIVED_D, 0, 0, 0);
    lcg_weights(&random, DERIVED_D, 0.8, order, w);
    for (size_t k = 0; k < DERIVED_D; k++) {
        kept[k] = (int32_t)order[k];
    }
    for (size_t i = 0; i < (size_t)DERIVED_ROWS * DERIVED_D; i++) {
        targets[i] = lcg_uniform(&random) < 0.4;
        values[i] = targets[i] == 1 ? lcg_normal(&random) : NAN; /* nobody reads it off target */
        z[i] = lcg_normal(&random);
    }
    return data;
}

/* L = P^T W^T P by the two products. */
static void check_weights(const char *path, const size_t *order, const double *w)
{
    enum { D = DERIVED_D };
    double half[D * D] = {0};
    double product[D * D] = {0};
    double *p = load(path, "perm.npy", DTYPE_INT32, D, D);
    double *lower = load(path, "edge_weights.npy", DTYPE_FLOAT64, D, D);
    for (size_t i = 0; i < (size_t)D * D * D; i++) {
        size_t a = i / (D * D);
        size_t b = i / D % D;
        half[a * D + b] += p[i % D * D + a] * w[b * D + i % D]; /* P^T W^T */
    }
    for (size_t i = 0; i < (size_t)D * D * D; i++) {
        product[i / D] += half[i / (D * D) * D + i % D] * p[i % D * D + i / D % D];
    }
    for (size_t i = 0; i < (size_t)D * D; i++) {
        assert_near(p[i], order[i % D] == i / D ? 1 : 0, 0);
        assert_near(lower[i], product[i], 0);
        assert_true(i % D < i / D || lower[i] == 0);
    }
    free(p);
    free(lower);
}

/* Every row of nodes and noise by its definition. */
static void derived_files_follow_their_definitions(void **state)
{
    enum { ROWS = DERIVED_ROWS, D = DERIVED_D };
    char path[300];
    lscm_error why;
    size_t order[D];
    (void)state;
    lscm_dataset *data = make_truth(order);
    double *w = read_all(data, LSCM_W, NULL);
    double *targets = read_all(data, LSCM_TARGETS, NULL);
    double *values = read_all(data, LSCM_VALUES, NULL);
    double *z = read_all(data, LSCM_Z, NULL);
    assert_ok(write_folder(data, fresh(path), NULL, &why));
    check_weights(path, order, w);
    double *nodes = load(path, "interv_nodes.npy", DTYPE_INT64, ROWS, D);
    double *noise = load(path, "interv_noise.npy", DTYPE_FLOAT64, ROWS, D);
    for (size_t r = 0; r < ROWS; r++) {
        size_t found = 0;
        for (size_t i = r * D; i < (r + 1) * D; i++) {
            assert_near(noise[i], targets[i] == 1 ? z[i] - values[i] : 0, 0);
            if (targets[i] == 1) {
                assert_near(nodes[r * D + found++], (double)(i % D), 0);
            }
        }
        while (found < D) {
            assert_near(nodes[r * D + found++], D, 0);
        }
    }
    double *all[] = {w, targets, values, z, nodes, noise};
    for (size_t k = 0; k < 6; k++) {
        free(all[k]);
    }
    lscm_dataset_free(data);
}

/* ---- Folders of others ---- */

static void put(const char *folder, const char *name, const char *head, const void *data,
                size_t bytes)
{
    char path[600];
    unsigned char file[2000] = {0};
    size_t size = npy_head(file, 1, head);
    if (data != NULL) {
        memcpy(file + size, data, bytes);
    }
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    scratch_write(path, (char *)file, size + bytes);
}

#define SHAPED(descr, shape) "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape "}"

/* Four pictures and a mask of three nodes. */
static void put_data(const char *folder)
{
    put(folder, "x_samples.npy", SHAPED("|u1", "(4, 2, 3, 1)"), NULL, 24);
    put(folder, "interv_targets.npy", SHAPED("|b1", "(4, 3)"), NULL, 12);
}

static void public_folders_are_read(void **state)
{
    static const uint8_t p[9] = {0, 1, 0, /**/ 0, 0, 1, /**/ 1, 0, 0}; /* [node][position] */
    static const double w[9] = {0, 2, 0, /**/ 0, 0, 0, /**/ 3, 0, 0};
    char path[300];
    lscm_error why;
    lscm_dataset *data = NULL;
    double order[3];
    (void)state;
    put_data(fresh(path));
    put(path, "perm.npy", SHAPED("|b1", "(3, 3)"), p, 9);
    put(path, "weighted_adjacency.npy", SHAPED("=f8", "(3, 3)"), w, sizeof w);
    put(path, "artifact_metadata.npy", SHAPED("|O", "()"), NULL, 50); /* a pickle: left alone */
    assert_ok(open_folder(&data, path, &why));
    assert_int_equal(data->rows, 4);
    assert_int_equal(data->nodes, 3);
    assert_int_equal(lscm_dataset_features(data), 6);
    assert_false(data->shape[LSCM_SIGMA].present || data->shape[LSCM_Z].present);
    assert_int_equal(data->shape[LSCM_ORDER].type, DTYPE_INT64); /* bool cannot count */
    assert_ok(lscm_dataset_read(data, LSCM_ORDER, 0, 3, order, &why));
    assert_true(order[0] == 2 && order[1] == 0 && order[2] == 1);
    lscm_dataset_free(data);
}

static void bad_folders_are_refused(void **state)
{
    static const double two[9] = {0, 1, 0, 0, 1, 0, 1, 0, 0};
    static const double part[9] = {0.5, 0.5, 0, 0, 0, 1, 1, 0, 0};
    static const double hole[9] = {0, 1, 0, 0, 0, NAN, 1, 0, 0};
    static const struct {
        const char *name, *head;
        const void *data;
        size_t bytes;
        const char *part;
    } table[] = {
        {"perm.npy", SHAPED("=f8", "(3, 3)"), two, 72, "'perm.npy' is not a permutation"},
        {"perm.npy", SHAPED("=f8", "(3, 3)"), part, 72, "is not a permutation"},
        {"perm.npy", SHAPED("=f8", "(3, 3)"), hole, 72, "is not a permutation"},
        {"perm.npy", SHAPED("=f8", "(9,)"), two, 72, "must have shape (3, 3)"},
        {"perm.npy", SHAPED("|S1", "(3, 3)"), NULL, 9, "'perm.npy' holds text"},
        {"x_samples.npy", SHAPED("|O", "(4, 6)"), NULL, 24, "'x_samples.npy' holds Python objects"},
        {"z_samples.npy", SHAPED("=f8", "(4, 3)"), NULL, 95, "'z_samples.npy' is truncated"},
        {"gt_sigmas.npy", SHAPED("=f8", "()"), two, 8, "single number"},
    };
    char path[300];
    lscm_error why;
    lscm_dataset *data = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        put_data(fresh(path));
        put(path, table[i].name, table[i].head, table[i].data, table[i].bytes);
        assert_int_not_equal(open_folder(&data, path, &why), LSCM_OK);
        if (strstr(why.text, table[i].part) == NULL) {
            fail_msg("%s: %s", table[i].name, why.text);
        }
        lscm_dataset_free(data);
    }
    assert_fails(open_folder(&data, fresh(path), &why), LSCM_MISSING, "no x_samples.npy");
    lscm_dataset_free(data);
    char pipe[600];
    put_data(path);
    (void)snprintf(pipe, sizeof pipe, "%s/z_samples.npy", path);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_fails(open_folder(&data, path, &why), LSCM_READ, "'z_samples.npy' is not a regular");
    lscm_dataset_free(data);
    put_data(fresh(path));
    (void)snprintf(pipe, sizeof pipe, "%s/recipe.json", path);
    scratch_write(pipe, "{\"a\": \"\xff\"}", 11);
    assert_fails(open_folder(&data, path, &why), LSCM_FORMAT, "'recipe.json' is not UTF-8");
    lscm_dataset_free(data);
}

/* ---- Failing while writing ---- */

static bool stop_at_the_end(void *self, const char *what, uint64_t done, uint64_t total)
{
    (void)self;
    (void)what;
    return done < total;
}

static void failures_in_the_middle_are_told(void **state)
{
    char path[300];
    lscm_error why;
    lscm_progress progress = {stop_at_the_end, NULL};
    lscm_dataset *data = full_data(DTYPE_FLOAT32, DTYPE_UINT8, DTYPE_INT64);
    (void)state;
    assert_fails(write_folder(data, fresh(path), &progress, &why), LSCM_STOPPED, "stopped");
    assert_fails(write_folder(data, "/nonexistent", NULL, &why), LSCM_WRITE, "No such file");
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    struct rlimit small = {600, limit.rlim_max};
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    lscm_status status = write_folder(data, fresh(path), NULL, &why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    (void)signal(SIGXFSZ, before);
    assert_int_equal(status, LSCM_WRITE);
    assert_non_null(strstr(why.text, "writing folder: File too large"));
    lscm_dataset_free(data);
}

static void numbers_are_stored_in_every_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        dtype type = EVERY_TYPE[i];
        size_t most = type_counts_to(type) < 5000 ? type_counts_to(type) : 5000;
        for (size_t value = 0; value <= most; value++) {
            char raw[24] = {0};
            double back[3];
            type_store(type, raw, 1, value);
            dtype_to_double(type, raw, 3, back);
            assert_true(back[0] == 0 && back[1] == (double)value && back[2] == 0);
        }
    }
    assert_int_equal(type_counts_to(DTYPE_INT8), 127);
    assert_int_equal(type_counts_to(DTYPE_UINT16), 65535);
    assert_int_equal(type_counts_to(DTYPE_INT64), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_comes_back),
        cmocka_unit_test(derived_files_follow_their_definitions),
        cmocka_unit_test(public_folders_are_read),
        cmocka_unit_test(bad_folders_are_refused),
        cmocka_unit_test(failures_in_the_middle_are_told),
        cmocka_unit_test(numbers_are_stored_in_every_type),
    };
    return cmocka_run_group_tests(tests, scratch_make, remove_all);
}
