/* The CPU as a device: what is the same for both precisions. */
#ifndef LSCM_BACKEND_CPU_H
#define LSCM_BACKEND_CPU_H

#include "backend/backend.h"

extern const backend_device cpu_device;

#endif
