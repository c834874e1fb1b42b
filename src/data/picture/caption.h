/* Words under the pictures of a sheet: which row of the data it is, and what do() set there,
 *
 *     row 17 do(raf=1.5, mek=-2)
 *
 * in letters of 5 x 7 pixels, broken between words. A name that is too long ends in a dot; one that
 * these letters do not spell, as none at all, is the number of the node. */
#ifndef LSCM_DATA_PICTURE_CAPTION_H
#define LSCM_DATA_PICTURE_CAPTION_H

#include "data/dataset/dataset.h"

enum { CAPTION_LETTER = 6, CAPTION_LINE = 10, CAPTION_LINES = 8, CAPTION_LETTERS = 64 };

typedef struct caption {
    char line[CAPTION_LINES][CAPTION_LETTERS];
    size_t lines;
} caption;

/* Of one row, in lines of at most `letters`. What does not fit ends in "..". */
lscm_status caption_of(const lscm_dataset *data, size_t row, size_t letters, caption *out,
                       lscm_error *why);
/* True where the pixel (x, y) of the lines is ink; x and y from the top left. */
bool caption_ink(const caption *c, size_t x, size_t y);

#endif
