/* The device that tests of one part run on. */
#ifndef LSCM_TESTS_ON_CPU_H
#define LSCM_TESTS_ON_CPU_H

#include "backend/backend.h"

static inline const device *on_cpu(void)
{
    static device cpu;
    if (cpu.close == NULL) {
        (void)device_open(&cpu, LSCM_DEVICE_CPU, NULL, NULL);
    }
    return &cpu;
}

#endif
