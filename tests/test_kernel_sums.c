/* What labels leave open of sums of z, against the sd of single rows (less the ridge, the noise of
 * a label), and as a quadratic form: var(a + b) + var(a - b) = 2 (var a + var b). */
#include "kernel_testing.h"

static void sums_agree_with_rows(void **state)
{
    (void)state;
    for (size_t family = 0; family < KERNEL_FAMILIES; family++) {
        rows_of r = make(RELU, 400, 2, 10, 12, 0.1);
        encoded e = encode(&r, (kernel_settings){.family = (kernel_family)family, .ridge = 1e-2});
        for (size_t j = 0; j < 2; j++) {
            for (size_t row = 0; row + 7 < 400; row += 40) {
                const double c[2 * 4] = {1, 0, 1, 1, 0, 1, 1, -1};
                double variance[4];
                float f[2 * 10];
                memcpy(f, r.f.f + row * 10, 10 * sizeof *f);
                memcpy(f + 10, r.f.f + (row + 7) * 10, 10 * sizeof *f);
                assert_ok(kernel_sums(&e.e, j, 2, f, 4, c, variance, &why));
                double sd = e.sd[row * 2 + j];
                double noise = e.e.unit[j] * sqrt(e.e.ridge[j]);
                assert_true(variance[0] <= sd * sd * (1 + 1e-3));
                if (family != KERNEL_HOMOGENEOUS && family != KERNEL_BIASED) {
                    assert_near(variance[0] + noise * noise, sd * sd, 1e-3 * sd * sd);
                }
                assert_near(variance[2] + variance[3], 2 * (variance[0] + variance[1]),
                            2e-3 * (variance[0] + variance[1]) + 1e-5 * sd * sd);
            }
        }
        discard(&e);
        drop(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_agree_with_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
