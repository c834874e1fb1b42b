/* Writing one PNG picture: see png_picture.h. */
#include "data/picture/png_picture.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUICK = 3 }; /* of zlib's 9 levels */

typedef struct writer {
    const char *what;
    FILE *file;
    png_structp png;
    png_infop info;
    png_size size;
    bool wide;      /* samples of 16 bits */
    png_bytep line; /* (width * channels), 2 bytes each */
    char complaint[128];
} writer;

static PNG_NORETURN void on_error(png_structp png, png_const_charp message)
{
    writer *w = png_get_error_ptr(png);
    (void)snprintf(w->complaint, sizeof w->complaint, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void on_bytes(png_structp png, png_bytep bytes, size_t count)
{
    writer *w = png_get_io_ptr(png);
    if (fwrite(bytes, 1, count, w->file) != count) {
        png_error(png, strerror(errno));
    }
}

static void on_flush(png_structp png)
{
    (void)png;
}

static bool needs_16_bits(size_t count, const uint16_t *samples)
{
    bool needs = false;
    for (size_t i = 0; i < count && !needs; i++) {
        needs = samples[i] % 257 != 0;
    }
    return needs;
}

static void fill_line(const writer *w, size_t count, const uint16_t *samples)
{
    for (size_t i = 0; i < count && w->wide; i++) {
        w->line[2 * i] = (png_byte)(samples[i] >> 8);
        w->line[2 * i + 1] = (png_byte)(samples[i] & 0xFF);
    }
    for (size_t i = 0; i < count && !w->wide; i++) {
        w->line[i] = (png_byte)(samples[i] / 257);
    }
}

static lscm_status encode(writer *w, const uint16_t *samples, lscm_error *why)
{
    size_t count = w->size.width * w->size.channels;
    if (setjmp(png_jmpbuf(w->png)) != 0) {
        return fail(why, LSCM_WRITE, "%s: %s", w->what, w->complaint);
    }
    png_set_write_fn(w->png, w, on_bytes, on_flush);
    png_set_compression_level(w->png, QUICK);
    png_set_IHDR(w->png, w->info, (png_uint_32)w->size.width, (png_uint_32)w->size.height,
                 w->wide ? 16 : 8, w->size.channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(w->png, w->info);
    for (size_t y = 0; y < w->size.height; y++) {
        fill_line(w, count, samples + y * count);
        png_write_row(w->png, w->line);
    }
    png_write_end(w->png, NULL);
    return LSCM_OK;
}

lscm_status png_picture_put(FILE *file, const char *what, png_size size, const uint16_t *samples,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t count = size.width * size.channels;
    writer w = {.what = what, .file = file, .size = size};
    w.wide = needs_16_bits(size.height * count, samples);
    w.line = malloc(2 * count);
    w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &w, on_error, on_warning);
    w.info = w.png != NULL ? png_create_info_struct(w.png) : NULL;
    if (w.info == NULL || w.line == NULL) {
        status = fail_memory(why, 2 * count);
        goto done;
    }
    TRY(encode(&w, samples, why));
done:
    png_destroy_write_struct(&w.png, &w.info);
    free(w.line);
    return status;
}

lscm_status png_picture_write(const char *path, const char *what, png_size size,
                              const uint16_t *samples, lscm_error *why)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return fail(why, LSCM_WRITE, "%s: %s", what, strerror(errno));
    }
    lscm_status status = png_picture_put(file, what, size, samples, why);
    if (fclose(file) != 0 && status == LSCM_OK) {
        status = fail(why, LSCM_WRITE, "%s: %s", what, strerror(errno));
    }
    return status;
}
