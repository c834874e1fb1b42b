/* The device that tests of one part run on. */
#ifndef LSCM_TESTS_ON_CPU_H
#define LSCM_TESTS_ON_CPU_H

#include "backend/backend.h"

static inline const device *on_cpu(void)
{
    static device cpu;
    if (cpu.name == NULL) {
        (void)device_open(&cpu, DEVICE_CPU, NULL);
    }
    return &cpu;
}

#endif
