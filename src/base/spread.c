#include "base/spread.h"

void spread_columns(const spread_table *t, size_t first, unsigned wanted, spread out[SPREAD_BLOCK])
{
    size_t count = t->d - first < SPREAD_BLOCK ? t->d - first : SPREAD_BLOCK;
    for (size_t j = 0; j < SPREAD_BLOCK; j++) {
        out[j] = (spread){0};
    }
    for (size_t k = 0; k < t->rows; k++) {
        const double *x = t->x + k * t->d + first;
        const uint8_t *mask = t->mask + k * t->d + first;
        if (t->keep != NULL && t->keep[k] == 0) {
            continue;
        }
        for (size_t j = 0; j < count; j++) {
            if ((wanted >> mask[j] & 1) != 0) {
                spread_add(&out[j], x[j]);
            }
        }
    }
}
