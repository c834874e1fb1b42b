/* What held-out values say of scales, against errors made by hand: the network never learns, so
 * held-out entries are as the encoder guessed them. With e = g v + noise, the gain is g. */
#include "infer/generator/generator.h"

#include "design_testing.h"
#include "lcg.h"
#include "on_cpu.h"
#include "testing.h"

static lscm_error why;

enum { D = 4, R = 6, SETS = 20, PER_SET = 60, ROWS = SETS * PER_SET };

static float f[ROWS * R];
static uint8_t mask[ROWS * D], held[ROWS * D];
static double values[ROWS * D], guess[ROWS * D], sd[ROWS * D];

/* Node 0 is set in all rows, held out in half of the sets; a share of its errors is gross. */
static void make(uint64_t seed, double leaks, double gain, double gross)
{
    lcg g = {seed};
    memset(held, 0, sizeof held);
    for (size_t r = 0; r < ROWS; r++) {
        size_t set = r / PER_SET;
        for (size_t k = 0; k < R; k++) {
            f[r * R + k] = (float)lcg_normal(&g);
        }
        for (size_t j = 0; j < D; j++) {
            mask[r * D + j] = j == 0 || (set >> (j - 1) & 1) != 0;
            values[r * D + j] = guess[r * D + j] = 3 * lcg_normal(&g);
            sd[r * D + j] = 0.1;
        }
        held[r * D] = set % 2 == 0;
        double e = leaks * guess[r * D + 1] / 3 + gain * values[r * D] + 0.05 * lcg_normal(&g);
        e = lcg_uniform(&g) < gross ? 40 * lcg_normal(&g) : e;
        guess[r * D] += held[r * D] != 0 ? e : 0;
    }
}

static design under;

static double gain_of(void)
{
    double gain = NAN;
    generator *g = NULL;
    generator_rows rows = {ROWS, D, R, f, &under, held, guess, sd};
    generator_settings settings = {.device = on_cpu(), .hidden = 8, .batch = 8, .rounds = 1};
    design_again(&under, ROWS, D, mask, values);
    assert_ok(generator_open(&g, &rows, &settings, &why));
    assert_ok(generator_gain(g, &gain, &why));
    generator_close(g);
    return gain;
}

static void gains_are_found(void **state)
{
    (void)state;
    make(5, 0, 0.1, 0);
    assert_near(gain_of(), 0.1, 0.01);
    make(5, 0, 0, 0);
    assert_true(gain_of() < 0.01);
}

/* A few rows that are misread altogether do not count, nor does what leaks from others. */
static void gross_errors_do_not_count(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        make(seed, 0.5, 0, 0.04);
        assert_true(gain_of() < 0.1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gains_are_found),
        cmocka_unit_test(gross_errors_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
