/* What all kinds of pictures share when they are opened: a stream of a regular file, and how large
 * they may be. */
#ifndef LSCM_DATA_PICTURE_PICTURE_FILE_H
#define LSCM_DATA_PICTURE_PICTURE_FILE_H

#include "data/picture/png_picture.h"

/* To be closed with fclose; *bytes: its size. */
lscm_status picture_file_open(FILE **out, const char *path, uint64_t *bytes, lscm_error *why);
/* Refuses more numbers than a picture may have. */
lscm_status picture_size_allow(png_size size, const char *path, lscm_error *why);

#endif
