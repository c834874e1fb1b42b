/* z of new rows: of those that were fitted, of fresh ones against the truth, of observed variables;
 * whatever does not fit; and the files that z goes to. */
#include "encoder_testing.h"

static lscm_fit_settings settings_for(const char *kind)
{
    lscm_fit_settings settings;
    lscm_settings_defaults(lscm_fit_table(), &settings);
    settings.draws = 16;
    settings.holdout = 0;
    assert_ok(lscm_settings_set(lscm_fit_table(), &settings, "decoder", kind, &why));
    return settings;
}

static lscm_posterior *fitted(const lscm_dataset *data)
{
    lscm_fit_settings settings = settings_for("linear");
    lscm_posterior *p = NULL;
    assert_ok(lscm_fit(&p, data, &settings, NULL, NULL, &why));
    return p;
}

/* What the run says of the data that it was fitted on is what is transformed again. */
static answer assert_own_z(const lscm_posterior *p, const lscm_dataset *data, double tolerance)
{
    answer a = transformed(p, data);
    for (size_t i = 0; i < a.rows * a.d; i++) {
        double near = tolerance * (1 + fabs(p->z[i]));
        assert_near(a.z[i], p->z[i], near);
        assert_near(a.sd[i], p->z_sd[i], near);
    }
    return a;
}

/* The same for a fit in which z were drawn with the graph: what is kept is what x says of them. */
static void check_drawn_fit(const lscm_simulation *s, const lscm_fit_settings *settings,
                            double tolerance)
{
    lscm_dataset *data = simulated(s);
    lscm_posterior *p = NULL;
    assert_ok(lscm_fit(&p, data, settings, NULL, NULL, &why));
    assert_non_null(strstr(lscm_posterior_summary(p), "latent"));
    free(assert_own_z(p, data, tolerance).z);
    lscm_posterior_free(p);
    lscm_dataset_free(data);
}

/* ---- Linear ---- */

static void linear_runs_give_their_own_z(void **state)
{
    static const char *const presets[] = {"paper-linear", "revised-linear"};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        lscm_simulation s = preset(presets[k], 4);
        s.observational = 100;
        s.sets = 12;
        s.per_set = 20;
        s.features = 20;
        lscm_dataset *data = simulated(&s);
        lscm_posterior *p = fitted(data);
        assert_null(strstr(lscm_posterior_summary(p), "latent")); /* z are the encoder's */
        answer a = assert_own_z(p, data, 1e-9);
        assert_int_equal(a.outside, count_outside(data, data, a.z));
        lscm_posterior *back = reopened(p);
        answer b = transformed(back, data);
        assert_equal_answers(&a, &b);
        free(a.z);
        free(b.z);
        lscm_posterior_free(back);
        lscm_posterior_free(p);
        lscm_dataset_free(data);
    }
}

/* z that were clipped are drawn with the graph, but what is kept is what x says of them. */
static void clipped_runs_give_their_own_z(void **state)
{
    (void)state;
    lscm_simulation s = preset("paper-linear", 4);
    s.observational = 100;
    s.sets = 12;
    s.per_set = 20;
    s.features = 20;
    s.clip = 5;
    lscm_fit_settings settings = settings_for("linear");
    settings.clip = 5;
    check_drawn_fit(&s, &settings, 1e-9);
}

/* Beyond the values that label a node its z is drawn with the graph where a network has biases. The
 * run once kept the mean of those draws, which knows no more than the side: here the network goes
 * on well, and a correlation of .99 was what transform had at .9999. */
static void networks_give_their_own_z_beyond_the_labels(void **state)
{
    (void)state;
    lscm_simulation s = preset("revised-linear", 3);
    s.observational = 300;
    s.sets = 12;
    s.per_set = 40;
    s.features = 20;
    lscm_fit_settings settings = settings_for("mlp");
    settings.steps = 300;
    settings.width = 32;
    check_drawn_fit(&s, &settings, 1e-3);
}

/* Rows of the same model that were not fitted, without a word of what was done. */
static void fresh_rows_are_read_off_exactly(void **state)
{
    enum { FITTED = 100, MORE = 400, D = 4, FEATURES = 30 };
    (void)state;
    lscm_simulation s = preset("paper-linear", D);
    s.observational = FITTED;
    s.sets = 12;
    s.per_set = 20;
    s.features = FEATURES;
    lscm_dataset *data = simulated(&s);
    s.sets = 0;
    s.observational = MORE;
    lscm_dataset *more = simulated(&s);
    double *z = field(more, LSCM_Z, D);
    double *x = field(more, LSCM_X, FEATURES);
    lscm_posterior *p = fitted(data);
    const lscm_arrays alone = {
        .rows = MORE - FITTED, .features = FEATURES, .x = x + FITTED * FEATURES};
    lscm_dataset *fresh = NULL;
    assert_ok(lscm_dataset_wrap(&fresh, &alone, &why));
    answer a = transformed(p, fresh);
    for (size_t k = 0; k < a.rows * D; k++) {
        assert_near(a.z[k], z[FITTED * D + k], 1e-9 * (1 + fabs(z[FITTED * D + k])));
        assert_true(a.sd[k] < 1e-6);
    }
    free(a.z);
    free(x);
    free(z);
    lscm_posterior_free(p);
    lscm_dataset_free(fresh);
    lscm_dataset_free(more);
    lscm_dataset_free(data);
}

static void observed_variables_are_themselves(void **state)
{
    static const size_t none[] = {0};
    const decoder g = made_decoder(DECODER_IDENTITY, 3, none, 3);
    lcg random = {8};
    lscm_dataset *data = made_new();
    (void)state;
    float *x = made_field(data, LSCM_X, DTYPE_FLOAT32, 5, 3, 0, 0);
    for (size_t k = 0; k < 15; k++) {
        x[k] = (float)lcg_normal(&random);
    }
    lscm_posterior *p = made_posterior(2, 3, &g);
    answer a = transformed(p, data);
    for (size_t k = 0; k < 15; k++) {
        assert_near(a.z[k], (double)x[k], 0);
        assert_near(a.sd[k], 0, 0);
    }
    assert_true(a.outside == SIZE_MAX);
    free(a.z);
    lscm_posterior_free(p);
    lscm_dataset_free(data);
}

/* ---- What does not fit ---- */

static void what_does_not_fit_is_said(void **state)
{
    static char *const names[] = {"raf", "mek", "erk"};
    (void)state;
    nonlinear n = nonlinear_new(30, KERNEL_LINEAR, false);
    lscm_posterior *none = made_linear();
    lscm_dataset *other = made_new();
    (void)made_field(other, LSCM_X, DTYPE_FLOAT64, 7, 4, 0, 0);
    refuse(none, other, LSCM_MISSING, "this run has no encoder: the method biols never");
    refuse(n.p, other, LSCM_SHAPE, "made: x has 4 features but the run was fitted on 30");
    (void)made_field(other, LSCM_X, DTYPE_FLOAT64, 7, 5, 6, 0);
    refuse(n.p, other, LSCM_SHAPE, "made: a row of x is 5 x 6 but the run was fitted on 30");
    double *x = made_field(other, LSCM_X, DTYPE_FLOAT64, 7, 30, 0, 0);
    x[3 * 30 + 2] = NAN;
    refuse(n.p, other, LSCM_VALUE, "row 3, column 2");
    x[3 * 30 + 2] = 1e300;
    refuse(n.p, other, LSCM_VALUE, "at row 3 (0-based) are too large for the encoder");
    x[3 * 30 + 2] = 0;
    (void)made_field(other, LSCM_TARGETS, DTYPE_UINT8, 7, 2, 0, 0);
    answer a = transformed(n.p, other); /* targets without values say nothing */
    free(a.z);
    (void)made_field(other, LSCM_VALUES, DTYPE_FLOAT64, 7, 2, 0, 0);
    refuse(n.p, other, LSCM_SHAPE, "there are 2 nodes but the run has 3");
    uint8_t *targets = made_field(other, LSCM_TARGETS, DTYPE_UINT8, 7, 3, 0, 0);
    double *values = made_field(other, LSCM_VALUES, DTYPE_FLOAT64, 7, 3, 0, 0);
    other->nodes = 3;
    targets[4] = 2;
    refuse(n.p, other, LSCM_VALUE, "row 1, column 1");
    targets[4] = 1;
    values[4] = NAN;
    refuse(n.p, other, LSCM_VALUE, "'values' is NaN at row 1, column 1");
    values[4] = 2.5;
    values[5] = NAN; /* not set */
    a = transformed(n.p, other);
    assert_near(a.z[4], 2.5, 0);
    assert_near(a.sd[4], 0, 0);
    assert_true(a.sd[5] > 0);
    free(a.z);
    n.p->node_names = names_copy(names, 3);
    other->node_names = made_names("raf,erk,mek", 3);
    refuse(n.p, other, LSCM_SHAPE, "node 1 (0-based) is 'mek' in the run but 'erk' in made");
    lscm_dataset_free(other);
    lscm_posterior_free(none);
    nonlinear_free(&n);
}

static bool never(void *self, const char *what, uint64_t done, uint64_t total)
{
    (void)what;
    (void)done;
    (void)total;
    return --*(int *)self > 0;
}

static void a_stop_is_heard(void **state)
{
    (void)state;
    nonlinear n = nonlinear_new(30, KERNEL_HOMOGENEOUS, false);
    for (int after = 1; after < 4; after++) {
        int left = after;
        const lscm_progress progress = {never, &left};
        answer a = answer_new(n.p, n.data);
        assert_int_equal(lscm_posterior_transform(n.p, n.data, a.z, a.sd, NULL, &progress, &why),
                         LSCM_STOPPED);
        free(a.z);
    }
    nonlinear_free(&n);
}

/* ---- Files ---- */

static void z_goes_to_files(void **state)
{
    static const double z[] = {1, -2.5, 0.1};
    static const double sd[] = {0, 0.25, 1e-7};
    static char *const names[] = {"raf", "a,b", "erk"};
    char text[256] = "";
    (void)state;
    lscm_posterior *p = made_linear();
    for (int named = 0; named < 2; named++) {
        const char *wanted = named == 0 ? "z0,z1,z2,z0_sd,z1_sd,z2_sd\n1,-2.5,0.1,0,0.25,1e-7\n"
                                        : "raf,\"a,b\",erk,raf_sd,\"a,b_sd\",erk_sd\n"
                                          "1,-2.5,0.1,0,0.25,1e-7\n";
        assert_ok(lscm_posterior_save_latents(p, 1, z, sd, at("z.csv"), named != 0, &why));
        FILE *file = fopen(at("z.csv"), "rb");
        assert_non_null(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        (void)fclose(file);
        assert_string_equal(text, wanted);
        assert_ok(lscm_posterior_save_latents(p, 1, z, sd, at("z.npz"), true, &why));
        assert_ok(lscm_posterior_save_latents(p, 1, z, sd, at("z.nc"), true, &why));
        p->node_names = named == 0 ? names_copy(names, 3) : p->node_names;
    }
    assert_fails(lscm_posterior_save_latents(p, 1, z, sd, at("z.csv"), false, &why), LSCM_EXISTS,
                 "--force");
    assert_fails(lscm_posterior_save_latents(p, 1, z, sd, at("z.png"), false, &why), LSCM_USAGE,
                 "go to .npz, .nc or .csv");
    assert_int_equal(entries(), 3);
    lscm_posterior_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_AT_HOME(linear_runs_give_their_own_z),
        cmocka_unit_test(clipped_runs_give_their_own_z),
        cmocka_unit_test(networks_give_their_own_z_beyond_the_labels),
        cmocka_unit_test(fresh_rows_are_read_off_exactly),
        cmocka_unit_test(observed_variables_are_themselves),
        cmocka_unit_test(what_does_not_fit_is_said),
        cmocka_unit_test(a_stop_is_heard),
        TEST_AT_HOME(z_goes_to_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
