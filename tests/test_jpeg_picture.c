/* JPEG pictures, written here with libjpeg itself at the best quality: grey and in colour against
 * their numbers, in a folder beside a PNG; what is cut short, damaged or for printing. */
#include "data/picture/picture.h"
#include "testing.h"

#include "home.h"

#include <sys/stat.h>

#include <jpeglib.h> /* needs stdio.h, from testing.h */

static lscm_error why;

enum { WIDTH = 24, HEIGHT = 16 };

/* A ramp: smooth, so that little is lost. */
static double shade(size_t y, size_t x, size_t c)
{
    return (double)(40 + 5 * y + 4 * x + 20 * c) / 255;
}

static void encode(const char *path, int channels, bool progressive)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    JSAMPLE row[WIDTH * 4];
    JSAMPROW rows = row;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = WIDTH;
    jpeg.image_height = HEIGHT;
    jpeg.input_components = channels;
    jpeg.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    if (progressive) {
        jpeg_simple_progression(&jpeg);
    }
    jpeg_start_compress(&jpeg, TRUE);
    for (size_t y = 0; y < HEIGHT; y++) {
        for (size_t i = 0; i < (size_t)WIDTH * (size_t)channels; i++) {
            row[i] = (JSAMPLE)lrint(255 * shade(y, i / (size_t)channels, i % (size_t)channels));
        }
        assert_int_equal(jpeg_write_scanlines(&jpeg, &rows, 1), 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    assert_int_equal(fclose(file), 0);
}

static void pictures_are_their_numbers(void **state)
{
    (void)state;
    static float out[HEIGHT * WIDTH * 3];
    static char scratch[HEIGHT * WIDTH * 8];
    for (int kind = 0; kind < 4; kind++) {
        size_t channels = kind % 2 == 0 ? 1 : 3;
        png_size size = {0};
        encode(at("a.jpg"), (int)channels, kind >= 2);
        assert_true(jpeg_picture_is(at("a.jpg")));
        assert_ok(jpeg_picture_size(at("a.jpg"), &size, &why));
        assert_int_equal(size.height, HEIGHT);
        assert_int_equal(size.width, WIDTH);
        assert_int_equal(size.channels, channels);
        assert_true(png_picture_scratch(size) <= sizeof scratch);
        assert_ok(jpeg_picture_read(at("a.jpg"), size, scratch, out, &why));
        for (size_t i = 0; i < HEIGHT * WIDTH * channels; i++) {
            size_t pixel = i / channels;
            assert_near(out[i], shade(pixel / WIDTH, pixel % WIDTH, i % channels), 3.0 / 255);
        }
        size.height++;
        assert_fails(jpeg_picture_read(at("a.jpg"), size, scratch, out, &why), LSCM_SHAPE,
                     "those before it are of 17 x 24 pixels");
    }
}

static void what_is_damaged_gets_a_sentence(void **state)
{
    (void)state;
    static char bytes[1 << 16];
    static float out[HEIGHT * WIDTH * 3];
    static char scratch[HEIGHT * WIDTH * 8];
    const png_size size = {HEIGHT, WIDTH, 3};
    char path[512];
    (void)snprintf(path, sizeof path, "%s", at("cut.jpg"));
    encode(path, 3, false);
    FILE *file = fopen(path, "rb");
    size_t count = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    for (size_t part = 1; part < 12; part++) { /* cut at any place */
        file = fopen(path, "wb");
        assert_int_equal(fwrite(bytes, 1, part * count / 12, file), part * count / 12);
        assert_int_equal(fclose(file), 0);
        assert_fails(jpeg_picture_read(path, size, scratch, out, &why), LSCM_FORMAT,
                     "cut.jpg: the picture is damaged (");
    }
    for (size_t from = 3; from + 16 < count; from += 16) { /* spoilt anywhere: never a crash */
        char kept[16];
        memcpy(kept, bytes + from, sizeof kept);
        memset(bytes + from, (int)(from * 7), sizeof kept);
        file = fopen(path, "wb");
        assert_int_equal(fwrite(bytes, 1, count, file), count);
        assert_int_equal(fclose(file), 0);
        (void)jpeg_picture_read(path, size, scratch, out, &why);
        memcpy(bytes + from, kept, sizeof kept);
    }
    encode(path, 4, false);
    assert_fails(jpeg_picture_size(path, &(png_size){0}, &why), LSCM_FORMAT, "CMYK");
    assert_false(jpeg_picture_is(at("nowhere.jpg")));
}

static void a_folder_may_hold_both_kinds(void **state)
{
    (void)state;
    static uint16_t samples[HEIGHT * WIDTH];
    static double x[2 * HEIGHT * WIDTH];
    const png_size size = {HEIGHT, WIDTH, 1};
    lscm_dataset *data = NULL;
    assert_int_equal(mkdir(at("shots"), 0700), 0);
    encode(at("shots/a.JPEG"), 1, false);
    for (size_t i = 0; i < (size_t)HEIGHT * WIDTH; i++) {
        samples[i] = (uint16_t)(257 * lrint(255 * shade(i / WIDTH, i % WIDTH, 0)));
    }
    assert_ok(png_picture_write(at("shots/b.png"), "b", size, samples, &why));
    FILE *list = fopen(at("shots/interventions.csv"), "w");
    assert_true(fputs("file,lamp\na.JPEG,1\nb.png,\n", list) >= 0);
    assert_int_equal(fclose(list), 0);
    assert_ok(lscm_dataset_open(&data, at("shots"), NULL, &why));
    assert_string_equal(lscm_dataset_format(data), "picture folder");
    assert_ok(lscm_dataset_read(data, LSCM_X, 0, 2, x, &why));
    for (size_t i = 0; i < (size_t)HEIGHT * WIDTH; i++) {
        assert_near(x[i], x[(size_t)HEIGHT * WIDTH + i], 3.0 / 255);
    }
    lscm_dataset_free(data);
    encode(at("shots/c.jpg"), 1, false);
    assert_fails(lscm_dataset_open(&data, at("shots"), NULL, &why), LSCM_MISSING,
                 "does not list the picture 'c.jpg'");
    assert_int_equal(unlink(at("shots/c.jpg")), 0);
    assert_int_equal(truncate(at("shots/a.JPEG"), 100), 0);
    assert_fails(lscm_dataset_open(&data, at("shots"), NULL, &why), LSCM_FORMAT,
                 "a.JPEG: the picture is damaged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_their_numbers),
        cmocka_unit_test(what_is_damaged_gets_a_sentence),
        cmocka_unit_test(a_folder_may_hold_both_kinds),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
