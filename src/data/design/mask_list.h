/* Distinct masks (d), numbered in the order in which they come, with a hash table of their numbers.
 */
#ifndef LSCM_DATA_DESIGN_MASK_LIST_H
#define LSCM_DATA_DESIGN_MASK_LIST_H

#include "base/status.h"

typedef struct mask_list {
    size_t d, count, room, slots;
    uint8_t *mask; /* (room, d) */
    size_t *slot;  /* (slots): 1 + number of a mask, 0 when free */
} mask_list;

/* The number of a mask (d), which is new or not. */
lscm_status mask_list_number(mask_list *list, const uint8_t *mask, size_t *number, lscm_error *why);
void mask_list_close(mask_list *list);

/* Of all bytes; another seed gives other numbers. Different masks may share one. */
uint64_t mask_hash(const uint8_t *mask, size_t d, uint64_t seed);

#endif
