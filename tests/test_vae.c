/* The VAE: its whole gradient against central differences, its loss against the equations of vae.h
 * row by row, batches that cover the rows, and what comes out of a fit. */
#include "baseline_testing.h"

#include "scm/posterior/posterior.h"

enum { ROWS = 11, NODES = 2, FEATURES = 3 };

typedef struct bench {
    arena memory;
    vae_f64 vae;
    size_t count;
    double *parameters, *gradient;
    double x[ROWS * FEATURES], eps[ROWS * NODES];
    x_noise_rule noise;
    training_terms terms;
} bench;

static network_shape narrow(size_t in, size_t out)
{
    /* smooth: central differences want no corners */
    return network_dense(&(network_stack){
        .layers = 3, .width = (size_t[]){in, 5, 4, out}, .between = ACTIVATION_TANH, .bias = true});
}

static void lay_out(bench *b)
{
    const network_shape from_x = narrow(FEATURES, 2 * NODES);
    const network_shape to_x = narrow(NODES, FEATURES);
    vae_f64_lay_out(&b->vae, &b->memory, &from_x, &to_x, ROWS, on_cpu());
    b->count = network_count(&from_x) + network_count(&to_x);
    b->parameters = arena_take(&b->memory, b->count, sizeof(double));
    b->gradient = arena_take(&b->memory, b->count, sizeof(double));
}

static void open_bench(bench *b, x_noise_rule noise)
{
    lcg g = {4};
    *b = (bench){.noise = noise};
    lay_out(b);
    assert_ok(arena_open(&b->memory, &why));
    lay_out(b);
    draw_normals(&g, b->count, 0.5, b->parameters);
    draw_normals(&g, sizeof b->x / sizeof *b->x, 1, b->x);
    draw_normals(&g, sizeof b->eps / sizeof *b->eps, 1, b->eps);
}

static double loss_of(void *self)
{
    bench *b = self;
    const network_batch_f64 batch = {
        .parameters = b->parameters, .n = ROWS, .input = b->x, .gradient = b->gradient};
    vae_f64_loss(&b->vae, &batch, b->eps, &b->noise, &b->terms);
    return b->terms.loss;
}

static void gradients_are_the_slopes(void **state)
{
    (void)state;
    const x_noise_rule rules[] = {{0.7, 1e-3}, {0, 1e-3}, {0, 5}};
    for (size_t k = 0; k < 3; k++) {
        bench b;
        double slopes[200];
        open_bench(&b, rules[k]);
        assert_true(b.count <= 200);
        check_slopes(loss_of, &b, b.parameters, b.gradient, b.count, slopes);
        arena_close(&b.memory);
    }
}

/* tanh networks of three layers, by hand. */
static void apply(const network_shape *shape, const double *parameters, const double *in,
                  double *out)
{
    double from[8];
    memcpy(from, in, network_in(shape) * sizeof *from);
    for (size_t l = 0; l < shape->layers; l++) {
        const double *w = parameters + network_offset(shape, l);
        size_t cols = shape->layer[l].out;
        for (size_t j = 0; j < cols; j++) {
            out[j] = w[shape->layer[l].in * cols + j];
            for (size_t i = 0; i < shape->layer[l].in; i++) {
                out[j] += from[i] * w[i * cols + j];
            }
            out[j] = l + 1 < shape->layers ? tanh(out[j]) : out[j];
        }
        memcpy(from, out, cols * sizeof *from);
    }
}

static void the_loss_is_its_formula(void **state)
{
    (void)state;
    bench b;
    open_bench(&b, (x_noise_rule){0, 1e-3});
    const network_shape from_x = narrow(FEATURES, 2 * NODES);
    const network_shape to_x = narrow(NODES, FEATURES);
    double squares = 0;
    double kl = 0;
    for (size_t r = 0; r < ROWS; r++) {
        double q[8];
        double z[NODES];
        double y[8];
        apply(&from_x, b.parameters, b.x + r * FEATURES, q);
        for (size_t i = 0; i < NODES; i++) {
            double s = exp(5 * tanh(q[NODES + i] / 5));
            z[i] = q[i] + s * b.eps[r * NODES + i];
            kl += -log(s) + (s * s + q[i] * q[i]) / 2 - 0.5;
        }
        apply(&to_x, b.parameters + network_count(&from_x), z, y);
        for (size_t k = 0; k < FEATURES; k++) {
            squares += pow(b.x[r * FEATURES + k] - y[k], 2);
        }
    }
    double variance = squares / (ROWS * FEATURES);
    double expected = kl / ROWS + FEATURES / 2.0 * (1 + log(2 * acos(-1) * variance));
    assert_near(loss_of(&b), expected, 1e-10);
    assert_near(b.terms.kl, kl / ROWS, 1e-12);
    assert_near(b.terms.x_noise, sqrt(variance), 1e-12);
    b.x[4] = NAN;
    assert_true(!isfinite(loss_of(&b)));
    arena_close(&b.memory);
}

/* Rows are centred and scaled; an epoch shows each at most once, and another order follows. */
static void batches_cover_the_rows(void **state)
{
    (void)state;
    lscm_dataset *data = small_data();
    minibatch m;
    assert_ok(minibatch_open(&m, data, 50, 128, &why));
    assert_int_equal(minibatch_per_epoch(&m), 2);
    double squares = 0;
    for (size_t k = 0; k < m.rows * m.D; k++) {
        squares += (double)m.x[k] * (double)m.x[k];
    }
    assert_near(squares / (double)(m.rows * m.D), 1, 1e-5);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        bool seen[120] = {false};
        for (uint64_t at = 0; at < 2; at++) {
            const float *batch = minibatch_at(&m, (rng){1, 2}, 2 * epoch + at);
            for (size_t r = 0; r < 50; r++) {
                size_t row = 0;
                while (memcmp(batch + r * m.D, m.x + row * m.D, m.D * sizeof *batch) != 0) {
                    row++;
                    assert_true(row < 120);
                }
                assert_false(seen[row]);
                seen[row] = true;
            }
        }
    }
    minibatch_close(&m);
    assert_ok(minibatch_open(&m, data, 0, 128, &why));
    assert_int_equal(m.batch, 120); /* all rows, when there are no more */
    assert_ptr_equal(minibatch_at(&m, (rng){1, 2}, 3), m.x);
    minibatch_close(&m);
    lscm_dataset_free(data);
}

/* An empty graph; the stored decoder gives x in its own units from the stored z. */
static void a_fit_is_whole(void **state)
{
    (void)state;
    lscm_dataset *data = small_data();
    lscm_scores scores;
    lscm_posterior *p = fitted(data, LSCM_METHOD_VAE, 600, &scores);
    assert_near(scores.tp + scores.fp, 0, 0);
    assert_near(scores.e_shd, scores.fn, 0);
    assert_near(scores.auroc, 0.5, 0);
    assert_true(scores.x_mse < 0.2 * x_variance(data));
    assert_true(p->decode.x_noise > 0 && p->decode.between == DECODER_RELU);
    lscm_posterior_free(p);
    lscm_dataset_free(data);
}

int main(void)
{
    static tested_baseline tested = {&vae_kind, LSCM_METHOD_VAE};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_the_slopes), cmocka_unit_test(the_loss_is_its_formula),
        cmocka_unit_test(batches_cover_the_rows),   BASELINE_TESTS(&tested),
        cmocka_unit_test(a_fit_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
