/* Sheets of pictures, decoded again with libpng: every pixel of hand-made pictures, the gaps, the
 * choice of rows, the scaling of numbers, and what is refused. */
#include "data/csv/csv.h"
#include "data/netcdf/netcdf.h"
#include "data/npy/npy.h"
#include "data/picture/picture.h"

#include "scratch.h"

#include <png.h>

static lscm_error why;
static char path[300];

static int set_up(void **state)
{
    int made = scratch_make(state);
    (void)scratch_path(path, "sheet.png");
    return made;
}

/* Rows of x from memory. */
typedef struct memory_source {
    row_source base;
    const char *bytes;
    size_t row_bytes;
} memory_source;

static lscm_status read_memory(row_source *self, lscm_field field, size_t first, size_t count,
                               void *raw, lscm_error *error)
{
    const memory_source *source = (const memory_source *)self;
    (void)field;
    (void)error;
    memcpy(raw, source->bytes + first * source->row_bytes, count * source->row_bytes);
    return LSCM_OK;
}

static void close_memory(row_source *self)
{
    free(self);
}

static lscm_dataset *pictures(const void *bytes, dtype type, int ndim, const size_t *dims)
{
    lscm_dataset *data = NULL;
    memory_source *source = calloc(1, sizeof *source);
    assert_non_null(source);
    assert_ok(dataset_new(&data, "pictures.npz", "NPZ", &why));
    data->source = &source->base;
    data->rows = dims[0];
    array_shape *shape = &data->shape[LSCM_X];
    *shape = (array_shape){.present = true, .type = type, .ndim = ndim};
    memcpy(shape->dims, dims, (size_t)ndim * sizeof *dims);
    *source = (memory_source){{read_memory, close_memory}, bytes, shape_row_bytes(shape)};
    return data;
}

static lscm_status write_sheet(const lscm_dataset *data, const char *to)
{
    meter m = meter_over(data, NULL, "writing sheet.png");
    lscm_status status = png_write(data, to, &m, &why);
    if (status == LSCM_OK) {
        assert_int_equal(m.done, m.total);
    }
    return status;
}

/* Writes, frees and decodes; the pixels are the caller's. */
static uint8_t *sheet_of(lscm_dataset *data, png_image *image)
{
    assert_ok(write_sheet(data, path));
    lscm_dataset_free(data);
    *image = (png_image){.version = PNG_IMAGE_VERSION};
    assert_int_not_equal(png_image_begin_read_from_file(image, path), 0);
    assert_true(image->format == PNG_FORMAT_GRAY || image->format == PNG_FORMAT_RGB);
    uint8_t *pixels = malloc(PNG_IMAGE_SIZE(*image));
    assert_non_null(pixels);
    assert_int_not_equal(png_image_finish_read(image, NULL, pixels, 0, NULL), 0);
    return pixels;
}

/* Three grey pictures of 2 x 20 (scaled by 4) side by side. */
static void bytes_are_shown_as_they_are(void **state)
{
    (void)state;
    enum { N = 3, H = 2, W = 20, SCALE = 4, STEP = W * SCALE + 8 };
    static uint8_t x[N][H][W];
    png_image image;
    for (size_t i = 0; i < sizeof x; i++) {
        ((uint8_t *)x)[i] = (uint8_t)(7 * i + 3);
    }
    uint8_t *pixels = sheet_of(pictures(x, DTYPE_UINT8, 3, (size_t[]){N, H, W}), &image);
    assert_int_equal(image.format, PNG_FORMAT_GRAY);
    assert_int_equal(image.width, N * STEP - 8);
    assert_int_equal(image.height, H * SCALE);
    for (size_t row = 0; row < image.height; row++) {
        for (size_t column = 0; column < image.width; column++) {
            size_t at = column % STEP;
            uint8_t wanted =
                at < (size_t)W * SCALE ? x[column / STEP][row / SCALE][at / SCALE] : 255;
            assert_int_equal(pixels[row * image.width + column], wanted);
        }
    }
    free(pixels);
}

/* Under each picture its row, and what do() set there: "row 0" on one line, "row 1" and "do(0=1.5)"
 * on two, of 10 pixels each. */
static void rows_and_targets_are_written_below(void **state)
{
    (void)state;
    enum { N = 2, H = 4, W = 20, SCALE = 4, STEP = W * SCALE + 8, TOP = H * SCALE + 3 };
    static const double x[N * H * W] = {1};
    static const uint8_t targets[N] = {0, 1};
    static const double values[N] = {0, 1.5};
    const lscm_arrays arrays = {.rows = N,
                                .nodes = 1,
                                .features = (size_t)H * W,
                                .x = x,
                                .targets = targets,
                                .values = values,
                                .height = H,
                                .width = W};
    lscm_dataset *data = NULL;
    png_image image;
    size_t ink[2][N] = {{0}}; /* by line and picture */
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    uint8_t *pixels = sheet_of(data, &image);
    assert_int_equal(image.width, N * STEP - 8);
    assert_int_equal(image.height, TOP + 20);
    for (size_t row = TOP; row < image.height; row++) {
        for (size_t column = 0; column < image.width; column++) {
            bool dark = pixels[row * image.width + column] != 255;
            ink[(row - TOP) / 10][column / STEP] += dark ? 1 : 0;
        }
    }
    assert_true(ink[0][0] > 20 && ink[0][1] > 20);
    assert_true(ink[0][0] != ink[0][1]); /* 0 and 1 */
    assert_int_equal(ink[1][0], 0);
    assert_true(ink[1][1] > 40);
    for (size_t row = 0; row < 10; row++) { /* the stem of r */
        assert_int_equal(pixels[(TOP + row) * image.width] != 255, row >= 2 && row <= 6);
    }
    free(pixels);
}

/* Ten colour pictures of one pixel each: 8 above, 2 below, white where there is none. */
static void colours_fill_a_second_line(void **state)
{
    (void)state;
    enum { N = 10, SCALE = 80, STEP = SCALE + 8 };
    static float x[N][1][1][3];
    png_image image;
    for (size_t i = 0; i < N; i++) {
        x[i][0][0][0] = (float)i / 16;
        x[i][0][0][1] = 1;
        x[i][0][0][2] = 0.25F;
    }
    uint8_t *pixels = sheet_of(pictures(x, DTYPE_FLOAT32, 4, (size_t[]){N, 1, 1, 3}), &image);
    assert_int_equal(image.format, PNG_FORMAT_RGB);
    assert_int_equal(image.width, 8 * STEP - 8);
    assert_int_equal(image.height, 2 * STEP - 8);
    for (size_t row = 0; row < image.height; row++) {
        for (size_t column = 0; column < image.width; column++) {
            const uint8_t *pixel = pixels + (row * image.width + column) * 3;
            size_t picture = row / STEP * 8 + column / STEP;
            bool inside = row % STEP < SCALE && column % STEP < SCALE && picture < N;
            assert_int_equal(pixel[0], inside ? lround(255 * (double)picture / 16) : 255);
            assert_int_equal(pixel[1], 255); /* full green, white around */
            assert_int_equal(pixel[2], inside ? 64 : 255);
        }
    }
    free(pixels);
}

/* 1000 pictures: 64 of them, first and last included, evenly; numbers from least to most. */
static void rows_are_spread_and_numbers_scaled(void **state)
{
    (void)state;
    enum { N = 1000, W = 100 };
    static double x[N][1][W];
    png_image image;
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < W; k++) {
            x[i][0][k] = (double)i - 500;
        }
    }
    uint8_t *pixels = sheet_of(pictures(x, DTYPE_FLOAT64, 3, (size_t[]){N, 1, W}), &image);
    assert_int_equal(image.width, 8 * 108 - 8);
    assert_int_equal(image.height, 8 * 9 - 8);
    for (size_t i = 0; i < 64; i++) {
        double row = floor(999.0 * (double)i / 63);
        uint8_t shown = pixels[i / 8 * 9 * image.width + i % 8 * 108];
        assert_int_equal(shown, lround(255 * row / 999));
    }
    free(pixels);
}

static void extremes_do_not_overflow(void **state)
{
    (void)state;
    static const double wide[2][1][2] = {{{-1.7e308, 1.7e308}}, {{0, 0}}};
    static const double same[2][1][2] = {{{5, 5}}, {{5, 5}}};
    static const bool bits[2][1][2] = {{{false, true}}, {{true, false}}};
    png_image image;
    uint8_t *pixels = sheet_of(pictures(wide, DTYPE_FLOAT64, 3, (size_t[]){2, 1, 2}), &image);
    assert_int_equal(pixels[0], 0);
    assert_int_equal(pixels[79], 255);
    assert_int_equal(pixels[88], 128);
    free(pixels);
    pixels = sheet_of(pictures(same, DTYPE_FLOAT64, 3, (size_t[]){2, 1, 2}), &image);
    assert_int_equal(pixels[0], 128);
    free(pixels);
    pixels = sheet_of(pictures(bits, DTYPE_BOOL, 4, (size_t[]){2, 1, 2, 1}), &image);
    assert_int_equal(image.format, PNG_FORMAT_GRAY);
    assert_int_equal(pixels[0], 0);
    assert_int_equal(pixels[79], 255);
    free(pixels);
}

static void what_is_no_picture_is_refused(void **state)
{
    (void)state;
    static double x[64];
    static const struct {
        int ndim;
        size_t dims[4];
        const char *part;
    } cases[] = {{2, {4, 8}, "holds no pictures"},
                 {4, {4, 2, 2, 2}, "2 channels"},
                 {4, {4, 1, 1, 4}, "4 channels"},
                 {3, {4, 4000, 4000}, "too large"},
                 {3, {4, 100000, 1}, "too large"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lscm_dataset *data = pictures(x, DTYPE_FLOAT64, cases[i].ndim, cases[i].dims);
        assert_fails(write_sheet(data, path), LSCM_SHAPE, cases[i].part);
        lscm_dataset_free(data);
    }
    lscm_dataset *data = pictures(x, DTYPE_FLOAT64, 3, (size_t[]){4, 4, 4});
    x[17] = NAN;
    assert_fails(write_sheet(data, path), LSCM_VALUE, "NaN at row 1, pixel (0, 1)");
    x[17] = 0;
    assert_fails(write_sheet(data, "/dev/full"), LSCM_WRITE, "writing sheet.png: No space left");
    assert_fails(write_sheet(data, "/nowhere/a.png"), LSCM_WRITE, "writing sheet.png: No such");
    lscm_dataset_free(data);
}

/* Noise does not compress, so the disk is full in the middle of a line. */
static void a_disk_that_fills_is_reported(void **state)
{
    (void)state;
    enum { N = 2, SIDE = 400 };
    static uint8_t x[N][SIDE][SIDE];
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof x; i++) {
        seed = seed * 1664525 + 1013904223;
        ((uint8_t *)x)[i] = (uint8_t)(seed >> 24);
    }
    lscm_dataset *data = pictures(x, DTYPE_UINT8, 3, (size_t[]){N, SIDE, SIDE});
    assert_fails(write_sheet(data, "/dev/full"), LSCM_WRITE, "No space left");
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_shown_as_they_are),
        cmocka_unit_test(rows_and_targets_are_written_below),
        cmocka_unit_test(colours_fill_a_second_line),
        cmocka_unit_test(rows_are_spread_and_numbers_scaled),
        cmocka_unit_test(extremes_do_not_overflow),
        cmocka_unit_test(what_is_no_picture_is_refused),
        cmocka_unit_test(a_disk_that_fills_is_reported),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_remove);
}
