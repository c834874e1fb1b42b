#include "data/design/spread.h"

void spread_columns(const latent_rows *t, size_t first, unsigned wanted,
                    column_spread out[SPREAD_BLOCK])
{
    size_t d = t->design->d;
    size_t count = d - first < SPREAD_BLOCK ? d - first : SPREAD_BLOCK;
    for (size_t j = 0; j < SPREAD_BLOCK; j++) {
        out[j] = (column_spread){0};
    }
    for (size_t k = 0; k < t->design->rows; k++) {
        const double *x = t->z + k * d + first;
        const uint8_t *target = design_targets(t->design, k) + first;
        if (!row_counts(t->keep, k)) {
            continue;
        }
        for (size_t j = 0; j < count; j++) {
            if ((wanted >> target[j] & 1) != 0) {
                spread_add(&out[j], x[j]);
            }
        }
    }
}
