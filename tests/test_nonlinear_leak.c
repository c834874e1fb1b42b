/* What may leak, against two nodes worked out by hand. The kernel is linear in f (1), with the
 * identity as factor and ridge and unit 1: the variance of sum c_r z(f_r) is (sum c_r f_r)^2, c_r
 * has mean 0, and sum c_r f_r is the slope of f on the other node. */
#include "infer/anchored/anchored.h"

#include "lcg.h"
#include "testing.h"

static lscm_error why;

enum { D = 2, ROWS = 90 };

static float f[ROWS], factor[D * 4];
static double z[ROWS * D], values[ROWS * D], leak[D * D];
static double r2[D], kernel_r2[D], calibration[D], ridge[D] = {1, 1}, unit[D] = {1, 1}, centre[1];
static uint8_t mask[ROWS * D];
static double in[D] = {0.25, 0.25}, near[D] = {1, 1}, side[D] = {4, 4}, beyond[D] = {9, 9};
static double far_off[D];

/* The slope of f on node 0 where node 1 is free. */
static double slope(void)
{
    double n = 0;
    double sums[4] = {0};
    for (size_t r = 0; r < ROWS; r++) {
        double x = mask[r * D + 1] == 0 ? z[r * D] : 0;
        n += mask[r * D + 1] == 0 ? 1 : 0;
        sums[0] += x;
        sums[1] += mask[r * D + 1] == 0 ? (double)f[r] : 0;
        sums[2] += x * x;
        sums[3] += x * (double)f[r];
    }
    return (sums[3] - sums[0] * sums[1] / n) / (sums[2] - sums[0] * sums[0] / n);
}

static void open_nodes(nonlinear *n)
{
    lcg g = {7};
    *n = (nonlinear){.x = {.rows = ROWS, .d = D, .R = 1, .f = f},
                     .kernel = {.space = {KERNEL_LINEAR, 1, 1, centre},
                                .d = D,
                                .m = 2,
                                .ridge = ridge,
                                .unit = unit,
                                .factor = factor,
                                .node_r2 = kernel_r2,
                                .calibration = calibration},
                     .beyond = {.in = in, .near = near, .side = side, .far = beyond},
                     .far = far_off,
                     .z = z,
                     .errors = {.r2 = r2},
                     .open = leak};
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t j = 0; j < D; j++) {
            z[r * D + j] = 3 + lcg_normal(&g);
            mask[r * D + j] = r % 3 == j;
            r2[j] = kernel_r2[j] = 0.96;
            calibration[j] = 0.25;
            far_off[j] = 1; /* as near as labels held out */
            factor[j * 4] = factor[j * 4 + 3] = 1;
        }
        f[r] = (float)(z[r * D] + lcg_normal(&g));
    }
    assert_ok(design_of(&n->x.design, ROWS, D, mask, values, &why));
}

static void check(nonlinear *n, double ratio)
{
    assert_ok(nonlinear_leaks(n, &why));
    assert_near(leak[1] / (ratio * fabs(slope())), 1, 1e-4);
    assert_true(leak[2] > 0);
    assert_true(leak[0] == 0 && leak[3] == 0);
}

static void it_is_what_labels_leave_open(void **state)
{
    (void)state;
    nonlinear n;
    open_nodes(&n);
    check(&n, 1);
    r2[0] = r2[1] = 0.99; /* the network misses a quarter as much, so errs half as much */
    check(&n, 0.5);
    r2[0] = NAN; /* nothing was held out there: the other node tells */
    check(&n, 0.5);
    far_off[1] = 3; /* half of the way to where a side was held out, by logarithms: there the kernel
                       errs four times as much as it says, and the network no less */
    check(&n, sqrt(0.5 * 4));
    far_off[1] = 30;
    check(&n, 4);
    side[0] *= 16; /* one node bends more: the geometric mean */
    check(&n, 8);
    design_close(&n.x.design);
}

/* A node that never varies has no coefficient, and does no harm. */
static void still_nodes_do_no_harm(void **state)
{
    (void)state;
    nonlinear n;
    open_nodes(&n);
    memset(z, 0, sizeof z);
    assert_ok(nonlinear_leaks(&n, &why));
    for (size_t e = 0; e < D * D; e++) {
        assert_true(isfinite(leak[e]));
    }
    design_close(&n.x.design);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_what_labels_leave_open),
        cmocka_unit_test(still_nodes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
