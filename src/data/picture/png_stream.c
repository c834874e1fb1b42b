#include "data/picture/png_stream.h"

#include <errno.h>
#include <string.h>

static PNG_NORETURN void on_error(png_structp png, png_const_charp message)
{
    png_stream *s = png_get_error_ptr(png);
    (void)snprintf(s->complaint, sizeof s->complaint, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void take_bytes(png_structp png, png_bytep bytes, size_t count)
{
    png_stream *s = png_get_io_ptr(png);
    if (fread(bytes, 1, count, s->file) != count) {
        png_error(png, ferror(s->file) ? "it cannot be read" : "it ends too early");
    }
}

static void put_bytes(png_structp png, png_bytep bytes, size_t count)
{
    png_stream *s = png_get_io_ptr(png);
    if (fwrite(bytes, 1, count, s->file) != count) {
        png_error(png, strerror(errno));
    }
}

static void on_flush(png_structp png)
{
    (void)png;
}

bool png_stream_read_from(png_stream *s)
{
    s->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, s, on_error, on_warning);
    s->info = s->png != NULL ? png_create_info_struct(s->png) : NULL;
    if (s->info != NULL) {
        png_set_read_fn(s->png, s, take_bytes);
    }
    return s->info != NULL;
}

bool png_stream_write_to(png_stream *s)
{
    s->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, s, on_error, on_warning);
    s->info = s->png != NULL ? png_create_info_struct(s->png) : NULL;
    if (s->info != NULL) {
        png_set_write_fn(s->png, s, put_bytes, on_flush);
    }
    return s->info != NULL;
}

void png_stream_close_read(png_stream *s)
{
    png_destroy_read_struct(&s->png, &s->info, NULL);
}

void png_stream_close_write(png_stream *s)
{
    png_destroy_write_struct(&s->png, &s->info);
}

void png_stream_header(png_stream *s, size_t width, size_t height, int depth, size_t channels)
{
    png_set_IHDR(s->png, s->info, (png_uint_32)width, (png_uint_32)height, depth,
                 channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(s->png, s->info);
}
