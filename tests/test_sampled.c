/* Sampled z: gradients against central differences for fixed noise (off the triangle by a route of
 * its own), and agreement with the closed form in expectation. */
#include "biols_testing.h"
#include "simulated.h"

static lscm_error why;
static const rng NOISE = {3, 1000};

enum { D_MOST = 6, X_MOST = 9, ROWS = 150 };

typedef struct problem {
    size_t d, D;
    lscm_dataset *data;
    moments m;
    double x[ROWS * X_MOST], values[ROWS * D_MOST], target[ROWS * D_MOST];
    uint8_t mask[ROWS * D_MOST];
    size_t order[LANES * D_MOST];
    double lower[LANES * D_MOST * D_MOST], sigma[LANES * D_MOST], decoder[D_MOST * X_MOST];
    double error[LANES], weights[LANES * D_MOST * D_MOST], log_sigma[LANES * D_MOST];
    double slope[D_MOST * X_MOST];
    sampled_work *work;
    tile_linear tile;
} problem;

static void set_up(problem *p, int64_t nodes)
{
    memset(p, 0, sizeof *p);
    lscm_simulation s = simulation_of("paper-linear", nodes,
                                      "observational=30 sets=4 per_set=30 value_scale=1 "
                                      "projection_low=-1 projection_high=1");
    s.features = nodes + 3;
    assert_ok(lscm_simulate(&p->data, &s, NULL, &why));
    assert_ok(moments_of(&p->m, p->data, NULL, &why));
    size_t d = p->d = (size_t)nodes;
    p->D = d + 3;
    assert_ok(lscm_dataset_read(p->data, LSCM_X, 0, ROWS, p->x, &why));
    assert_ok(lscm_dataset_read(p->data, LSCM_TARGETS, 0, ROWS, p->target, &why));
    assert_ok(lscm_dataset_read(p->data, LSCM_VALUES, 0, ROWS, p->values, &why));
    for (size_t i = 0; i < ROWS * d; i++) {
        p->mask[i] = p->target[i] != 0 ? 1 : 0;
    }
    draw_models((rng){11, 99}, d, p->D, 0.5,
                &(random_draws){p->order, p->lower, p->sigma, p->decoder});
    assert_ok(tile_linear_open(&p->tile, ROWS, d, p->D, &why));
    assert_ok(sampled_open(&p->work, d, &p->tile.decode, &why));
}

static void tear_down(problem *p)
{
    tile_linear_close(&p->tile);
    sampled_close(p->work);
    moments_close(&p->m);
    lscm_dataset_free(p->data);
}

static void run(problem *p, rng noise, bool gradients)
{
    row_batch batch = {ROWS, p->d, p->mask, p->values};
    model_draws draws = {LANES, p->order, p->lower, p->sigma};
    linear_gradients g = {p->weights, p->log_sigma, p->slope};
    tile_linear_begin(&p->tile, p->x, p->decoder);
    sampled_error(p->work, &batch, &draws, noise, &p->tile.decode, p->error, gradients ? &g : NULL);
    if (gradients) {
        tile_linear_gradient(&p->tile, p->decoder, p->slope);
    }
}

/* F_s from its definition, with extra weights anywhere (in positions) and z by repetition. */
static double by_definition(const problem *p, size_t k, const double *extra)
{
    size_t d = p->d;
    double w[D_MOST * D_MOST];
    double total = 0;
    weights_by_node(d, p->order + k * d, p->lower + k * d * d, extra, w);
    for (size_t r = 0; r < ROWS; r++) {
        double z[D_MOST] = {0};
        for (size_t round = 0; round < 4 * d; round++) {
            double next[D_MOST] = {0};
            for (size_t i = 0; i < d; i++) {
                double push = p->sigma[k * d + i] * rng_normal(NOISE, (k * ROWS + r) * d + i);
                for (size_t j = 0; j < d; j++) {
                    push += z[j] * w[j * d + i];
                }
                next[i] = p->mask[r * d + i] != 0 ? p->values[r * d + i] : push;
            }
            memcpy(z, next, sizeof z);
        }
        for (size_t j = 0; j < p->D; j++) {
            double residual = p->x[r * p->D + j];
            for (size_t i = 0; i < d; i++) {
                residual -= z[i] * p->decoder[i * p->D + j];
            }
            total += residual * residual;
        }
    }
    return total;
}

static void value_and_gradients(void **state)
{
    (void)state;
    for (int64_t nodes = 2; nodes <= D_MOST; nodes += 2) {
        problem p;
        set_up(&p, nodes);
        size_t d = p.d;
        const double h = 1e-5;
        run(&p, NOISE, true);
        for (size_t k = 0; k < LANES; k++) {
            double scale = by_definition(&p, k, NULL);
            assert_near(p.error[k], scale, 1e-10 * scale);
            for (size_t i = 0; i < d * d; i++) {
                double extra[D_MOST * D_MOST] = {0};
                extra[i] = h;
                double above = by_definition(&p, k, extra);
                extra[i] = -h;
                double below = by_definition(&p, k, extra);
                assert_near(p.weights[k * d * d + i], (above - below) / (2 * h), 1e-6 * scale);
            }
            for (size_t i = 0; i < d; i++) {
                double kept = p.sigma[k * d + i];
                p.sigma[k * d + i] = kept * exp(h);
                double above = by_definition(&p, k, NULL);
                p.sigma[k * d + i] = kept * exp(-h);
                double below = by_definition(&p, k, NULL);
                p.sigma[k * d + i] = kept;
                assert_near(p.log_sigma[k * d + i], (above - below) / (2 * h), 1e-6 * scale);
            }
        }
        for (size_t i = 0; i < d * p.D; i++) {
            double kept = p.decoder[i];
            double slope = 0;
            double scale = 0;
            for (size_t k = 0; k < LANES; k++) {
                p.decoder[i] = kept + h;
                double above = by_definition(&p, k, NULL);
                p.decoder[i] = kept - h;
                slope += (above - by_definition(&p, k, NULL)) / (2 * h);
                scale += above;
            }
            p.decoder[i] = kept;
            assert_near(p.slope[i], slope, 1e-6 * scale);
        }
        tear_down(&p);
    }
}

/* Means over 400 passes of fresh noise agree with the closed form within five standard errors. */
static void agrees_with_the_closed_form(void **state)
{
    (void)state;
    enum { PASSES = 400 };
    problem p;
    set_up(&p, 4);
    size_t d = p.d;
    linear_work *closed = NULL;
    double exact[LANES];
    double slope[LANES * D_MOST * D_MOST];
    double spread[LANES * D_MOST];
    double by_decoder[D_MOST * X_MOST];
    double mean[LANES] = {0};
    double square[LANES] = {0};
    double weight_mean[LANES * D_MOST * D_MOST] = {0};
    double weight_square[LANES * D_MOST * D_MOST] = {0};
    model_draws draws = {LANES, p.order, p.lower, p.sigma};
    linear_gradients g = {slope, spread, by_decoder};
    assert_ok(linear_open(&closed, &p.m, LANES, &why));
    linear_error(closed, &draws, p.decoder, exact, &g);
    for (uint64_t pass = 0; pass < PASSES; pass++) {
        run(&p, (rng){5, pass}, true);
        for (size_t k = 0; k < LANES; k++) {
            mean[k] += p.error[k] / PASSES;
            square[k] += p.error[k] * p.error[k] / PASSES;
        }
        for (size_t i = 0; i < LANES * d * d; i++) {
            weight_mean[i] += p.weights[i] / PASSES;
            weight_square[i] += p.weights[i] * p.weights[i] / PASSES;
        }
    }
    for (size_t k = 0; k < LANES; k++) {
        assert_near(mean[k], exact[k], 5 * sqrt((square[k] - mean[k] * mean[k]) / PASSES));
    }
    for (size_t i = 0; i < LANES * d * d; i++) {
        double variance = weight_square[i] - weight_mean[i] * weight_mean[i];
        assert_near(weight_mean[i], slope[i], 5 * sqrt(variance / PASSES) + 1e-9);
    }
    linear_close(closed);
    tear_down(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_and_gradients),
        cmocka_unit_test(agrees_with_the_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
