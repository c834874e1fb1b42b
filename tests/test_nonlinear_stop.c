/* A fit through a network that is stopped: what it says of going on is true, wherever it was. */
#include "scratch.h"

static lscm_error why;

static lscm_dataset *bent(void)
{
    lscm_dataset *data = NULL;
    lscm_simulation s;
    assert_ok(lscm_simulation_preset(&s, "paper-nonlinear", 2, &why));
    s.features = 8;
    s.observational = 40;
    s.sets = 8;
    s.per_set = 20;
    s.seed = 1;
    assert_ok(lscm_simulate(&data, &s, NULL, &why));
    return data;
}

static bool stop_at(void *self, const char *what, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    return strncmp(what, self, strlen(self)) != 0;
}

static lscm_status stopped(const lscm_dataset *data, const char *folder, bool resume, char *at)
{
    lscm_posterior *p = NULL;
    lscm_fit_settings s;
    const lscm_run_options run = {.folder = folder, .resume = resume};
    lscm_settings_defaults(lscm_fit_table(), &s);
    s.steps = 400;
    s.width = 8;
    s.draws = 8;
    lscm_set_threads(1); /* steps so small that waiting for threads would take longer */
    return lscm_fit(&p, data, &s, &run, &(lscm_progress){stop_at, at}, &why);
}

static void what_is_said_is_true(void **state)
{
    (void)state;
    char folder[300];
    char checkpoint[300];
    char trace[300];
    char choosing[] = "choosing a network";
    char training[] = "network: misfit";
    lscm_dataset *data = bent();
    (void)scratch_path(folder, "run");
    (void)scratch_path(checkpoint, "run/checkpoint");
    (void)scratch_path(trace, "run/trace.csv");
    assert_fails(stopped(data, folder, false, choosing), LSCM_STOPPED, "start again");
    assert_null(strstr(why.text, "resume"));
    assert_true(access(folder, F_OK) != 0);
    assert_fails(stopped(data, folder, false, training), LSCM_STOPPED, "--resume");
    assert_true(access(checkpoint, F_OK) == 0);
    assert_fails(stopped(data, folder, true, choosing), LSCM_STOPPED,
                 "the checkpoint is as it was: continue with the same command");
    assert_true(access(checkpoint, F_OK) == 0);
    assert_fails(stopped(data, folder, true, training), LSCM_STOPPED, "--resume");
    assert_int_equal(unlink(checkpoint), 0);
    assert_int_equal(unlink(trace), 0);
    assert_int_equal(rmdir(folder), 0);
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_said_is_true)};
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
