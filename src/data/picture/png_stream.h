/* libpng on a stdio stream: what it complains of is kept as a sentence, what it warns of is not.
 *
 * A png_stream is the error pointer and the io pointer of its png_struct. Functions that call
 * libpng return by longjmp when it fails; the complaint is then there.
 */
#ifndef LSCM_DATA_PICTURE_PNG_STREAM_H
#define LSCM_DATA_PICTURE_PNG_STREAM_H

#include <png.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct png_stream {
    FILE *file;
    png_structp png;
    png_infop info;
    char complaint[128];
} png_stream;

/* Makes png and info for the open file; false without memory. */
bool png_stream_read_from(png_stream *s);
bool png_stream_write_to(png_stream *s);
/* Frees them; the file stays open. */
void png_stream_close_read(png_stream *s);
void png_stream_close_write(png_stream *s);
/* Grey or red, green, blue, `depth` bits each, without interlacing. */
void png_stream_header(png_stream *s, size_t width, size_t height, int depth, size_t channels);

#endif
