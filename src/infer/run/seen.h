/* Which values of a node the rows have: what do() set it to, and what it was where it was free. Who
 * asks a run for do() beyond them is told. */
#ifndef LSCM_INFER_RUN_SEEN_H
#define LSCM_INFER_RUN_SEEN_H

#include "scm/posterior/posterior.h"

#include <jansson.h>

/* "seen" into the summary: by node {set: [least, most], free: [least, most]}, null where there is
 * no row of the kind; free values are z of the posterior, set ones those of the data, which has
 * them or observes the nodes. */
lscm_status seen_put(json_t *summary, const lscm_dataset *data, const lscm_posterior *p,
                     lscm_error *why);

#endif
