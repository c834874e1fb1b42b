/* What a fit reports: one total from its first row to its last stage, that never goes back. */
#include "simulated.h"

#include <math.h>
#include <string.h>

static lscm_error why;

typedef struct heard {
    uint64_t done;
    size_t times, judged, filled;
} heard;

static bool hear(void *self, const char *what, uint64_t done, uint64_t total)
{
    heard *h = self;
    assert_int_equal(total, LSCM_WHOLE);
    assert_true(done >= h->done && done <= total);
    h->done = done;
    h->times++;
    h->judged += strncmp(what, "judging", 7) == 0 ? 1 : 0;
    h->filled += strcmp(what, "missing entries") == 0 ? 1 : 0;
    return true;
}

static heard fit_data(lscm_dataset *data)
{
    heard h = {0};
    lscm_posterior *p = NULL;
    lscm_fit_settings settings;
    lscm_settings_defaults(lscm_fit_table(), &settings);
    settings.width = 8;
    settings.draws = 8;
    lscm_set_threads(1);
    assert_ok(lscm_fit(&p, data, &settings, NULL, &(lscm_progress){hear, &h}, &why));
    lscm_posterior_free(p);
    lscm_dataset_free(data);
    return h;
}

static heard fit_of(const char *preset, const char *text)
{
    return fit_data(simulated_as(preset, 3, text));
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

/* Inferences in turn with draws of what is missing: none begins anew. */
static void one_total_where_x_has_holes(void **state)
{
    enum { NODES = 15, SETS = 20, PER_SET = 20, ROWS = SETS * PER_SET };
    static double x[ROWS * NODES];
    static uint8_t targets[ROWS * NODES];
    lscm_dataset *whole = simulated_as("paper-linear", NODES,
                                       "projection=identity observational=0 sets=20 per_set=20");
    lscm_dataset *data = NULL;
    (void)state;
    assert_int_equal(lscm_dataset_rows(whole), ROWS);
    assert_ok(lscm_dataset_read(whole, LSCM_X, 0, ROWS, x, &why));
    for (size_t row = 0; row < ROWS; row++) {
        targets[row * NODES + row / PER_SET % NODES] = row < ROWS / 2 ? 1 : 0;
        x[row * NODES + row % NODES] = row % 4 == 3 ? (double)NAN : x[row * NODES + row % NODES];
    }
    const lscm_arrays arrays = {
        .rows = ROWS, .nodes = NODES, .features = NODES, .x = x, .targets = targets};
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    heard h = fit_data(data);
    assert_true(h.filled > 8 && h.done > LSCM_WHOLE / 2);
    lscm_dataset_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_total),
        cmocka_unit_test(one_total_where_x_has_holes),
        cmocka_unit_test(one_total_where_x_bends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
