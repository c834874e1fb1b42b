#include "base/order.h"

/* Kahn's algorithm; `waiting[i]` counts the parents of i that have no position yet. */
bool order_of_graph(const double *w, size_t d, size_t *order, size_t *waiting)
{
    size_t placed = 0;
    for (size_t i = 0; i < d; i++) {
        waiting[i] = 0;
        for (size_t j = 0; j < d; j++) {
            waiting[i] += w[j * d + i] != 0 ? 1 : 0;
        }
    }
    for (size_t next = 0; next < d; next++) {
        size_t node = 0;
        while (node < d && waiting[node] != 0) {
            node++;
        }
        if (node == d) {
            return false;
        }
        waiting[node] = d + 1; /* placed: never free again */
        order[placed++] = node;
        for (size_t i = 0; i < d; i++) {
            waiting[i] -= w[node * d + i] != 0 ? 1 : 0;
        }
    }
    return true;
}

bool order_fits_graph(const double *w, size_t d, const size_t *order, size_t *position)
{
    for (size_t i = 0; i < d; i++) {
        position[i] = d;
    }
    for (size_t k = 0; k < d; k++) {
        if (order[k] >= d || position[order[k]] != d) {
            return false;
        }
        position[order[k]] = k;
    }
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) {
            if (w[j * d + i] != 0 && position[j] >= position[i]) {
                return false;
            }
        }
    }
    return true;
}
