/* Single pictures: every kind of PNG, written here with libpng itself, against its numbers; what is
 * transparent, cut short or damaged. */
#include "data/picture/picture.h"
#include "lcg.h"
#include "testing.h"

#include "home.h"

#include <png.h>
#include <sys/stat.h>

static lscm_error why;

enum { WIDTH = 3, HEIGHT = 2 };

/* Colours of the palette that `encode` writes. */
static int palette_colours = 3;

/* A PNG from packed rows (HEIGHT of them, row_bytes each). */
static void encode(const char *path, int depth, int colour, int interlace, const uint8_t *rows,
                   size_t row_bytes, bool palette_clear)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    FILE *file = fopen(path, "wb");
    assert_true(png != NULL && info != NULL && file != NULL);
    png_init_io(png, file);
    png_set_IHDR(png, info, WIDTH, HEIGHT, depth, colour, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_color palette[3] = {{255, 0, 51}, {0, 102, 0}, {7, 8, 9}};
    png_byte clear[1] = {0};
    if (colour == PNG_COLOR_TYPE_PALETTE) {
        png_set_PLTE(png, info, palette, palette_colours);
        png_set_check_for_invalid_index(png, 0);
    }
    if (palette_clear) {
        png_set_tRNS(png, info, clear, 1, NULL);
    }
    png_write_info(png, info);
    int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++) {
        for (size_t y = 0; y < HEIGHT; y++) {
            png_write_row(png, rows + y * row_bytes);
        }
    }
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    assert_int_equal(fclose(file), 0);
}

/* Reads the picture and compares it. */
static void expect(const char *path, size_t channels, const double *numbers)
{
    png_size size = {0};
    float out[18];
    double scratch[6];
    assert_ok(png_picture_size(path, &size, &why));
    assert_true(size.height == HEIGHT && size.width == WIDTH && size.channels == channels);
    assert_int_equal(png_picture_scratch(size), sizeof scratch);
    assert_ok(png_picture_read(path, size, scratch, out, &why));
    for (size_t i = 0; i < 6 * channels; i++) {
        assert_true(out[i] == (float)numbers[i]);
    }
}

static void every_kind_of_png_is_read(void **state)
{
    (void)state;
    const char *path = at("a.png");
    for (int interlace = 0; interlace < 2; interlace++) {
        const uint8_t bits[] = {0xA0, 0x40};
        encode(path, 1, PNG_COLOR_TYPE_GRAY, interlace, bits, 1, false);
        expect(path, 1, (const double[]){1, 0, 1, 0, 1, 0});
        const uint8_t grey[] = {0, 51, 255, 1, 2, 254};
        encode(path, 8, PNG_COLOR_TYPE_GRAY, interlace, grey, 3, false);
        expect(path, 1, (const double[]){0, 0.2, 1, 1 / 255.0, 2 / 255.0, 254 / 255.0});
        const uint8_t wide[] = {0, 0, 0, 1, 1, 0, 255, 255, 127, 255, 51, 51};
        encode(path, 16, PNG_COLOR_TYPE_GRAY, interlace, wide, 6, false);
        expect(path, 1, (const double[]){0, 1 / 65535.0, 256 / 65535.0, 1, 32767 / 65535.0, 0.2});
        uint8_t colours[18];
        double numbers[18];
        for (size_t i = 0; i < 18; i++) {
            colours[i] = (uint8_t)(13 * i);
            numbers[i] = colours[i] / 255.0;
        }
        encode(path, 8, PNG_COLOR_TYPE_RGB, interlace, colours, 9, false);
        expect(path, 3, numbers);
        const uint8_t indices[] = {0, 1, 2, 2, 1, 0};
        encode(path, 8, PNG_COLOR_TYPE_PALETTE, interlace, indices, 3, false);
        double a = 7 / 255.0;
        double b = 8 / 255.0;
        double c = 9 / 255.0;
        expect(path, 3,
               (const double[]){1, 0, 0.2, 0, 0.4, 0, a, b, c, a, b, c, 0, 0.4, 0, 1, 0, 0.2});
        uint8_t alpha[24];
        for (size_t i = 0; i < 24; i++) {
            alpha[i] = i % 4 == 3 ? 255 : colours[i / 4 * 3 + i % 4];
        }
        encode(path, 8, PNG_COLOR_TYPE_RGB_ALPHA, interlace, alpha, 12, false);
        expect(path, 3, numbers); /* opaque: alpha says nothing */
    }
}

/* Indices of 1, 2 and 4 bits; one that the palette has no colour for is no black, as libpng has it:
 * the picture is refused. */
static void palettes_are_looked_up(void **state)
{
    (void)state;
    const char *path = at("a.png");
    const double numbers[] = {1, 0, 0.2, 0, 0.4, 0, 1, 0, 0.2, 0, 0.4, 0, 1, 0, 0.2, 1, 0, 0.2};
    const uint8_t bits[3][4] = {{0x40, 0x80}, {0x10, 0x40}, {0x01, 0x00, 0x10, 0x00}};
    const size_t row_bytes[] = {1, 1, 2};
    png_size size = {HEIGHT, WIDTH, 3};
    float out[18];
    double scratch[6];
    palette_colours = 2;
    for (int k = 0; k < 3; k++) {
        for (int interlace = 0; interlace < 2; interlace++) {
            encode(path, 1 << k, PNG_COLOR_TYPE_PALETTE, interlace, bits[k], row_bytes[k], false);
            expect(path, 3, numbers);
        }
    }
    const uint8_t indices[] = {0, 1, 0, 1, 2, 0};
    encode(path, 8, PNG_COLOR_TYPE_PALETTE, 0, indices, 3, false);
    assert_fails(png_picture_read(path, size, scratch, out, &why), LSCM_FORMAT,
                 "a.png: the picture is damaged (pixel (1, 1), counted from 0, has colour 2 of a "
                 "palette of 2); save or copy it again");
    palette_colours = 3;
    encode(path, 8, PNG_COLOR_TYPE_PALETTE, 0, indices, 3, false);
    assert_ok(png_picture_read(path, size, scratch, out, &why));
}

static void transparent_and_broken_ones_are_not(void **state)
{
    (void)state;
    const char *path = at("a.png");
    png_size size = {2, 3, 1};
    float out[18];
    double scratch[6];
    const uint8_t grey[] = {0, 255, 9, 255, 9, 255, 9, 255, 9, 254, 9, 255};
    encode(path, 8, PNG_COLOR_TYPE_GRAY_ALPHA, 0, grey, 6, false);
    assert_fails(png_picture_read(path, size, scratch, out, &why), LSCM_VALUE, "transparent");
    size.channels = 3;
    assert_fails(png_picture_read(path, size, scratch, out, &why), LSCM_SHAPE,
                 "2 x 3 pixels, grey, but those before it are of 2 x 3 pixels, in colour");
    const uint8_t indices[] = {1, 1, 2, 2, 1, 0};
    encode(path, 8, PNG_COLOR_TYPE_PALETTE, 0, indices, 3, true);
    assert_fails(png_picture_read(path, size, scratch, out, &why), LSCM_VALUE, "transparent");

    /* cut short anywhere, it is refused: in the header at once, later when it is read */
    encode(path, 8, PNG_COLOR_TYPE_RGB, 0, (const uint8_t[18]){1, 2, 3}, 9, false);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    for (off_t length = about.st_size - 1; length >= 0; length--) {
        assert_int_equal(truncate(path, length), 0);
        assert_fails(png_picture_read(path, size, scratch, out, &why), LSCM_FORMAT,
                     length == 0  ? "the file is empty"
                     : length < 8 ? "this is not a PNG or JPEG picture"
                                  : "the picture is damaged (it ends too early)");
    }
    put(path, "GIF89a, perhaps");
    assert_fails(png_picture_size(path, &size, &why), LSCM_FORMAT,
                 "this is not a PNG or JPEG picture");
    assert_fails(png_picture_size(at("b.png"), &size, &why), LSCM_MISSING, "b.png: No such file");
    assert_fails(png_picture_size(home, &size, &why), LSCM_READ, "not a regular file");
}

/* Whatever byte is wrong, the picture is refused. */
static void damage_does_no_harm(void **state)
{
    (void)state;
    const char *path = at("a.png");
    char bytes[512];
    uint8_t pixels[6];
    lcg g = {5};
    for (size_t i = 0; i < 6; i++) {
        pixels[i] = (uint8_t)(40 * i);
    }
    encode(path, 8, PNG_COLOR_TYPE_GRAY, 0, pixels, 3, false);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t count = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    assert_true(count > 60 && count < sizeof bytes);
    for (size_t i = 0; i < count; i++) {
        char kept = bytes[i];
        float out[18];
        double scratch[6];
        bytes[i] = (char)(kept ^ (char)(1 + (int)(lcg_uniform(&g) * 254)));
        file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, count, file), count);
        assert_int_equal(fclose(file), 0);
        assert_true(png_picture_read(path, (png_size){2, 3, 1}, scratch, out, &why) != LSCM_OK);
        bytes[i] = kept;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_AT_HOME(every_kind_of_png_is_read),
        TEST_AT_HOME(palettes_are_looked_up),
        TEST_AT_HOME(transparent_and_broken_ones_are_not),
        TEST_AT_HOME(damage_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
