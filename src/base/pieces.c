#include "base/pieces.h"

#include <string.h>

size_t pieces_bytes(const piece *pieces, size_t count)
{
    size_t bytes = 0;
    for (size_t n = 0; n < count; n++) {
        bytes += pieces[n].bytes;
    }
    return bytes;
}

void pieces_get(const piece *pieces, size_t count, void *out)
{
    char *to = out;
    for (size_t n = 0; n < count; n++) {
        memcpy(to, pieces[n].at, pieces[n].bytes);
        to += pieces[n].bytes;
    }
}

void pieces_set(const piece *pieces, size_t count, const void *from)
{
    const char *next = from;
    for (size_t n = 0; n < count; n++) {
        memcpy(pieces[n].at, next, pieces[n].bytes);
        next += pieces[n].bytes;
    }
}
