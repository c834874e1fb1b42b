/* The one training loop, with learners whose every step is known: however often it is stopped and
 * resumed, the steps that are taken are those of a run that never was, and no others. */
#include "infer/run/run.h"

#include "on_cpu.h"
#include "scratch.h"
#include "simulated.h"

static lscm_error why;

/* Counts; its loss is what the test says. */
typedef struct counter {
    uint64_t steps, restart; /* its state */
    double sum;              /* of what it was told: rates, or its own steps */
    double slope;            /* loss = -slope steps */
    uint64_t taken;          /* in this process; no part of the state */
    uint64_t most;           /* of its own course */
} counter;

static void begin(void *self, size_t restart)
{
    counter *c = self;
    c->steps = 0;
    c->sum = 0;
    c->restart = restart;
}

static lscm_status step(void *self, double rate, training_terms *terms, lscm_error *unused)
{
    counter *c = self;
    (void)unused;
    *terms = (training_terms){.loss = -c->slope * (double)c->steps + (double)c->restart};
    c->sum += rate * (double)++c->steps;
    c->taken++;
    return LSCM_OK;
}

static size_t pieces(void *self, piece out[PIECES])
{
    counter *c = self;
    out[0] = (piece){&c->steps, sizeof c->steps};
    out[1] = (piece){&c->restart, sizeof c->restart};
    out[2] = (piece){&c->sum, sizeof c->sum};
    return 3;
}

static lscm_status draw(void *self, size_t count, uint64_t stream, const model_sample *out,
                        lscm_error *unused)
{
    (void)self;
    (void)count;
    (void)stream;
    (void)out;
    (void)unused;
    return LSCM_OK;
}

static bool over(const void *self)
{
    const counter *c = self;
    return c->steps >= c->most;
}

static void place(const void *self, trainee_place *out)
{
    const counter *c = self;
    (void)snprintf(out->what, sizeof out->what, "counting");
    out->stage = c->steps < c->most / 2 ? "in the first half, " : "";
    out->done = c->steps;
    out->total = c->most;
}

/* Every 25th. */
static size_t row(const void *self, double out[TRAINEE_COLUMNS])
{
    const counter *c = self;
    out[0] = (double)c->steps;
    out[1] = c->sum;
    return c->steps % 25 == 0 ? 2 : 0;
}

static const trainee_course own = {over, place, "steps,sum", row};

/* Stops at the reports of these numbers. */
typedef struct stops {
    uint64_t seen, at;
} stops;

static bool go_on(void *self, const char *what, uint64_t done, uint64_t total)
{
    stops *s = self;
    (void)what;
    assert_true(done <= total);
    return s->seen++ != s->at;
}

static lscm_dataset *any_data(void)
{
    return simulated_as("paper-linear", 2, "observational=4 sets=1 per_set=2");
}

typedef struct plan {
    int64_t steps, restarts;
    double slope;
    bool course;
} plan;

/* To the end or to report number `at`; UINT64_MAX: to the end. */
static lscm_status run_to(const plan *p, const lscm_dataset *data, const char *folder, bool resume,
                          uint64_t at, counter *c)
{
    stops s = {0, at};
    const lscm_progress progress = {go_on, &s};
    const lscm_run_options run = {.folder = folder, .resume = resume};
    fit f = {.data = data, .run = &run, .progress = &progress, .device = *on_cpu()};
    training r = {0};
    lscm_settings_defaults(lscm_fit_table(), &f.settings);
    f.settings.steps = p->steps;
    f.settings.restarts = p->restarts;
    f.settings.samples = 1;
    f.settings.trace = 1000;
    f.settings.rate = 1;
    *c = (counter){.slope = p->slope, .most = (uint64_t)p->steps};
    const trainee learner = {.self = c,
                             .begin = begin,
                             .step = step,
                             .pieces = pieces,
                             .draw = draw,
                             .course = p->course ? &own : NULL};
    lscm_status status = training_open(&r, &f, &learner, false, &why);
    if (status == LSCM_OK) {
        status = training_run(&r, &why);
    }
    training_close(&r);
    return status;
}

static void forget(const char *folder)
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s/checkpoint", folder);
    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s/trace.csv", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

static uint64_t rows_of(const char *folder)
{
    char path[600];
    uint64_t lines = 0;
    (void)snprintf(path, sizeof path, "%s/trace.csv", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
        lines += c == '\n' ? 1 : 0;
    }
    (void)fclose(file);
    return lines - 1;
}

/* At every 4th report, and at those where a window ends. */
static void check_stops(const plan *p, uint64_t reports)
{
    char folder[300];
    lscm_dataset *data = any_data();
    counter whole;
    (void)scratch_path(folder, "run");
    assert_ok(run_to(p, data, folder, false, UINT64_MAX, &whole));
    uint64_t rows = rows_of(folder);
    forget(folder);
    for (uint64_t at = 0; at < reports; at += at % 25 == 23 ? 1 : 4) {
        counter first;
        counter rest;
        assert_fails(run_to(p, data, folder, false, at, &first), LSCM_STOPPED, "--resume");
        assert_int_equal(first.taken, 10 * (at + 1));
        assert_ok(run_to(p, data, folder, true, UINT64_MAX, &rest));
        assert_int_equal(first.taken + rest.taken, whole.taken);
        assert_int_equal(rest.steps, whole.steps);
        assert_int_equal(rest.restart, whole.restart);
        assert_near(rest.sum, whole.sum, 0);
        assert_int_equal(rows_of(folder), rows);
        forget(folder);
    }
    lscm_dataset_free(data);
}

/* A loss that stands still: the rate is cut at windows 2, 3 and 4, and then it has converged, at
 * step 1000; when stopped right there, a resumed run once went on for another window. */
static void a_run_that_converges(void **state)
{
    (void)state;
    check_stops(&(plan){.steps = 3000, .restarts = 1}, 100);
}

static void several_starts(void **state)
{
    (void)state;
    check_stops(&(plan){.steps = 1500, .restarts = 2, .slope = 1}, 240);
}

static void a_course_of_its_own(void **state)
{
    (void)state;
    char folder[300];
    const plan p = {.steps = 203, .course = true};
    counter c;
    lscm_dataset *data = any_data();
    check_stops(&p, 20);
    (void)scratch_path(folder, "run");
    assert_fails(run_to(&p, data, folder, false, 3, &c), LSCM_STOPPED,
                 "stopped in the first half, at step 40 of 203; continue with the same command");
    forget(folder);
    assert_fails(run_to(&p, data, folder, false, 15, &c), LSCM_STOPPED,
                 "stopped at step 160 of 203; continue with the same command");
    assert_int_equal(rows_of(folder), 6);
    forget(folder);
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_converges),
        cmocka_unit_test(several_starts),
        cmocka_unit_test(a_course_of_its_own),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
