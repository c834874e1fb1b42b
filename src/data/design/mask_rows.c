#include "data/design/mask_rows.h"

#include <stdlib.h>

uint64_t mask_hash(const uint8_t *mask, size_t d, uint64_t seed)
{
    uint64_t h = 14695981039346656037U ^ seed * 0x9E3779B97F4A7C15U; /* FNV-1a */
    for (size_t i = 0; i < d; i++) {
        h = (h ^ mask[i]) * 1099511628211U;
    }
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93U; /* all bits count, high and low */
    return h ^ h >> 32;
}

static int compare(const void *left, const void *right)
{
    const mask_row *a = left;
    const mask_row *b = right;
    if (a->hash != b->hash) {
        return a->hash < b->hash ? -1 : 1;
    }
    return a->row < b->row ? -1 : a->row > b->row;
}

void mask_rows_sort(mask_row *rows, size_t count)
{
    qsort(rows, count, sizeof *rows, compare);
}
