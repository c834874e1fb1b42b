/* Matrices for tests of permanents. */
#ifndef LSCM_TESTS_PERMANENT_TESTING_H
#define LSCM_TESTS_PERMANENT_TESTING_H

#include "infer/ordering/ordering.h"
#include "lcg.h"
#include "testing.h"

static lscm_error why;

/* Small, middling, peaked, and as large as is promised. */
static inline double draw_entry(lcg *g, size_t kind)
{
    const double size[] = {0.3, 1, 4};
    return kind < 3 ? size[kind] * lcg_normal(g) : 100 * lcg_uniform(g) - 50;
}

#endif
