#include "data/picture/picture_file.h"

#include "data/npy/npy.h"

#include <unistd.h>

enum { MOST_NUMBERS = 1 << 26 };

lscm_status picture_file_open(FILE **out, const char *path, uint64_t *bytes, lscm_error *why)
{
    int fd = -1;
    lscm_status status = open_regular(path, path, &fd, bytes, why);
    if (status != LSCM_OK) {
        return status;
    }
    *out = fdopen(fd, "rb");
    if (*out == NULL) {
        (void)close(fd);
        return fail_memory(why, BUFSIZ);
    }
    return LSCM_OK;
}

lscm_status picture_size_allow(png_size size, const char *path, lscm_error *why)
{
    char text[PNG_SIZE_TEXT];
    return size.height * size.width <= MOST_NUMBERS / 3
               ? LSCM_OK
               : fail(why, LSCM_SHAPE,
                      "%s: the picture is of %s, which is too large; make it smaller", path,
                      png_size_text(size, text));
}
