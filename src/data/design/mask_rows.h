/* Rows by their intervention set, which is their mask (d): a hash of it, and rows sorted by that,
 * so that those of a set stand together. Different masks may share a hash: compare where it
 * matters. */
#ifndef LSCM_DATA_DESIGN_MASK_ROWS_H
#define LSCM_DATA_DESIGN_MASK_ROWS_H

#include <stddef.h>
#include <stdint.h>

typedef struct mask_row {
    uint64_t hash;
    size_t row;
} mask_row;

/* Another seed gives another order of the sets. */
uint64_t mask_hash(const uint8_t *mask, size_t d, uint64_t seed);
/* By hash, then row. */
void mask_rows_sort(mask_row *rows, size_t count);

#endif
