/* What a fit reports: one total from its first row to its last stage, that never goes back. */
#include "simulated.h"

#include <string.h>

static lscm_error why;

typedef struct heard {
    uint64_t done;
    size_t times, judged;
} heard;

static bool hear(void *self, const char *what, uint64_t done, uint64_t total)
{
    heard *h = self;
    assert_int_equal(total, LSCM_WHOLE);
    assert_true(done >= h->done && done <= total);
    h->done = done;
    h->times++;
    h->judged += strncmp(what, "judging", 7) == 0 ? 1 : 0;
    return true;
}

static heard fit_of(const char *preset, const char *text)
{
    heard h = {0};
    lscm_posterior *p = NULL;
    lscm_fit_settings settings;
    lscm_dataset *data = simulated_as(preset, 3, text);
    lscm_settings_defaults(lscm_fit_table(), &settings);
    settings.width = 8;
    settings.draws = 8;
    lscm_set_threads(1);
    assert_ok(lscm_fit(&p, data, &settings, NULL, &(lscm_progress){hear, &h}, &why));
    lscm_posterior_free(p);
    lscm_dataset_free(data);
    return h;
}

static void one_total(void **state)
{
    (void)state;
    assert_true(fit_of("paper-linear", "features=8 sets=8 per_set=20").times > 4);
    assert_true(fit_of("revised-linear", "features=8 sets=8 per_set=20").times > 4);
    assert_true(fit_of("paper-linear", "projection=identity sets=8 per_set=20").times > 4);
}

static void one_total_where_x_bends(void **state)
{
    heard h = fit_of("paper-nonlinear", "features=8 observational=40 sets=8 per_set=20 seed=1");
    (void)state;
    assert_true(h.judged > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_total),
        cmocka_unit_test(one_total_where_x_bends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
