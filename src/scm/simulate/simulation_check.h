/* Every setting in its range, and no two that contradict each other or say what nothing would heed:
 * the sentence names one and what to do. */
#ifndef LSCM_SCM_SIMULATE_SIMULATION_CHECK_H
#define LSCM_SCM_SIMULATE_SIMULATION_CHECK_H

#include "base/status.h"

lscm_status simulation_check(const lscm_simulation *s, lscm_error *why);

#endif
