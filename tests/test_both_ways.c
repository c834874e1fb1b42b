/* What leaks, against leaks made by hand: z of a random graph with leaks l_pi ~ N(0, L^2) added
 * where a node is free. And the size of leaks against slopes drawn by themselves. */
#include "infer/evidence/evidence.h"

#include "design_testing.h"
#include "lcg.h"
#include "testing.h"

static lscm_error why;

enum { D = 8, PER_SET = 40, MOST = 6000 };

static double z[MOST * D], values[MOST * D], sd[D * D];
static uint8_t mask[MOST * D];
static design under;

typedef struct made {
    size_t targets; /* of a set */
    double leak;    /* L */
    double weight;  /* of the edges, all from lower to higher numbers */
    double noise;
    double unit; /* of node 0, which is measured in another one */
} made;

/* z by its mechanisms, then what leaks of it. */
static size_t make(const made *m, uint64_t seed)
{
    lcg g = {seed};
    double w[D * D] = {0};
    double l[D * D] = {0};
    size_t rows = 0;
    for (size_t e = 0; e < D * D; e++) {
        w[e] = e / D < e % D && lcg_uniform(&g) < 0.4 ? m->weight * lcg_normal(&g) : 0;
        l[e] = e / D != e % D ? m->leak * lcg_normal(&g) : 0;
    }
    memset(mask, 0, sizeof mask);
    for (size_t set = 0; set < 6 * D; set++) {
        uint8_t target[D] = {0};
        for (size_t k = 0; k < m->targets && set >= D; k++) {
            target[k == 0 ? set % D : lcg_below(&g, D)] = 1;
        }
        for (size_t k = 0; k < PER_SET; k++, rows++) {
            double truth[D];
            for (size_t i = 0; i < D; i++) {
                truth[i] = target[i] != 0 ? 6 * lcg_uniform(&g) - 2 : m->noise * lcg_normal(&g);
                for (size_t p = 0; p < i && target[i] == 0; p++) {
                    truth[i] += w[p * D + i] * truth[p];
                }
            }
            for (size_t i = 0; i < D; i++) {
                double *at = &z[rows * D + i];
                *at = truth[i];
                for (size_t p = 0; p < D && target[i] == 0; p++) {
                    *at += l[p * D + i] * truth[p];
                }
                *at *= i == 0 ? m->unit : 1;
                mask[rows * D + i] = target[i];
                values[rows * D + i] = target[i] != 0 ? *at : 0;
            }
        }
    }
    design_again(&under, rows, D, mask, values);
    return rows;
}

static double size_of(const made *m, uint64_t seed)
{
    double size = NAN;
    (void)make(m, seed);
    assert_ok(leaks_both_ways(sd, &size, &under, z, &why));
    assert_near(sqrt(sd[1 * D + 2] * sd[2 * D + 1]), size, 1e-12); /* whatever their units */
    return sd[1 * D + 2]; /* both are in units of one law */
}

/* Of all sizes, with one target or several: found to the factor that effects may make of it. */
static void leaks_are_found(void **state)
{
    (void)state;
    const double leaks[] = {0.3, 0.1, 0.03};
    for (size_t k = 0; k < 3; k++) {
        for (size_t targets = 1; targets <= 3; targets += 2) {
            made m = {.targets = targets, .leak = leaks[k], .weight = 0, .noise = 0.2, .unit = 1};
            double sum = 0;
            for (uint64_t seed = 1; seed <= 6; seed++) {
                sum += size_of(&m, seed) / 6;
            }
            assert_true(sum > 0.7 * leaks[k] && sum < 1.4 * leaks[k]);
            m.weight = 1;
            for (uint64_t seed = 1; seed <= 6; seed++) {
                double found = size_of(&m, seed);
                assert_true(found > 0.4 * leaks[k] && found < 3 * leaks[k]);
            }
        }
    }
}

/* Effects alone, however large, are no leaks: one of two directions is always still. */
static void effects_do_not_leak(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        made m = {.targets = seed % 2 == 0 ? 1 : 3, .weight = 1.5, .noise = 0.3, .unit = 1};
        assert_true(size_of(&m, seed) < 0.05);
    }
}

/* Units of a node go where they belong: from p to i as u_i/u_p. */
static void units_do_not_matter(void **state)
{
    (void)state;
    made m = {.targets = 1, .leak = 0.2, .weight = 1, .noise = 0.2, .unit = 1};
    double before[D * D];
    (void)size_of(&m, 3);
    memcpy(before, sd, sizeof sd);
    m.unit = 1e3;
    (void)size_of(&m, 3);
    for (size_t e = 0; e < D * D; e++) {
        double by = (e % D == 0 ? 1e3 : 1) / (e / D == 0 ? 1e3 : 1);
        assert_true(e / D == e % D ? sd[e] == 0 : fabs(sd[e] / (by * before[e]) - 1) < 1e-6);
    }
}

/* A node that was never set, or to one value, tells nothing, and nothing breaks. */
static void nodes_without_values_are_left_out(void **state)
{
    (void)state;
    made m = {.targets = 1, .leak = 0.2, .noise = 0.2, .unit = 1};
    size_t rows = make(&m, 5);
    for (size_t r = 0; r < rows; r++) {
        mask[r * D] = 0;
        values[r * D] = 0;
        values[r * D + 1] = mask[r * D + 1] != 0 ? 2 : 0;
    }
    design_again(&under, rows, D, mask, values);
    assert_ok(leaks_both_ways(sd, NULL, &under, z, &why));
    for (size_t e = 0; e < D * D; e++) {
        bool none = e / D == e % D || e / D <= 1 || e % D <= 1;
        assert_true(none ? sd[e] == 0 : sd[e] > 0.1 && sd[e] < 0.4);
    }
    memset(mask, 0, sizeof mask);
    design_again(&under, rows, D, mask, NULL);
    assert_ok(leaks_both_ways(sd, NULL, &under, z, &why));
    for (size_t e = 0; e < D * D; e++) {
        assert_true(sd[e] == 0);
    }
}

/* Slopes N(0, L^2 + s^2) of many nodes, s different for each and known. */
static void sizes_are_those_of_the_law(void **state)
{
    (void)state;
    enum { MANY = 60 };
    static double slope[MANY * MANY];
    static double error[MANY * MANY];
    const double sizes[] = {0, 0.02, 0.1, 1};
    for (size_t k = 0; k < 4; k++) {
        lcg g = {11};
        for (size_t e = 0; e < (size_t)MANY * MANY; e++) {
            error[e] = 0.05 * (0.2 + lcg_uniform(&g));
            slope[e] = hypot(sizes[k], error[e]) * lcg_normal(&g);
        }
        slope[1] = NAN; /* not told */
        double found = leaks_size(MANY, slope, error);
        assert_true(sizes[k] == 0 ? found < 0.012 : fabs(found / sizes[k] - 1) < 0.15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaks_are_found),
        cmocka_unit_test(effects_do_not_leak),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(nodes_without_values_are_left_out),
        cmocka_unit_test(sizes_are_those_of_the_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
