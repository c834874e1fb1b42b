#include "scm/graph/cpdag.h"

#include "scm/graph/adjacency.h"

#include <string.h>

static size_t words_of(size_t d)
{
    return (d + 63) / 64;
}

void cpdag_lay_out(cpdag_work *work, arena *a, size_t d)
{
    work->order = arena_take(a, d, sizeof *work->order);
    work->waiting = arena_take(a, d, sizeof *work->waiting);
    work->parents = arena_take(a, d * words_of(d), sizeof *work->parents);
    work->compelled = arena_take(a, d * words_of(d), sizeof *work->compelled);
}

/* Row k: the positions of the parents of order[k]. */
static void collect_parents(const uint8_t *dag, size_t d, const cpdag_work *work)
{
    size_t words = words_of(d);
    size_t *position = work->waiting; /* of each node; done with as counts */
    for (size_t k = 0; k < d; k++) {
        position[work->order[k]] = k;
    }
    memset(work->parents, 0, d * words * sizeof *work->parents);
    for (size_t k = 0; k < d; k++) {
        const uint8_t *children = dag + work->order[k] * d;
        for (size_t i = 0; i < d; i++) {
            if (children[i] != 0) {
                work->parents[position[i] * words + k / 64] |= UINT64_C(1) << (k % 64);
            }
        }
    }
}

/* Position of the last parent; the set must not be empty. */
static size_t last_parent(const uint64_t *parents, size_t words)
{
    size_t word = words - 1;
    while (parents[word] == 0) {
        word--;
    }
    return word * 64 + 63 - (size_t)__builtin_clzll(parents[word]);
}

/* Labels the edges into the node at position y from its last parent x:
 *   w -> x compelled and w not a parent of y:      all edges into y are compelled (w -> x -> y);
 *   another parent of y is not adjacent to x:      all are compelled (a v-structure at y);
 *   else compelled are w -> y for each compelled w -> x, and the rest is reversible. */
static void label_edges_into(size_t y, size_t words, const cpdag_work *work)
{
    const uint64_t *parents = work->parents + y * words;
    uint64_t *compelled = work->compelled + y * words;
    uint64_t any = 0;
    for (size_t k = 0; k < words; k++) {
        any |= parents[k];
    }
    if (any == 0) {
        memset(compelled, 0, words * sizeof *compelled);
        return;
    }
    size_t x = last_parent(parents, words);
    const uint64_t *parents_x = work->parents + x * words;
    const uint64_t *compelled_x = work->compelled + x * words;
    bool all = false;
    for (size_t k = 0; k < words; k++) {
        uint64_t self = k == x / 64 ? UINT64_C(1) << (x % 64) : 0;
        all = all || (compelled_x[k] & ~parents[k]) != 0;
        all = all || (parents[k] & ~parents_x[k] & ~self) != 0;
    }
    memcpy(compelled, all ? parents : compelled_x, words * sizeof *compelled);
}

bool cpdag_of_dag(const uint8_t *dag, size_t d, uint8_t *cpdag, const cpdag_work *work)
{
    size_t words = words_of(d);
    if (!graph_order(dag, d, work->order, work->waiting)) {
        return false;
    }
    collect_parents(dag, d, work);
    memset(cpdag, 0, d * d);
    for (size_t y = 0; y < d; y++) {
        label_edges_into(y, words, work);
        size_t child = work->order[y];
        for (size_t k = 0; k < words; k++) {
            uint64_t left = work->parents[y * words + k];
            uint64_t compelled = work->compelled[y * words + k];
            for (; left != 0; left &= left - 1) {
                size_t bit = (size_t)__builtin_ctzll(left);
                size_t parent = work->order[k * 64 + bit];
                cpdag[parent * d + child] = 1;
                cpdag[child * d + parent] = (compelled >> bit & 1) != 0 ? 0 : 1;
            }
        }
    }
    return true;
}
