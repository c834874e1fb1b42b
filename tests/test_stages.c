/* One total over stages: by a clock that the test moves. */
#include "testing.h"

#include "base/stages.h"

#include <math.h>

static double now;

static double clock_here(void)
{
    return now;
}

typedef struct heard {
    uint64_t done, total;
    size_t times;
    bool stop;
} heard;

static bool hear(void *self, const char *what, uint64_t done, uint64_t total)
{
    heard *h = self;
    assert_string_equal(what, "here");
    assert_true(done >= h->done); /* never back */
    *h = (heard){done, total, h->times + 1, h->stop};
    return !h->stop;
}

static void begin(stages *s, size_t count, const lscm_progress *to)
{
    now = 100;
    stages_begin(s, count, to);
    s->clock = clock_here;
    s->begun = s->entered = now;
}

static double share(const heard *h)
{
    assert_int_equal(h->total, LSCM_WHOLE);
    return (double)h->done / LSCM_WHOLE;
}

/* The second is expected to take three times as long as the first: at half of the first, 2 of 16
 * seconds are over. */
static void later_stages_count(void **state)
{
    heard h = {0};
    const lscm_progress to = {hear, &h};
    stages s;
    (void)state;
    begin(&s, 2, &to);
    stages_expect_like(&s, 1, 0, 3);
    assert_true(stages_report(&s, "here", 0, 10));
    now += 2;
    assert_true(stages_report(&s, "here", 5, 10));
    assert_near(share(&h), 2.0 / 16, 1e-4);
    now += 2;
    stages_enter(&s, 1);
    assert_near(stages_took(&s, 0), 4, 1e-12);
    assert_true(stages_report(&s, "here", 0, 7));
    assert_near(share(&h), 4.0 / 16, 1e-4);
    now += 6;
    assert_true(stages_report(&s, "here", 1, 2));
    assert_near(share(&h), 10.0 / 16, 1e-4);
}

/* While one that is ahead is not known, nothing is said; then all of it is. */
static void what_is_not_known_waits(void **state)
{
    heard h = {0};
    const lscm_progress to = {hear, &h};
    stages s;
    (void)state;
    begin(&s, 2, &to);
    stages_expect(&s, 1, NAN);
    now += 1;
    assert_true(stages_report(&s, "here", 9, 10));
    assert_near(share(&h), 0, 1e-12);
    assert_int_equal(h.times, 1);
    stages_enter(&s, 1);
    assert_true(s.own.report(s.own.self, "here", 0, 10));
    now += 4;
    assert_true(s.own.report(s.own.self, "here", 4, 10));
    assert_near(share(&h), 5.0 / 11, 1e-4);
}

/* A guess that was too low, and a second time through the same stages. */
static void it_never_goes_back(void **state)
{
    heard h = {0};
    const lscm_progress to = {hear, &h};
    stages s;
    (void)state;
    begin(&s, 3, &to);
    stages_expect(&s, 1, 1);
    stages_expect(&s, 2, 1);
    now += 1;
    assert_true(stages_report(&s, "here", 1, 1));
    stages_enter(&s, 1);
    now += 10; /* not 1 */
    assert_true(s.part.report(s.part.self, "here", 1, 2));
    double before = share(&h);
    stages_expect(&s, 2, 1000);
    assert_true(stages_report(&s, "here", 1, 2));
    assert_near(share(&h), before, 1e-12);
    stages_enter(&s, 0); /* once more: 1 and 10 seconds */
    assert_true(stages_report(&s, "here", 0, 2));
    assert_near(share(&h), before, 1e-12);
    stages_expect(&s, 2, 0);
    assert_true(stages_report(&s, "here", 1, 1));
    assert_near(share(&h), fmax(before, 11.0 / 21), 1e-4);
}

/* A training that is resumed half way has the other half left, by what it does now. */
static void resumed_work_has_its_own_pace(void **state)
{
    heard h = {0};
    const lscm_progress to = {hear, &h};
    stages s;
    (void)state;
    begin(&s, 1, &to);
    assert_true(stages_report(&s, "here", 50, 100));
    now += 5;
    assert_true(stages_report(&s, "here", 75, 100));
    assert_near(share(&h), 0.5, 1e-4); /* 5 of 10 seconds */
}

/* Stages of a stage, and a stop that is passed on. */
static void stages_have_stages(void **state)
{
    heard h = {0};
    const lscm_progress to = {hear, &h};
    stages outer;
    stages inner;
    (void)state;
    begin(&outer, 2, &to);
    stages_expect_like(&outer, 1, 0, 1);
    begin(&inner, 2, &outer.own);
    stages_expect_like(&inner, 1, 0, 1);
    assert_true(stages_report(&inner, "here", 0, 4));
    now += 1;
    assert_true(stages_report(&inner, "here", 2, 4));
    assert_near(share(&h), 1.0 / 8, 1e-3);
    h.stop = true;
    assert_false(stages_report(&inner, "here", 3, 4));
    begin(&outer, 1, NULL);
    assert_true(stages_report(&outer, "here", 1, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_stages_count), cmocka_unit_test(what_is_not_known_waits),
        cmocka_unit_test(it_never_goes_back), cmocka_unit_test(resumed_work_has_its_own_pace),
        cmocka_unit_test(stages_have_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
