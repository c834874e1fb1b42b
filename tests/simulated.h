/* Simulated data for tests: a preset for so many nodes, changed in words: "sets=4 seed=3". */
#ifndef LSCM_TESTS_SIMULATED_H
#define LSCM_TESTS_SIMULATED_H

#include "testing.h"

static inline lscm_simulation simulation_of(const char *preset, int64_t nodes, const char *changes)
{
    lscm_simulation s;
    lscm_error why;
    assert_ok(lscm_simulation_preset(&s, preset, nodes, &why));
    for (const char *at = changes; *at != '\0'; at += strspn(at, " ")) {
        char name[32];
        char value[32];
        int taken = 0;
        assert_int_equal(sscanf(at, "%31[^=]=%31s%n", name, value, &taken), 2);
        assert_ok(lscm_settings_set(lscm_simulation_table(), &s, name, value, &why));
        at += taken;
    }
    return s;
}

static inline lscm_simulation preset(const char *name, int64_t nodes, int64_t seed)
{
    lscm_simulation s = simulation_of(name, nodes, "");
    s.seed = seed;
    return s;
}

static inline lscm_dataset *simulated_as(const char *preset, int64_t nodes, const char *changes)
{
    lscm_simulation s = simulation_of(preset, nodes, changes);
    lscm_dataset *data = NULL;
    lscm_error why;
    assert_ok(lscm_simulate(&data, &s, NULL, &why));
    return data;
}

#endif
