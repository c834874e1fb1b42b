/* A device that factors large matrices. a (n, n) is float32, row-major, the host's; of its lower
 * triangle the factor L with a = L L' is made, in place; above the diagonal it is scratch. */
#ifndef LSCM_BACKEND_CHOLESKY_MACHINE_H
#define LSCM_BACKEND_CHOLESKY_MACHINE_H

#include "backend/backend.h"

typedef struct cholesky_machine {
    /* *minor is 0 where a is positive definite; else the order of the first leading minor that is
     * not, or not a number, and a is spoilt. LSCM_MEMORY where the device has no room for it: that
     * is the caller's to hear, as another way would give other bits. */
    lscm_status (*factor)(const device *on, size_t n, float *a, size_t *minor, lscm_error *why);
} cholesky_machine;

#endif
