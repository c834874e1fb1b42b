/* Folders of pictures: round trips of 8 and 16 bits that keep every number; the list and what is
 * refused. Single pictures are in test_png_picture.c, more of the bad input in pictures_test.sh. */
#include "data/picture/picture.h"
#include "made.h"

#include "lcg.h"
#include "read_all.h"
#include "testing.h"

#include "home.h"

#include <sys/stat.h>

static lscm_error why;

static void assert_same_field(const lscm_dataset *a, const lscm_dataset *b, lscm_field field)
{
    size_t count[2];
    double *left = read_all(a, field, &count[0]);
    double *right = read_all(b, field, &count[1]);
    assert_int_equal(count[0], count[1]);
    assert_memory_equal(left, right, count[0] * sizeof *left);
    free(left);
    free(right);
}

enum { ROWS = 70, HEIGHT = 5, WIDTH = 7, NODES = 2 };

/* Bits of a sample, as the header says. */
static int depth_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 24, SEEK_SET), 0);
    int depth = getc(file);
    assert_int_equal(fclose(file), 0);
    return depth;
}

/* Two are damaged, then one is missing, while the folder is open and two threads read: the first is
 * named. */
static void read_damaged(const lscm_dataset *data, double *x)
{
    lscm_set_threads(2);
    assert_int_equal(truncate(at("shots.pngs/0051.png"), 60), 0);
    assert_int_equal(truncate(at("shots.pngs/0011.png"), 60), 0);
    assert_fails(lscm_dataset_read(data, LSCM_X, 0, ROWS, x, &why), LSCM_FORMAT,
                 "0011.png: the picture is damaged");
    assert_int_equal(unlink(at("shots.pngs/0007.png")), 0);
    assert_fails(lscm_dataset_read(data, LSCM_X, 0, ROWS, x, &why), LSCM_MISSING,
                 "0007.png: No such file");
}

/* A data set of random pictures, 8 or 16 bits a sample, stored as whole numbers or as shares of the
 * most; shares: the numbers to expect. */
static lscm_dataset *random_pictures(lcg *g, size_t channels, bool eight, bool whole, float *shares)
{
    lscm_dataset *data = made_new();
    dtype type = !whole ? DTYPE_FLOAT32 : eight ? DTYPE_UINT8 : DTYPE_UINT16;
    void *x = made_field(data, LSCM_X, type, ROWS, HEIGHT, WIDTH, channels == 1 ? 0 : channels);
    uint8_t *targets = made_field(data, LSCM_TARGETS, DTYPE_UINT8, ROWS, NODES, 0, 0);
    double *values = made_field(data, LSCM_VALUES, DTYPE_FLOAT64, ROWS, NODES, 0, 0);
    for (size_t i = 0; i < (size_t)ROWS * NODES; i++) {
        targets[i] = lcg_uniform(g) < 0.5 ? 1 : 0;
        values[i] = targets[i] != 0 ? 1000 * lcg_normal(g) : NAN;
    }
    for (size_t i = 0; i < (size_t)ROWS * HEIGHT * WIDTH * channels; i++) {
        unsigned most = eight ? 255 : 65535;
        unsigned sample = i < 2 ? most * (unsigned)i : (unsigned)((most + 1) * lcg_uniform(g));
        shares[i] = (float)(sample / (double)most);
        if (!whole) {
            ((float *)x)[i] = shares[i];
        } else if (eight) {
            ((uint8_t *)x)[i] = (uint8_t)sample;
        } else {
            ((uint16_t *)x)[i] = (uint16_t)sample;
        }
    }
    return data;
}

/* x of the folder (the caller's), which has the pictures of `data`. */
static double *check_pictures(const lscm_dataset *data, const lscm_dataset *back,
                              const float *shares)
{
    lscm_shape shape = lscm_dataset_shape(back, LSCM_X);
    size_t count = 0;
    assert_string_equal(lscm_dataset_format(back), "picture folder");
    assert_int_equal(shape.ndim, lscm_dataset_shape(data, LSCM_X).ndim);
    assert_true(shape.dims[0] == ROWS && shape.dims[1] == HEIGHT && shape.dims[2] == WIDTH);
    assert_string_equal(shape.dtype, "float32");
    assert_null(lscm_dataset_node_name(back, 0));
    double *x = read_all(back, LSCM_X, &count);
    assert_int_equal(count, ROWS * lscm_dataset_features(data));
    for (size_t i = 0; i < count; i++) {
        assert_true(x[i] == (double)shares[i]);
    }
    return x;
}

static void check_labels(const lscm_dataset *data, const lscm_dataset *back)
{
    size_t count = 0;
    double *targets = read_all(data, LSCM_TARGETS, &count);
    double *given = read_all(data, LSCM_VALUES, NULL);
    double *values = read_all(back, LSCM_VALUES, NULL);
    assert_same_field(data, back, LSCM_TARGETS);
    for (size_t i = 0; i < count; i++) {
        assert_true(values[i] == (targets[i] != 0 ? given[i] : 0));
    }
    free(targets);
    free(given);
    free(values);
}

/* Samples of 8 or 16 bits, as whole numbers or as numbers in [0, 1]: all come back. */
static void samples_come_back(void **state)
{
    (void)state;
    static float shares[ROWS * HEIGHT * WIDTH * 3];
    lcg g = {3};
    for (int kind = 0; kind < 8; kind++) {
        bool eight = kind % 4 < 2;
        lscm_dataset *data = random_pictures(&g, kind % 2 == 0 ? 1 : 3, eight, kind < 4, shares);
        lscm_dataset *back = NULL;
        assert_ok(lscm_dataset_save(data, at("shots.pngs"), kind > 0, NULL, &why));
        assert_int_equal(entries(), 1);
        assert_ok(lscm_dataset_open(&back, at("shots.pngs"), NULL, &why));
        double *x = check_pictures(data, back, shares);
        check_labels(data, back);
        assert_int_equal(depth_of(at("shots.pngs/0001.png")), eight ? 8 : 16);
        if (kind == 7) {
            read_damaged(back, x);
        }
        free(x);
        lscm_dataset_free(data);
        lscm_dataset_free(back);
    }
}

/* What simulate writes: truth and recipe too; rows in any block, on any number of threads. */
static void a_simulation_comes_back(void **state)
{
    (void)state;
    lscm_dataset *data = NULL;
    lscm_dataset *back = NULL;
    lscm_simulation s;
    size_t count = 0;
    assert_ok(lscm_simulation_preset(&s, "blobs", 5, &why));
    s.observational = 40;
    s.sets = 4;
    s.per_set = 15;
    assert_ok(lscm_simulate(&data, &s, "blobs", &why));
    assert_ok(lscm_dataset_save(data, at("shots.pngs/"), false, NULL, &why));
    assert_ok(lscm_dataset_open(&back, at("shots.pngs/"), NULL, &why));
    const lscm_field exact[] = {LSCM_TARGETS, LSCM_VALUES, LSCM_Z, LSCM_W, LSCM_SIGMA, LSCM_ORDER};
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        assert_same_field(data, back, exact[i]);
    }
    assert_string_equal(lscm_dataset_recipe(data), lscm_dataset_recipe(back));
    double *x = read_all(data, LSCM_X, &count);
    double *y = read_all(back, LSCM_X, &count);
    for (size_t i = 0; i < count; i++) {
        assert_near(x[i], y[i], 0.5 / 65535 + 1e-7);
    }
    const size_t blocks[][2] = {{99, 1}, {0, 1}, {13, 50}, {12, 3}};
    for (size_t b = 0; b < 4; b++) {
        lscm_set_threads(b % 2 == 0 ? 1 : 2);
        assert_ok(lscm_dataset_read(back, LSCM_X, blocks[b][0], blocks[b][1], x, &why));
        assert_memory_equal(x, y + blocks[b][0] * 2500, blocks[b][1] * 2500 * sizeof *x);
    }
    free(x);
    free(y);
    lscm_dataset_free(data);
    lscm_dataset_free(back);

    /* the list by itself, from elsewhere: the same rows, and no truth */
    assert_ok(lscm_dataset_open(&data, at("shots.pngs/interventions.csv"), NULL, &why));
    assert_ok(lscm_dataset_open(&back, at("shots.pngs"), NULL, &why));
    assert_false(lscm_dataset_shape(data, LSCM_W).present);
    assert_same_field(data, back, LSCM_X);
    lscm_dataset_free(data);
    lscm_dataset_free(back);
}

static void a_list_is_what_it_says(void **state)
{
    (void)state;
    pictures_list list;
    const char *path = at("interventions.csv");
    put(path, "file,raf,time,\"m, k\"\n./a.png,,9:15,\n\"b, c.png\",-1.5e1,,0\nd/e.png,,x,2\n");
    lscm_open_options options = {.ignore = "time"};
    assert_ok(pictures_list_read(&list, path, &options, &why));
    assert_true(list.rows == 3 && list.nodes == 2);
    assert_string_equal(list.names[1], "m, k");
    assert_string_equal(list.files[0], "a.png");
    assert_string_equal(list.files[1], "b, c.png");
    assert_string_equal(list.files[2], "d/e.png");
    assert_memory_equal(list.targets, ((const uint8_t[]){0, 0, 1, 1, 0, 1}), 6);
    assert_memory_equal(list.values, ((const double[]){0, 0, -15, 0, 0, 2}), 6 * sizeof(double));
    assert_true(list.lines[0] == 2 && list.lines[2] == 4);
    pictures_list_close(&list);
    assert_true(pictures_is_list(path, NULL) && pictures_is_list(path, "time"));
    assert_false(pictures_is_list(path, "time,file"));
    assert_false(pictures_is_list(at("none.csv"), NULL));
    /* files in a column of any name, and what was done in two others */
    put(path, "drug,photo,dose,iso\nDMSO,a.JPG,,100\nraf+mek,b.jpeg,1+2,200\nmek,c.png,3,100\n");
    options = (lscm_open_options){.target_column = "drug"};
    assert_true(pictures_is_list(path, NULL));
    assert_false(pictures_is_list(path, "photo"));
    assert_ok(pictures_list_read(&list, path, &options, &why));
    assert_true(list.rows == 3 && list.nodes == 2);
    assert_string_equal(list.names[0], "raf");
    assert_string_equal(list.files[1], "b.jpeg");
    assert_memory_equal(list.targets, ((const uint8_t[]){0, 0, 1, 1, 0, 1}), 6);
    assert_memory_equal(list.values, ((const double[]){0, 0, 1, 2, 0, 3}), 6 * sizeof(double));
    assert_string_equal(list.note, "column 'dose' is taken for the values that do() set; column "
                                   "'iso' is left out");
    pictures_list_close(&list);
    put(path, "file,raf,iso\na.png,,100\nb.png,1,200\n");
    assert_ok(pictures_list_read(&list, path, &(lscm_open_options){0}, &why));
    assert_non_null(strstr(list.note, "node 'iso' is set in every row"));
    pictures_list_close(&list);
    const struct {
        const char *text, *part;
        lscm_status status;
    } bad[] = {
        {"", "line 1 should be 'file' and then", LSCM_FORMAT},
        {"picture,a\nx.gif,1\n", "line 1 should be 'file' and then", LSCM_FORMAT},
        {"file\nx.png\n", "line 1 names no nodes", LSCM_SHAPE},
        {"file,a\n", "lists no pictures", LSCM_SHAPE},
        {"file,a,a\nx.png,1,1\n", "two columns are named 'a'", LSCM_FORMAT},
        {"file,a,target\nx.png,1,b\n", "name it: --value-column a", LSCM_USAGE},
        {"file,knob,turns\nx.png,,\ny.png,left,2\nz.png,left,1\n",
         "is 'knob' the intervention column? --target-column knob", LSCM_VALUE},
        {"file,target,value\nx.png,none,\n", "names no target in any line", LSCM_VALUE},
        {"file,a\nx.png,1,2\n", "line 2 has 3 cells", LSCM_SHAPE},
        {"file,a\nx.png,\n,1\n", "line 3 names no picture", LSCM_VALUE},
        {"file,a\nx.png,\ny.png,high\n", "line 3, column 'a' holds 'high', not a number",
         LSCM_VALUE},
        {"file,a\nx.png,1e999\n", "numbers must be finite", LSCM_VALUE},
        {"file,a\nx.png,nan\n", "line 2, column 'a' has no number ('nan')", LSCM_VALUE},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put(path, bad[i].text);
        assert_fails(pictures_list_read(&list, path, &(lscm_open_options){0}, &why), bad[i].status,
                     bad[i].part);
        pictures_list_close(&list);
    }
}

static void what_does_not_fit_is_not_written(void **state)
{
    (void)state;
    lscm_dataset *data = NULL;
    lscm_simulation s;
    assert_ok(lscm_simulation_preset(&s, "paper-image", 5, &why));
    s.x_noise = 0.1;
    assert_ok(lscm_simulate(&data, &s, NULL, &why));
    assert_fails(lscm_dataset_save(data, at("a.pngs"), false, NULL, &why), LSCM_VALUE,
                 "in row 0, but a picture holds numbers from 0 (black) to 1 (white)");
    lscm_dataset_free(data);
    assert_ok(lscm_simulation_preset(&s, "paper-linear", 5, &why));
    assert_ok(lscm_simulate(&data, &s, NULL, &why));
    assert_fails(lscm_dataset_save(data, at("a.pngs"), false, NULL, &why), LSCM_SHAPE,
                 "holds no pictures");
    lscm_dataset_free(data);
    assert_int_equal(entries(), 0);
}

/* --force replaces what we could have written, never a folder of other pictures. */
static void other_pictures_are_left_alone(void **state)
{
    (void)state;
    lscm_dataset *data = NULL;
    lscm_simulation s;
    assert_ok(lscm_simulation_preset(&s, "paper-image", 5, &why));
    s.observational = 3;
    s.sets = 0;
    assert_ok(lscm_simulate(&data, &s, NULL, &why));
    assert_int_equal(mkdir(at("a.pngs"), 0777), 0);
    put(at("a.pngs/0001.png"), "a photograph");
    assert_fails(lscm_dataset_save(data, at("a.pngs"), true, NULL, &why), LSCM_EXISTS,
                 "'0001.png', which is not part of a data folder");
    put(at("a.pngs/interventions.csv"), "file,a\n0001.png,\n");
    put(at("a.pngs/cat.png"), "a photograph");
    assert_fails(lscm_dataset_save(data, at("a.pngs"), true, NULL, &why), LSCM_EXISTS, "'cat.png'");
    assert_int_equal(unlink(at("a.pngs/cat.png")), 0);
    assert_fails(lscm_dataset_save(data, at("a.pngs"), false, NULL, &why), LSCM_EXISTS, "--force");
    assert_ok(lscm_dataset_save(data, at("a.pngs"), true, NULL, &why));
    assert_int_equal(entries(), 1);
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_AT_HOME(samples_come_back),
        TEST_AT_HOME(a_simulation_comes_back),
        TEST_AT_HOME(a_list_is_what_it_says),
        TEST_AT_HOME(what_does_not_fit_is_not_written),
        TEST_AT_HOME(other_pictures_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
