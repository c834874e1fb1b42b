/* What a fit says of itself on the screen, to be read in ten seconds: what was done and why, the
 * likely edges, what held-out interventions say of it, warnings. */
#ifndef LSCM_CLI_FIT_REPORT_H
#define LSCM_CLI_FIT_REPORT_H

#include "common/cli.h"

/* How many edges have a probability above 1/2, one that nothing directs by both ways together and
 * counted once; the first `most` of them, by place in edge_prob, go to `out`, the likeliest first.
 */
size_t likely_edges(const lscm_posterior *posterior, size_t *out, size_t most);

/* `note`: of the data, or NULL; for JSON alone, since it was said when they were opened. */
void print_fit(const lscm_posterior *posterior, const char *folder, const char *note, bool json);

#endif
