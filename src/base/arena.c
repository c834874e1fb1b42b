#include "base/arena.h"

#include "base/pages.h"

#include <stdlib.h>

void *arena_take(arena *a, size_t count, size_t size)
{
    size_t bytes = 0;
    size_t end = 0;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, (size_t)ARENA_ALIGN - 1, &bytes) ||
        __builtin_add_overflow(a->used, bytes & ~((size_t)ARENA_ALIGN - 1), &end) ||
        end > SIZE_MAX - ARENA_ALIGN) {
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
    /* calloc leaves the zeroing of large memory to the page that is first touched */
    a->size = a->used;
    a->used = 0;
    a->block = calloc(a->size + ARENA_ALIGN, 1);
    if (a->block == NULL) {
        return fail_memory(why, a->size);
    }
    pages_large(a->block, a->size);
    size_t past = (size_t)((uintptr_t)a->block % ARENA_ALIGN);
    a->base = (char *)a->block + (ARENA_ALIGN - past);
    return LSCM_OK;
}

void arena_close(arena *a)
{
    free(a->block);
    *a = (arena){0};
}
