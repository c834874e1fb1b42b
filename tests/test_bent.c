/* Curves and what bends: splines against their definition (made_bent.h) and derivatives against
 * differences, effects of terms as sums of them, and mechanisms of nodes of which some bend. */
#include "made_bent.h"

#include "testing.h"

enum { NODES = 5, DRAWS = 7, ROWS = 20 };

static lscm_posterior *bent_posterior(void)
{
    const size_t none[] = {0};
    const decoder g = made_decoder(DECODER_IDENTITY, NODES, none, NODES);
    return made_to_bend(made_posterior(DRAWS, ROWS, &g));
}

static void curves_are_natural_splines(void **state)
{
    lcg g = {5};
    (void)state;
    for (size_t knots = 2; knots <= CURVE_KNOTS; knots++) {
        const curve_basis basis = made_basis(&g, knots);
        for (size_t k = 0; k < CURVE_WIDTH; k++) {
            power_spline f = power_through(&basis, k);
            for (int step = 0; step < 144; step++) {
                double z = -4 + 0.0625 * step;
                double out[CURVE_WIDTH];
                curve_values(&basis, z, out);
                assert_near(out[k], k + 1 < knots ? power_value(&f, z) : 0, 1e-8);
            }
        }
    }
}

static double value_of(const curve_basis *basis, size_t k, double z)
{
    double out[CURVE_WIDTH];
    curve_values(basis, z, out);
    return out[k];
}

static void curves_pass_through_their_knots(void **state)
{
    lcg g = {6};
    const curve_basis basis = made_basis(&g, CURVE_KNOTS);
    (void)state;
    for (size_t knot = 0; knot < CURVE_KNOTS; knot++) {
        for (size_t k = 0; k < CURVE_WIDTH; k++) {
            assert_near(value_of(&basis, k, basis.knot[knot]), basis.value[knot][k], 1e-12);
        }
    }
}

/* From either side of a knot value, slope and second derivative are the same. */
static void curves_are_smooth_at_their_knots(void **state)
{
    lcg g = {7};
    const curve_basis basis = made_basis(&g, 6);
    const double h = 1e-4;
    (void)state;
    for (size_t knot = 0; knot < 6; knot++) {
        double z = basis.knot[knot];
        for (size_t k = 0; k < 5; k++) {
            double at = value_of(&basis, k, z);
            double left[2] = {value_of(&basis, k, z - 2 * h), value_of(&basis, k, z - h)};
            double right[2] = {value_of(&basis, k, z + 2 * h), value_of(&basis, k, z + h)};
            double slope_left = (3 * at - 4 * left[1] + left[0]) / (2 * h);
            double slope_right = (-3 * at + 4 * right[1] - right[0]) / (2 * h);
            assert_near(value_of(&basis, k, z - 1e-13), at, 1e-10);
            assert_near(slope_left, slope_right, 1e-4);
            assert_near((at - 2 * left[1] + left[0]) / (h * h), basis.second[knot][k], 0.2);
            assert_near((at - 2 * right[1] + right[0]) / (h * h), basis.second[knot][k], 0.2);
        }
    }
}

static void curves_go_on_straight(void **state)
{
    lcg g = {8};
    const curve_basis basis = made_basis(&g, 5);
    double slope[CURVE_WIDTH];
    double far[CURVE_WIDTH];
    (void)state;
    for (int side = 0; side < 2; side++) {
        double end = basis.knot[side == 0 ? 0 : 4];
        double step = side == 0 ? -1 : 1;
        curve_slopes(&basis, end, slope);
        curve_slopes(&basis, end + 1e6 * step, far);
        for (size_t k = 0; k < 4; k++) {
            double at = value_of(&basis, k, end);
            assert_near(slope[k], far[k], 0);
            assert_near(value_of(&basis, k, end + step), at + step * slope[k], 1e-10);
            assert_near(value_of(&basis, k, end + 100 * step), at + 100 * step * slope[k], 1e-8);
        }
    }
}

static void slopes_are_derivatives(void **state)
{
    lcg g = {9};
    const curve_basis basis = made_basis(&g, CURVE_KNOTS);
    const double h = 1e-5;
    (void)state;
    for (int step = 0; step < 42; step++) {
        double z = -3.01 + 0.17 * step;
        double slope[CURVE_WIDTH];
        curve_slopes(&basis, z, slope);
        for (size_t k = 0; k < CURVE_WIDTH; k++) {
            double by = (value_of(&basis, k, z + h) - value_of(&basis, k, z - h)) / (2 * h);
            assert_near(slope[k], by, 1e-4 * (1 + fabs(by)));
        }
    }
}

static void without_knots_there_are_no_curves(void **state)
{
    const curve_basis basis = {0};
    double out[CURVE_WIDTH];
    (void)state;
    curve_values(&basis, 1, out);
    for (size_t k = 0; k < CURVE_WIDTH; k++) {
        assert_near(out[k], 0, 0);
    }
    curve_slopes(&basis, 1, out);
    for (size_t k = 0; k < CURVE_WIDTH; k++) {
        assert_near(out[k], 0, 0);
    }
}

static void effects_are_sums_of_their_terms(void **state)
{
    size_t bends = 0;
    size_t pairs = 0;
    (void)state;
    lscm_posterior *p = bent_posterior();
    for (size_t s = 0; s < DRAWS; s++) {
        for (size_t i = 0; i < NODES; i++) {
            assert_int_equal(bent_bends(p->bent, s, i), made_bends(p, s, i));
            bends += bent_bends(p->bent, s, i);
            const double *z = p->z + s * NODES;
            assert_near(bent_effect(p->bent, s, i, z), made_effect(p->bent, s, i, z, -1), 1e-8);
            for (size_t j = 0; j < NODES; j++) {
                assert_near(bent_curve(p->bent, s, i, j, z[j]),
                            made_effect(p->bent, s, i, z, (int)j), 1e-8);
            }
        }
    }
    for (size_t t = 0; t < p->bent->terms; t++) {
        pairs += p->bent->parent[2 * t + 1] >= 0;
    }
    assert_true(bends > 5 && pairs > 5);
    lscm_posterior_free(p);
}

static mechanism_model model_of(const lscm_posterior *p, size_t draw)
{
    return (mechanism_model){.d = NODES,
                             .w = p->w + draw * NODES * NODES,
                             .intercept = p->intercept + draw * NODES,
                             .sigma = p->sigma + draw * NODES,
                             .bent = p->bent,
                             .draw = draw};
}

/* c + the effect of the causes of node i, straight or bent, by definition. */
static double mean_of(const lscm_posterior *p, size_t draw, size_t i, const double *z)
{
    double sum = p->intercept[draw * NODES + i];
    if (made_bends(p, draw, i)) {
        return sum + made_effect(p->bent, draw, i, z, -1);
    }
    for (size_t j = 0; j < NODES; j++) {
        sum += z[j] * p->w[(draw * NODES + j) * NODES + i];
    }
    return sum;
}

static void residuals_are_what_causes_leave(void **state)
{
    (void)state;
    lscm_posterior *p = bent_posterior();
    for (size_t s = 0; s < DRAWS; s++) {
        const mechanism_model m = model_of(p, s);
        for (size_t row = 0; row < ROWS; row++) {
            const double *z = p->z + row * NODES;
            double e[NODES];
            mechanism_residuals(&m, z, e);
            for (size_t i = 0; i < NODES; i++) {
                assert_near(e[i], z[i] - mean_of(p, s, i, z), 1e-8);
                assert_near(mechanism_residual(&m, i, z), e[i], 1e-12);
            }
        }
    }
    lscm_posterior_free(p);
}

/* Simulated in the draw's order, every node is its mean given its causes plus its noise. */
static void what_is_simulated_has_its_noise_as_residual(void **state)
{
    lcg g = {3};
    (void)state;
    lscm_posterior *p = bent_posterior();
    for (size_t s = 0; s < DRAWS; s++) {
        const mechanism_model m = model_of(p, s);
        const size_t *order = p->order + s * NODES;
        double z[NODES] = {0};
        double noise[NODES];
        for (size_t at = 0; at < NODES; at++) {
            size_t i = order[at];
            noise[i] = lcg_normal(&g);
            z[i] = mechanism_simulate(&m, i, order, at, z, noise[i]);
        }
        for (size_t i = 0; i < NODES; i++) {
            assert_near(z[i], mean_of(p, s, i, z) + noise[i], 1e-7);
            assert_near(mechanism_residual(&m, i, z), noise[i], 1e-7);
        }
    }
    lscm_posterior_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_are_natural_splines),
        cmocka_unit_test(curves_pass_through_their_knots),
        cmocka_unit_test(curves_are_smooth_at_their_knots),
        cmocka_unit_test(curves_go_on_straight),
        cmocka_unit_test(slopes_are_derivatives),
        cmocka_unit_test(without_knots_there_are_no_curves),
        cmocka_unit_test(effects_are_sums_of_their_terms),
        cmocka_unit_test(residuals_are_what_causes_leave),
        cmocka_unit_test(what_is_simulated_has_its_noise_as_residual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
