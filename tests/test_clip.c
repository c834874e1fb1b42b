/* Clipping is found where there is some, with its bound, and nowhere else: laws with light and
 * heavy tails, with several modes and away from 0, with and without noise of z. */
#include "infer/sample/sample.h"

#include "design_testing.h"
#include "lcg.h"
#include "testing.h"

static lscm_error why;

enum { D = 4, ROWS = 1500, SEEDS = 30 };

static double z[ROWS * D];
static uint8_t mask[ROWS * D];
static design under;
static uint8_t keep[ROWS];

static double found(const uint8_t *kept, double noise)
{
    double each[D];
    double out = NAN;
    for (size_t j = 0; j < D; j++) {
        each[j] = noise / (double)(1 + j);
    }
    design_again(&under, ROWS, D, mask, NULL);
    assert_ok(clip_find(&out, &(latent_rows){&under, z, kept, false}, each, &why));
    return out;
}

/* Nodes of sd 3, 4, 5, 6, cut at +-8, then blurred. */
static void clipped(uint64_t seed, double noise)
{
    lcg g = {seed};
    memset(mask, 0, sizeof mask);
    for (size_t k = 0; k < ROWS * (size_t)D; k++) {
        double value = (double)(3 + k % D) * lcg_normal(&g);
        z[k] = fmax(fmin(value, 8), -8) + noise / (double)(1 + k % D) * lcg_normal(&g);
    }
}

static void test_clipped(void **state)
{
    (void)state;
    const double noise[] = {0, 1e-6, 0.003, 0.01};
    for (size_t c = 0; c < sizeof noise / sizeof noise[0]; c++) {
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            clipped(seed, noise[c]);
            assert_near(found(NULL, noise[c]), 8, noise[c] > 0 ? 1.5 * noise[c] : 1e-12);
        }
    }
}

/* Values that do() set, and rows that are left out, are not looked at. */
static void test_left_out(void **state)
{
    (void)state;
    lcg g = {1};
    clipped(1, 0);
    for (size_t k = 0; k < ROWS * (size_t)D; k++) {
        mask[k] = fabs(z[k]) >= 8;
    }
    assert_near(found(NULL, 0), 0, 0);
    memset(mask, 0, sizeof mask);
    for (size_t n = 0; n < ROWS; n++) {
        keep[n] = 1;
        for (size_t j = 0; j < D; j++) {
            keep[n] = keep[n] != 0 && fabs(z[n * D + j]) < 8;
        }
    }
    assert_near(found(keep, 0), 0, 0);
    for (size_t k = 0; k < ROWS * (size_t)D; k++) { /* values of do() beyond the clip */
        mask[k] = lcg_uniform(&g) < 0.3;
        z[k] = mask[k] != 0 ? 20 : z[k];
    }
    assert_near(found(NULL, 0), 8, 1e-12);
    memset(mask, 1, sizeof mask);
    assert_near(found(NULL, 0), 0, 0);
}

/* ---- Laws that are smooth ---- */

static double normal(lcg *g)
{
    return lcg_normal(g);
}

static double away(lcg *g)
{
    return 20 + lcg_normal(g);
}

static double uniform(lcg *g)
{
    return 10 * lcg_uniform(g) - 5;
}

static double laplace(lcg *g)
{
    return (lcg_uniform(g) < 0.5 ? 1 : -1) * log(lcg_uniform(g));
}

static double t3(lcg *g)
{
    double squares = 0;
    for (int k = 0; k < 3; k++) {
        squares += pow(lcg_normal(g), 2);
    }
    return lcg_normal(g) / sqrt(squares / 3);
}

static double two_modes(lcg *g)
{
    return (lcg_uniform(g) < 0.5 ? -4 : 4) + 0.5 * lcg_normal(g);
}

static double two_scales(lcg *g)
{
    return (lcg_uniform(g) < 0.1 ? 5 : 1) * lcg_normal(g);
}

static double skewed(lcg *g)
{
    return -log(lcg_uniform(g));
}

static double arcsine(lcg *g)
{
    return 3 * sin(6.283185307179586 * lcg_uniform(g)); /* densest at its ends */
}

static void test_smooth(void **state)
{
    (void)state;
    static double (*const law[])(lcg *) = {normal,    away,       uniform, laplace, t3,
                                           two_modes, two_scales, skewed,  arcsine};
    const double noise[] = {0, 1e-3, 0.05};
    memset(mask, 0, sizeof mask);
    for (size_t c = 0; c < sizeof law / sizeof law[0]; c++) {
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            lcg g = {1000 * c + seed};
            double error = noise[seed % 3];
            for (size_t k = 0; k < ROWS * (size_t)D; k++) {
                z[k] = law[c](&g) + error * lcg_normal(&g);
            }
            double c_hat = found(NULL, error);
            if (c_hat != 0) {
                print_error("law %zu, seed %d, noise %g: clipped at %g?\n", c, (int)seed, error,
                            c_hat);
            }
            assert_near(c_hat, 0, 0);
        }
    }
}

/* Even where errors are about as large as z itself, of all nodes or of one that lies elsewhere. */
static void test_all_noise(void **state)
{
    (void)state;
    const double mean[] = {0, 20, 300};
    memset(mask, 0, sizeof mask);
    for (uint64_t seed = 0; seed < 3 * SEEDS; seed++) {
        lcg g = {seed};
        for (size_t k = 0; k < ROWS * (size_t)D; k++) {
            bool here = seed % 2 == 0 || k % D == 0;
            z[k] = (here ? mean[seed % 3] : 0) + 2 * lcg_normal(&g) + 1.5 * lcg_normal(&g);
        }
        assert_near(found(NULL, 1.5), 0, 0);
    }
}

/* Nor where values that stand still carry a node of one set far from all others: 12 +- 0.3, while
 * what it is elsewhere is N(0, 1). Two such sets at one place are a pile. */
static void test_far_set(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        lcg g = {seed};
        size_t sets = 1 + seed % 2;
        memset(mask, 0, sizeof mask);
        for (size_t k = 0; k < ROWS * (size_t)D; k++) {
            size_t row = k / D;
            size_t target = row < 60 ? 1 : row < 60 * sets ? 2 : D;
            mask[k] = k % D == target;
            z[k] = k % D == 0 && target < D ? 12 + 0.3 * lcg_normal(&g) : lcg_normal(&g);
        }
        double out = found(NULL, 0.2);
        assert_true(sets == 1 ? out == 0 : out > 11 && out < 13);
    }
}

/* Too few to tell, or nothing there. */
static void test_degenerate(void **state)
{
    (void)state;
    double out = NAN;
    const double noise[D] = {0};
    memset(mask, 0, sizeof mask);
    memset(z, 0, sizeof z);
    assert_near(found(NULL, 0), 0, 0);
    z[3] = 5;
    for (size_t rows = 0; rows <= 2; rows += 2) {
        design_again(&under, rows, D, mask, NULL);
        assert_ok(clip_find(&out, &(latent_rows){&under, z, NULL, false}, noise, &why));
        assert_near(out, 0, 0);
    }
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The rule itself, on all sizes in order: the band [most - width, most] against the next four. */
static double by_sorting(const uint8_t *kept, double noise)
{
    static double size[ROWS * D];
    size_t n = 0;
    for (size_t k = 0; k < ROWS * (size_t)D; k++) {
        if (mask[k] == 0 && (kept == NULL || kept[k / D] != 0)) {
            size[n++] = fabs(z[k]);
        }
    }
    qsort(size, n, sizeof *size, ascending);
    double most = size[n - 1];
    double width = fmax(1e-3 * most, 8 * noise);
    size_t pile = 0;
    size_t next = 0;
    for (size_t k = 0; k < n; k++) {
        pile += size[k] >= most - width ? 1 : 0;
        next += size[k] < most - width && size[k] > most - 5 * width ? 1 : 0;
    }
    bool piled = pile >= 10 && (double)pile > 1e-3 * (double)n && pile > 4 * next;
    return piled && size[n / 4] < most - 5 * width ? size[n - 1 - pile / 2] : 0;
}

/* Every node is sharp here, so all sizes count: the same number, to the last bit, with piles of
 * any size, with targets and with rows that are left out. */
static void test_as_sorted(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        lcg g = {seed + 500};
        double noise = seed % 3 == 0 ? 0 : 0.004;
        double bound = 4 + 12 * lcg_uniform(&g);
        clipped(seed, noise);
        for (size_t k = 0; k < ROWS * (size_t)D; k++) {
            z[k] = fmax(fmin(z[k], bound), -bound) + noise * lcg_normal(&g);
            mask[k] = lcg_uniform(&g) < 0.3;
        }
        for (size_t k = 0; k < ROWS; k++) {
            keep[k] = lcg_uniform(&g) < 0.8;
        }
        assert_near(found(NULL, noise), by_sorting(NULL, noise), 0);
        assert_near(found(keep, noise), by_sorting(keep, noise), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clipped),    cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_smooth),     cmocka_unit_test(test_all_noise),
        cmocka_unit_test(test_degenerate), cmocka_unit_test(test_as_sorted),
        cmocka_unit_test(test_far_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
