/* Failing: every failure is a status and one sentence (what, where, what to do). */
#ifndef LSCM_BASE_STATUS_H
#define LSCM_BASE_STATUS_H

#include "lscm.h"

/* Fills `why` (may be NULL) and returns `status`, so that `return fail(...)` reads as it works. */
lscm_status fail(lscm_error *why, lscm_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
lscm_status fail_memory(lscm_error *why, size_t bytes);

/* One exit per function: a `done:` label that frees everything. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != LSCM_OK) {                                                                   \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

#endif
