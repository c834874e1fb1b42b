/* Estimates in NPZ files, written here by hand with libzip, against a data set in memory. */
#include "lcg.h"
#include "testing.h"

#include <unistd.h>
#include <zip.h>

static lscm_error why;
static char path[] = "/tmp/lscm-estimate-XXXXXX";

enum { D = 3, ROWS = 40, FEATURES = 6, DRAWS = 2, LONGEST = 400 };

static const double TRUE_W[D * D] = {0, 1, 0, 0, 0, -2, 0, 0, 0};
static const double TRUE_SIGMA[D] = {1, 0.5, 2};
static double true_x[ROWS * FEATURES];
static double true_z[ROWS * D];
static uint8_t targets[ROWS * D];

typedef struct array {
    const char *name;
    const char *shape; /* "(2, 3, 3)" */
    const double *numbers;
    size_t count;
} array;

/* Magic, version 1.0, length 118, the dictionary padded to 128 bytes, the numbers. */
static size_t npy(const array *a, char *out)
{
    static const unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0};
    char text[118];
    (void)snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }",
                   a->shape);
    memcpy(out, start, sizeof start);
    (void)snprintf(out + 10, 119, "%-117s\n", text);
    memcpy(out + 128, a->numbers, a->count * sizeof *a->numbers);
    return 128 + a->count * sizeof *a->numbers;
}

static void write_npz(const array *arrays, size_t count)
{
    static char bytes[8][128 + LONGEST * sizeof(double)];
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    assert_non_null(zip);
    for (size_t k = 0; k < count; k++) {
        char entry[32];
        (void)snprintf(entry, sizeof entry, "%s.npy", arrays[k].name);
        assert_true(arrays[k].count <= LONGEST);
        zip_source_t *source =
            zip_source_buffer(zip, bytes[k], (zip_uint64_t)npy(&arrays[k], bytes[k]), 0);
        assert_non_null(source);
        assert_true(zip_file_add(zip, entry, source, 0) >= 0);
    }
    assert_int_equal(zip_close(zip), 0);
}

static lscm_dataset *open_truth(bool all)
{
    lscm_dataset *data = NULL;
    lscm_arrays arrays = {.rows = ROWS,
                          .nodes = D,
                          .features = FEATURES,
                          .x = true_x,
                          .targets = targets,
                          .values = true_z,
                          .z = all ? true_z : NULL,
                          .w = TRUE_W,
                          .sigma = all ? TRUE_SIGMA : NULL};
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    return data;
}

static double w[DRAWS * D * D];
static double sigma[DRAWS * D];
static double prob[D * D];
static double z[ROWS * D];
static double x[ROWS * FEATURES];

static int prepare(void **state)
{
    (void)state;
    lcg g = {14};
    int fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0) {
        return -1;
    }
    for (size_t k = 0; k < sizeof w / sizeof *w; k++) {
        w[k] = k % 9 == 1 || k % 9 == 5 ? lcg_normal(&g) : 0;
    }
    for (size_t k = 0; k < sizeof sigma / sizeof *sigma; k++) {
        sigma[k] = 0.5 + lcg_uniform(&g);
    }
    for (size_t k = 0; k < sizeof prob / sizeof *prob; k++) {
        prob[k] = lcg_uniform(&g);
    }
    for (size_t k = 0; k < sizeof z / sizeof *z; k++) {
        true_z[k] = lcg_normal(&g);
        targets[k] = lcg_uniform(&g) < 0.3 ? 1 : 0;
        z[k] = true_z[k] + lcg_normal(&g);
    }
    for (size_t k = 0; k < sizeof x / sizeof *x; k++) {
        true_x[k] = lcg_normal(&g);
        x[k] = true_x[k] + (k % 2 == 0 ? 0.5 : -1.5); /* squares 0.25 and 2.25 */
    }
    return 0;
}

static int tidy(void **state)
{
    (void)state;
    return unlink(path);
}

/* Bit for bit, NaN equal to NaN. */
static void assert_same_scores(const lscm_scores *a, const lscm_scores *b)
{
#define SAME(name, help)                                                                           \
    if (!(a->name == b->name || (isnan(a->name) && isnan(b->name)))) {                             \
        print_error("%s: %.17g is not %.17g\n", #name, a->name, b->name);                          \
        fail();                                                                                    \
    }
    LSCM_SCORES_TABLE(SAME)
#undef SAME
}

static void a_file_scores_as_its_arrays_do(void **state)
{
    (void)state;
    const array arrays[] = {{"w", "(2, 3, 3)", w, 18},        {"sigma", "(2, 3)", sigma, 6},
                            {"edge_prob", "(3, 3)", prob, 9}, {"z", "(40, 3)", z, 120},
                            {"x", "(40, 2, 3)", x, 240}, /* as pictures */
                            {"log_p", "(2,)", w, 2}};    /* not ours to read */
    lscm_estimate estimate = {.draws = DRAWS,
                              .nodes = D,
                              .rows = ROWS,
                              .w = w,
                              .sigma = sigma,
                              .edge_prob = prob,
                              .z = z,
                              .threshold = 0.3};
    lscm_truth truth = {TRUE_W, TRUE_SIGMA, true_z, targets};
    lscm_scores expected;
    lscm_scores s;
    size_t draws = 0;
    lscm_dataset *data = open_truth(true);
    write_npz(arrays, 6);
    assert_ok(lscm_evaluate_file(&s, &draws, path, data, 0.3, &why));
    assert_int_equal(draws, DRAWS);
    assert_near(s.x_mse, 1.25, 1e-14);
    assert_ok(lscm_evaluate(&expected, &estimate, &truth, &why));
    expected.x_mse = s.x_mse;
    assert_same_scores(&s, &expected);
    assert_true(s.kl_z > 0 && s.mcc > 0 && s.mcc_free > 0 && s.mcc_free != s.mcc_named);
    lscm_dataset_free(data);
}

static void one_draw_and_little_else(void **state)
{
    (void)state;
    const array alone[] = {{"w", "(3, 3)", w, 9}};
    const array with_sigma[] = {{"w", "(2, 3, 3)", w, 18}, {"sigma", "(3,)", sigma, 3}};
    lscm_scores s;
    size_t draws = 0;
    lscm_dataset *data = open_truth(true);
    write_npz(alone, 1);
    assert_ok(lscm_evaluate_file(&s, &draws, path, data, 0.3, &why));
    assert_int_equal(draws, 1);
    assert_true(s.e_shd >= 0);
    assert_true(isnan(s.mcc) && isnan(s.kl_z) && isnan(s.x_mse));
    /* one sigma for all draws */
    double both[6];
    memcpy(both, sigma, 3 * sizeof *sigma);
    memcpy(both + 3, sigma, 3 * sizeof *sigma);
    lscm_estimate estimate = {.draws = 2, .nodes = D, .w = w, .sigma = both, .threshold = 0.3};
    lscm_truth truth = {.w = TRUE_W, .sigma = TRUE_SIGMA};
    lscm_scores expected;
    write_npz(with_sigma, 2);
    assert_ok(lscm_evaluate_file(&s, NULL, path, data, 0.3, &why));
    assert_ok(lscm_evaluate(&expected, &estimate, &truth, &why));
    assert_same_scores(&s, &expected);
    lscm_dataset_free(data);
}

/* A truth that is a graph only leaves z and sigma of the estimate without a partner. */
static void a_truth_without_z_and_sigma(void **state)
{
    (void)state;
    const array arrays[] = {
        {"w", "(2, 3, 3)", w, 18}, {"sigma", "(2, 3)", sigma, 6}, {"z", "(40, 3)", z, 120}};
    lscm_scores s;
    lscm_dataset *data = open_truth(false);
    write_npz(arrays, 3);
    assert_ok(lscm_evaluate_file(&s, NULL, path, data, 0.3, &why));
    assert_true(isnan(s.mcc) && isnan(s.kl_z) && isnan(s.x_mse));
    assert_true(s.w_mse > 0);
    lscm_dataset_free(data);
}

static void shapes_that_disagree_are_refused(void **state)
{
    (void)state;
    const array good = {"w", "(2, 3, 3)", w, 18};
    const array bad[] = {
        {"w", "(2, 9)", w, 18},         {"w", "(18,)", w, 18},
        {"w", "(2, 3, 3, 1)", w, 18},   {"w", "(2, 2)", w, 4},
        {"sigma", "(3, 2)", sigma, 6},  {"sigma", "(2,)", sigma, 2},
        {"edge_prob", "(9,)", prob, 9}, {"edge_prob", "(2, 2)", prob, 4},
        {"z", "(30, 3)", z, 90},        {"z", "(30, 4)", z, 120},
        {"x", "(40, 3)", x, 120},       {"x", "(20, 12)", x, 240},
        {"x", "(240,)", x, 240},
    };
    const char *parts[] = {
        "'w' is 2 x 9 but 'w' of memory is 3 x 3",
        "'w' is 18 but",
        "'w' is 2 x 3 x 3 x 1 but",
        "'w' is 2 x 2 but",
        "'sigma' is 3 x 2 but 'w' of memory is 3 x 3; it must be 2 x 3 (draws x d), or 3",
        "'sigma' is 2 but",
        "'edge_prob' is 9 but",
        "'edge_prob' is 2 x 2 but",
        "'z' is 30 x 3 but 'z' of memory is 40 x 3",
        "'z' is 30 x 4 but",
        "'x' is 40 x 3 but 'x' of memory is 40 x 6",
        "'x' is 20 x 12 but",
        "'x' is 240 but",
    };
    lscm_scores s;
    lscm_dataset *data = open_truth(true);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const array both[] = {bad[k], good};
        write_npz(both, strcmp(bad[k].name, "w") == 0 ? 1 : 2);
        assert_fails(lscm_evaluate_file(&s, NULL, path, data, 0.3, &why), LSCM_SHAPE, parts[k]);
        assert_non_null(strstr(why.text, path));
    }
    lscm_dataset_free(data);
}

static void numbers_that_are_not_are_refused(void **state)
{
    (void)state;
    double broken[ROWS * FEATURES];
    const array in_x[] = {{"w", "(2, 3, 3)", w, 18}, {"x", "(40, 6)", broken, 240}};
    const array in_w[] = {{"w", "(2, 3, 3)", broken, 18}};
    const array no_w[] = {{"z", "(40, 3)", z, 120}};
    lscm_scores s;
    lscm_dataset *data = open_truth(true);
    memcpy(broken, x, sizeof broken);
    broken[31 * FEATURES + 4] = NAN;
    write_npz(in_x, 2);
    assert_fails(lscm_evaluate_file(&s, NULL, path, data, 0.3, &why), LSCM_VALUE,
                 "'x' is nan in row 31, column 4");
    memcpy(broken, w, sizeof w);
    broken[9 + 8] = INFINITY;
    write_npz(in_w, 1);
    assert_fails(lscm_evaluate_file(&s, NULL, path, data, 0.3, &why), LSCM_VALUE,
                 "'w' is inf in draw 1, row 2, column 2");
    write_npz(no_w, 1);
    assert_fails(lscm_evaluate_file(&s, NULL, path, data, 0.3, &why), LSCM_MISSING,
                 "there is no 'w'");
    assert_fails(lscm_evaluate_file(&s, NULL, "/nonexistent/run.npz", data, 0.3, &why),
                 LSCM_MISSING, "/nonexistent/run.npz");
    lscm_dataset_free(data);
    lscm_arrays arrays = {.rows = ROWS,
                          .nodes = D,
                          .features = FEATURES,
                          .x = true_x,
                          .targets = targets,
                          .values = true_z};
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    assert_fails(lscm_evaluate_file(&s, NULL, path, data, 0.3, &why), LSCM_MISSING,
                 "memory: there is no true graph");
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_scores_as_its_arrays_do),
        cmocka_unit_test(one_draw_and_little_else),
        cmocka_unit_test(a_truth_without_z_and_sigma),
        cmocka_unit_test(shapes_that_disagree_are_refused),
        cmocka_unit_test(numbers_that_are_not_are_refused),
    };
    return cmocka_run_group_tests(tests, prepare, tidy);
}
