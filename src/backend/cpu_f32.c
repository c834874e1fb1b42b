/* The CPU's operations in float. */
#include "backend/cpu.h"

#include "backend/float32.h"

#include "backend/cpu_body.h"
