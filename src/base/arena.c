#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

void *arena_take(arena *a, size_t count, size_t size)
{
    size_t bytes = 0;
    size_t end = 0;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, (size_t)ARENA_ALIGN - 1, &bytes) ||
        __builtin_add_overflow(a->used, bytes & ~((size_t)ARENA_ALIGN - 1), &end)) {
        a->overflowed = true;
        return NULL;
    }
    size_t start = a->used;
    a->used = end;
    return a->base != NULL && end <= a->size ? a->base + start : NULL;
}

lscm_status arena_open(arena *a, lscm_error *why)
{
    if (a->overflowed) {
        return fail_memory(why, SIZE_MAX);
    }
    a->size = a->used > 0 ? a->used : (size_t)ARENA_ALIGN;
    a->used = 0;
    a->base = aligned_alloc((size_t)ARENA_ALIGN, a->size);
    if (a->base == NULL) {
        return fail_memory(why, a->size);
    }
    memset(a->base, 0, a->size);
    return LSCM_OK;
}

void arena_close(arena *a)
{
    free(a->base);
    *a = (arena){0};
}
