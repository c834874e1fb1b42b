#include "data/design/mask_list.h"

#include <stdlib.h>
#include <string.h>

uint64_t mask_hash(const uint8_t *mask, size_t d, uint64_t seed)
{
    uint64_t h = 14695981039346656037U ^ seed * 0x9E3779B97F4A7C15U; /* FNV-1a */
    for (size_t i = 0; i < d; i++) {
        h = (h ^ mask[i]) * 1099511628211U;
    }
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93U; /* all bits count, high and low */
    return h ^ h >> 32;
}

static size_t find_slot(const mask_list *list, const uint8_t *mask)
{
    size_t at = (size_t)(mask_hash(mask, list->d, 0) % list->slots);
    while (list->slot[at] != 0 &&
           memcmp(list->mask + (list->slot[at] - 1) * list->d, mask, list->d) != 0) {
        at = (at + 1) % list->slots;
    }
    return at;
}

static lscm_status grow(mask_list *list, lscm_error *why)
{
    size_t room = list->room > 0 ? 2 * list->room : 64;
    uint8_t *mask = realloc(list->mask, room * list->d);
    if (mask == NULL) {
        return fail_memory(why, room * list->d);
    }
    list->mask = mask;
    size_t *slot = calloc(4 * room, sizeof *slot);
    if (slot == NULL) {
        return fail_memory(why, 4 * room * sizeof *slot);
    }
    free(list->slot);
    list->slot = slot;
    list->slots = 4 * room;
    list->room = room;
    for (size_t k = 0; k < list->count; k++) {
        list->slot[find_slot(list, list->mask + k * list->d)] = k + 1;
    }
    return LSCM_OK;
}

lscm_status mask_list_number(mask_list *list, const uint8_t *mask, size_t *number, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (list->count == list->room) {
        TRY(grow(list, why));
    }
    size_t at = find_slot(list, mask);
    if (list->slot[at] == 0) {
        memcpy(list->mask + list->count * list->d, mask, list->d);
        list->slot[at] = ++list->count;
    }
    *number = list->slot[at] - 1;
done:
    return status;
}

void mask_list_close(mask_list *list)
{
    free(list->mask);
    free(list->slot);
}
