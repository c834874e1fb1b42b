#include "data/design/latent_rows.h"

size_t latent_rows_list(const latent_rows *rows, bool by_set, uint32_t *row)
{
    size_t count = 0;
    for (size_t k = 0; k < rows->design->rows; k++) {
        uint32_t r = by_set ? rows->design->row[k] : (uint32_t)k;
        if (row_counts(rows->keep, r)) {
            row[count++] = r;
        }
    }
    return count;
}
