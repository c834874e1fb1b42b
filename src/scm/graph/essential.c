#include "scm/graph/essential.h"

static bool directed(const uint8_t *g, size_t d, size_t a, size_t b)
{
    return g[a * d + b] != 0 && g[b * d + a] == 0;
}

static bool undirected(const uint8_t *g, size_t d, size_t a, size_t b)
{
    return g[a * d + b] != 0 && g[b * d + a] != 0;
}

static bool apart(const uint8_t *g, size_t d, size_t a, size_t b)
{
    return g[a * d + b] == 0 && g[b * d + a] == 0;
}

/* With k: c -> a, c and b apart (1); or a -> c -> b (2). With a second one, e: a - c -> b, a - e ->
 * b, c and e apart (3); or a - c, c -> e -> b, a and e adjacent, c and b apart (4). */
static bool is_forced(const uint8_t *g, size_t d, size_t a, size_t b)
{
    for (size_t c = 0; c < d; c++) {
        if (c == a || c == b) {
            continue;
        }
        if ((directed(g, d, c, a) && apart(g, d, c, b)) ||
            (directed(g, d, a, c) && directed(g, d, c, b))) {
            return true;
        }
        for (size_t e = 0; e < d && undirected(g, d, a, c); e++) {
            if (e == a || e == b || e == c || !directed(g, d, e, b)) {
                continue;
            }
            if ((undirected(g, d, a, e) && directed(g, d, c, b) && apart(g, d, c, e)) ||
                (directed(g, d, c, e) && !apart(g, d, a, e) && apart(g, d, c, b))) {
                return true;
            }
        }
    }
    return false;
}

bool essential_of_dag(const uint8_t *dag, size_t d, const uint8_t *told, uint8_t *essential,
                      const cpdag_work *work)
{
    bool moved = true;
    if (!cpdag_of_dag(dag, d, essential, work)) {
        return false;
    }
    for (size_t k = 0; k < d * d; k++) {
        if (told[k] != 0 && undirected(essential, d, k / d, k % d)) {
            essential[k] = dag[k];
            essential[k % d * d + k / d] = dag[k % d * d + k / d];
        }
    }
    while (moved) {
        moved = false;
        for (size_t k = 0; k < d * d; k++) {
            size_t a = k / d;
            size_t b = k % d;
            if (undirected(essential, d, a, b) && is_forced(essential, d, a, b)) {
                essential[b * d + a] = 0;
                moved = true;
            }
        }
    }
    return true;
}

void essential_add_reversible(const uint8_t *essential, size_t d, double share, double *reversible)
{
    for (size_t k = 0; k < d * d; k++) {
        reversible[k] += undirected(essential, d, k / d, k % d) ? share : 0;
    }
}
