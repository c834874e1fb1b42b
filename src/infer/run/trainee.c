#include "infer/run/trainee.h"

#include <string.h>

size_t trainee_bytes(const trainee *t)
{
    piece pieces[PIECES];
    size_t bytes = 0;
    for (size_t n = t->pieces(t->self, pieces); n-- > 0;) {
        bytes += pieces[n].bytes;
    }
    return bytes;
}

void trainee_get(const trainee *t, void *state)
{
    piece pieces[PIECES];
    size_t count = t->pieces(t->self, pieces);
    char *to = state;
    for (size_t n = 0; n < count; n++) {
        memcpy(to, pieces[n].at, pieces[n].bytes);
        to += pieces[n].bytes;
    }
}

void trainee_set(const trainee *t, const void *state)
{
    piece pieces[PIECES];
    size_t count = t->pieces(t->self, pieces);
    const char *from = state;
    for (size_t n = 0; n < count; n++) {
        memcpy(pieces[n].at, from, pieces[n].bytes);
        from += pieces[n].bytes;
    }
}
