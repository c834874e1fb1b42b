#define _DEFAULT_SOURCE /* madvise */
#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>

void pages_large(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t large = (uintptr_t)1 << 21;
    uintptr_t from = ((uintptr_t)memory + large - 1) & ~(large - 1);
    uintptr_t to = ((uintptr_t)memory + bytes) & ~(large - 1);
    if (to > from) {
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
    }
#else
    (void)memory;
    (void)bytes;
#endif
}
