/* Writing one PNG picture: see png_picture.h. */
#include "data/picture/png_picture.h"
#include "data/picture/png_stream.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUICK = 3 }; /* of zlib's 9 levels */

typedef struct writer {
    const char *what;
    png_stream out;
    png_size size;
    bool wide;      /* samples of 16 bits */
    png_bytep line; /* (width * channels), 2 bytes each */
} writer;

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
    if (setjmp(png_jmpbuf(w->out.png)) != 0) {
        return fail(why, LSCM_WRITE, "%s: %s", w->what, w->out.complaint);
    }
    png_set_compression_level(w->out.png, QUICK);
    png_stream_header(&w->out, w->size.width, w->size.height, w->wide ? 16 : 8, w->size.channels);
    for (size_t y = 0; y < w->size.height; y++) {
        fill_line(w, count, samples + y * count);
        png_write_row(w->out.png, w->line);
    }
    png_write_end(w->out.png, NULL);
    return LSCM_OK;
}

lscm_status png_picture_put(FILE *file, const char *what, png_size size, const uint16_t *samples,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t count = size.width * size.channels;
    writer w = {.what = what, .out = {.file = file}, .size = size};
    w.wide = needs_16_bits(size.height * count, samples);
    w.line = malloc(2 * count);
    if (!png_stream_write_to(&w.out) || w.line == NULL) {
        status = fail_memory(why, 2 * count);
        goto done;
    }
    TRY(encode(&w, samples, why));
done:
    png_stream_close_write(&w.out);
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
