/* Weights of rows whose errors grow with their size, against the factor they were made with. */
#include "infer/evidence/evidence.h"

#include "design_testing.h"
#include "lcg.h"
#include "testing.h"

static lscm_error why;

enum { D = 4, ROWS = 6000 };

static double z[ROWS * D];
static uint8_t mask[ROWS * D];
static design design_made;
static uint8_t keep[ROWS];
static double size[ROWS];
static double weight[ROWS];

/* z = sqrt(a + b u) times a chain of normals, all nodes alike, some of them set by do(); sizes have
 * a long tail. Every tenth row is left out, and would spoil everything. */
static void make(uint64_t seed, double a, double b)
{
    lcg g = {seed};
    for (size_t r = 0; r < ROWS; r++) {
        double *at = z + r * D;
        size[r] = exp(1.2 * lcg_normal(&g) - 0.72);
        double by = sqrt(a + b * size[r]);
        double before = 0;
        keep[r] = r % 10 != 0;
        for (size_t j = 0; j < D; j++) {
            before = 1.3 * before + (double)(j + 1) * lcg_normal(&g);
            at[j] = 5 + by * before + (keep[r] != 0 ? 0 : 1e4 * lcg_normal(&g));
            mask[r * D + j] = lcg_uniform(&g) < 0.3;
        }
    }
    design_again(&design_made, ROWS, D, mask, NULL);
}

/* rho as the weights have it; they are 1 in the mean, and all of one law. */
static double rho_of(void)
{
    size_t count[D] = {D - 1, D - 1, D - 1, D - 1};
    size_t candidate[D * (D - 1)] = {1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2};
    families f;
    double share = NAN;
    double sum = 0;
    double sizes = 0;
    double used = 0;
    assert_ok(families_of(&f, &(latent_rows){&design_made, z, keep, false},
                          &(candidate_lists){D - 1, count, candidate, NULL}, &why));
    assert_ok(row_weights(weight, &share, &f, z, size, &why));
    families_close(&f);
    for (size_t r = 0; r < ROWS; r++) {
        if (keep[r] != 0) {
            sum += weight[r];
            sizes += weight[r] * size[r];
            used += 1;
        }
    }
    assert_near(sum / used, 1, 1e-12);
    assert_near(share, sizes / used, 1e-12);
    double ratio = weight[1] / weight[2]; /* (1 + rho u_2)/(1 + rho u_1) */
    double rho = (ratio - 1) / (size[2] - ratio * size[1]);
    for (size_t r = 1; r < ROWS; r++) {
        if (keep[r] != 0) {
            assert_near(weight[r] * (1 + rho * size[r]) / weight[1], 1 + rho * size[1],
                        1e-6 * (1 + rho * size[1]));
        }
    }
    return rho;
}

static void factor_is_found(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        make(seed, 1, 0);
        double none = rho_of();
        assert_true(none >= 0 && none < 0.03);
        make(seed, 2, 2);
        assert_near(rho_of(), 1, 0.15);
        make(seed, 0.1, 1);
        assert_near(rho_of() / 10, 1, 0.2);
        make(seed, 0, 1); /* never more than a hundred */
        assert_near(rho_of() / 100, 1, 0.01);
    }
}

/* One size for all, or no row at all. */
static void nothing_to_tell(void **state)
{
    (void)state;
    make(7, 1, 1);
    for (size_t r = 0; r < ROWS; r++) {
        size[r] = 1;
        weight[r] = NAN;
    }
    families f;
    size_t count[D] = {0};
    size_t none[D] = {0};
    double share = NAN;
    assert_ok(families_of(&f, &(latent_rows){&design_made, z, keep, false},
                          &(candidate_lists){1, count, none, NULL}, &why));
    assert_ok(row_weights(weight, &share, &f, z, size, &why));
    families_close(&f);
    assert_near(share, 1, 1e-12);
    for (size_t r = 1; r < 10; r++) {
        assert_near(weight[r], 1, 1e-12);
    }
    memset(keep, 0, sizeof keep);
    assert_ok(families_of(&f, &(latent_rows){&design_made, z, keep, false},
                          &(candidate_lists){1, count, none, NULL}, &why));
    assert_ok(row_weights(weight, &share, &f, z, size, &why));
    families_close(&f);
    assert_near(share, 1, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factor_is_found),
        cmocka_unit_test(nothing_to_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
