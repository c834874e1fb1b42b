/* z given the interventions, draw by draw: for each row the mean (v + c M) R and the covariance
 * diag(R' N R) of every draw, with R = (I - W M)^-1 by elimination, then the mean and variance of
 * the mixture over draws in the order of their definition. */
#include "made_posterior.h"

#include "infer/biols/biols.h"
#include "invert.h"
#include "testing.h"

static lscm_error why;

/* Mean and variance of z (d) in one draw, for one row. */
static void moments_of_draw(const lscm_posterior *p, size_t draw, const uint8_t *mask,
                            const double *values, double *mean, double *variance)
{
    enum { MOST = 8 };
    size_t d = p->d;
    double a[MOST * MOST];
    double reach[MOST * MOST];
    assert_true(d <= MOST);
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) { /* I - W M: columns of targets are cut */
            a[j * d + i] = (i == j ? 1 : 0) - (mask[i] != 0 ? 0 : p->w[(draw * d + j) * d + i]);
        }
    }
    (void)invert(a, d, reach);
    for (size_t i = 0; i < d; i++) {
        mean[i] = variance[i] = 0;
        for (size_t j = 0; j < d; j++) {
            double sd = mask[j] != 0 ? 0 : p->sigma[draw * d + j];
            mean[i] += (mask[j] != 0 ? values[j] : p->intercept[draw * d + j]) * reach[j * d + i];
            variance[i] += reach[j * d + i] * reach[j * d + i] * sd * sd;
        }
    }
}

static void check_row(const lscm_posterior *p, size_t row, const uint8_t *mask,
                      const double *values)
{
    enum { MOST_DRAWS = 40, MOST = 8 };
    double mean[MOST_DRAWS][MOST];
    double variance[MOST_DRAWS][MOST];
    size_t d = p->d;
    assert_true(p->draws <= MOST_DRAWS);
    for (size_t s = 0; s < p->draws; s++) {
        moments_of_draw(p, s, mask, values, mean[s], variance[s]);
    }
    for (size_t i = 0; i < d; i++) {
        double all = 0;
        double spread = 0;
        double size = 1;
        for (size_t s = 0; s < p->draws; s++) {
            all += mean[s][i] / (double)p->draws;
            size = fmax(size, fabs(mean[s][i]));
        }
        for (size_t s = 0; s < p->draws; s++) {
            double off = mean[s][i] - all;
            spread += (variance[s][i] + off * off) / (double)p->draws;
        }
        double sd = p->z_sd[row * d + i];
        assert_near(p->z[row * d + i], all, 1e-12 * size);
        assert_true(sd >= 0);
        assert_near(sd * sd, spread, 1e-11 * size * size);
    }
}

/* `off`: what stands in values where there is no target. */
static void check(size_t draws, size_t d, size_t rows, size_t run, double off)
{
    lcg random = {draws + 3 * d + 5 * rows};
    const size_t none[] = {0};
    const decoder g = made_decoder(DECODER_LINEAR, d, none, d + 1);
    lscm_posterior *p = made_posterior(draws, rows, &g);
    double *x = calloc(rows * (d + 1), sizeof *x);
    double *values = calloc(rows * d, sizeof *values);
    uint8_t *targets = calloc(rows * d, 1);
    lscm_dataset *data = NULL;
    if (x == NULL || values == NULL || targets == NULL) {
        abort();
    }
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < d; i++) {
            uint8_t fresh = lcg_uniform(&random) < 0.4 ? 1 : 0;
            size_t at = row * d + i;
            targets[at] = row % run == 0 ? fresh : targets[at - d];
            values[at] = targets[at] != 0 ? 4 * lcg_normal(&random) : off;
        }
    }
    lscm_arrays arrays = {
        .rows = rows, .nodes = d, .features = d + 1, .x = x, .targets = targets, .values = values};
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    assert_ok(lscm_dataset_check(data, &(lscm_overview){0}, NULL, &why));
    assert_ok(expected_z(p, data, &why));
    for (size_t row = 0; row < rows; row++) {
        check_row(p, row, targets + row * d, values + row * d);
    }
    lscm_dataset_free(data);
    lscm_posterior_free(p);
    free(x);
    free(values);
    free(targets);
}

static void mixture_of_draws(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 8; d++) {
        check(1 + 3 * d, d, 60, 1, 0);
        check(40, d, 60, 7, 0);
    }
    check(5, 4, 2500, 30, 0); /* more rows than a block */
}

static void one_draw_has_no_spread_of_its_own(void **state)
{
    (void)state;
    check(1, 5, 40, 1, 0);
}

static void values_off_target_are_ignored(void **state)
{
    (void)state;
    check(9, 5, 50, 1, 1e3);
}

/* A data set may have NaN where there is no target: nothing was set there. */
static void values_off_target_may_be_missing(void **state)
{
    (void)state;
    check(9, 5, 50, 1, NAN);
}

/* By hand: 0 -> 1 with weight 1 or 3; no target: z is 0, its variance mean of s0^2 w^2 + s1^2.
 * do(z0 = 2): z1 is 2 or 6. do(z1 = 5): the edge is cut. Then with z1 = 4 or 6 where z0 is 0. */
static void two_nodes_by_hand(void **state)
{
    (void)state;
    const uint8_t targets[6] = {0, 0, 1, 0, 0, 1};
    const double values[6] = {0, 0, 2, 0, 0, 5};
    const double x[6] = {0};
    lscm_posterior *p = NULL;
    lscm_dataset *data = NULL;
    lscm_arrays arrays = {
        .rows = 3, .nodes = 2, .features = 2, .x = x, .targets = targets, .values = values};
    assert_ok(posterior_new(&p, 2, 2, 3, 4, 0, &why));
    for (size_t s = 0; s < 2; s++) {
        p->w[s * 4 + 1] = s == 0 ? 1 : 3;
        p->sigma[s * 2] = 0.5;
        p->sigma[s * 2 + 1] = 1 + (double)s;
        p->order[s * 2] = 0;
        p->order[s * 2 + 1] = 1;
    }
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    assert_ok(expected_z(p, data, &why));
    const double z[6] = {0, 0, 2, 4, 0, 5};
    const double variance[6] = {0.25, 0.5 * (0.25 + 1 + 0.25 * 9 + 4), 0, 0.5 * (1 + 4) + 4, 0.25,
                                0};
    for (size_t k = 0; k < 6; k++) {
        assert_near(p->z[k], z[k], 1e-13);
        assert_near(p->z_sd[k] * p->z_sd[k], variance[k], 1e-12);
    }
    p->intercept[1] = 4;
    p->intercept[3] = 6;
    assert_ok(expected_z(p, data, &why));
    const double moved[6] = {0, 5, 2, 9, 0, 5};
    const double wider[6] = {0.25, 0.5 * (0.25 + 1 + 0.25 * 9 + 4) + 1, 0, 0.5 * (1 + 4) + 9, 0.25,
                             0};
    for (size_t k = 0; k < 6; k++) {
        assert_near(p->z[k], moved[k], 1e-13);
        assert_near(p->z_sd[k] * p->z_sd[k], wider[k], 1e-12);
    }
    lscm_dataset_free(data);
    lscm_posterior_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_nodes_by_hand),
        cmocka_unit_test(mixture_of_draws),
        cmocka_unit_test(one_draw_has_no_spread_of_its_own),
        cmocka_unit_test(values_off_target_are_ignored),
        cmocka_unit_test(values_off_target_may_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
