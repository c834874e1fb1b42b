/* A fit through a network that is stopped, wherever it was: what it says of going on is true, and
 * going on ends in the same bytes as never having stopped, with no step taken twice. */
#include "scratch.h"
#include "simulated.h"

#include <math.h>

static lscm_error why;

static lscm_dataset *bent(void)
{
    return simulated_as("paper-nonlinear", 2,
                        "features=8 observational=40 sets=8 per_set=20 seed=1");
}

/* Reports that begin with `at`: how many there were, and at which to stop; -1: never. */
typedef struct stopper {
    const char *at;
    int stop, seen;
} stopper;

static bool go_on(void *self, const char *what, uint64_t done, uint64_t total)
{
    stopper *s = self;
    (void)done;
    (void)total;
    if (strncmp(what, s->at, strlen(s->at)) == 0) {
        return s->seen++ != s->stop;
    }
    return true;
}

static lscm_status fit_in(const lscm_dataset *data, const char *folder, bool resume, stopper *s)
{
    lscm_posterior *p = NULL;
    lscm_fit_settings settings;
    const lscm_run_options run = {.folder = folder, .resume = resume};
    lscm_settings_defaults(lscm_fit_table(), &settings);
    settings.steps = 400;
    settings.width = 8;
    settings.draws = 8;
    lscm_set_threads(1); /* steps so small that waiting for threads would take longer */
    lscm_status status = lscm_fit(&p, data, &settings, &run, &(lscm_progress){go_on, s}, &why);
    lscm_posterior_free(p);
    return status;
}

/* All of a file of a run; the caller frees it. */
static char *content(const char *folder, const char *name, size_t *size)
{
    char path[600];
    char *bytes = malloc(1 << 22);
    assert_non_null(bytes);
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    *size = fread(bytes, 1, 1 << 22, file);
    assert_true(*size > 0 && feof(file));
    (void)fclose(file);
    return bytes;
}

static void assert_same_file(const char *one, const char *two, const char *name)
{
    size_t sizes[2];
    char *a = content(one, name, &sizes[0]);
    char *b = content(two, name, &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(a, b, sizes[0]);
    free(a);
    free(b);
}

static void remove_run(const char *folder)
{
    static const char *const files[] = {"posterior.nc", "config.json", "summary.json",
                                        "trace.csv",    "report.html", "checkpoint"};
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        char path[600];
        (void)snprintf(path, sizeof path, "%s/%s", folder, files[k]);
        (void)unlink(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

static bool has_checkpoint(const char *folder)
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s/checkpoint", folder);
    return access(path, F_OK) == 0;
}

typedef struct stop_place {
    const char *at, *says;
    int first, last, by; /* of the reports */
} stop_place;

static void going_on_ends_in_the_same_bytes(void **state)
{
    (void)state;
    static const stop_place places[] = {
        {"choosing a network", "while choosing a network, at step", 0, 25, 5},
        {"network: misfit", "stopped at step", 0, 12, 6},
        {"graphs", "stopped after training", 0, 0, 1},
    };
    char straight[300];
    char stopped[300];
    lscm_dataset *data = bent();
    (void)scratch_path(straight, "straight");
    (void)scratch_path(stopped, "stopped");
    stopper whole = {"choosing a network", -1, 0};
    assert_ok(fit_in(data, straight, false, &whole));
    for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
        const stop_place *p = &places[k];
        for (int n = p->first; n <= p->last; n += p->by) {
            stopper first = {p->at, n, 0};
            stopper rest = {"choosing a network", -1, 0};
            assert_fails(fit_in(data, stopped, false, &first), LSCM_STOPPED, p->says);
            assert_non_null(strstr(why.text, "continue with the same command and --resume"));
            assert_true(has_checkpoint(stopped));
            assert_ok(fit_in(data, stopped, true, &rest));
            assert_false(has_checkpoint(stopped));
            assert_same_file(straight, stopped, "posterior.nc");
            assert_same_file(straight, stopped, "trace.csv");
            bool choosing = k == 0;
            assert_int_equal(rest.seen, choosing ? whole.seen - first.seen : 0);
            remove_run(stopped);
        }
    }
    remove_run(straight);
    lscm_dataset_free(data);
}

/* Stopped and resumed again and again, in all stages. */
static void many_stops(void **state)
{
    (void)state;
    char straight[300];
    char stopped[300];
    lscm_dataset *data = bent();
    (void)scratch_path(straight, "straight");
    (void)scratch_path(stopped, "stopped");
    stopper never = {"", -1, 0};
    assert_ok(fit_in(data, straight, false, &never));
    lscm_status status = LSCM_STOPPED;
    for (int n = 0; n < 100 && status == LSCM_STOPPED; n++) {
        stopper often = {n % 2 == 0 ? "choosing" : "network", 6, 0};
        status = fit_in(data, stopped, n > 0, &often);
    }
    assert_int_equal(status, LSCM_OK);
    assert_same_file(straight, stopped, "posterior.nc");
    assert_same_file(straight, stopped, "trace.csv");
    remove_run(straight);
    remove_run(stopped);
    lscm_dataset_free(data);
}

/* How far reports of the two networks say the work is: the least and the most of each. */
typedef struct extent {
    double least[2], most[2]; /* trained, judged */
} extent;

static bool measure(void *self, const char *what, uint64_t done, uint64_t total)
{
    extent *e = self;
    bool judged = strncmp(what, "judging", 7) == 0;
    if (judged || strncmp(what, "network", 7) == 0) {
        double share = (double)done / (double)total;
        e->least[judged] = fmin(e->least[judged], share);
        e->most[judged] = fmax(e->most[judged], share);
    }
    return true;
}

/* A network is trained twice where it is judged, and the time left is that of both: the first may
 * never say that all is nearly done, whatever else the machine does. */
static void progress_is_of_both_networks(void **state)
{
    (void)state;
    for (int judged = 0; judged < 2; judged++) {
        lscm_posterior *p = NULL;
        lscm_dataset *data = bent();
        lscm_fit_settings settings;
        extent e = {{2, 2}, {-1, -1}};
        lscm_settings_defaults(lscm_fit_table(), &settings);
        settings.steps = 400;
        settings.width = 8;
        settings.draws = 8;
        settings.holdout = judged ? 0.2 : 0;
        lscm_set_threads(1);
        assert_ok(lscm_fit(&p, data, &settings, NULL, &(lscm_progress){measure, &e}, &why));
        assert_true(e.least[0] >= 0 && e.most[0] > 0);
        if (judged) {
            assert_true(e.most[0] < 0.9);
            assert_true(e.least[1] >= e.most[0] && e.most[1] <= 1);
            assert_true(e.most[1] > e.most[0]);
        } else {
            assert_true(e.most[0] > 0.9);
            assert_true(e.most[1] < 0); /* there is none */
        }
        lscm_posterior_free(p);
        lscm_dataset_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(going_on_ends_in_the_same_bytes),
        cmocka_unit_test(many_stops),
        cmocka_unit_test(progress_is_of_both_networks),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
