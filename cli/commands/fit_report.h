/* What a fit says of itself on the screen, to be read in ten seconds: what was done and why, the
 * likely edges, what held-out interventions say of it, warnings. */
#ifndef LSCM_CLI_FIT_REPORT_H
#define LSCM_CLI_FIT_REPORT_H

#include "common/cli.h"

void print_fit(const lscm_posterior *posterior, const char *folder, bool json);

#endif
