/* One picture in a JPEG file, as numbers: sample/255, from 0 (black) to 1 (white), (height, width,
 * channels) with 1 channel (grey) or 3 (red, green, blue). The twin of png_picture.h.
 *
 * Pixels are those of the file: a note of the camera that they should be turned (EXIF) is left
 * alone. A picture that was cut short or is damaged is refused, and so is one in CMYK.
 */
#ifndef LSCM_DATA_PICTURE_JPEG_PICTURE_H
#define LSCM_DATA_PICTURE_JPEG_PICTURE_H

#include "data/picture/png_picture.h"

/* By its first bytes; false also when it cannot be read. */
bool jpeg_picture_is(const char *path);
/* From the header. `path` opens every sentence, here and below. */
lscm_status jpeg_picture_size(const char *path, png_size *out, lscm_error *why);
/* Into out (height, width, channels); a picture that has another size than `size` is refused.
 * Scratch: as many bytes as png_picture_scratch says. */
lscm_status jpeg_picture_read(const char *path, png_size size, void *scratch, float *out,
                              lscm_error *why);

#endif
