/* Scores of a run: the same as those of its exported NPZ (another way in), and x_mse against a
 * reconstruction that is off by a known amount. */
#include "made.h"
#include "made_posterior.h"

#include "testing.h"

#include "home.h"

enum { ROWS = 300, NODES = 3, FEATURES = 4 };

static lscm_error why;

/* The first draw is the truth that the data set holds; x is g(z) + `off`. */
static lscm_dataset *truth_of(const lscm_posterior *p, double off)
{
    lcg random = {3};
    lscm_dataset *data = made_new();
    double *x = made_field(data, LSCM_X, DTYPE_FLOAT64, ROWS, FEATURES, 0, 0);
    uint8_t *targets = made_field(data, LSCM_TARGETS, DTYPE_UINT8, ROWS, NODES, 0, 0);
    double *z = made_field(data, LSCM_Z, DTYPE_FLOAT64, ROWS, NODES, 0, 0);
    double *w = made_field(data, LSCM_W, DTYPE_FLOAT64, NODES, NODES, 0, 0);
    double *sigma = made_field(data, LSCM_SIGMA, DTYPE_FLOAT64, NODES, 0, 0, 0);
    for (size_t k = 0; k < ROWS * FEATURES; k++) {
        x[k] = off + p->decode.bias[k % FEATURES];
        for (size_t i = 0; i < NODES; i++) {
            x[k] += p->z[k / FEATURES * NODES + i] * p->decode.weights[i * FEATURES + k % FEATURES];
        }
    }
    for (size_t k = 0; k < ROWS * NODES; k++) {
        targets[k] = lcg_uniform(&random) < 0.3 ? 1 : 0;
        z[k] = p->z[k] + 0.5 * lcg_normal(&random);
    }
    memcpy(w, p->w, NODES * NODES * sizeof *w);
    for (size_t i = 0; i < NODES; i++) {
        sigma[i] = 0.5;
    }
    return data;
}

static lscm_posterior *fitted(void)
{
    static const size_t none[] = {0};
    const decoder g = made_decoder(DECODER_LINEAR, NODES, none, FEATURES);
    return made_posterior(40, ROWS, &g);
}

static void a_run_scores_as_its_export(void **state)
{
    lscm_scores ours;
    lscm_scores theirs;
    (void)state;
    lscm_posterior *p = fitted();
    lscm_dataset *data = truth_of(p, 0.25);
    assert_ok(lscm_posterior_export(p, at("run.npz"), false, &why));
    assert_ok(lscm_posterior_evaluate(&ours, p, data, &why));
    assert_ok(lscm_evaluate_file(&theirs, NULL, at("run.npz"), data, 0.3, &why));
    assert_near(ours.x_mse, 0.0625, 1e-12);
    assert_true(isnan(theirs.x_mse));
    assert_true(isnan(ours.do_energy) && isnan(theirs.do_energy)); /* there is no recipe */
    assert_true(isnan(ours.do_mean_error) && isnan(theirs.do_mean_error));
    theirs.do_energy = ours.do_energy = 0;
    theirs.do_mean_error = ours.do_mean_error = 0;
    theirs.x_mse = ours.x_mse;
#define SAME(name, help) assert_near(ours.name, theirs.name, 0);
    LSCM_SCORES_TABLE(SAME)
#undef SAME
    lscm_dataset_free(data);
    lscm_posterior_free(p);
}

static void x_mse_does_not_depend_on_threads(void **state)
{
    lscm_scores scores[2];
    (void)state;
    lscm_posterior *p = fitted();
    lscm_dataset *data = truth_of(p, 0.1);
    for (int k = 0; k < 2; k++) {
        lscm_set_threads(k == 0 ? 1 : 4);
        assert_ok(lscm_posterior_evaluate(&scores[k], p, data, &why));
    }
    assert_near(scores[0].x_mse, scores[1].x_mse, 0);
    lscm_dataset_free(data);
    lscm_posterior_free(p);
}

/* Observed variables: x is z itself, off by a known amount; there are no values. */
static void observed_variables_are_scored(void **state)
{
    static const size_t none[] = {0};
    lscm_scores scores;
    (void)state;
    const decoder g = made_decoder(DECODER_IDENTITY, NODES, none, NODES);
    lscm_posterior *p = made_posterior(40, ROWS, &g);
    lscm_dataset *data = made_new();
    double *x = made_field(data, LSCM_X, DTYPE_FLOAT64, ROWS, NODES, 0, 0);
    (void)made_field(data, LSCM_TARGETS, DTYPE_UINT8, ROWS, NODES, 0, 0);
    double *w = made_field(data, LSCM_W, DTYPE_FLOAT64, NODES, NODES, 0, 0);
    memcpy(w, p->w, NODES * NODES * sizeof *w);
    for (size_t k = 0; k < ROWS * NODES; k++) {
        x[k] = p->z[k] + (k % 2 == 0 ? 0.5 : -0.5);
    }
    assert_ok(lscm_posterior_evaluate(&scores, p, data, &why));
    assert_near(scores.x_mse, 0.25, 1e-12);
    assert_true(isnan(scores.mcc));
    lscm_dataset_free(data);
    lscm_posterior_free(p);
}

/* What the truth does not have is NaN; a graph alone will do. */
static void a_graph_alone_scores_the_graph(void **state)
{
    lscm_scores scores;
    (void)state;
    lscm_posterior *p = fitted();
    lscm_dataset *data = made_new();
    double *w = made_field(data, LSCM_W, DTYPE_FLOAT64, NODES, NODES, 0, 0);
    memcpy(w, p->w, NODES * NODES * sizeof *w);
    for (size_t s = 1; s < p->draws; s++) {
        memcpy(p->w + s * 9, p->w, 9 * sizeof *w);
    }
    assert_ok(lscm_posterior_evaluate(&scores, p, data, &why));
    assert_near(scores.e_shd, 0, 0);
    assert_near(scores.w_mse, 0, 0);
    assert_true(isnan(scores.mcc) && isnan(scores.x_mse) && isnan(scores.kl_z));
    lscm_dataset_free(data);
    lscm_posterior_free(p);
}

static void what_does_not_fit_is_said(void **state)
{
    static char *const names[] = {"a", "b", "c"};
    static char *const others[] = {"a", "c", "b"};
    lscm_scores scores;
    (void)state;
    lscm_posterior *p = fitted();
    lscm_dataset *data = truth_of(p, 0);
    p->node_names = names_copy(names, 3);
    assert_ok(lscm_posterior_evaluate(&scores, p, data, &why));
    data->node_names = names_copy(others, 3);
    assert_fails(lscm_posterior_evaluate(&scores, p, data, &why), LSCM_SHAPE,
                 "node 1 (0-based) is 'b' in the run but 'c' in made");
    names_free(data->node_names, 3);
    data->node_names = NULL;
    p->features = 5;
    assert_fails(lscm_posterior_evaluate(&scores, p, data, &why), LSCM_SHAPE, "features");
    p->features = FEATURES;
    p->rows = ROWS - 1;
    assert_fails(lscm_posterior_evaluate(&scores, p, data, &why), LSCM_SHAPE, "299 rows");
    p->rows = ROWS;
    data->shape[LSCM_W].present = false;
    assert_fails(lscm_posterior_evaluate(&scores, p, data, &why), LSCM_MISSING, "no true graph");
    lscm_dataset_free(data);

    data = made_new();
    (void)made_field(data, LSCM_W, DTYPE_FLOAT64, 4, 4, 0, 0);
    assert_fails(lscm_posterior_evaluate(&scores, p, data, &why), LSCM_SHAPE,
                 "3 nodes but made has 4");
    lscm_dataset_free(data);
    lscm_posterior_free(p);
}

/* A matrix of zeros and ones says nothing of weights, unless it is said that it does. */
static void ones_are_no_weights(void **state)
{
    lscm_scores scores;
    (void)state;
    lscm_posterior *p = fitted();
    lscm_dataset *data = made_new();
    double *w = made_field(data, LSCM_W, DTYPE_FLOAT64, NODES, NODES, 0, 0);
    assert_false(lscm_dataset_graph_alone(data)); /* no edges: all weights are known to be 0 */
    w[1] = 1;
    assert_true(lscm_dataset_graph_alone(data));
    assert_ok(lscm_posterior_evaluate(&scores, p, data, &why));
    assert_true(isnan(scores.w_mse) && isnan(scores.coverage_90) && isnan(scores.kl_z));
    assert_true(isnan(scores.coverage_90_edges));
    assert_true(scores.e_shd >= 0 && scores.auroc >= 0 && scores.auprc_weights >= 0);
    lscm_dataset_set_weights(data, true);
    assert_false(lscm_dataset_graph_alone(data));
    assert_ok(lscm_posterior_evaluate(&scores, p, data, &why));
    assert_true(scores.w_mse > 0 && scores.coverage_90 >= 0);
    lscm_dataset_set_weights(data, false);
    w[2] = 0.5;
    assert_false(lscm_dataset_graph_alone(data));
    lscm_dataset_free(data);
    lscm_posterior_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_AT_HOME(a_run_scores_as_its_export),
        cmocka_unit_test(x_mse_does_not_depend_on_threads),
        cmocka_unit_test(observed_variables_are_scored),
        cmocka_unit_test(a_graph_alone_scores_the_graph),
        cmocka_unit_test(what_does_not_fit_is_said),
        cmocka_unit_test(ones_are_no_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
