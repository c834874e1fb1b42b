/* A generator trained on the rows of a world; the world and the z, sd that come of it. */
#ifndef LSCM_TESTS_GENERATOR_TRAINING_H
#define LSCM_TESTS_GENERATOR_TRAINING_H

#include "generator_testing.h"
#include "on_cpu.h"
#include "testing.h"

static lscm_error why;
static world w;
static double z[WORLD_ROWS * WORLD_D];
static double sd[WORLD_ROWS * WORLD_D];

static const generator_settings quick = {
    .hidden = 32, .batch = 128, .first = 120, .each = 30, .rounds = 6, .rate = 0.025, .seed = 1};

static inline generator *open_generator(const generator_settings *base)
{
    generator *g = NULL;
    generator_rows rows = world_rows(&w);
    generator_settings s = *base;
    s.device = on_cpu();
    s.homogeneous = w.inverse.homogeneous;
    assert_ok(generator_open(&g, &rows, &s, &why));
    return g;
}

/* To step `until`, or to the end; returns the last round. */
static inline generator_round train(generator *g, size_t until)
{
    generator_round round = {NAN, NAN};
    while (generator_done(g) < generator_total(g) || generator_due(g)) {
        if (generator_due(g)) {
            assert_ok(generator_refine(g, &round, &why));
            assert_true(round.misfit > 0 && round.held_out >= 0);
        } else if (generator_done(g) == until) {
            break;
        } else {
            assert_ok(generator_step(g, &why));
        }
    }
    return round;
}

#endif
