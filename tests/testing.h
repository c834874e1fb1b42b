/* What every test needs: cmocka, and comparisons that fail on NaN. */
#ifndef LSCM_TESTS_TESTING_H
#define LSCM_TESTS_TESTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lscm.h"

/* |a - b| <= tolerance, and not when any of them is NaN. */
#define assert_near(a, b, tolerance)                                                               \
    do {                                                                                           \
        double left_ = (a);                                                                        \
        double right_ = (b);                                                                       \
        if (!(fabs(left_ - right_) <= (tolerance))) {                                              \
            print_error("%s = %.17g but %s = %.17g (tolerance %g)\n", #a, left_, #b, right_,       \
                        (double)(tolerance));                                                      \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

/* The call succeeds; otherwise its sentence is shown. */
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        lscm_error *why_ = &why;                                                                   \
        why_->text[0] = '\0';                                                                      \
        if ((call) != LSCM_OK) {                                                                   \
            print_error("%s: %s\n", #call, why_->text);                                            \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

/* The call fails with `code`, and its sentence contains `part`. */
#define assert_fails(call, code, part)                                                             \
    do {                                                                                           \
        lscm_error *why_ = &why;                                                                   \
        why_->text[0] = '\0';                                                                      \
        assert_int_equal((call), (code));                                                          \
        if (strstr(why_->text, (part)) == NULL) {                                                  \
            print_error("'%s' is not in '%s'\n", (part), why_->text);                              \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

#endif
