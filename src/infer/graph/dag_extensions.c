/* See dag_extensions.h. A part is a mask over nodes and remembered at that place of a table, which
 * is cleared again entry by entry. Taking away a source or a sink leaves a convex part, so edges
 * within it say all about its orders. */
#include "infer/graph/dag_extensions.h"

#include <math.h>

/* Ways to choose the places of `part` among those of `all`: whole numbers at every step. */
static double choices(uint32_t all, uint32_t part)
{
    int n = __builtin_popcount(all);
    int chosen = __builtin_popcount(part);
    double product = 1;
    for (int k = 1; k <= chosen; k++) {
        product = product * (n - chosen + k) / k;
    }
    return product;
}

void dag_extensions_lay_out(dag_extensions *work, arena *a, size_t d)
{
    work->d = d;
    work->parents = arena_take(a, d, sizeof *work->parents);
    work->children = arena_take(a, d, sizeof *work->children);
    work->orders = arena_take(a, (size_t)1 << d, sizeof *work->orders);
    work->met = arena_take(a, (size_t)1 << d, sizeof *work->met);
}

static size_t lowest(uint32_t set)
{
    return (size_t)__builtin_ctz(set);
}

/* The nodes of `part` that hang together with its lowest. */
static uint32_t connected(const dag_extensions *work, uint32_t part)
{
    uint32_t found = part & (0 - part);
    uint32_t fresh = found;
    while (fresh != 0) {
        size_t i = lowest(fresh);
        fresh &= fresh - 1;
        uint32_t next = (work->parents[i] | work->children[i]) & part & ~found;
        found |= next;
        fresh |= next;
    }
    return found;
}

/* The nodes of `part` without neighbours of the one kind in it. */
static uint32_t ends(const uint32_t *neighbours, uint32_t part)
{
    uint32_t found = 0;
    for (uint32_t left = part; left != 0; left &= left - 1) {
        size_t i = lowest(left);
        found |= (neighbours[i] & part) == 0 ? (uint32_t)1 << i : 0;
    }
    return found;
}

static double orders_of(const dag_extensions *work, uint32_t part, size_t *met);

static double orders_of_connected(const dag_extensions *work, uint32_t part, size_t *met)
{
    if ((part & (part - 1)) == 0) {
        return 1;
    }
    if (work->orders[part] > 0) {
        return work->orders[part];
    }
    uint32_t sources = ends(work->parents, part);
    uint32_t sinks = ends(work->children, part);
    bool from_sinks = __builtin_popcount(sinks) < __builtin_popcount(sources);
    double sum = 0;
    for (uint32_t left = from_sinks ? sinks : sources; left != 0; left &= left - 1) {
        sum += orders_of(work, part & ~(left & (0 - left)), met);
    }
    work->orders[part] = sum;
    work->met[(*met)++] = part;
    return sum;
}

/* Parts that do not hang together are shuffled in every way. */
static double orders_of(const dag_extensions *work, uint32_t part, size_t *met)
{
    double product = 1;
    while (part != 0) {
        uint32_t one = connected(work, part);
        product *= orders_of_connected(work, one, met) * choices(part, one);
        part &= ~one;
    }
    return product;
}

double dag_log_extensions(const dag_extensions *work, const family *list, const dag_draws *draws,
                          size_t index)
{
    size_t d = work->d;
    for (size_t i = 0; i < d; i++) {
        work->parents[i] = 0;
        work->children[i] = 0;
    }
    for (size_t i = 0; i < d; i++) {
        uint32_t set = draws->parents[index * d + i];
        for (size_t c = 0; c < list[i].count; c++) {
            uint32_t edge = set >> c & 1;
            work->parents[i] |= edge << list[i].candidate[c];
            work->children[list[i].candidate[c]] |= edge << i;
        }
    }
    size_t met = 0;
    double orders = orders_of(work, ((uint32_t)1 << d) - 1, &met);
    while (met > 0) {
        work->orders[work->met[--met]] = 0;
    }
    return log(orders);
}
