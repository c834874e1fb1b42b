/* The device that tests of devices run on: the kernels on the host (tests/cuda_on_host.h) where
 * they were built so, else the first CUDA device. */
#ifndef LSCM_TESTS_ON_DEVICE_H
#define LSCM_TESTS_ON_DEVICE_H

#include "backend/plugin.h"
#include "net/dense_machine.h"

#include "on_cpu.h"
#include "testing.h"

#ifdef LSCM_CUDA_ON_HOST
extern const device_plugin *lscm_device_plugin(void);

static inline const device *on_device(void)
{
    static device host;
    lscm_error error;
    if (host.self == NULL) {
        host = *on_cpu();
        if (lscm_device_plugin()->open(&host, 0, &error) != LSCM_OK) {
            print_error("%s\n", error.text);
            abort();
        }
    }
    return &host;
}
#else
static inline const device *on_device(void)
{
    static device first;
    lscm_error error;
    if (first.close == NULL && device_open(&first, LSCM_DEVICE_CUDA, NULL, &error) != LSCM_OK) {
        print_error("%s\n", error.text);
        abort();
    }
    return &first;
}
#endif

#endif
