/* The device that tests of CUDA's own ways run on: the first; they are skipped where there is none,
 * and say why. */
#ifndef LSCM_TESTS_ON_CUDA_H
#define LSCM_TESTS_ON_CUDA_H

#include "backend/backend.h"

#include "../testing.h"

static inline bool on_cuda(device *on)
{
    lscm_error why = {0};
    bool there = device_open(on, LSCM_DEVICE_CUDA, NULL, &why) == LSCM_OK;
    print_message("%s\n", there ? on->name : why.text);
    return there;
}

#endif
