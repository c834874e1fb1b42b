/* GraphVAE: its whole gradient against central differences, the fusion against the product of two
 * Gaussians, gates, and what comes out of a fit. */
#include "baseline_testing.h"

enum { ROWS = 9, NODES = 3, FEATURES = 4 };

typedef struct bench {
    arena memory;
    graphvae_f64 graph;
    graphvae_layout at;
    double *parameters, *gradient;
    double x[ROWS * FEATURES], eps[ROWS * NODES], gumbel[NODES * (NODES - 1) / 2];
    double temperature;
    x_noise_rule noise;
    training_terms terms;
} bench;

static const size_t ORDER[NODES] = {2, 0, 1};

static network_shape narrow(size_t in, size_t out)
{
    /* smooth: central differences want no corners */
    return network_normed(&(network_stack){
        .layers = 2, .width = (size_t[]){in, 5, out}, .between = ACTIVATION_TANH, .bias = true});
}

static void lay_out(bench *b)
{
    graphvae_f64_lay_out(&b->graph, &b->memory, &b->at, ORDER, ROWS, on_cpu());
    b->parameters = arena_take(&b->memory, b->at.count, sizeof(double));
    b->gradient = arena_take(&b->memory, b->at.count, sizeof(double));
}

static void open_bench(bench *b, x_noise_rule noise, double temperature)
{
    lcg g = {4};
    const network_shape from_x = narrow(FEATURES, 2 * NODES);
    const network_shape to_x = narrow(NODES, FEATURES);
    const network_shape top_down = narrow(NODES, 2);
    *b = (bench){.noise = noise, .temperature = temperature};
    b->at = graphvae_lay_out_parameters(&from_x, &to_x, &top_down);
    lay_out(b);
    assert_ok(arena_open(&b->memory, &why));
    lay_out(b);
    draw_normals(&g, b->at.count, 0.5, b->parameters);
    draw_normals(&g, sizeof b->x / sizeof *b->x, 1, b->x);
    draw_normals(&g, sizeof b->eps / sizeof *b->eps, 1, b->eps);
    draw_normals(&g, sizeof b->gumbel / sizeof *b->gumbel, 0.5, b->gumbel);
}

static double loss_of(void *self)
{
    bench *b = self;
    const graphvae_drawn drawn = {b->eps, b->gumbel, b->temperature};
    const network_batch_f64 batch = {
        .parameters = b->parameters, .n = ROWS, .input = b->x, .gradient = b->gradient};
    graphvae_f64_loss(&b->graph, &batch, &drawn, &b->noise, &b->terms);
    return b->terms.loss;
}

static void gradients_are_the_slopes(void **state)
{
    (void)state;
    const x_noise_rule rules[] = {{0.7, 1e-3}, {0, 1e-3}};
    for (size_t k = 0; k < 2; k++) {
        bench b;
        double slopes[300];
        bool gates_matter = false;
        open_bench(&b, rules[k], k == 0 ? 1 : 0.4);
        assert_true(b.at.count <= 300);
        check_slopes(loss_of, &b, b.parameters, b.gradient, b.at.count, slopes);
        for (size_t i = b.at.gates; i < b.at.count; i++) {
            gates_matter = gates_matter || fabs(slopes[i]) > 1e-3;
        }
        assert_true(gates_matter);
        arena_close(&b.memory);
    }
}

/* Precisions add; the KL is that of two Gaussians. */
static void fusion_is_a_product(void **state)
{
    (void)state;
    const double cases[][4] = {{0.5, 0.3, -1, 0.2}, {2, -3, 1, 2}, {-1, 4, 0.5, -6}};
    for (size_t k = 0; k < 6; k++) {
        const double *c = cases[k % 3];
        bool first = k >= 3;
        graphvae_fusion f = graphvae_fuse(c[0], c[1], first ? NULL : c + 2);
        double vb = exp(10 * tanh(c[1] / 5));
        double vt = first ? 1 : exp(10 * tanh(c[3] / 5));
        double mt = first ? 0 : c[2];
        double v = 1 / (1 / vb + 1 / vt);
        double m = v * (c[0] / vb + mt / vt);
        assert_near(f.s * f.s, v, 1e-12 * v);
        assert_near(f.m, m, 1e-12 * fmax(1, fabs(m)));
        double kl = (log(vt / v) + (v + (m - mt) * (m - mt)) / vt - 1) / 2;
        assert_near(f.kl, kl, 1e-9 * fmax(1, kl));
    }
}

/* A closed gate hides a parent: its network may see it through no other way. */
static void closed_gates_hide(void **state)
{
    (void)state;
    bench b;
    open_bench(&b, (x_noise_rule){0.7, 1e-3}, 1);
    for (size_t k = 0; k < 3; k++) {
        b.parameters[b.at.gates + k] = -800; /* exp(-800) is 0, not only small */
    }
    double before = loss_of(&b);
    size_t each = network_count(&b.at.top_down);
    for (size_t k = 0; k < 2 * each; k++) {
        size_t in_layer = k % each;
        if (in_layer < NODES * 5) { /* the weights of what is seen */
            b.parameters[b.at.top + k] += 3;
        }
    }
    assert_near(loss_of(&b), before, 1e-12);
    b.x[4] = NAN;
    assert_true(!isfinite(loss_of(&b)));
    arena_close(&b.memory);
}

/* Edges follow the order and are the gates of at least 1/2. */
static void gates_are_edges(void **state)
{
    (void)state;
    lscm_dataset *data = small_data();
    fit f = small_fit(data, LSCM_METHOD_GRAPHVAE);
    baseline *b = NULL;
    double w[2 * 9];
    double sigma[2 * 3];
    size_t order[2 * 3];
    f.order = ORDER;
    assert_ok(baseline_open(&b, &f, &graphvae_kind, &why));
    assert_int_equal(f.settings.batch, 32);
    const trainee t = baseline_trainee(b);
    t.begin(b, 0);
    float *gate = b->parameter + b->graph.at.gates; /* 2->0, 2->1, 0->1 */
    gate[0] = 0;
    gate[1] = -0.1F;
    gate[2] = 3;
    assert_ok(t.draw(b, 2, 0, &(model_sample){.w = w, .sigma = sigma, .order = order}, &why));
    for (size_t s = 0; s < 2; s++) {
        for (size_t k = 0; k < 9; k++) {
            assert_near(w[s * 9 + k], k == 2 * 3 + 0 || k == 0 * 3 + 1 ? 1 : 0, 0);
        }
        assert_memory_equal(order + s * 3, ORDER, sizeof ORDER);
    }
    baseline_close(b);
    lscm_dataset_free(data);
}

/* The stored decoder, its normalisation folded in, gives x back from the stored z. */
static void a_fit_is_whole(void **state)
{
    (void)state;
    lscm_dataset *data = small_data();
    lscm_scores scores;
    lscm_posterior *p = fitted(data, LSCM_METHOD_GRAPHVAE, 200, &scores);
    assert_true(scores.x_mse < x_variance(data));
    assert_true(p->decode.between == DECODER_ELU);
    lscm_posterior_free(p);
    lscm_dataset_free(data);
}

int main(void)
{
    static tested_baseline tested = {&graphvae_kind, LSCM_METHOD_GRAPHVAE};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_the_slopes), cmocka_unit_test(fusion_is_a_product),
        cmocka_unit_test(closed_gates_hide),        BASELINE_TESTS(&tested),
        cmocka_unit_test(gates_are_edges),          cmocka_unit_test(a_fit_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
