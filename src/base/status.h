/* Failing: every failure is a status and one sentence (what, where, what to do). */
#ifndef LSCM_BASE_STATUS_H
#define LSCM_BASE_STATUS_H

#include "lscm.h"

/* Fills `why` (may be NULL). */
void explain(lscm_error *why, lscm_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void explain_memory(lscm_error *why, size_t bytes);

/* `return fail(...)` reads as it works. Macros, so that compilers and checkers see that a failure
 * is never LSCM_OK. */
#define fail(why, status, ...) (explain((why), (status), __VA_ARGS__), (status))
#define fail_memory(why, bytes) (explain_memory((why), (bytes)), LSCM_MEMORY)

/* One exit per function: a `done:` label that frees everything. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != LSCM_OK) {                                                                   \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

#endif
