/* The closed form against its definition: E ||x - z A||^2 row by row, with R by repeated
 * substitution and no triangular structure, and gradients against central differences. */
#include "biols_testing.h"
#include "simulated.h"

#include <cblas.h>

static lscm_error why;

typedef struct problem {
    size_t d, D;
    lscm_dataset *data;
    moments m;
    linear_work *work;
    size_t order[LANES * 16];
    double lower[LANES * 16 * 16], sigma[LANES * 16], decoder[16 * 20];
    double error[LANES], weights[LANES * 16 * 16], log_sigma[LANES * 16], slope[16 * 20];
} problem;

static void set_up(problem *p, int64_t nodes, int64_t seed)
{
    memset(p, 0, sizeof *p);
    lscm_simulation s = simulation_of("paper-linear", nodes, "observational=30 sets=4 per_set=20");
    s.features = nodes + 3;
    s.seed = seed;
    assert_ok(lscm_simulate(&p->data, &s, NULL, &why));
    assert_ok(moments_of(&p->m, p->data, NULL, &why));
    assert_ok(linear_open(&p->work, &p->m, LANES, &why));
    p->d = (size_t)nodes;
    p->D = p->d + 3;
    draw_models((rng){(uint64_t)seed, 99}, p->d, p->D, 0.7,
                &(random_draws){p->order, p->lower, p->sigma, p->decoder});
}

static void tear_down(problem *p)
{
    linear_close(p->work);
    moments_close(&p->m);
    lscm_dataset_free(p->data);
}

static model_draws draws_of(const problem *p)
{
    return (model_draws){LANES, p->order, p->lower, p->sigma};
}

/* F_s row by row. R solves R = I + R W M, found by repetition: exact after d rounds when W is
 * acyclic, and convergent for the small disturbances used below. */
static double by_definition(const problem *p, size_t k, const double *extra, const double *weight)
{
    size_t d = p->d;
    size_t D = p->D;
    size_t n = lscm_dataset_rows(p->data);
    double w[256];
    double total = 0;
    static double x[110 * 20];
    static double t[110 * 16];
    static double v[110 * 16];
    assert_true(n <= 110 && D <= 20 && d <= 16);
    assert_ok(lscm_dataset_read(p->data, LSCM_X, 0, n, x, &why));
    assert_ok(lscm_dataset_read(p->data, LSCM_TARGETS, 0, n, t, &why));
    assert_ok(lscm_dataset_read(p->data, LSCM_VALUES, 0, n, v, &why));
    weights_by_node(d, p->order + k * d, p->lower + k * d * d, extra, w);
    for (size_t row = 0; row < n; row++) {
        double r[256] = {0};
        for (size_t round = 0; round < 3 * d + 3; round++) {
            double next[256];
            for (size_t i = 0; i < d; i++) {
                for (size_t j = 0; j < d; j++) {
                    next[i * d + j] = i == j ? 1 : 0;
                    for (size_t c = 0; c < d; c++) {
                        next[i * d + j] += r[i * d + c] * w[c * d + j] * (1 - t[row * d + j]);
                    }
                }
            }
            memcpy(r, next, sizeof r);
        }
        for (size_t j = 0; j < D; j++) {
            double mean = 0;
            for (size_t i = 0; i < d; i++) {
                double spread = 0; /* (R A)[i][j] */
                for (size_t c = 0; c < d; c++) {
                    spread += r[i * d + c] * weight[c * D + j];
                }
                mean += v[row * d + i] * spread;
                double sd = (1 - t[row * d + i]) * p->sigma[k * d + i];
                total += sd * sd * spread * spread;
            }
            total += (x[row * D + j] - mean) * (x[row * D + j] - mean);
        }
    }
    return total;
}

static void value_is_the_definition(void **state)
{
    (void)state;
    const int64_t sizes[] = {1, 2, 3, 5, 8, 11};
    for (size_t i = 0; i < 6; i++) {
        problem p;
        set_up(&p, sizes[i], (int64_t)i + 1);
        model_draws draws = draws_of(&p);
        linear_error(p.work, &draws, p.decoder, p.error, NULL);
        for (size_t k = 0; k < LANES; k++) {
            double expected = by_definition(&p, k, NULL, p.decoder);
            assert_near(p.error[k], expected, 1e-10 * expected);
        }
        tear_down(&p);
    }
}

static void gradients_are_the_slopes(void **state)
{
    (void)state;
    const int64_t sizes[] = {2, 5, 9};
    for (size_t size = 0; size < 3; size++) {
        problem p;
        set_up(&p, sizes[size], 5);
        size_t d = p.d;
        model_draws draws = draws_of(&p);
        linear_gradients g = {p.weights, p.log_sigma, p.slope};
        linear_error(p.work, &draws, p.decoder, p.error, &g);
        const double h = 1e-5;
        for (size_t k = 0; k < LANES; k += 3) {
            double scale = 0;
            for (size_t i = 0; i < d * d; i++) {
                scale = fmax(scale, fabs(p.weights[k * d * d + i]));
            }
            /* every entry of W, off the triangle too */
            for (size_t i = 0; i < d * d; i += size == 2 ? 7 : 1) {
                double extra[256] = {0};
                extra[i] = h;
                double above = by_definition(&p, k, extra, p.decoder);
                extra[i] = -h;
                double below = by_definition(&p, k, extra, p.decoder);
                assert_near(p.weights[k * d * d + i], (above - below) / (2 * h), 1e-6 * scale);
            }
            for (size_t i = 0; i < d; i++) {
                double kept = p.sigma[k * d + i];
                p.sigma[k * d + i] = kept * exp(h);
                double above = by_definition(&p, k, NULL, p.decoder);
                p.sigma[k * d + i] = kept * exp(-h);
                double below = by_definition(&p, k, NULL, p.decoder);
                p.sigma[k * d + i] = kept;
                assert_near(p.log_sigma[k * d + i], (above - below) / (2 * h), 1e-6 * fabs(above));
            }
        }
        for (size_t i = 0; i < d * p.D; i += 5) {
            double kept = p.decoder[i];
            double slope = 0;
            double size_of = 0;
            for (size_t k = 0; k < LANES; k++) {
                p.decoder[i] = kept + h;
                double above = by_definition(&p, k, NULL, p.decoder);
                p.decoder[i] = kept - h;
                double below = by_definition(&p, k, NULL, p.decoder);
                slope += (above - below) / (2 * h);
                size_of += fabs(above);
            }
            p.decoder[i] = kept;
            assert_near(p.slope[i], slope, 1e-6 * size_of);
        }
        tear_down(&p);
    }
}

/* At the minimum no decoder nearby does better, and the slope is that of rounding and the ridge. */
static void the_best_decoder_is_the_minimum(void **state)
{
    (void)state;
    problem p;
    set_up(&p, 6, 11);
    model_draws draws = draws_of(&p);
    linear_gradients g = {p.weights, p.log_sigma, p.slope};
    linear_error(p.work, &draws, p.decoder, p.error, &g);
    double before = fabs(p.slope[cblas_idamax((int)(p.d * p.D), p.slope, 1)]);
    linear_best_decoder(p.work, p.slope, p.decoder);
    double best = 0;
    for (size_t k = 0; k < LANES; k++) {
        best += by_definition(&p, k, NULL, p.decoder);
    }
    for (size_t i = 0; i < p.d * p.D; i += 7) {
        for (int sign = -1; sign <= 1; sign += 2) {
            double kept = p.decoder[i];
            double moved = 0;
            p.decoder[i] += sign * 0.1;
            for (size_t k = 0; k < LANES; k++) {
                moved += by_definition(&p, k, NULL, p.decoder);
            }
            p.decoder[i] = kept;
            assert_true(moved > best);
        }
    }
    linear_error(p.work, &draws, p.decoder, p.error, &g);
    double after = fabs(p.slope[cblas_idamax((int)(p.d * p.D), p.slope, 1)]);
    assert_near(after, 0, 1e-4 * before);
    tear_down(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_is_the_definition),
        cmocka_unit_test(gradients_are_the_slopes),
        cmocka_unit_test(the_best_decoder_is_the_minimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
