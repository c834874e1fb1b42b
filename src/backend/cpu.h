/* The CPU as a device. */
#ifndef LSCM_BACKEND_CPU_H
#define LSCM_BACKEND_CPU_H

#include "backend/backend.h"
#include "backend/batch_norm.h"

extern const backend_f32 cpu_f32;
extern const backend_f64 cpu_f64;

lscm_status cpu_open(device *out, lscm_error *why);

#endif
