/* Progress that stops the work after the allowed number of reports, each of which must be sound. */
#ifndef LSCM_TESTS_STOPPER_H
#define LSCM_TESTS_STOPPER_H

#include "testing.h"

typedef struct stopper {
    size_t calls, allowed;
    uint64_t done;
} stopper;

static inline bool allow(void *self, const char *what, uint64_t done, uint64_t total)
{
    stopper *s = self;
    s->done = done;
    assert_true(what != NULL && done <= total);
    return s->calls++ < s->allowed;
}

#endif
