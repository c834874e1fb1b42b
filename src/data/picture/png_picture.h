/* One picture in a PNG file, as numbers: sample/(2^depth - 1), from 0 (black) to 1 (white),
 * (height, width, channels) with 1 channel (grey) or 3 (red, green, blue).
 *
 * Read are all kinds of PNG: 1 to 16 bits, palettes (as red, green, blue), interlaced ones. Numbers
 * are those of the file; gamma and colour profiles are left alone. An alpha channel is accepted
 * where it says that nothing is transparent. A picture that was cut short is refused.
 */
#ifndef LSCM_DATA_PICTURE_PNG_PICTURE_H
#define LSCM_DATA_PICTURE_PNG_PICTURE_H

#include "base/status.h"

#include <stdio.h>

typedef struct png_size {
    size_t height, width, channels;
} png_size;

/* From the header. `path` opens every sentence, here and below. */
lscm_status png_picture_size(const char *path, png_size *out, lscm_error *why);
/* Bytes of scratch that reading a picture takes. */
size_t png_picture_scratch(png_size size);
/* Into out (height, width, channels); a picture that has another size than `size` is refused. */
lscm_status png_picture_read(const char *path, png_size size, void *scratch, float *out,
                             lscm_error *why);
/* "50 x 40 pixels, grey"; the wording of sentences. `out` has PNG_SIZE_TEXT bytes. */
enum { PNG_SIZE_TEXT = 96 };
const char *png_size_text(png_size size, char *out);
/* A picture that has another size than those before it is refused. */
lscm_status png_size_same(const char *path, png_size is, png_size before, lscm_error *why);

/* samples (height, width, channels) of 16 bits; 8 bits in the file where each is a multiple of 257,
 * since k/255 = 257 k/65535: reading gives the same numbers. `what` opens the sentence. */
lscm_status png_picture_write(const char *path, const char *what, png_size size,
                              const uint16_t *samples, lscm_error *why);
/* The same into a stream, which stays open. */
lscm_status png_picture_put(FILE *file, const char *what, png_size size, const uint16_t *samples,
                            lscm_error *why);

#endif
