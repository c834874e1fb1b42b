/* The CPU's operations in double. */
#include "backend/cpu.h"

#include "backend/float64.h"

#include "backend/cpu_body.h"
