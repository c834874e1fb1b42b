/* An arena: all memory of a computation in one allocation. The same layout function runs twice:
 * first on an arena without memory (base NULL), which only counts; then, after arena_open, it
 * places.
 *
 *     arena a = {0};
 *     lay_out(&a, &work);          measure: pointers are NULL
 *     TRY(arena_open(&a, why));    one allocation
 *     lay_out(&a, &work);          place
 *     ... arena_close(&a);
 */
#ifndef LSCM_BASE_ARENA_H
#define LSCM_BASE_ARENA_H

#include "base/status.h"

typedef struct arena {
    char *base;      /* NULL while measuring */
    void *block;     /* what was allocated: base is its first aligned byte */
    size_t used;     /* bytes handed out so far */
    size_t size;     /* bytes at base */
    bool overflowed; /* a size did not fit in size_t */
} arena;

enum { ARENA_ALIGN = 64 }; /* a cache line and an AVX-512 register */

/* `count` items of `size` bytes, aligned, zeroed; NULL while measuring. */
void *arena_take(arena *a, size_t count, size_t size);
lscm_status arena_open(arena *a, lscm_error *why);
void arena_close(arena *a);

#endif
