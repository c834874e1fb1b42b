/* A design by hand. */
#ifndef LSCM_TESTS_DESIGN_TESTING_H
#define LSCM_TESTS_DESIGN_TESTING_H

#include "data/design/design.h"

#include <stdlib.h>

/* In the place of *s, which is a design or 0; values may be NULL. */
static inline void design_again(design *s, size_t rows, size_t d, const uint8_t *mask,
                                const double *values)
{
    design_close(s);
    if (design_of(s, rows, d, mask, values, NULL) != LSCM_OK) {
        abort();
    }
}

#endif
