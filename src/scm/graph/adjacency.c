#include "scm/graph/adjacency.h"

#include <math.h>

size_t graph_from_weights(const double *w, size_t d, double threshold, uint8_t *a)
{
    size_t n = d * d;
    size_t broken = 0;
    for (size_t k = 0; k < n; k++) {
        a[k] = fabs(w[k]) > threshold ? 1 : 0;
        broken += w[k] != w[k] ? 1 : 0;
    }
    if (broken == 0) {
        return n;
    }
    size_t first = 0;
    while (w[first] == w[first]) {
        first++;
    }
    return first;
}

/* Kahn's algorithm; order itself is the queue of nodes that wait for nobody. */
bool graph_order(const uint8_t *a, size_t d, size_t *order, size_t *waiting)
{
    size_t placed = 0;
    for (size_t i = 0; i < d; i++) {
        waiting[i] = 0;
    }
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) {
            waiting[i] += a[j * d + i];
        }
    }
    for (size_t i = 0; i < d; i++) {
        if (waiting[i] == 0) {
            order[placed++] = i;
        }
    }
    for (size_t next = 0; next < placed; next++) {
        const uint8_t *children = a + order[next] * d;
        for (size_t i = 0; i < d; i++) {
            if (children[i] != 0 && --waiting[i] == 0) {
                order[placed++] = i;
            }
        }
    }
    return placed == d;
}

size_t graph_shd(const uint8_t *a, const uint8_t *b, size_t d)
{
    /* tiles, so that the entries below the diagonal, read by column, stay in the cache */
    enum { TILE = 64 };
    size_t differ = 0;
    for (size_t top = 0; top < d; top += TILE) {
        size_t bottom = top + TILE < d ? top + TILE : d;
        for (size_t left = top; left < d; left += TILE) {
            size_t right = left + TILE < d ? left + TILE : d;
            for (size_t j = top; j < bottom; j++) {
                for (size_t i = left > j ? left : j + 1; i < right; i++) {
                    int changed = (a[j * d + i] ^ b[j * d + i]) | (a[i * d + j] ^ b[i * d + j]);
                    differ += changed != 0 ? 1 : 0;
                }
            }
        }
    }
    return differ;
}

size_t graph_shd_entries(const uint8_t *a, const uint8_t *b, size_t d)
{
    size_t differ = 0;
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) {
            differ += a[j * d + i] != b[j * d + i] && i != j ? 1 : 0;
        }
    }
    return differ;
}
